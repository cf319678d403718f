"""Who is told by mail of what a status page tells."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from collector.storage.db import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    """*email* is in small letters; *components* empty: all of the page's."""

    team_id: int
    id: UUID
    page_id: UUID
    email: str
    preferences: dict[str, bool]
    components: Sequence[UUID]
    verified_at: datetime | None
    subscribed_at: datetime


_COLUMNS = [field.name for field in fields(Subscriber)]
_NAMES = ", ".join(_COLUMNS)
_OF_PAGE = "team_id = $1 AND page_id = $2"


async def insert(tx: Tx, subscriber: Subscriber) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
    await tx.execute(
        f"INSERT INTO status_subscribers ({_NAMES}) VALUES ({places})",
        *(getattr(subscriber, name) for name in _COLUMNS),
    )


async def save(tx: Tx, subscriber: Subscriber) -> None:
    """Write what a subscriber wants to hear of."""
    await tx.execute(
        "UPDATE status_subscribers SET preferences = $3, components = $4 WHERE team_id = $1 AND id = $2",
        subscriber.team_id,
        subscriber.id,
        subscriber.preferences,
        list(subscriber.components),
    )


async def get(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> Subscriber | None:
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_subscribers WHERE {_OF_PAGE} AND id = $3", team_id, page_id, id_
    )
    return Subscriber(**row) if row else None


async def with_email(tx: Tx, team_id: int, page_id: UUID, email: str) -> Subscriber | None:
    """*email* in small letters."""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_subscribers WHERE {_OF_PAGE} AND email = $3", team_id, page_id, email
    )
    return Subscriber(**row) if row else None


async def newest(tx: Tx, team_id: int, page_id: UUID, limit: int | None, offset: int) -> list[Subscriber]:
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM status_subscribers WHERE {_OF_PAGE}
        ORDER BY subscribed_at DESC, id DESC LIMIT $3 OFFSET $4
        """,
        team_id,
        page_id,
        limit,
        offset,
    )
    return [Subscriber(**row) for row in rows]


async def count(tx: Tx, team_id: int, page_id: UUID) -> int:
    total: int = await tx.fetchval(
        f"SELECT count(*) FROM status_subscribers WHERE {_OF_PAGE}", team_id, page_id
    )
    return total


async def delete(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> None:
    await tx.execute(f"DELETE FROM status_subscribers WHERE {_OF_PAGE} AND id = $3", team_id, page_id, id_)
