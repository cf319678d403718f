"""Creates, reads, updates and deletes the components of a status page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.monitors.storage import parents
from collector.platform import audit, references
from collector.platform.access import Actor
from collector.platform.storage.db import Db, Tx
from collector.status_pages.core.fields import MAX_COMPONENTS, ComponentOrder, ComponentSettings, NewPage
from collector.status_pages.core.status_page import Displayed, Health, PagePart, Shown, held_after, shown
from collector.status_pages.service.fields import StatusPageRequest, asked_for, named, record, there
from collector.status_pages.storage import components as table
from collector.status_pages.storage import incidents, status_pages
from collector.status_pages.storage.components import Component
from collector.status_pages.storage.status_pages import StatusPage
from shared import ids
from shared.errors import Conflict

WHAT = "Component"


@dataclass(frozen=True, slots=True)
class ComponentDetails:
    """A component and its current status; *unmeasured_since*: None while its monitor is measured.

    *unknown*: operational only for lack of data: unmeasured, and not set by hand.
    """

    row: Component
    shown: Shown
    unmeasured_since: datetime | None
    unknown: bool = False
    warnings: Sequence[str] = ()

    @property
    def part(self) -> PagePart:
        """The component in the status of its page, without incidents."""
        return PagePart(self.shown.status, self.row.essential)

    @property
    def displayed(self) -> Displayed:
        """The status as displayed on the page."""
        return "unknown" if self.unknown else self.shown.status


def settable(row: Component) -> dict[str, Any]:
    """The writable fields of a component except its status, with their current values."""
    return {
        "name": row.name,
        "description": row.description,
        "group": row.group_name,
        "monitorId": row.monitor_id and ids.show("mon", row.monitor_id),
        "order": row.position,
        "statusMessage": row.message,
        "essential": row.essential,
        "showUptime": row.show_uptime,
    }


async def seen(tx: Tx, team_id: int, page_id: UUID, now: datetime) -> list[ComponentDetails]:
    """The components of a page in their order, with their current status."""
    return await _look(tx, team_id, page_id, await table.of_page(tx, team_id, page_id), now)


async def all_(db: Db, team_id: int, page_id: UUID, now: datetime) -> list[ComponentDetails]:
    """As `seen`, for API callers. Raises NotFound."""
    async with db.connection() as tx:
        there(await status_pages.get(tx, team_id, page_id))
        return await seen(tx, team_id, page_id, now)


async def one(db: Db, team_id: int, page_id: UUID, id_: UUID, now: datetime) -> ComponentDetails:
    """One component with its current status. Raises NotFound."""
    async with db.connection() as tx:
        row = there(await table.get(tx, team_id, page_id, id_), WHAT)
        return (await _look(tx, team_id, page_id, [row], now))[0]


async def add(db: Db, who: Actor, page_id: UUID, body: Mapping[str, Any], now: datetime) -> ComponentDetails:
    """Add a component. Raises NotFound, Invalid, Conflict."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        request = asked_for(ComponentSettings, body, {})
        monitors, faults = await _monitors(tx, who.team_id, [request.fields], "")
        (row,) = await _add_all(tx, page, [request.checked(faults)], monitors, now)
        await status_pages.touch(tx, who.team_id, page_id, now)
        await record(tx, who, "add_component", page)
        return replace((await _look(tx, who.team_id, page_id, [row], now))[0], warnings=request.warnings)


async def add_first(tx: Tx, page: StatusPage, request: StatusPageRequest[NewPage], now: datetime) -> None:
    """Add the initial components to a new page. Raises Invalid."""
    monitors, faults = await named_first(tx, page.team_id, request)
    await _add_all(tx, page, request.checked(faults).components, monitors, now)


async def named_first(
    tx: Tx, team_id: int, request: StatusPageRequest[NewPage]
) -> tuple[list[UUID | None], dict[str, str]]:
    """The monitor behind each initial component of a page, and errors for unknown monitors."""
    listed = request.fields.get("components")
    return await _monitors(tx, team_id, listed if isinstance(listed, list) else [], "components[{}].")


async def _add_all(
    tx: Tx,
    page: StatusPage,
    asked: Sequence[ComponentSettings],
    monitors: Sequence[UUID | None],
    now: datetime,
) -> list[Component]:
    """Add components to a page, after the existing ones. Raises Conflict."""
    there_are = await table.of_page(tx, page.team_id, page.id)
    if len(there_are) + len(asked) > MAX_COMPONENTS:
        raise Conflict(f"A status page has {MAX_COMPONENTS} components at most")
    health = await table.health(tx, page.team_id, [id_ for id_ in monitors if id_], now)
    after = max((component.position for component in there_are), default=0) + 1
    rows = [
        Component(
            team_id=page.team_id,
            id=ids.uuid7(),
            page_id=page.id,
            **_columns(fields, monitor),
            position=after + at if fields.order is None else fields.order,
            held=held_after(None, _shown(health, monitor), fields.status, fields.status_mode),
            created_at=now,
            updated_at=now,
        )
        for at, (fields, monitor) in enumerate(zip(asked, monitors, strict=True))
    ]
    for row in rows:
        await table.insert(tx, row)
    return rows


