"""Creates, reads, updates and deletes the reports of a team."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from collector.monitors.storage import monitors
from collector.platform import audit, references
from collector.platform.access import Actor
from collector.platform.revision import require
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import ignored
from collector.reports.core import periods
from collector.reports.core.periods import Days, PeriodKind
from collector.reports.service.fields import ReportRequest, parse
from collector.reports.storage import editions
from collector.reports.storage import reports as table
from collector.reports.storage.editions import Edition
from collector.reports.storage.reports import ReportRow
from shared import ids
from shared.errors import Conflict, Invalid, demand_found

WHAT: Final = "Report"
MOST: Final = 200
_RESOURCE: Final = "report"


@dataclass(frozen=True, slots=True)
class ReportDetails:
    """A report with the newest edition of its latest period."""

    row: ReportRow
    edition: Edition | None
    warnings: Sequence[str] = ()


def settable(row: ReportRow) -> dict[str, Any]:
    """Return the writable fields of a report, with their current values."""
    return {
        "name": row.name,
        "statusPage": ids.show("sp", row.status_page_id) if row.status_page_id else None,
        "monitors": [ids.show("mon", id_) for id_ in row.monitors],
        "tags": row.tags,
        "period": row.period.value,
        "firstDay": row.first_day.isoformat() if row.first_day else None,
        "lastDay": row.last_day.isoformat() if row.last_day else None,
        "timezone": row.timezone,
        "sendHour": row.send_hour,
        "businessHours": row.business_hours,
        "target": row.target,
        "recipients": list(row.recipients),
        "enabled": row.enabled,
    }


def scheduled(row: ReportRow, now: datetime) -> ReportRow:
    """Return the report with its next period: the first that is not over, or the custom one."""
    if not row.enabled:
        return replace(row, next_day=None, due_at=None)
    if row.period is PeriodKind.CUSTOM:
        days = own_days(row)
    else:
        days = periods.containing(row.period, now.astimezone(row.zone).date())
    return replace(row, next_day=days.first, due_at=periods.due(days, row.zone, row.send_hour))


def own_days(row: ReportRow) -> Days:
    """Return the days of a report with a custom period. Raises ValueError for any other."""
    if row.first_day is None or row.last_day is None:
        raise ValueError("only a custom period has days of its own")
    return Days(row.first_day, row.last_day)


async def create(db: Db, who: Actor, body: Mapping[str, Any], now: datetime) -> ReportDetails:
    """Create a report. Raises Invalid; Conflict if the team has too many."""
    request = parse(body, {})
    async with db.transaction() as tx:
        await _refuse_strangers(tx, who.team_id, request)
        if await table.count(tx, who.team_id) >= MOST:
            raise Conflict(f"A team has {MOST} reports at most; delete one first")
        row = ReportRow(
            team_id=who.team_id,
            id=ids.uuid7(),
            **request.columns,
            next_day=None,
            due_at=None,
            revision=1,
            created_at=now,
            updated_at=now,
        )
        row = scheduled(row, now)
        await table.insert(tx, row)
        await audit.record(tx, who, "create", _RESOURCE, ids.show("rep", row.id), name=row.name)
    return ReportDetails(row, None, ignored(request.unknown))


async def page(db: Db, team_id: int, limit: int, offset: int) -> tuple[list[ReportDetails], int]:
    """Return reports, newest first, and their total number."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id)
        rows = await table.newest(tx, team_id, limit, offset) if offset < total else []
        latest = await editions.latest(tx, team_id, [row.id for row in rows])
    return [ReportDetails(row, latest.get(row.id)) for row in rows], total


async def one(db: Db, team_id: int, id_: UUID) -> ReportDetails:
    """Return one report. Raises NotFound."""
    async with db.connection() as tx:
        row = demand_found(await table.get(tx, team_id, id_), WHAT)
        latest = await editions.latest(tx, team_id, [id_])
    return ReportDetails(row, latest.get(id_))


async def update(
    db: Db,
    who: Actor,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    only: frozenset[str] | None = None,
) -> ReportDetails:
    """Update a report; its editions stay. Without a change the revision stays.

    *only*: the accepted revisions. Raises NotFound, PreconditionFailed, Invalid, in this order.
    """
    async with db.transaction() as tx:
        before = demand_found(await table.get(tx, who.team_id, id_, lock=True), WHAT)
        require(before.revision, only)
        old = settable(before)
        request = parse(body, old)
        await _refuse_strangers(tx, who.team_id, request, before)
        after = replace(before, **request.columns)
        if fields := audit.differing(old, settable(after)):
            after = replace(after, revision=before.revision + 1, updated_at=now)
            if _moves(before, after):
                after = scheduled(after, now)
            await table.save(tx, after)
            await audit.record(
                tx, who, "update", _RESOURCE, ids.show("rep", id_), name=after.name, fields=fields
            )
        latest = await editions.latest(tx, who.team_id, [id_])
    return ReportDetails(after, latest.get(id_), ignored(request.unknown))


async def delete(db: Db, who: Actor, id_: UUID, *, only: frozenset[str] | None = None) -> None:
    """Delete a report with its editions. Raises NotFound, PreconditionFailed."""
    async with db.transaction() as tx:
        row = demand_found(await table.get(tx, who.team_id, id_, lock=True), WHAT)
        require(row.revision, only)
        await table.delete(tx, who.team_id, id_)
        await audit.record(tx, who, "delete", _RESOURCE, ids.show("rep", id_), name=row.name)


async def page_names(db: Db, team_id: int) -> dict[UUID, str]:
    """Return the names of the team's status pages, for a choice."""
    async with db.connection() as tx:
        return await table.page_names(tx, team_id)


def _moves(before: ReportRow, after: ReportRow) -> bool:
    """Whether the next period or its moment changes."""
    return any(
        getattr(before, name) != getattr(after, name)
        for name in ("period", "first_day", "last_day", "timezone", "send_hour", "enabled")
    )


async def _refuse_strangers(
    tx: Tx, team_id: int, request: ReportRequest, before: ReportRow | None = None
) -> None:
    """Raise Invalid for monitors and pages that the team has not; *before* may name deleted ones."""
    known = set(before.monitors) if before else set()
    new = {key: id_ for key, id_ in request.monitors.items() if id_ not in known}
    there = await monitors.known(tx, team_id, list(new.values())) if new else set()
    faults = references.strangers(new, there, "there is no such monitor")
    page = request.page
    is_new = page is not None and page != (before.status_page_id if before else None)
    if page and is_new and await table.page_name(tx, team_id, page) is None:
        faults["statusPage"] = "there is no such status page"
    if faults:
        raise Invalid(faults)
