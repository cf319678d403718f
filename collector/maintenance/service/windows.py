"""Creates, reads, updates, ends and deletes the maintenance windows of a team."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from collector.maintenance.core.windows import (
    SHOWN,
    ComputedSpans,
    WindowSpan,
    WindowStatus,
    from_now,
    lay,
    status,
)
from collector.maintenance.service.fields import ParsedWindow, for_create, for_update
from collector.maintenance.storage import spans
from collector.maintenance.storage import windows as table
from collector.maintenance.storage.windows import WindowRow
from collector.monitors.storage import monitors
from collector.platform import audit, references
from collector.platform.access import Actor
from collector.platform.revision import require
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import ignored
from shared import ids
from shared.clock import iso
from shared.errors import Conflict, demand_found

WHAT = "Maintenance window"
# Every evaluation checks all windows in force.
MOST = 1_000
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class WindowDetails:
    """A window with its current and next spans, in order of their starts."""

    row: WindowRow
    spans: Sequence[WindowSpan]
    warnings: Sequence[str] = ()


def settable(row: WindowRow) -> dict[str, Any]:
    """The writable fields of a window, with their current values."""
    return {
        "name": row.name,
        "description": row.description,
        "monitors": [ids.show("mon", id_) for id_ in row.monitors],
        "tags": row.tags,
        "all": row.every,
        "start": iso(row.starts_at),
        "end": iso(row.starts_at + row.schedule.duration),
        "duration": row.duration_s,
        "timezone": row.timezone,
        "rrule": row.rrule,
        "exdates": [day.isoformat() for day in row.exdates],
        "enabled": row.enabled,
    }


async def create(db: Db, who: Actor, body: Mapping[str, Any], now: datetime) -> WindowDetails:
    """Create a window. Raises Invalid; Conflict if the team has too many."""
    request = for_create(body)
    async with db.transaction() as tx:
        asked = request.checked(await _strangers(tx, who.team_id, request.monitors, known=()))
        if await table.count(tx, who.team_id, None, now) >= MOST:
            raise Conflict(f"A team has {MOST} maintenance windows at most; delete some that are over")
        more = _lay(asked, now)
        row = WindowRow(
            team_id=who.team_id,
            id=ids.uuid7(),
            **_columns(asked),
            laid_until=more.until,
            extend_at=more.extend_at,
            revision=1,
            created_at=now,
            updated_at=now,
        )
        await table.insert(tx, row)
        await spans.lay(tx, row.team_id, row.id, more.spans, asked.selection, now)
        await audit.record(tx, who, "create", "maintenance-window", ids.show("mw", row.id), name=row.name)
        return await _known(tx, row, now, await _warnings(tx, row, request.unknown, now))


async def page(
    db: Db, team_id: int, wanted: str | None, now: datetime, limit: int, offset: int
) -> tuple[list[WindowDetails], int]:
    """Windows of one status or all, newest first, and their total number."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, wanted, now)
        rows = await table.newest(tx, team_id, wanted, now, limit, offset) if offset < total else []
        coming = await spans.coming(tx, team_id, [row.id for row in rows], now, SHOWN)
    return [WindowDetails(row, coming[row.id]) for row in rows], total


async def one(db: Db, team_id: int, id_: UUID, now: datetime) -> WindowDetails:
    """One window. Raises NotFound."""
    async with db.connection() as tx:
        return await _known(tx, demand_found(await table.get(tx, team_id, id_), WHAT), now)


async def update(
    db: Db,
    who: Actor,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    only: frozenset[str] | None = None,
) -> WindowDetails:
    """Update a window; past spans stay. Without a change the revision stays.

    *only*: the accepted revisions. Raises NotFound, PreconditionFailed, Invalid, in this order.
    """
    async with db.transaction() as tx:
        before = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        require(before.revision, only)
        request = for_update(body, settable(before), before.schedule)
        asked = request.checked(await _strangers(tx, who.team_id, request.monitors, before.monitors))
        after = replace(before, **_columns(asked))
        if after == before:
            return await _known(tx, before, now, await _warnings(tx, before, request.unknown, now))
        after = await _revised(
            tx, before, replace(after, revision=before.revision + 1, updated_at=now), asked, now
        )
        await _record(tx, who, "update", before, after)
        return await _known(tx, after, now, await _warnings(tx, after, request.unknown, now))


