"""Status pages and their addresses."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.status_pages.core.status_page import Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPage:
    """*password*: a hash of accounts/core/passwords.py; *branding* uses JSON names.

    *domain_since*: when the domain was requested; *domain_proved_at*: when a proof was found.
    """

    team_id: int
    id: UUID
    name: str
    slug: str
    domain: str | None
    visibility: Visibility
    password: str | None
    branding: dict[str, Any]
    revision: int
    created_at: datetime
    updated_at: datetime
    domain_since: datetime | None = None
    domain_proved_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PageCounts:
    """Numbers of a page's components and subscribers; only confirmed *subscribers* count."""

    components: int
    subscribers: int


COLUMNS = [field.name for field in fields(StatusPage)]
_NAMES = ", ".join(f"p.{name}" for name in COLUMNS)
_FIXED = {"team_id", "id", "created_at"}


async def insert(tx: Tx, page: StatusPage) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(COLUMNS) + 1))
    await tx.execute(
        f"INSERT INTO status_pages ({', '.join(COLUMNS)}) VALUES ({places})",
        *(getattr(page, name) for name in COLUMNS),
    )


async def save(tx: Tx, page: StatusPage) -> None:
    """Write the mutable columns of a page."""
    names = [name for name in COLUMNS if name not in _FIXED]
    terms = ", ".join(f"{name} = ${place}" for place, name in enumerate(names, start=3))
    await tx.execute(
        f"UPDATE status_pages SET {terms} WHERE team_id = $1 AND id = $2",
        page.team_id,
        page.id,
        *(getattr(page, name) for name in names),
    )


async def touch(tx: Tx, team_id: int, id_: UUID, now: datetime) -> None:
    """Increase the page's revision after a change to its parts."""
    await tx.execute(
        "UPDATE status_pages SET revision = revision + 1, updated_at = $3 WHERE team_id = $1 AND id = $2",
        team_id,
        id_,
        now,
    )


async def get(tx: Tx, team_id: int, id_: UUID) -> StatusPage | None:
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_pages p WHERE p.team_id = $1 AND p.id = $2", team_id, id_
    )
    return StatusPage(**row) if row else None


async def lock(tx: Tx, team_id: int, id_: UUID) -> StatusPage | None:
    """As `get`, but lock the page and its parts until the transaction ends."""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_pages p WHERE p.team_id = $1 AND p.id = $2 FOR NO KEY UPDATE",
        team_id,
        id_,
    )
    return StatusPage(**row) if row else None


async def newest(tx: Tx, team_id: int, limit: int | None, offset: int) -> list[StatusPage]:
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM status_pages p WHERE p.team_id = $1
        ORDER BY p.created_at DESC, p.id DESC LIMIT $2 OFFSET $3
        """,
        team_id,
        limit,
        offset,
    )
    return [StatusPage(**row) for row in rows]


async def count(tx: Tx, team_id: int) -> int:
    total: int = await tx.fetchval("SELECT count(*) FROM status_pages WHERE team_id = $1", team_id)
    return total


async def counts(tx: Tx, team_id: int, ids: Sequence[UUID]) -> dict[UUID, PageCounts]:
    """The counts of each page."""
    rows = await tx.fetch(
        """
        SELECT u.id,
            (SELECT count(*) FROM status_components c
                WHERE c.team_id = $1 AND c.page_id = u.id) AS components,
            (SELECT count(*) FROM status_subscribers s
                WHERE s.team_id = $1 AND s.page_id = u.id AND s.verified_at IS NOT NULL) AS subscribers
        FROM unnest($2::uuid[]) AS u (id)
        """,
        team_id,
        list(ids),
    )
    return {row["id"]: PageCounts(row["components"], row["subscribers"]) for row in rows}


async def delete(tx: Tx, team_id: int, id_: UUID) -> None:
    """Delete the page with everything on it."""
    await tx.execute("DELETE FROM status_pages WHERE team_id = $1 AND id = $2", team_id, id_)


async def claim(tx: Tx, team_id: int, id_: UUID, kind: str, address: str | None) -> bool:
    """Assign *address* as the page's only one of its kind (slug, domain). Return whether it was free.

    Concurrent claims for the same address wait for each other.
    """
    if address is not None:
        mine = await tx.fetchval(
            """
            INSERT INTO status_page_addresses AS a (kind, address, team_id, page_id) VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, address) DO UPDATE SET page_id = excluded.page_id
                WHERE a.team_id = excluded.team_id AND a.page_id = excluded.page_id
            RETURNING true
            """,
            kind,
            address,
            team_id,
            id_,
        )
        if not mine:
            return False
    await tx.execute(
        """
        DELETE FROM status_page_addresses
        WHERE team_id = $1 AND page_id = $2 AND kind = $3 AND address IS DISTINCT FROM $4
        """,
        team_id,
        id_,
        kind,
        address,
    )
    return True


async def at(tx: Tx, kind: str, address: str) -> StatusPage | None:
    """The page of any team that has this address."""
    row = await tx.fetchrow(
        f"""
        SELECT {_NAMES} FROM status_page_addresses a
        JOIN status_pages p ON p.team_id = a.team_id AND p.id = a.page_id
        WHERE a.kind = $1 AND a.address = $2
        """,
        kind,
        address,
    )
    return StatusPage(**row) if row else None
