"""Subscribers of status pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscriber:
    """*email* is in lower case, None if there is a *sealed_hook* (URL and signing secret, sealed).

    *components* empty: all of the page's; *sealed_link_key* signs the links in mails, *link_key* is its
    unsealed predecessor; *asked_at*: when the last mail about the subscription was queued; *by_form*:
    subscribed on the page.
    """

    team_id: int
    id: UUID
    page_id: UUID
    email: str | None
    sealed_hook: bytes | None
    link_key: bytes | None = field(repr=False)
    sealed_link_key: bytes | None
    asked_at: datetime | None
    by_form: bool
    language: str
    preferences: dict[str, bool]
    components: Sequence[UUID]
    verified_at: datetime | None
    subscribed_at: datetime


_COLUMNS = [column.name for column in fields(Subscriber)]
_NAMES = ", ".join(_COLUMNS)
_OF_PAGE = "team_id = $1 AND page_id = $2"


async def insert(tx: Tx, subscriber: Subscriber) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
    await tx.execute(
        f"INSERT INTO status_subscribers ({_NAMES}) VALUES ({places})",
        *(getattr(subscriber, name) for name in _COLUMNS),
    )


async def save(tx: Tx, subscriber: Subscriber) -> None:
    """Write the mutable columns of a subscriber."""
    await tx.execute(
        """
        UPDATE status_subscribers
        SET preferences = $3, components = $4, verified_at = $5, asked_at = $6, by_form = $7, sealed_hook = $8
        WHERE team_id = $1 AND id = $2
        """,
        subscriber.team_id,
        subscriber.id,
        subscriber.preferences,
        list(subscriber.components),
        subscriber.verified_at,
        subscriber.asked_at,
        subscriber.by_form,
        subscriber.sealed_hook,
    )


async def get(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> Subscriber | None:
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_subscribers WHERE {_OF_PAGE} AND id = $3", team_id, page_id, id_
    )
    return Subscriber(**row) if row else None


async def with_email(tx: Tx, team_id: int, page_id: UUID, email: str) -> Subscriber | None:
    """The subscriber with this *email* (lower case)."""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_subscribers WHERE {_OF_PAGE} AND email = $3", team_id, page_id, email
    )
    return Subscriber(**row) if row else None


async def with_link(tx: Tx, id_: UUID) -> Subscriber | None:
    """Lock a subscriber of any team: the link's signature alone authorizes the request."""
    row = await tx.fetchrow(f"SELECT {_NAMES} FROM status_subscribers WHERE id = $1 FOR UPDATE", id_)
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


async def webhooks(tx: Tx, team_id: int, page_id: UUID) -> int:
    """The number of webhook subscribers of a page."""
    total: int = await tx.fetchval(
        f"SELECT count(*) FROM status_subscribers WHERE {_OF_PAGE} AND sealed_hook IS NOT NULL",
        team_id,
        page_id,
    )
    return total


async def delete(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> None:
    await tx.execute(f"DELETE FROM status_subscribers WHERE {_OF_PAGE} AND id = $3", team_id, page_id, id_)


async def unsealed(tx: Tx, limit: int) -> list[Subscriber]:
    """Some subscribers with an unsealed `link_key`, locked; rows locked by others are skipped."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM status_subscribers WHERE link_key IS NOT NULL
        LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
        """,
        limit,
    )
    return [Subscriber(**row) for row in rows]


async def seal_link_keys(tx: Tx, sealed: Mapping[tuple[int, UUID], bytes]) -> None:
    """Replace the unsealed link keys with the sealed ones."""
    await tx.execute(
        """
        UPDATE status_subscribers s SET sealed_link_key = u.sealed, link_key = NULL
        FROM unnest($1::int[], $2::uuid[], $3::bytea[]) AS u (team_id, id, sealed)
        WHERE s.team_id = u.team_id AND s.id = u.id AND s.link_key IS NOT NULL
        """,
        [team_id for team_id, _ in sealed],
        [id_ for _, id_ in sealed],
        list(sealed.values()),
    )


async def asked_since(tx: Tx, team_id: int, page_id: UUID, since: datetime) -> int:
    """How many form subscribers were asked to confirm since then and have not."""
    total: int = await tx.fetchval(
        f"SELECT count(*) FROM status_subscribers WHERE {_OF_PAGE} AND by_form AND verified_at IS NULL"
        " AND asked_at > $3",
        team_id,
        page_id,
        since,
    )
    return total


async def forget(tx: Tx, before: datetime) -> None:
    """Delete form subscribers who were last asked before then and have not confirmed."""
    await tx.execute(
        "DELETE FROM status_subscribers WHERE by_form AND verified_at IS NULL AND asked_at < $1", before
    )