async def update(
    db: Db, who: Actor, page_id: UUID, id_: UUID, body: Mapping[str, Any], now: datetime
) -> ComponentDetails:
    """Update a component; sending the displayed status changes nothing. Raises NotFound, Invalid."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        before = there(await table.get(tx, who.team_id, page_id, id_), WHAT)
        request = asked_for(ComponentSettings, body, settable(before))
        monitor, faults = before.monitor_id, dict[str, str]()
        if request.fields["monitorId"] != (monitor and ids.show("mon", monitor)):
            (monitor,), faults = await _monitors(tx, who.team_id, [request.fields], "")
        asked = request.checked(faults)
        after = replace(before, **_columns(asked, monitor), position=_position(asked, before))
        (present,) = await _look(tx, who.team_id, page_id, [after], now)
        after = replace(after, held=held_after(before.held, present.shown, asked.status, asked.status_mode))
        if after != before:
            after = replace(after, updated_at=now)
            await table.save(tx, after)
            await status_pages.touch(tx, who.team_id, page_id, now)
            changed = audit.differing(settable(before), settable(after))
            await record(
                tx, who, "update_component", page, changed + ["status"] * (before.held != after.held)
            )
        return replace((await _look(tx, who.team_id, page_id, [after], now))[0], warnings=request.warnings)


async def delete(db: Db, who: Actor, page_id: UUID, id_: UUID, now: datetime) -> None:
    """Delete a component. Raises NotFound."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        there(await table.get(tx, who.team_id, page_id, id_), WHAT)
        await table.delete(tx, who.team_id, page_id, id_)
        await status_pages.touch(tx, who.team_id, page_id, now)
        await record(tx, who, "delete_component", page)


async def arrange(
    db: Db, who: Actor, page_id: UUID, body: Mapping[str, Any], now: datetime
) -> tuple[list[ComponentDetails], list[str]]:
    """Reorder the components; omitted ones are moved to the end. Raises NotFound, Invalid."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        request = asked_for(ComponentOrder, body, {})
        old = [component.id for component in await table.of_page(tx, who.team_id, page_id)]
        first, faults = named("components", request.fields.get("components"), set(old))
        request.checked(faults)
        new = list(dict.fromkeys([*first, *old]))
        if new != old:
            await table.arrange(tx, who.team_id, page_id, new, now)
            await status_pages.touch(tx, who.team_id, page_id, now)
            await record(tx, who, "arrange_components", page)
        return await seen(tx, who.team_id, page_id, now), request.warnings


async def _look(
    tx: Tx, team_id: int, page_id: UUID, rows: Sequence[Component], now: datetime
) -> list[ComponentDetails]:
    monitors = [row.monitor_id for row in rows if row.monitor_id is not None]
    health = await table.health(tx, team_id, monitors, now) if monitors else {}
    planned = await incidents.planned(tx, team_id, page_id, now)
    return [_seen(row, health.get(row.monitor_id) if row.monitor_id else None, planned) for row in rows]


def _seen(row: Component, health: Health | None, planned: set[UUID]) -> ComponentDetails:
    now = shown(row.held, health, planned=row.id in planned)
    if health is None:
        return ComponentDetails(row, now, None)
    unknown = health.unknown and row.held is None and now.status == "operational"
    return ComponentDetails(row, now, health.unmeasured_since, unknown)


def _shown(health: Mapping[UUID, Health], monitor: UUID | None) -> Shown:
    """What a new component will show."""
    return shown(None, health.get(monitor) if monitor else None, planned=False)


def _columns(asked: ComponentSettings, monitor: UUID | None) -> dict[str, Any]:
    return {
        "name": asked.name,
        "description": asked.description,
        "group_name": asked.group or None,
        "monitor_id": monitor,
        "message": asked.status_message or "",
        "essential": asked.essential,
        "show_uptime": asked.show_uptime,
    }


def _position(asked: ComponentSettings, before: Component) -> int:
    return before.position if asked.order is None else asked.order


async def _monitors(
    tx: Tx, team_id: int, sent: Sequence[Any], prefix: str
) -> tuple[list[UUID | None], dict[str, str]]:
    """The monitor behind each component, and errors for monitors that the team does not have."""
    keys = [f"{prefix.format(at)}monitorId" for at in range(len(sent))]
    named: dict[str, UUID] = {}
    for key, one in zip(keys, sent, strict=True):
        named |= references.one("mon", key, one.get("monitorId") if isinstance(one, Mapping) else None)
    have = await parents.hold(tx, team_id, list(set(named.values()))) if named else set()
    return [named.get(key) for key in keys], references.strangers(named, have, "there is no such monitor")
