"""Editions of reports: requested, computed once, and checked for results that came late."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter

from collector.history.storage.partitions import BACK
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import check
from collector.reports.core import periods
from collector.reports.core.content import ReportContent
from collector.reports.core.periods import Days, PeriodKind
from collector.reports.service import compute
from collector.reports.service.fields import Day
from collector.reports.service.reports import WHAT, own_days
from collector.reports.storage import editions as table
from collector.reports.storage import mails, reports
from collector.reports.storage.editions import Edition, NewEdition
from collector.reports.storage.reports import ReportRow
from shared import ids
from shared.errors import Conflict, Invalid, demand_found

MOST_WAITING: Final = 20
_LEASE: Final = timedelta(minutes=10)
_MOST_TRIES: Final = 5
# Results come as late as spools keep them; each day until then may change the numbers.
_CHECKED_FOR: Final = BACK + timedelta(days=2)
_DAY: Final = timedelta(days=1)
_AT_ONCE: Final = 20
_CONTENT: Final = TypeAdapter(ReportContent)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionFields:
    """What a request for an edition may say."""

    day: Day | None = None
    """A day of the wanted period; by default the last complete period."""
    send: bool = False
    """Whether it is mailed to the report's recipients."""


@dataclass(frozen=True, slots=True)
class ReportEdition:
    """An edition with its report, and its content once it is ready."""

    report: ReportRow
    edition: Edition
    content: ReportContent | None


async def request(
    db: Db, who: Actor, report_id: UUID, body: Mapping[str, Any], now: datetime
) -> ReportEdition:
    """Request an edition of a period that is over. Raises NotFound, Invalid; Conflict if many are waiting."""
    fields, _ = check(EditionFields, body)
    async with db.transaction() as tx:
        report = demand_found(await reports.get(tx, who.team_id, report_id, lock=True), WHAT)
        days = _wanted(report, fields.day, now)
        new = _new(report, days, mailed=fields.send)
        if new.until > now:
            raise Invalid({"day": "its period is not over"})
        if await table.waiting(tx, who.team_id) >= MOST_WAITING:
            raise Conflict(f"{MOST_WAITING} editions are waiting to be computed; try again later")
        await table.request(tx, new, now)
        await audit.record(tx, who, "compute", "report", ids.show("rep", report_id), name=report.name)
        edition = demand_found(await table.get(tx, who.team_id, report_id, new.id), WHAT)
    return ReportEdition(report, edition, None)


async def page(db: Db, team_id: int, report_id: UUID, limit: int, offset: int) -> tuple[list[Edition], int]:
    """Return editions of a report, of the latest period first, and their number. Raises NotFound."""
    async with db.connection() as tx:
        demand_found(await reports.get(tx, team_id, report_id), WHAT)
        total = await table.count(tx, team_id, report_id)
        found = await table.newest(tx, team_id, report_id, limit, offset) if offset < total else []
    return found, total


async def one(db: Db, team_id: int, report_id: UUID, id_: UUID) -> ReportEdition:
    """Return one edition. Raises NotFound."""
    async with db.connection() as tx:
        report = demand_found(await reports.get(tx, team_id, report_id), WHAT)
        edition = demand_found(await table.get(tx, team_id, report_id, id_), "Edition")
    return ReportEdition(report, edition, _content(edition))


async def ready(db: Db, team_id: int, report_id: UUID, id_: UUID) -> tuple[Edition, ReportContent]:
    """Return an edition that was computed, and its content. Raises NotFound, Conflict."""
    known = await one(db, team_id, report_id, id_)
    if known.content is None:
        raise Conflict("The edition is not computed yet")
    return known.edition, known.content


async def schedule(db: Db, now: datetime) -> bool:
    """Request the editions that are due; return whether more reports are.

    Missed periods are caught up, each once: the edition and the next moment are stored together.
    """
    async with db.transaction() as tx:
        due = await reports.lock_due(tx, now, _AT_ONCE)
        for report in due:
            missed = _missed(report, now)
            await _request_new(tx, [_new(report, days, mailed=True) for days in missed], now)
            await reports.save(tx, _after(report, missed))
    return len(due) == _AT_ONCE


