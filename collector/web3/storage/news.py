"""Findings that are not announced yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class UnannouncedLog:
    """A log that was not announced; with *removed*, one that was announced and has been retracted."""

    team_id: int
    monitor_id: UUID
    key: str
    removed: bool
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckedChain:
    """The chain that a monitor checks, as named in its configuration, and its subtype."""

    monitor: int
    chain: str | int | None
    sub_type: str


async def waiting(tx: Tx, after: int, now: datetime, limit: int) -> list[int]:
    """The next monitors after that key with something to announce, not locked.

    Silenced ones are left out: many may be silenced for long.
    """
    rows = await tx.fetch(
        f"""
        WITH RECURSIVE {_leaps("fresh", "waits AND removed_at IS NULL")},
        {_leaps("taken_back", "waits AND removed_at IS NOT NULL")}
        SELECT m.monitor FROM monitors m JOIN (
            SELECT team_id, monitor_id FROM fresh UNION SELECT team_id, monitor_id FROM taken_back
            UNION
            SELECT a.team_id, a.monitor_id FROM web3_alerts a
            JOIN monitors o ON o.team_id = a.team_id AND o.id = a.monitor_id
            WHERE (a.told_at IS NULL OR a.locations = '{{}}')
                AND (a.locations = '{{}}' OR o.silenced_until IS NULL OR o.silenced_until <= $2)
        ) w ON w.team_id = m.team_id AND w.monitor_id = m.id
        WHERE m.monitor > $1 AND m.paused_at IS NULL ORDER BY m.monitor LIMIT $3
        """,
        after,
        now,
        limit,
    )
    return [row["monitor"] for row in rows]


def _leaps(name: str, which: str) -> str:
    """SQL that jumps from one monitor with such logs to the next: one may have a hundred thousand."""
    return f"""
        {name} AS (
            (SELECT team_id, monitor_id FROM web3_logs WHERE {which}
             ORDER BY team_id, monitor_id LIMIT 1)
            UNION ALL
            SELECT n.team_id, n.monitor_id FROM {name} t CROSS JOIN LATERAL (
                SELECT team_id, monitor_id FROM web3_logs
                WHERE {which} AND (team_id, monitor_id) > (t.team_id, t.monitor_id)
                ORDER BY team_id, monitor_id LIMIT 1
            ) n
        )
    """


async def chains(tx: Tx, monitors: Sequence[int]) -> dict[int, CheckedChain]:
    rows = await tx.fetch(
        """
        SELECT monitor,
            coalesce(config -> 'chain', config -> 'chainId', config -> 'source' -> 'chain') AS chain,
            coalesce(config ->> 'subType', type) AS sub_type
        FROM monitors WHERE monitor = ANY($1)
        """,
        list(monitors),
    )
    return {row["monitor"]: CheckedChain(**row) for row in rows}


async def announced_since(
    tx: Tx, monitors: Sequence[tuple[int, UUID]], since: datetime
) -> dict[tuple[int, UUID], int]:
    """How many logs were announced of these monitors since then, by team and id."""
    rows = await tx.fetch(
        """
        SELECT l.team_id, l.monitor_id, count(*) AS logs
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        JOIN web3_logs l USING (team_id, monitor_id) WHERE l.told_at > $3 GROUP BY l.team_id, l.monitor_id
        """,
        [team for team, _ in monitors],
        [id_ for _, id_ in monitors],
        since,
    )
    return {(row["team_id"], row["monitor_id"]): row["logs"] for row in rows}


async def unannounced(
    tx: Tx, wanted: Sequence[tuple[int, UUID, int]], limit: int, *, removed: bool
) -> list[UnannouncedLog]:
    """Unannounced logs of monitors, limited per monitor and by *limit* in total, taken in turns.

    For each monitor, in the order of the chain.
    """
    which = "waits AND removed_at IS NOT NULL" if removed else "waits AND removed_at IS NULL"
    rows = await tx.fetch(
        f"""
        SELECT u.team_id, u.monitor_id, l.key, l.removed_at IS NOT NULL AS removed, l.data
        FROM unnest($1::int[], $2::uuid[], $3::int[]) WITH ORDINALITY AS u (team_id, monitor_id, most, place)
        CROSS JOIN LATERAL (
            SELECT key, removed_at, data, row_number() OVER (ORDER BY block, log_index) AS nth FROM web3_logs
            WHERE team_id = u.team_id AND monitor_id = u.monitor_id AND {which}
            ORDER BY block, log_index LIMIT u.most
        ) l
        ORDER BY l.nth, u.place LIMIT $4
        """,
        [team for team, _, _ in wanted],
        [id_ for _, id_, _ in wanted],
        [most for _, _, most in wanted],
        limit,
    )
    return [UnannouncedLog(**row) for row in rows]


async def mark_announced(tx: Tx, announced: Sequence[UnannouncedLog], now: datetime) -> None:
    """Mark as announced; announced again only if a retracted log reappears on the chain."""
    await tx.execute(
        """
        UPDATE web3_logs l SET waits = false, told_at = CASE WHEN NOT u.removed THEN $5::timestamptz END
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::boolean[]) AS u (team_id, monitor_id, key, removed)
        WHERE l.team_id = u.team_id AND l.monitor_id = u.monitor_id AND l.key = u.key
        """,
        [log.team_id for log in announced],
        [log.monitor_id for log in announced],
        [log.key for log in announced],
        [log.removed for log in announced],
        now,
    )


async def pass_over(tx: Tx, monitors: Sequence[tuple[int, UUID]]) -> None:
    """Mark the unannounced logs of these monitors as never to be announced."""
    await tx.execute(
        """
        UPDATE web3_logs l SET waits = false
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        WHERE l.team_id = u.team_id AND l.monitor_id = u.monitor_id AND l.waits AND l.removed_at IS NULL
        """,
        [team for team, _ in monitors],
        [id_ for _, id_ in monitors],
    )
