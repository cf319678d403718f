"""Publishes, reads, updates and deletes the incidents of a status page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform import audit
from collector.platform.access import Actor, system
from collector.platform.storage.db import Db, Tx
from collector.status_pages.core.fields import PageIncidentSettings
from collector.status_pages.core.news import by_itself, reminds
from collector.status_pages.core.status_page import MAINTENANCE, RESOLVED, Status
from collector.status_pages.service import notifications
from collector.status_pages.service.fields import StatusPageRequest, asked_for, named, record, there, when
from collector.status_pages.service.notifications import notify, settable
from collector.status_pages.storage import components as status_pages_components
from collector.status_pages.storage import incidents as table
from collector.status_pages.storage import status_pages
from collector.status_pages.storage.incidents import PageIncident, PageIncidentFilter, Update
from collector.status_pages.storage.status_pages import StatusPage
from shared import ids

WHAT = "Status page incident"
_OPEN = PageIncidentFilter(open=True)


@dataclass(frozen=True, slots=True)
class PageIncidentDetails:
    """An incident with all its updates in order."""

    row: PageIncident
    updates: Sequence[Update]
    warnings: Sequence[str] = ()


async def page(
    db: Db, team_id: int, page_id: UUID, filters: PageIncidentFilter, limit: int, offset: int
) -> tuple[list[PageIncidentDetails], int]:
    """Incidents, newest first, and their total number; none for an unknown page."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, page_id, filters)
        return await newest(tx, team_id, page_id, filters, limit, offset), total


async def newest(
    tx: Tx, team_id: int, page_id: UUID, filters: PageIncidentFilter, limit: int | None, offset: int = 0
) -> list[PageIncidentDetails]:
    """Incidents of a page with their updates, newest first."""
    rows = await table.newest(tx, team_id, page_id, filters, limit, offset)
    updates = await table.updates(tx, team_id, [row.id for row in rows])
    return [PageIncidentDetails(row, updates[row.id]) for row in rows]


async def one(db: Db, team_id: int, page_id: UUID, id_: UUID) -> PageIncidentDetails:
    """One incident. Raises NotFound."""
    async with db.connection() as tx:
        return await _details(tx, there(await table.get(tx, team_id, page_id, id_), WHAT))


async def publish(
    db: Db, who: Actor, page_id: UUID, body: Mapping[str, Any], now: datetime
) -> PageIncidentDetails:
    """Publish an incident. Raises NotFound, Invalid."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        request = asked_for(PageIncidentSettings, body, {})
        asked, columns = await _columns(tx, page, request)
        row = PageIncident(
            team_id=who.team_id,
            id=ids.uuid7(),
            page_id=page_id,
            **columns,
            published_at=now,
            updated_at=now,
            resolved_at=now if asked.status == RESOLVED else None,
        )
        await table.insert(tx, row)
        written = await _add_update(tx, row, asked.message, now)
        await _hold(tx, row, _taken(None, row), now)
        await record(tx, who, "publish_incident", page)
        await notify(tx, who, page, None, row, written)
        return await _details(tx, row, request.warnings)


async def update(
    db: Db, who: Actor, page_id: UUID, id_: UUID, body: Mapping[str, Any], now: datetime
) -> PageIncidentDetails:
    """Add an update; resolving releases the components. Raises NotFound, Invalid."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        before = there(await table.get(tx, who.team_id, page_id, id_), WHAT)
        request = asked_for(PageIncidentSettings, body, settable(before))
        asked, columns = await _columns(tx, page, request, before)
        over = asked.status == RESOLVED
        same_start = columns["scheduled_start"] == before.scheduled_start
        after = replace(
            before,
            **columns,
            updated_at=now,
            resolved_at=(before.resolved_at or now) if over else None,
            reminded_at=before.reminded_at if same_start else None,
        )
        changed = audit.differing(settable(before), settable(after))
        await record(tx, who, "update_incident", page, [*changed, "message"])
        await _save(tx, who, page, before, after, asked.message, now)
        return await _details(tx, after, request.warnings)


async def come_to(tx: Tx, page: StatusPage, before: PageIncident, now: datetime) -> bool:
    """Start or end maintenance on schedule. Return whether it changed."""
    coming = by_itself(before.status, before.scheduled_start, before.scheduled_end, now)
    if before.severity != MAINTENANCE or coming is None:
        return False
    status, message = coming
    after = replace(
        before, status=status, updated_at=now, resolved_at=now if status == RESOLVED else before.resolved_at
    )
    who = system(page.team_id)
    await record(tx, who, "update_incident", page, ["status", "message"])
    await _save(tx, who, page, before, after, message, now)
    return True