async def _request_new(tx: Tx, wanted: Sequence[NewEdition], now: datetime) -> None:
    """Request the first edition of periods that have none."""
    for new in wanted:
        if not await table.exists(tx, new):
            await table.request(tx, new, now)


async def work(db: Db, now: datetime) -> bool:
    """Compute or check one edition; return whether there was one. It may be done twice, but counts once."""
    async with db.transaction() as tx:
        edition = await table.claim(tx, now, _LEASE, _MOST_TRIES)
        report = await reports.get(tx, edition.team_id, edition.report_id) if edition else None
    if edition is None or report is None:
        return False
    again_at = now + _DAY if now + _DAY < edition.until + _CHECKED_FOR else None
    if edition.computed_at is not None and report.updated_at > edition.computed_at:
        # It is about other monitors or times by now, so that its numbers say nothing of late results.
        async with db.transaction() as tx:
            await table.checked(tx, edition, None)
        return True
    content = await compute.content(db, report, edition.days, now)
    async with db.transaction() as tx:
        if edition.computed_at is None:
            await _keep(tx, report, edition, content, now, again_at)
        else:
            await _check(tx, report, edition, content, now, again_at)
    return True


async def _keep(
    tx: Tx,
    report: ReportRow,
    edition: Edition,
    content: ReportContent,
    now: datetime,
    again_at: datetime | None,
) -> None:
    stored = await table.keep(tx, edition, _CONTENT.dump_python(content, mode="json"), now, again_at)
    if stored and edition.mailed:
        await mails.queue(tx, report.team_id, edition.id, report.recipients, now)


async def _check(
    tx: Tx,
    report: ReportRow,
    edition: Edition,
    content: ReportContent,
    now: datetime,
    again_at: datetime | None,
) -> None:
    """Make a new edition if results that came late changed how the time of any monitor was spent."""
    before = _content(edition)
    changed = before is not None and _times(before, content)
    if await table.checked(tx, edition, None if changed else again_at) and changed:
        new = _new(report, edition.days, mailed=edition.mailed)
        await table.request(tx, new, now)


def _times(before: ReportContent, now: ReportContent) -> bool:
    """Whether the accounting of any monitor in both differs; deleted ones and new tags do not count."""
    old = {line.id: (line.time, line.business, line.checks) for line in before.monitors}
    return any(
        old[line.id] != (line.time, line.business, line.checks) for line in now.monitors if line.id in old
    )


def _content(edition: Edition) -> ReportContent | None:
    return None if edition.content is None else _CONTENT.validate_python(edition.content)


def _wanted(report: ReportRow, day: str | None, now: datetime) -> Days:
    if report.period is PeriodKind.CUSTOM:
        return own_days(report)
    if day is None:
        return periods.last_complete(report.period, report.zone, now)
    return periods.containing(report.period, date.fromisoformat(day))


def _missed(report: ReportRow, now: datetime) -> list[Days]:
    if report.period is PeriodKind.CUSTOM:
        return [own_days(report)]
    if report.next_day is None:
        return []
    return list(periods.missed(report.period, report.next_day, report.zone, report.send_hour, now))


def _after(report: ReportRow, done: Sequence[Days]) -> ReportRow:
    """Return the report with the period after those that were *done* as its next."""
    if report.period is PeriodKind.CUSTOM or not done:
        return replace(report, next_day=None, due_at=None)
    days = periods.containing(report.period, done[-1].after)
    return replace(report, next_day=days.first, due_at=periods.due(days, report.zone, report.send_hour))


def _new(report: ReportRow, days: Days, *, mailed: bool) -> NewEdition:
    since, until = periods.span(days, report.zone)
    return NewEdition(
        team_id=report.team_id,
        report_id=report.id,
        id=ids.uuid7(),
        first_day=days.first,
        last_day=days.last,
        since=since,
        until=until,
        mailed=mailed,
    )
