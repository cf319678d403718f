"""The payloads of events: the contract's fields, and those added when they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.events.core.downtime import formatted
from collector.events.core.kinds import EventKind
from shared import ids
from shared.clock import iso


@dataclass(frozen=True, slots=True)
class Fact:
    """An event as it is stored: *payload* without id, sequence and links."""

    id: UUID
    kind: str
    stream_id: UUID
    sequence: int
    payload: Mapping[str, Any]
    incident_id: UUID | None


def body(fact: Fact, public_url: str) -> dict[str, Any]:
    """Return the event as receivers get it; *public_url*: the base of its links, without a final slash."""
    return {
        "event": fact.kind,
        "id": ids.show("evt", fact.id),
        "sequence": fact.sequence,
        **{name: value for name, value in fact.payload.items() if name != "event"},
        "links": _links(fact, public_url),
    }


def change(kind: EventKind, monitor: dict[str, Any], now: datetime) -> dict[str, Any]:
    """Build the payload of a change; *kind*: one of CHANGES; *monitor*: as it is after the change."""
    return {"event": kind, "timestamp": iso(now), "monitor": monitor}


def monitor_part(*, id_: Any, name: str, type_: str, url: str | None, status: str) -> dict[str, Any]:
    """Build the monitor's part; *url* is None unless it is an http monitor."""
    return {"id": ids.show("mon", id_), "name": name, "type": type_, "url": url, "status": status}


def down(
    monitor: dict[str, Any],
    *,
    incident_id: Any,
    severity: str,
    failures: int,
    error: str,
    started_at: datetime,
    now: datetime,
) -> dict[str, Any]:
    """Build monitor.down; *failures*: failed checks since the last good one, over all locations."""
    return {
        "event": EventKind.MONITOR_DOWN,
        "timestamp": iso(now),
        "monitor": monitor,
        "incident": {
            "id": ids.show("inc", incident_id),
            "severity": severity,
            "consecutiveFailures": failures,
            "lastError": error,
            "downtime": max(0, int((now - started_at).total_seconds())),
        },
    }


def up(
    monitor: dict[str, Any], *, incident_id: Any, severity: str, downtime_s: int, now: datetime
) -> dict[str, Any]:
    """Build monitor.up; *downtime_s*: seconds of all open spans of the incident."""
    return {
        "event": EventKind.MONITOR_UP,
        "timestamp": iso(now),
        "monitor": monitor,
        "incident": {
            "id": ids.show("inc", incident_id),
            "severity": severity,
            "downtimeSeconds": downtime_s,
            "downtimeFormatted": formatted(downtime_s),
        },
    }


def probe_part(
    *, id_: Any, name: str, locations: Sequence[str], version: str, seen_at: datetime, reason: str
) -> dict[str, Any]:
    """Build the probe's part; *reason* for being offline: ``stopped``, ``lost`` or ``blind``."""
    return {
        "id": ids.show("prb", id_),
        "name": name,
        "locations": list(locations),
        "version": version,
        "lastSeenAt": iso(seen_at),
        "reason": reason,
    }


def probe_offline(probe: dict[str, Any], *, affected: int, now: datetime) -> dict[str, Any]:
    """Build probe.offline; *affected*: how many of the team's monitors no other probe checks instead."""
    return {
        "event": EventKind.PROBE_OFFLINE,
        "timestamp": iso(now),
        "probe": probe,
        "affectedMonitors": affected,
    }


def probe_online(probe: dict[str, Any], *, offline_since: datetime, now: datetime) -> dict[str, Any]:
    """Build probe.online; *offline_since*: when it was declared offline."""
    return {
        "event": EventKind.PROBE_ONLINE,
        "timestamp": iso(now),
        "probe": probe,
        "offlineSince": iso(offline_since),
    }


def incident(
    kind: EventKind,
    shown: Mapping[str, Any],
    actor: Mapping[str, Any],
    *,
    monitor: Mapping[str, Any] | None,
    note: Mapping[str, Any] | None,
    now: datetime,
) -> dict[str, Any]:
    """Build the event of an action on an incident; *shown*: as GET shows it, *monitor*: None without one."""
    payload = {
        "event": kind,
        "timestamp": iso(now),
        "monitor": monitor,
        "incident": _in_json(shown),
        "actor": dict(actor),
    }
    return payload if note is None else {**payload, "note": _in_json(note)}


def notice(
    kind: EventKind,
    monitor: Mapping[str, Any],
    states: Sequence[Mapping[str, Any]],
    *,
    begins: bool,
    now: datetime,
) -> dict[str, Any]:
    """Build monitor.degraded or monitor.flapping, which begins or ends; *states* of its locations."""
    return {
        "event": kind,
        "timestamp": iso(now),
        "monitor": monitor,
        kind.rpartition(".")[2]: begins,
        "locationStates": [_in_json(state) for state in states],
    }


