"""Computes the content of a report: the history of its monitors over one period."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from collector.history.core.rollup import Rollup, UptimeStatistics, numbers, together
from collector.history.core.uptime import Span
from collector.history.service import totals
from collector.history.storage import live_rollups
from collector.platform.storage.db import Db, Tx
from collector.reports.core import accounts, business_hours, periods
from collector.reports.core.accounts import MeasuredTime
from collector.reports.core.business_hours import OpenTime
from collector.reports.core.content import (
    Accounting,
    ExcludedTime,
    PeriodBefore,
    ReportContent,
    ReportIncidentLine,
    ReportMonitorLine,
)
from collector.reports.core.periods import Days
from collector.reports.storage import measures
from collector.reports.storage import reports as table
from collector.reports.storage.measures import Between, ReportedMonitor
from collector.reports.storage.reports import ReportRow
from shared import ids
from shared.clock import EPOCH

_MS = timedelta(milliseconds=1)
_MOST_INCIDENTS = 500
_MOST_EXCLUDED = 200


@dataclass(frozen=True, slots=True)
class _Period:
    """A period, its first moment, the moment after it, and its business hours."""

    days: Days
    since: datetime
    until: datetime
    hours: list[OpenTime]
    report: ReportRow

    def open_from(self, since: datetime) -> list[Between]:
        """The business hours of the period from *since* on."""
        return business_hours.spans(self.hours, self.report.zone, since, self.until)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A monitor's line, and the sum of its rollups in the period and of its times in the period before."""

    line: ReportMonitorLine
    rows: Sequence[Rollup]
    before: Accounting | None


@dataclass(frozen=True, slots=True)
class _Incident:
    """A line, and the monitor that it counts for."""

    monitor: UUID | None
    line: ReportIncidentLine


async def content(db: Db, report: ReportRow, days: Days, now: datetime) -> ReportContent:
    """Compute the report of a period that is over; no connection is held from monitor to monitor."""
    hours = business_hours.parse(report.business_hours) if report.business_hours else []
    period = _period(report, days, hours)
    earlier = _period(report, periods.before(report.period, days), hours)
    async with db.connection() as tx:
        monitors = await measures.selected(
            tx, report.team_id, report.selection, report.status_page_id, period.until
        )
        incidents = await _incidents(tx, period, monitors, now)
        incidents_before = await _incidents(tx, earlier, monitors, now)
        excluded = await _excluded(tx, period, monitors)
        subject = await _subject(tx, report, len(monitors))
    lines, rows, before = await _measure_all(db, monitors, period, earlier, incidents, now)
    time = accounts.together([line.time for line in lines])
    business = accounts.together([line.business for line in lines if line.business]) if hours else None
    whole = numbers(rows)
    return ReportContent(
        name=report.name,
        subject=subject,
        first_day=days.first,
        last_day=days.last,
        timezone=report.timezone,
        since=period.since,
        until=period.until,
        business_hours=report.business_hours,
        target=report.target,
        time=time,
        business=business,
        met=accounts.met(time, business, report.target),
        p50_ms=_percentile(whole, 0),
        p95_ms=_percentile(whole, 1),
        longest_ms=max((line.longest_ms for line in lines), default=0),
        monitors=lines,
        best=accounts.best(lines),
        worst=accounts.worst(lines),
        numbers=accounts.incident_numbers([each.line for each in incidents]),
        incidents=[each.line for each in incidents[:_MOST_INCIDENTS]],
        excluded=excluded,
        before=PeriodBefore(
            since=earlier.since,
            until=earlier.until,
            uptime=before,
            numbers=accounts.incident_numbers([each.line for each in incidents_before]),
        ),
    )


async def _measure_all(
    db: Db,
    monitors: Sequence[ReportedMonitor],
    period: _Period,
    earlier: _Period,
    incidents: Sequence[_Incident],
    now: datetime,
) -> tuple[list[ReportMonitorLine], list[Rollup], float | None]:
    """Return the monitors' lines and rollups, and the uptime of all together in the period before."""
    counted = Counter(each.monitor for each in incidents)
    measured = []
    for monitor in monitors:
        async with db.transaction() as tx:
            measured.append(await _measure(tx, monitor, period, earlier, counted[monitor.id], now))
    before = accounts.together([each.before for each in measured if each.before])
    return (
        [each.line for each in measured],
        [row for each in measured for row in each.rows],
        before.uptime,
    )


