"""Who is told by mail of what a status page tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.core.access import Actor
from collector.core.statuspage_fields import Subscriber as Fields
from collector.services import audit
from collector.services.status_pages_fields import named, record, there, wish
from collector.services.validation import to_json
from collector.storage import status_pages, status_pages_components
from collector.storage import status_pages_subscribers as table
from collector.storage.db import Db, Tx
from collector.storage.status_pages_subscribers import Subscriber
from shared import ids
from shared.errors import Conflict

WHAT = "Subscriber"
_UNTOLD = "no mail was sent to confirm the address"


@dataclass(frozen=True, slots=True)
class Known:
    """A subscriber, and what a request said in vain."""

    row: Subscriber
    warnings: Sequence[str] = ()


def settable(row: Subscriber) -> dict[str, Any]:
    """What a caller may set of a subscriber, as it is shown."""
    return {
        "email": row.email,
        "preferences": row.preferences,
        "components": [ids.show("comp", id_) for id_ in row.components],
    }


async def page(
    db: Db, team_id: int, page_id: UUID, limit: int | None, offset: int
) -> tuple[list[Subscriber], int]:
    """Newest first, and how many there are. Raises NotFound."""
    async with db.connection() as tx:
        there(await status_pages.get(tx, team_id, page_id))
        total = await table.count(tx, team_id, page_id)
        return await table.newest(tx, team_id, page_id, limit, offset), total


async def one(db: Db, team_id: int, page_id: UUID, id_: UUID) -> Subscriber:
    """Raises NotFound."""
    async with db.connection() as tx:
        return there(await table.get(tx, team_id, page_id, id_), WHAT)


async def add(db: Db, who: Actor, page_id: UUID, body: Mapping[str, Any], now: datetime) -> Known:
    """The same address again is the same one, with its new wishes. Raises NotFound, Invalid, Conflict."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        asked, warnings = wish(Fields, body, {})
        row = Subscriber(
            team_id=who.team_id,
            id=ids.uuid7(),
            page_id=page_id,
            email=asked.email.lower(),
            **await _columns(tx, page, asked),
            verified_at=None,
            subscribed_at=now,
        )
        before = await table.with_email(tx, who.team_id, page_id, row.email)
        if before is None:
            await table.insert(tx, row)
            await record(tx, who, "add_subscriber", page)
            return Known(row, [*warnings, _UNTOLD])
        if before.verified_at is not None:
            raise Conflict("This address has subscribed already")
        row = replace(row, id=before.id, subscribed_at=before.subscribed_at)
        await _save(tx, who, page, before, row)
        return Known(row, [*warnings, _UNTOLD])


async def update(db: Db, who: Actor, page_id: UUID, id_: UUID, body: Mapping[str, Any]) -> Known:
    """The address stays as it is: another one is another subscriber. Raises NotFound, Invalid."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        before = there(await table.get(tx, who.team_id, page_id, id_), WHAT)
        sent = {name: value for name, value in body.items() if name != "email"}
        preferences = sent.get("preferences")
        if isinstance(preferences, dict):
            sent["preferences"] = {**before.preferences, **preferences}
        asked, warnings = wish(Fields, sent, settable(before))
        row = replace(before, **await _columns(tx, page, asked))
        await _save(tx, who, page, before, row)
        return Known(row, warnings)


async def delete(db: Db, who: Actor, page_id: UUID, id_: UUID) -> None:
    """Raises NotFound."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        there(await table.get(tx, who.team_id, page_id, id_), WHAT)
        await table.delete(tx, who.team_id, page_id, id_)
        await record(tx, who, "delete_subscriber", page)


async def _columns(tx: Tx, page: status_pages.Page, asked: Fields) -> dict[str, Any]:
    known = {row.id for row in await status_pages_components.of_page(tx, page.team_id, page.id)}
    return {
        "preferences": to_json(asked.preferences),
        "components": named("components", asked.components, known),
    }


async def _save(tx: Tx, who: Actor, page: status_pages.Page, before: Subscriber, after: Subscriber) -> None:
    changed = audit.differing(settable(before), settable(after))
    if changed:
        await table.save(tx, after)
        await record(tx, who, "update_subscriber", page, changed)