def alert(
    kind: EventKind,
    monitor: Mapping[str, Any],
    fired: Mapping[str, Any],
    *,
    incident: Mapping[str, Any] | None,
    states: Sequence[Mapping[str, Any]],
    now: datetime,
) -> dict[str, Any]:
    """Build the event of an alert's change; *fired*: the alert's part, *states*: of the locations."""
    return {
        "event": kind,
        "timestamp": iso(now),
        "monitor": dict(monitor),
        "alert": _in_json(fired),
        "incident": None if incident is None else _in_json(incident),
        "locationStates": [_in_json(state) for state in states],
    }


def channel(
    kind: EventKind, *, id_: Any, name: str, type_: str, since: datetime, error: str, now: datetime
) -> dict[str, Any]:
    """Build channel.failing or channel.recovered; *since*: when it began to fail, *error*: the last one."""
    part = {"id": ids.show("chan", id_), "name": name, "type": type_, "failingSince": iso(since)}
    return {"event": kind, "timestamp": iso(now), "channel": {**part, "lastError": error}}


def certificate(
    monitor: Mapping[str, Any],
    *,
    ends_at: datetime,
    days_left: int,
    expiry_days: int,
    incident: Mapping[str, Any] | None,
    now: datetime,
) -> dict[str, Any]:
    """Build certificate.expiring: fewer than *expiry_days* are left; *incident*: its id and severity."""
    return {
        "event": EventKind.CERTIFICATE_EXPIRING,
        "timestamp": iso(now),
        "monitor": dict(monitor),
        "certificate": {"endsAt": iso(ends_at), "daysLeft": days_left, "expiryDays": expiry_days},
        "incident": None if incident is None else dict(incident),
    }


def measurement(
    monitor: Mapping[str, Any], *, measured: bool, since: datetime, error: str, now: datetime
) -> dict[str, Any]:
    """Build monitor.unmeasured or monitor.measured; *since*: when a check last measured anything.

    *error*: of the newest unknown check.
    """
    payload = {
        "event": EventKind.MONITOR_MEASURED if measured else EventKind.MONITOR_UNMEASURED,
        "timestamp": iso(now),
        "monitor": dict(monitor),
        "notMeasuredSince": iso(since),
    }
    return payload if measured else {**payload, "lastError": error}


def maintenance(kind: EventKind, window: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Build the event of a maintenance window's start or end; *window*: its part."""
    return {"event": kind, "timestamp": iso(now), "maintenanceWindow": dict(window)}


def page_incident(
    kind: EventKind,
    page: Mapping[str, Any],
    shown: Mapping[str, Any],
    actor: Mapping[str, Any],
    *,
    now: datetime,
) -> dict[str, Any]:
    """Build the event of an incident's publication on a status page; *page*: its id, name and slug."""
    return {
        "event": kind,
        "timestamp": iso(now),
        "statusPage": dict(page),
        "incident": _in_json(shown),
        "actor": dict(actor),
    }


def _in_json(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {name: iso(value) if isinstance(value, datetime) else value for name, value in shown.items()}


def _links(fact: Fact, public_url: str) -> dict[str, str]:
    if fact.kind in {EventKind.PROBE_OFFLINE, EventKind.PROBE_ONLINE}:
        return {"probe": f"{public_url}/probes/{ids.show('prb', fact.stream_id)}"}
    if fact.kind in {EventKind.CHANNEL_FAILING, EventKind.CHANNEL_RECOVERED}:
        return {"channel": f"{public_url}/alert-channels/{ids.show('chan', fact.stream_id)}"}
    if fact.kind in {EventKind.MAINTENANCE_STARTED, EventKind.MAINTENANCE_ENDED}:
        return {"maintenanceWindow": f"{public_url}/maintenance-windows/{ids.show('mw', fact.stream_id)}"}
    if fact.kind in {EventKind.PAGE_PUBLISHED, EventKind.PAGE_UPDATED}:
        return {"statusPage": f"{public_url}/status/{fact.payload['statusPage']['slug']}"}
    links = {}
    # An incident without a monitor has a stream of its own.
    if fact.stream_id != fact.incident_id:
        links["monitor"] = f"{public_url}/monitors/{ids.show('mon', fact.stream_id)}"
    if fact.incident_id is not None:
        links["incident"] = f"{public_url}/incidents/{ids.show('inc', fact.incident_id)}"
    return links