async def _measure(
    tx: Tx, monitor: ReportedMonitor, period: _Period, earlier: _Period, incidents: int, now: datetime
) -> _Measured:
    await live_rollups.plan_once(tx)
    since = max(period.since, monitor.since)
    rows = await totals.rows_of(tx, monitor.monitor, [(since, period.until)], now)
    time = await _account(tx, monitor, [(since, period.until)], rows)
    business = await _business(tx, monitor, period, since, now) if period.hours else None
    before = await _before(tx, monitor, earlier, now)
    outages = await measures.outages(tx, monitor.monitor, since, period.until)
    statistics = numbers(rows)
    line = ReportMonitorLine(
        id=ids.show("mon", monitor.id),
        name=monitor.name,
        time=time,
        business=business,
        uptime_before=before.uptime if before else None,
        met=accounts.met(time, business, period.report.target),
        incidents=incidents,
        outages=outages.outages,
        longest_ms=outages.longest_ms,
        checks=statistics.checks,
        p50_ms=_percentile(statistics, 0),
        p95_ms=_percentile(statistics, 1),
    )
    return _Measured(line, [together(rows)] if rows else [], before)


async def _business(
    tx: Tx, monitor: ReportedMonitor, period: _Period, since: datetime, now: datetime
) -> Accounting:
    spans = period.open_from(since)
    return await _account(tx, monitor, spans, await totals.rows_of(tx, monitor.monitor, spans, now))


async def _before(tx: Tx, monitor: ReportedMonitor, earlier: _Period, now: datetime) -> Accounting | None:
    """Account for the period before; None if the monitor did not exist."""
    since = max(earlier.since, monitor.since)
    if since >= earlier.until:
        return None
    spans = [(since, earlier.until)]
    return await _account(tx, monitor, spans, await totals.rows_of(tx, monitor.monitor, spans, now))


async def _account(
    tx: Tx, monitor: ReportedMonitor, spans: Sequence[Between], rows: Sequence[Rollup]
) -> Accounting:
    if not spans:
        return accounts.together([])
    since, until = spans[0][0], spans[-1][1]
    return accounts.account(
        _in_ms(spans),
        MeasuredTime(sum(row.known_ms for row in rows), sum(row.down_ms for row in rows)),
        _in_ms(await measures.pauses(tx, monitor.monitor, since, until)),
        _in_ms(await measures.maintenance(tx, monitor.monitor, since, until)),
    )


async def _incidents(
    tx: Tx, period: _Period, monitors: Sequence[ReportedMonitor], now: datetime
) -> list[_Incident]:
    """Return the incidents of the monitors; in a report of the team also those without a monitor."""
    report = period.report
    only = None if report.of_team else [each.id for each in monitors]
    rows = await measures.incidents(tx, report.team_id, only, period.since, period.until, now)
    return [
        _Incident(
            row.monitor_id,
            ReportIncidentLine(
                id=ids.show("inc", row.id),
                title=row.title,
                monitor_name=row.monitor_name,
                severity=row.severity,
                started_at=row.started_at,
                resolved_at=row.resolved_at,
                downtime_s=row.downtime_s,
                acknowledged_s=row.acknowledged_s,
                cause=row.cause,
                note=row.note,
            ),
        )
        for row in rows
    ]


async def _excluded(tx: Tx, period: _Period, monitors: Sequence[ReportedMonitor]) -> list[ExcludedTime]:
    ids_ = [each.id for each in monitors]
    rows = await measures.excluded(
        tx, period.report.team_id, ids_, period.since, period.until, _MOST_EXCLUDED
    )
    return [ExcludedTime(**row) for row in rows]


async def _subject(tx: Tx, report: ReportRow, monitors: int) -> str:
    if report.of_team:
        return "All monitors of the team"
    parts = []
    if report.status_page_id is not None:
        name = await table.page_name(tx, report.team_id, report.status_page_id)
        parts.append(f"the status page {name}" if name else "a deleted status page")
    if report.tags:
        parts.append(f"tagged {', '.join(_tags(report))}")
    if report.monitors:
        parts.append("chosen by name")
    return f"{monitors} monitors: {'; '.join(parts)}"


def _tags(report: ReportRow) -> Sequence[str]:
    tags = report.tags
    return [f"{name}:{value}" for name, value in tags.items()] if isinstance(tags, Mapping) else tags


def _period(report: ReportRow, days: Days, hours: list[OpenTime]) -> _Period:
    since, until = periods.span(days, report.zone)
    return _Period(days, since, until, hours, report)


def _percentile(statistics: UptimeStatistics, which: int) -> float | None:
    shown = statistics.percentiles_ms
    return None if shown is None else round(shown[which], 1)


def _in_ms(spans: Sequence[Between]) -> list[Span]:
    return [((since - EPOCH) // _MS, (until - EPOCH) // _MS) for since, until in spans]
