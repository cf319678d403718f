"""Monitors and their results as JSON."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson

from collector.history.core import receptions
from collector.history.core.certificate import days_left, ends_at, expiry
from collector.history.service.statistics import Summary
from collector.history.storage.monitor_stats import AtLocation
from collector.history.storage.result_reads import Result
from collector.monitors.service.columns import settings_of
from collector.monitors.service.reads import Whole
from collector.monitors.service.runs import TrialResult
from collector.monitors.storage.lists import ListedMonitor
from collector.monitors.storage.monitors import Monitor
from collector.platform.monitor import status
from collector.platform.validation.validation import to_json
from collector.web3 import api
from shared import ids
from shared.clock import iso
from shared.kinds import RECEIVING, effective
from shared.phases import measured
from shared.results import Status

# How many rendered monitors are cached: nothing in them may be changed.
_MOST = 2_000
_PHASES = ("dns", "connect", "tls", "firstByte", "transfer")
_STATUS: dict[int, str] = {Status.UP: "up", Status.DOWN: "down", Status.UNKNOWN: "unknown"}


def item(found: ListedMonitor, now: datetime) -> orjson.Fragment:
    """Return a monitor as lists show it, already JSON; *url* only for an http monitor."""
    return _item(found, _ahead(found.silenced_until, now))


@lru_cache(maxsize=_MOST)
def _item(found: ListedMonitor, silenced_until: datetime | None) -> orjson.Fragment:
    shown = {
        "id": ids.show("mon", found.id),
        "name": found.name,
        "type": found.type,
        "status": status(paused_at=found.paused_at, down=found.down, last_at=found.last_at),
        "url": found.url,
        "interval": found.interval_s,
        "timeout": found.timeout_s,
        "locations": found.locations,
        "tags": found.tags,
        "severity": found.severity,
        "group": found.group_name,
        "revision": found.revision,
        "lastCheckedAt": _shown(found.last_at),
        "silencedUntil": _shown(silenced_until),
        "pausedAt": _shown(found.paused_at),
        "createdAt": _shown(found.created_at),
        "updatedAt": _shown(found.updated_at),
    }
    return orjson.Fragment(orjson.dumps(shown))


def created(monitor: Monitor) -> dict[str, Any]:
    return {
        "id": ids.show("mon", monitor.id),
        "name": monitor.name,
        "type": monitor.type,
        "status": shown_status(monitor),
        "createdAt": monitor.created_at,
    }


def updated(monitor: Monitor) -> dict[str, Any]:
    return {
        "id": ids.show("mon", monitor.id),
        "name": monitor.name,
        "interval": monitor.interval_s,
        "updatedAt": monitor.updated_at,
        "revision": monitor.revision,
    }


def whole(found: Whole, now: datetime) -> dict[str, Any]:
    """Return a monitor with its configuration and numbers."""
    shown = {**_lasting(found), "silencedUntil": _ahead(found.monitor.silenced_until, now)}
    if (warning := unmeasured(found, now)) is not None:
        shown["warnings"] = [warning]
    if any(one.checkpoint is not None for one in found.at_locations):
        shown["locationStates"] = [
            {**state, "certificate": certificate(one.checkpoint, now)}
            for state, one in zip(shown["locationStates"], found.at_locations, strict=True)
        ]
    return shown


@lru_cache(maxsize=_MOST)
def _lasting(found: Whole) -> dict[str, Any]:
    """Return all parts that do not depend on the time, cached while they are the same."""
    monitor = found.monitor
    in_config = {"timeout": monitor.timeout_s} if monitor.type == "http" else {}
    if effective(monitor.type, found.config) == "gas_price":
        in_config = {"interval": monitor.interval_s}
    return {
        "id": ids.show("mon", monitor.id),
        "type": monitor.type,
        "status": shown_status(monitor),
        "config": {**found.config, **in_config},
        **to_json(settings_of(monitor)),
        "stats": _stats(found.summary),
        "revision": monitor.revision,
        "lastCheckedAt": _shown(monitor.last_at),
        "silencedUntil": None,
        "pausedAt": _shown(monitor.paused_at),
        "locationStates": [_at_location(one) for one in found.at_locations],
        "createdAt": _shown(monitor.created_at),
        "updatedAt": _shown(monitor.updated_at),
    }


def unmeasured(found: Whole, now: datetime) -> str | None:
    """Return a warning if nothing measures the monitor now; None if it is measured.

    A new monitor gets the time of its first check.
    """
    monitor, places = found.monitor, found.at_locations
    if monitor.paused_at is not None or monitor.type in RECEIVING:
        return None
    if monitor.last_at is None:
        since, patience = monitor.created_at, timedelta(seconds=monitor.interval_s + monitor.timeout_s)
        waits = now - since <= patience
        return None if waits else f"not measured yet: no check has come from {', '.join(monitor.locations)}"
    said = [one for one in places if one.last_at is not None]
    if any(one.last_status != Status.UNKNOWN for one in said):
        return None
    why = next((f": {one.last_error}" for one in said if one.last_error), "")
    return f"not measured: every location's newest check is unknown{why}"


def certificate(checkpoint: bytes | None, now: datetime) -> dict[str, Any] | None:
    """Return the certificate seen last; *daysLeft* is negative once it has expired."""
    seen = expiry(checkpoint)
    if seen is None:
        return None
    return {"endsAt": iso(ends_at(seen)), "daysLeft": days_left(ends_at(seen), now)}


def result(found: Result) -> dict[str, Any]:
    """Return a result; *statusCode*, *error* and phases are null if missing. *daysLeft* only if a certificate
    was seen, *samples* only for metrics.
    """
    packed = found.phases or b""
    samples, (phases, days) = receptions.samples(packed), measured(packed)
    return {
        "timestamp": found.ts,
        "status": _STATUS[found.status],
        "responseTime": found.ms,
        "location": found.name,
        "statusCode": found.code or None,
        "error": found.error,
        "phases": _phases(phases),
        **({} if days is None else {"daysLeft": days}),
        **({} if samples is None else {"samples": samples}),
    }


def tested(found: TrialResult) -> dict[str, Any]:
    """Return a test's outcome; *statusCode* is null if missing, *daysLeft* only if a certificate was seen."""
    outcome, took_ms = found.outcome, round(found.duration_us / 1000)
    good = outcome.status is Status.UP
    return {
        "success": good,
        "responseTime": took_ms,
        "statusCode": outcome.code or None,
        "message": _answered(took_ms, found.days_left) if good else outcome.error or "It did not answer",
        **({} if found.days_left is None else {"daysLeft": found.days_left}),
        **({} if found.found is None else {"web3": api.found(found.found)}),
    }


