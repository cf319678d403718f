"""The payloads of events: as interface.md shows them, and what is added when they are sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.core.downtime import formatted
from shared import ids
from shared.clock import iso

DOWN = "monitor.down"
UP = "monitor.up"
CREATED = "monitor.created"
UPDATED = "monitor.updated"
PAUSED = "monitor.paused"
RESUMED = "monitor.resumed"
DELETED = "monitor.deleted"
# For those who follow the stream of events; no channel is told, whatever it asked for.
CHANGES = frozenset({CREATED, UPDATED, PAUSED, RESUMED, DELETED})


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
    """What receivers get; *public_url* is the base of its links, without a slash at the end."""
    return {
        "event": fact.kind,
        "id": ids.show("evt", fact.id),
        "sequence": fact.sequence,
        **{name: value for name, value in fact.payload.items() if name != "event"},
        "links": _links(fact, public_url),
    }


def change(kind: str, monitor: dict[str, Any], now: datetime) -> dict[str, Any]:
    """*kind*: one of CHANGES; *monitor*: as it is after the change."""
    return {"event": kind, "timestamp": iso(now), "monitor": monitor}


def monitor_part(*, id_: Any, name: str, type_: str, url: str | None, status: str) -> dict[str, Any]:
    """*url* is None for a monitor that is not http."""
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
    """*failures*: failed checks since the last good one, over all locations."""
    return {
        "event": DOWN,
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
    """*downtime_s*: seconds of all open spans of the incident."""
    return {
        "event": UP,
        "timestamp": iso(now),
        "monitor": monitor,
        "incident": {
            "id": ids.show("inc", incident_id),
            "severity": severity,
            "downtimeSeconds": downtime_s,
            "downtimeFormatted": formatted(downtime_s),
        },
    }


def _links(fact: Fact, public_url: str) -> dict[str, str]:
    links = {"monitor": f"{public_url}/monitors/{ids.show('mon', fact.stream_id)}"}
    if fact.incident_id is not None:
        links["incident"] = f"{public_url}/incidents/{ids.show('inc', fact.incident_id)}"
    return links
