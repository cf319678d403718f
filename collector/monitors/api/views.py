"""Monitors and their results as the API answers them."""

from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, Literal

import orjson

from collector.history.core import receptions
from collector.history.core.certificate import days_left, ends_at, expiry
from collector.history.service.statistics import Summary
from collector.history.storage.monitor_stats import AtLocation
from collector.history.storage.result_reads import Result
from collector.monitors.answers import (
    CreatedMonitor,
    CrossedThreshold,
    KeptChainLog,
    LocationState,
    MonitorDetails,
    MonitorItem,
    MonitorResult,
    MonitorStats,
    Phases,
    ReportTarget,
    SeenCertificate,
    TestedMonitor,
    UpdatedMonitor,
)
from collector.monitors.service.columns import settings_of
from collector.monitors.service.monitors import SavedMonitor
from collector.monitors.service.reads import CompleteMonitor
from collector.monitors.service.runs import TrialResult
from collector.monitors.storage.lists import ListedMonitor
from collector.monitors.storage.monitors import Monitor
from collector.platform.answer_json import encode, json_object
from collector.platform.answers import OMITTED, Omitted
from collector.platform.monitor import Shown, status
from collector.web3 import api
from shared import ids
from shared.kinds import RECEIVING, effective
from shared.phases import measured
from shared.results import Status