def _answered(took_ms: int, days: int | None) -> str:
    """*days*: until the certificate expires, None if none was seen."""
    match days:
        case None:
            left = ""
        case 1:
            left = "; the certificate has 1 day left"
        case _:
            left = f"; the certificate has {days} days left" if days >= 0 else "; the certificate is over"
    return f"It answered in {took_ms} ms{left}"


def shown_status(monitor: Monitor) -> str:
    return status(paused_at=monitor.paused_at, down=monitor.down, last_at=monitor.last_at)


def _stats(found: Summary) -> dict[str, float | bool]:
    return {
        "uptime": found.uptime,
        "avgLatency": found.avg_latency,
        "checksToday": found.checks_today,
        "p50": found.p50,
        "p95": found.p95,
        "p99": found.p99,
        "uptime24h": found.uptime_day,
        "uptime7d": found.uptime_week,
        "uptime90d": found.uptime_quarter,
        "checkSuccess": found.check_success,
        "measured": found.measured,
    }


def _at_location(found: AtLocation) -> dict[str, Any]:
    """*status* is the location's verdict, the rest is of its newest check."""
    verdict = "down" if found.failing else "unknown" if found.last_at is None else "up"
    return {
        "location": found.name,
        "status": verdict,
        "consecutiveFailures": found.fails,
        "failingSince": _shown(found.failed_since) if found.failing else None,
        "lastCheckedAt": _shown(found.last_at),
        "responseTime": found.last_ms,
        "error": found.last_error,
    }


def _shown(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def _phases(microseconds: list[int | None]) -> dict[str, float | None]:
    """Return the phases in milliseconds."""
    return {name: None if us is None else us / 1000 for name, us in zip(_PHASES, microseconds, strict=True)}


def _ahead(until: datetime | None, now: datetime) -> datetime | None:
    """Return the end of a silence; None once it is over."""
    return until if until is not None and until > now else None
