"""Creates, finds and ends the links of screens on a wall."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from annotated_types import MaxLen, MinLen, Predicate

from collector.overview.storage import wall_links as table
from collector.overview.storage.wall_links import WallLink
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.monitor import has_ink
from collector.platform.secret_hash import secret_hash
from collector.platform.storage.db import Db
from collector.platform.validation.validation import check
from shared import ids
from shared.errors import Conflict, NotFound
from shared.kinds.fields import ErrorText

WHAT: Final = "Wall link"
MOST: Final = 50
LIVES: Final[Mapping[str, timedelta | None]] = {
    "never": None,
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
    "1y": timedelta(days=365),
}
# How often the use of a link is recorded.
_NOTED_EVERY: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WallLinkRequest:
    """A request for a link."""

    name: Annotated[str, MinLen(1), MaxLen(255), Predicate(has_ink), ErrorText("must not be blank")]
    """Name of the screen, 1 to 255 characters."""
    expires_in: Literal["never", "30d", "90d", "1y"] = "never"
    """How long the link is valid."""


@dataclass(frozen=True, slots=True)
class NewWallLink:
    """A new link; its *secret* is stored nowhere."""

    link: WallLink
    secret: str


async def create(db: Db, who: Actor, body: Mapping[str, Any], now: datetime) -> NewWallLink:
    """Create a link. Raises Invalid; Conflict if the team has too many."""
    request, _ = check(WallLinkRequest, body)
    life = LIVES[request.expires_in]
    ends = None if life is None else now + life
    link = WallLink(who.team_id, ids.uuid7(), request.name, who.name, now, ends)
    secret = secrets.token_urlsafe(32)
    async with db.transaction() as tx:
        if len(await table.of_team(tx, who.team_id)) >= MOST:
            raise Conflict(f"A team has {MOST} wall links at most; end some first")
        await table.insert(tx, link, secret_hash(secret))
        await audit.record(tx, who, "create", "wall-link", ids.show("wall", link.id), name=link.name)
    return NewWallLink(link, secret)


async def all_(db: Db, team_id: int) -> list[WallLink]:
    """The team's links, newest first."""
    async with db.connection() as tx:
        return await table.of_team(tx, team_id)


async def find(db: Db, secret: str, now: datetime) -> WallLink:
    """The link with this secret, whose use is recorded. Raises NotFound if it has ended."""
    async with db.connection() as tx:
        link = await table.with_hash(tx, secret_hash(secret), now)
        if link is None:
            raise NotFound("This link has ended. Create another one in the settings of the team.")
        if link.seen_at is None or now - link.seen_at >= _NOTED_EVERY:
            await table.seen(tx, link, now, _NOTED_EVERY)
    return link


async def end(db: Db, who: Actor, id_: UUID) -> None:
    """End a link: screens that use it show nothing any more. Raises NotFound."""
    async with db.transaction() as tx:
        name = await table.delete(tx, who.team_id, id_)
        if name is None:
            raise NotFound(f"{WHAT} not found")
        await audit.record(tx, who, "delete", "wall-link", ids.show("wall", id_), name=name)
