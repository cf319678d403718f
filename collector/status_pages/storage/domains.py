"""Custom domains of status pages: the page of each, and the proofs to look for."""

from collections.abc import Collection
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.status_pages.storage.status_pages import COLUMNS, StatusPage

# Frequent at first, then with growing intervals up to a day.
_REST = "least('1 day'::interval, greatest('1 minute'::interval, (clock_timestamp() - p.domain_since) / 20))"


async def release(tx: Tx, team_id: int, page_id: UUID) -> None:
    """Release the page's domain."""
    await tx.execute(
        "DELETE FROM status_page_addresses WHERE team_id = $1 AND page_id = $2 AND kind = 'domain'",
        team_id,
        page_id,
    )


async def is_taken(tx: Tx, team_id: int, domain: str) -> bool:
    """Whether another page of the team has this domain, or a page of another team has proved it."""
    taken: bool = await tx.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM status_page_addresses a
            JOIN status_pages p ON p.team_id = a.team_id AND p.id = a.page_id
            WHERE a.kind = 'domain' AND a.address = $2
                AND (a.team_id = $1 OR p.domain_proved_at IS NOT NULL)
        )
        """,
        team_id,
        domain,
    )
    return taken


async def take(tx: Tx, team_id: int, page_id: UUID, domain: str) -> bool:
    """Assign the domain to the page unless another one proved it before. Return whether it was assigned."""
    mine = await tx.fetchval(
        """
        INSERT INTO status_page_addresses AS a (kind, address, team_id, page_id)
        VALUES ('domain', $3, $1, $2)
        ON CONFLICT (kind, address) DO UPDATE SET team_id = excluded.team_id, page_id = excluded.page_id
            WHERE NOT EXISTS (
                SELECT FROM status_pages p WHERE p.team_id = a.team_id AND p.id = a.page_id
                    AND p.domain_proved_at IS NOT NULL
            )
        RETURNING true
        """,
        team_id,
        page_id,
        domain,
    )
    return bool(mine)


async def answering(tx: Tx, team_id: int, page_ids: Collection[UUID]) -> set[UUID]:
    """The pages to which their domain is assigned."""
    rows = await tx.fetch(
        """
        SELECT page_id FROM status_page_addresses
        WHERE team_id = $1 AND page_id = ANY ($2) AND kind = 'domain'
        """,
        team_id,
        list(page_ids),
    )
    return {row["page_id"] for row in rows}


async def due(tx: Tx, limit: int) -> list[StatusPage]:
    """Pages whose proof is due for a check, each for one caller; none with a single team."""
    rows = await tx.fetch(
        f"""
        UPDATE status_pages AS p SET domain_checked_at = clock_timestamp()
        WHERE (p.team_id, p.id) IN (
            SELECT p.team_id, p.id FROM status_pages p
            WHERE p.domain IS NOT NULL AND p.domain_proved_at IS NULL
                AND (p.domain_checked_at IS NULL OR p.domain_checked_at < clock_timestamp() - {_REST})
                AND (SELECT count(*) FROM (SELECT FROM teams LIMIT 2) t) > 1
            ORDER BY p.domain_checked_at NULLS FIRST LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED
        )
        RETURNING {", ".join(f"p.{name}" for name in COLUMNS)}
        """,
        limit,
    )
    return [StatusPage(**row) for row in rows]