# How many rendered monitors are cached: nothing in them may be changed.
_MOST = 2_000
_STATUS: dict[int, Literal["up", "down", "unknown"]] = {
    Status.UP: "up",
    Status.DOWN: "down",
    Status.UNKNOWN: "unknown",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMonitor(MonitorDetails):
    """A monitor with its settings, those of its type too, and its numbers."""

    type: str
    """Type of the monitor."""
    config: dict[str, Any]
    """Settings of its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorUntilNow:
    """The fields of `ShownMonitor` that change while time passes, or depend on the caller."""

    silenced_until: datetime | None
    """Until when its notifications are silenced; null if they are not."""
    config: Annotated[dict[str, Any] | None, Omitted()] = None
    """Settings of its type, as the caller may see them."""
    location_states: Annotated[list[LocationState] | None, Omitted()] = None
    """How each location sees it, with the days until its certificate expires; present if one was seen."""
    alerts: Annotated[list[CrossedThreshold] | None, Omitted()] = None
    """Thresholds of a chain that are crossed now; present for Web3 monitors."""
    warnings: Annotated[list[str] | None, Omitted()] = None
    """Warnings about the monitor."""


def item(monitor: ListedMonitor, now: datetime) -> orjson.Fragment:
    """Return the JSON of a monitor as lists show it; *url* only for an http monitor."""
    return _item(monitor, _ahead(monitor.silenced_until, now))


@lru_cache(maxsize=_MOST)
def _item(monitor: ListedMonitor, silenced_until: datetime | None) -> orjson.Fragment:
    shown = MonitorItem(
        id=ids.show("mon", monitor.id),
        name=monitor.name,
        type=monitor.type,
        status=status(paused_at=monitor.paused_at, down=monitor.down, last_at=monitor.last_at),
        url=monitor.url,
        interval=monitor.interval_s,
        timeout=monitor.timeout_s,
        locations=monitor.locations,
        tags=monitor.tags,
        severity=monitor.severity,
        group=monitor.group_name,
        revision=monitor.revision,
        last_checked_at=monitor.last_at,
        silenced_until=silenced_until,
        paused_at=monitor.paused_at,
        created_at=monitor.created_at,
        updated_at=monitor.updated_at,
    )
    return orjson.Fragment(encode(shown))


def created(saved: SavedMonitor, made: ReportTarget | None) -> CreatedMonitor:
    """Return a monitor that was created; *made*: its address for reports, if it receives them."""
    monitor, standing = saved.monitor, shown_status(saved.monitor)
    return CreatedMonitor(
        id=ids.show("mon", monitor.id),
        name=monitor.name,
        type=monitor.type,
        status=standing,
        created_at=monitor.created_at,
        config=made,
        warnings=saved.warnings or None,
    )


def updated(monitor: Monitor, warnings: list[str]) -> UpdatedMonitor:
    """Return a monitor that was changed."""
    return UpdatedMonitor(
        id=ids.show("mon", monitor.id),
        name=monitor.name,
        interval=monitor.interval_s,
        updated_at=monitor.updated_at,
        revision=monitor.revision,
        warnings=warnings or None,
    )


def whole(found: CompleteMonitor, now: datetime) -> ShownMonitor:
    """Return a monitor with its configuration and numbers."""
    present, lasting = _until_now(found, now), _lasting(found)
    return replace(
        lasting,
        silenced_until=present.silenced_until,
        location_states=present.location_states or lasting.location_states,
        warnings=present.warnings,
    )


def whole_json(
    found: CompleteMonitor, config: dict[str, Any], alerts: list[CrossedThreshold] | None, now: datetime
) -> dict[str, Any]:
    """Return the same as JSON: faster, since most of it is cached.

    *config*: the configuration as the caller may see it; *alerts*: crossed thresholds of a chain.
    """
    return {**_lasting_json(found), **json_object(_until_now(found, now, config, alerts))}


def _until_now(
    found: CompleteMonitor,
    now: datetime,
    config: dict[str, Any] | None = None,
    alerts: list[CrossedThreshold] | None = None,
) -> MonitorUntilNow:
    """Return the fields that change while time passes."""
    warning = unmeasured(found, now)
    seen = any(location.checkpoint is not None for location in found.at_locations)
    return MonitorUntilNow(
        silenced_until=_ahead(found.monitor.silenced_until, now),
        config=config,
        location_states=_with_certificates(found, now) if seen else None,
        alerts=alerts,
        warnings=None if warning is None else [warning],
    )


def _with_certificates(found: CompleteMonitor, now: datetime) -> list[LocationState]:
    return [
        replace(_at_location(location), certificate=certificate(location.checkpoint, now))
        for location in found.at_locations
    ]


@lru_cache(maxsize=_MOST)
def _lasting_json(found: CompleteMonitor) -> dict[str, Any]:
    """Return the JSON of these parts, cached while they are the same."""
    shown: dict[str, Any] = orjson.loads(encode(_lasting(found)))
    return shown


def _lasting(found: CompleteMonitor) -> ShownMonitor:
    """Return all parts that do not depend on the time."""
    monitor, settings = found.monitor, settings_of(found.monitor)
    return ShownMonitor(
        id=ids.show("mon", monitor.id),
        type=monitor.type,
        status=shown_status(monitor),
        config=config_of(found),
        **{field.name: getattr(settings, field.name) for field in fields(settings)},
        stats=_stats(found.summary),
        revision=monitor.revision,
        last_checked_at=monitor.last_at,
        silenced_until=None,
        paused_at=monitor.paused_at,
        location_states=[_at_location(location) for location in found.at_locations],
        created_at=monitor.created_at,
        updated_at=monitor.updated_at,
    )


def unmeasured(found: CompleteMonitor, now: datetime) -> str | None:
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
    locations = [location for location in places if location.last_at is not None]
    if any(location.last_status != Status.UNKNOWN for location in locations):
        return None
    why = next((f": {location.last_error}" for location in locations if location.last_error), "")
    return f"not measured: every location's newest check is unknown{why}"


def certificate(checkpoint: bytes | None, now: datetime) -> SeenCertificate | None:
    """Return the certificate seen last; *days_left* is negative once it has expired."""
    seen = expiry(checkpoint)
    if seen is None:
        return None
    return SeenCertificate(ends_at=ends_at(seen), days_left=days_left(ends_at(seen), now))


def result(
    found: Result, *, body: str | None = None, logs: list[KeptChainLog] | None = None
) -> MonitorResult:
    """Return a result; *body*: of a ping, *logs*: read of a chain.

    *status_code*, *error* and phases are None if missing, *days_left* without a certificate, *samples* for
    all but metrics.
    """
    packed = found.phases or b""
    phases, days = measured(packed)
    dns, connect, tls, first_byte, transfer = (None if us is None else us / 1000 for us in phases)
    return MonitorResult(
        timestamp=found.ts,
        status=_STATUS[found.status],
        response_time=found.ms,
        location=found.name,
        status_code=found.code or None,
        error=found.error,
        phases=Phases(dns=dns, connect=connect, tls=tls, first_byte=first_byte, transfer=transfer),
        days_left=days,
        samples=receptions.samples(packed),
        body=body,
        logs=logs,
    )


def tested(result: TrialResult, warnings: list[str]) -> TestedMonitor:
    """Return a test's outcome; *status_code* is None if missing, *days_left* if no certificate was seen."""
    outcome, took_ms = result.outcome, round(result.duration_us / 1000)
    good = outcome.status is Status.UP
    return TestedMonitor(
        success=good,
        response_time=took_ms,
        status_code=outcome.code or None,
        message=_answered(took_ms, result.days_left) if good else outcome.error or "It did not answer",
        days_left=result.days_left,
        web3=None if result.found is None else api.tested(result.found),
        warnings=warnings or None,
    )


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


def shown_status(monitor: Monitor) -> Shown:
    return status(paused_at=monitor.paused_at, down=monitor.down, last_at=monitor.last_at)


def config_of(found: CompleteMonitor) -> dict[str, Any]:
    """Return the settings of its type, with those common ones that a request may name there."""
    monitor = found.monitor
    if effective(monitor.type, found.config) == "gas_price":
        return {**found.config, "interval": monitor.interval_s}
    return {**found.config, "timeout": monitor.timeout_s} if monitor.type == "http" else found.config


def _stats(summary: Summary) -> MonitorStats:
    return MonitorStats(
        uptime=summary.uptime,
        avg_latency=summary.avg_latency,
        checks_today=summary.checks_today,
        p50=summary.p50,
        p95=summary.p95,
        p99=summary.p99,
        uptime24h=summary.uptime_day,
        uptime7d=summary.uptime_week,
        uptime90d=summary.uptime_quarter,
        check_success=summary.check_success,
        measured=summary.measured,
    )


def _at_location(location: AtLocation) -> LocationState:
    """*status* is the location's verdict, the rest is of its newest check."""
    return LocationState(
        location=location.name,
        status="down" if location.failing else "unknown" if location.last_at is None else "up",
        consecutive_failures=location.fails,
        failing_since=location.failed_since if location.failing else None,
        last_checked_at=location.last_at,
        response_time=location.last_ms,
        error=location.last_error,
        certificate=OMITTED,
    )


def _ahead(until: datetime | None, now: datetime) -> datetime | None:
    """Return the end of a silence; None once it is over."""
    return until if until is not None and until > now else None