async def remind(tx: Tx, row: PageIncident, now: datetime) -> bool:
    """Remind subscribers of maintenance if that is due; the page is locked. Return whether it was."""
    if row.severity != MAINTENANCE or not reminds(
        row.status,
        row.scheduled_start,
        row.reminder_minutes,
        reminded_at=row.reminded_at,
        updated_at=row.updated_at,
        now=now,
    ):
        return False
    await table.save(tx, replace(row, reminded_at=now))
    details = await _details(tx, row)
    await notifications.remind(tx, row, details.updates[-1], now)
    return True


async def delete(db: Db, who: Actor, page_id: UUID, id_: UUID, now: datetime) -> None:
    """Delete an incident and release its components. Raises NotFound."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        row = there(await table.get(tx, who.team_id, page_id, id_), WHAT)
        if row.component_status is not None:
            await _hold(tx, row, await _freed(tx, row, replace(row, components=[])), now)
        await table.delete(tx, who.team_id, page_id, id_)
        await record(tx, who, "delete_incident", page)


async def _columns(
    tx: Tx,
    page: StatusPage,
    request: StatusPageRequest[PageIncidentSettings],
    before: PageIncident | None = None,
) -> tuple[PageIncidentSettings, dict[str, Any]]:
    """Validate the request and convert it to columns. Raises Invalid."""
    rows = await status_pages_components.of_page(tx, page.team_id, page.id)
    known = {row.id for row in rows} | set(before.components if before else ())
    components, faults = named("affectedComponents", request.fields.get("affectedComponents"), known)
    asked = request.checked(faults)
    return asked, {
        "title": asked.title,
        "status": asked.status,
        "severity": asked.severity,
        "components": components,
        "component_status": asked.component_status,
        "scheduled_start": when(asked.scheduled_start),
        "scheduled_end": when(asked.scheduled_end),
        "reminder_minutes": asked.reminder_minutes,
    }


def _taken(before: PageIncident | None, after: PageIncident) -> dict[UUID, Status | None]:
    """The status that the incident sets on components; manual changes made since are kept."""
    if after.resolved_at is not None or after.component_status is None:
        return {}
    same = before is not None and before.resolved_at is None
    known = before.components if before and same and _held_alike(before, after) else ()
    return {id_: after.component_status for id_ in after.components if id_ not in known}


def _held_alike(before: PageIncident, after: PageIncident) -> bool:
    return before.component_status == after.component_status


async def _freed(tx: Tx, before: PageIncident, after: PageIncident) -> dict[UUID, Status | None]:
    """Components that the incident releases; None: to the monitor, or the status of another open incident."""
    if before.resolved_at is not None:
        return {}
    if after.resolved_at is not None:
        gone = set(before.components) | set(after.components)
    elif before.component_status is None:
        gone = set()
    else:
        gone = set(before.components) - set(after.components if after.component_status else ())
    others = await table.newest(tx, before.team_id, before.page_id, _OPEN, None, 0) if gone else []
    held = {
        id_: other.component_status
        for other in reversed(others)
        if other.id != before.id and other.component_status
        for id_ in other.components
    }
    return {id_: held.get(id_) for id_ in gone}


async def _hold(tx: Tx, row: PageIncident, held: dict[UUID, Status | None], now: datetime) -> None:
    if held:
        await status_pages_components.hold(tx, row.team_id, row.page_id, held, now)


async def _save(
    tx: Tx,
    who: Actor,
    page: StatusPage,
    before: PageIncident,
    after: PageIncident,
    message: str,
    now: datetime,
) -> None:
    await table.save(tx, after)
    written = await _add_update(tx, after, message, now)
    await _hold(tx, after, await _freed(tx, before, after) | _taken(before, after), now)
    await notify(tx, who, page, before, after, written)


async def _add_update(tx: Tx, row: PageIncident, message: str, now: datetime) -> Update:
    update = Update(
        team_id=row.team_id, id=ids.uuid7(), incident_id=row.id, status=row.status, message=message, at=now
    )
    await table.add_update(tx, update)
    return update


async def _details(tx: Tx, row: PageIncident, warnings: Sequence[str] = ()) -> PageIncidentDetails:
    return PageIncidentDetails(row, (await table.updates(tx, row.team_id, [row.id]))[row.id], warnings)