async def end(db: Db, who: Actor, id_: UUID, now: datetime) -> WindowDetails:
    """End the current span now; a recurring window recurs. Raises NotFound, Conflict."""
    async with db.transaction() as tx:
        before = after = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        if not await spans.end(tx, who.team_id, id_, now):
            raise Conflict(f"{WHAT} is not under way")
        if before.rrule is None:
            lasted = max(1, (now - before.starts_at) // _SECOND)
            after = replace(before, duration_s=lasted, revision=before.revision + 1, updated_at=now)
            await table.save(tx, after)
        await _record(tx, who, "end", before, after)
        return await _known(tx, after, now)


async def delete(db: Db, who: Actor, id_: UUID, now: datetime, *, only: frozenset[str] | None = None) -> None:
    """Delete a window; its current span ends now, past spans stay. Raises NotFound, PreconditionFailed."""
    async with db.transaction() as tx:
        row = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        require(row.revision, only)
        await spans.cut(tx, who.team_id, id_, now)
        await table.delete(tx, who.team_id, id_)
        await audit.record(tx, who, "delete", "maintenance-window", ids.show("mw", id_), name=row.name)


def _columns(asked: ParsedWindow) -> dict[str, Any]:
    schedule, selection = asked.schedule, asked.selection
    return {
        "name": asked.name,
        "description": asked.description,
        "monitors": list(selection.monitors),
        "tags": selection.tags,
        "every": selection.every,
        "starts_at": schedule.starts_at,
        "starts_local": schedule.starts_local,
        "duration_s": schedule.duration // _SECOND,
        "timezone": schedule.timezone,
        "rrule": schedule.rrule,
        "exdates": list(schedule.exdates),
        "enabled": asked.enabled,
    }


def _lay(asked: ParsedWindow, now: datetime) -> ComputedSpans:
    return lay(asked.schedule, None, now) if asked.enabled else ComputedSpans([], None, None)


async def _revised(
    tx: Tx, before: WindowRow, after: WindowRow, asked: ParsedWindow, now: datetime
) -> WindowRow:
    """Write the row, and the spans if they change from now on."""
    if (before.schedule, before.enabled) != (after.schedule, after.enabled):
        more = _lay(asked, now)
        await spans.cut(tx, after.team_id, after.id, now)
        await spans.lay(tx, after.team_id, after.id, from_now(more.spans, now), after.selection, now)
        after = replace(after, laid_until=more.until, extend_at=more.extend_at)
    elif before.selection != after.selection:
        await spans.reselect(tx, after.team_id, after.id, after.selection, now)
    await table.save(tx, after)
    return after


async def _record(tx: Tx, who: Actor, action: str, before: WindowRow, after: WindowRow) -> None:
    old, new = settable(before), settable(after)
    changed = [name for name in new if new[name] != old[name]]
    await audit.record(
        tx, who, action, "maintenance-window", ids.show("mw", after.id), name=after.name, fields=changed
    )


async def _known(tx: Tx, row: WindowRow, now: datetime, warnings: Sequence[str] = ()) -> WindowDetails:
    coming = await spans.coming(tx, row.team_id, [row.id], now, SHOWN)
    return WindowDetails(row, coming[row.id], warnings)


async def _warnings(tx: Tx, row: WindowRow, unknown: Sequence[str], now: datetime) -> list[str]:
    warnings = ignored(unknown)
    if row.every and (row.monitors or row.tags):
        warnings.append("all: true takes every monitor of the team, whatever monitors and tags say")
    if not await spans.concerns_any(tx, row.team_id, row.selection):
        warnings.append("no monitor is selected as things are")
    coming = await spans.coming(tx, row.team_id, [row.id], now, SHOWN)
    return warnings + _of_time(row, coming[row.id], now)


def _of_time(row: WindowRow, coming: Sequence[WindowSpan], now: datetime) -> list[str]:
    warnings = []
    if status(coming, now, enabled=row.enabled) is WindowStatus.ENDED:
        warnings.append("it is over: it comes no more")
    if any(span.ends_at >= other.starts_at for span, other in pairwise(coming)):
        warnings.append("duration reaches to the next start: it does not end in between")
    if row.rrule is not None and coming and row.starts_at > now and coming[0].starts_at != row.starts_at:
        warnings.append(f"start is none of the rule's times: the first one is {iso(coming[0].starts_at)}")
    return warnings


async def _strangers(
    tx: Tx, team_id: int, named: Mapping[str, UUID], known: Collection[UUID]
) -> dict[str, str]:
    """Errors for ids of monitors that the team does not have; *known* ones may have been deleted since."""
    new = {key: id_ for key, id_ in named.items() if id_ not in known}
    there = await monitors.known(tx, team_id, list(new.values())) if new else set()
    return references.strangers(new, there, "there is no such monitor")
