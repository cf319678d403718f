"""Conditions that hold at series, and since when."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.metrics.core.conditions import HeldCondition
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class MonitorRevision:
    """A monitor with the revision that defines the indices of its conditions."""

    team_id: int
    id: UUID
    revision: int


async def move(tx: Tx, moved: Sequence[tuple[MonitorRevision, HeldCondition]]) -> None:
    """Store changed states; one older than the stored state changes nothing."""
    moved = sorted(moved, key=lambda pair: (pair[0].team_id, pair[0].id, pair[1].condition, pair[1].key))
    over = [(of, state) for of, state in moved if state.broken]
    if over:
        await tx.execute(
            """
            DELETE FROM series_conditions s
            USING unnest($1::int[], $2::uuid[], $3::smallint[], $4::bytea[], $5::timestamptz[])
                AS u (team_id, id, condition, key, at)
            WHERE s.team_id = u.team_id AND s.monitor_id = u.id AND s.condition = u.condition
                AND s.key = u.key AND s.at < u.at
            """,
            [of.team_id for of, _ in over],
            [of.id for of, _ in over],
            [state.condition for _, state in over],
            [state.key for _, state in over],
            [state.at for _, state in over],
        )
    if held := [(of, state) for of, state in moved if state.since is not None]:
        await _hold(tx, held)


async def _hold(tx: Tx, held: Sequence[tuple[MonitorRevision, HeldCondition]]) -> None:
    await tx.execute(
        """
        INSERT INTO series_conditions AS s
            (team_id, monitor_id, revision, condition, key, labels, since, at)
        SELECT m.team_id, m.id, u.revision, u.condition, u.key, u.labels, u.since, u.at
        FROM unnest($1::int[], $2::uuid[], $3::int[], $4::smallint[], $5::bytea[], $6::jsonb[],
                $7::timestamptz[], $8::timestamptz[])
            AS u (team_id, id, revision, condition, key, labels, since, at)
        JOIN monitors m ON m.team_id = u.team_id AND m.id = u.id
        ORDER BY m.team_id, m.id, u.condition, u.key
        FOR KEY SHARE OF m
        ON CONFLICT (team_id, monitor_id, condition, key) DO UPDATE SET
            revision = excluded.revision, at = excluded.at,
            since = CASE WHEN s.revision = excluded.revision THEN s.since ELSE excluded.since END
        WHERE excluded.at > s.at
        """,
        [of.team_id for of, _ in held],
        [of.id for of, _ in held],
        [of.revision for of, _ in held],
        [state.condition for _, state in held],
        [state.key for _, state in held],
        [dict(state.labels) for _, state in held],
        [state.since for _, state in held],
        [state.at for _, state in held],
    )


async def holding(tx: Tx, of: Sequence[tuple[MonitorRevision, datetime]]) -> dict[UUID, list[HeldCondition]]:
    """The true conditions of each monitor, without series that sent nothing since then."""
    rows = await tx.fetch(
        """
        SELECT s.monitor_id, s.condition, s.key, s.labels, s.since, s.at
        FROM unnest($1::int[], $2::uuid[], $3::int[], $4::timestamptz[]) AS u (team_id, id, revision, heard)
        JOIN series_conditions s ON s.team_id = u.team_id AND s.monitor_id = u.id
            AND s.revision = u.revision AND s.at >= u.heard
        """,
        [state.team_id for state, _ in of],
        [state.id for state, _ in of],
        [state.revision for state, _ in of],
        [heard for _, heard in of],
    )
    held: defaultdict[UUID, list[HeldCondition]] = defaultdict(list)
    for row in rows:
        state = HeldCondition(
            row["condition"], row["key"], row["labels"], row["since"], row["at"], broken=False
        )
        held[row["monitor_id"]].append(state)
    return held
