"""Rate limit buckets, drawn from and refilled by all collectors, by the database's clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from collector.platform.bucket import BucketRequest, TeamPlan
from collector.platform.storage.db import Tx

# The team (0: none), and the token's id or the address.
Key: TypeAlias = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class GrantedTokens:
    """The tokens that a bucket granted, and its new level."""

    level: float
    granted: int


async def draw(tx: Tx, asks: Mapping[Key, tuple[BucketRequest, TeamPlan]]) -> dict[Key, GrantedTokens]:
    """Settle with each bucket, creating full ones; a request for tokens gets a part of what is left."""
    drawn = await _draw(tx, asks)
    if missing := {key: asked for key, asked in asks.items() if key not in drawn}:
        await _fill(tx, missing)
        drawn |= await _draw(tx, missing)
    return drawn


async def take(tx: Tx, key: Key, want: int, per_hour: int) -> tuple[int, float]:
    """Take up to *want* tokens from a bucket that refills in an hour, and the seconds until the next one."""
    await tx.execute(
        """
        INSERT INTO rate_buckets (team_id, key, level, at, full_at)
        VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp()) ON CONFLICT DO NOTHING
        """,
        *key,
        float(per_hour),
    )
    row = await tx.fetchrow(
        """
        WITH found AS (
            SELECT least($4::float8, level + $4::float8 / 3600
                * greatest(0, extract(epoch FROM clock_timestamp() - at))) AS held
            FROM rate_buckets WHERE team_id = $1 AND key = $2 FOR UPDATE
        ), given AS (SELECT held, least($3::int, floor(held)::int) AS granted FROM found)
        UPDATE rate_buckets b SET level = held - granted, at = clock_timestamp(),
            full_at = clock_timestamp() + ($4::float8 - held + granted) / $4::float8 * interval '1 hour'
        FROM given WHERE b.team_id = $1 AND b.key = $2
        RETURNING granted, greatest(0, 1 - b.level) * 3600 / $4::float8 AS wait_s
        """,
        *key,
        want,
        float(per_hour),
    )
    assert row is not None  # noqa: S101 - it was inserted if it was not there
    return row["granted"], row["wait_s"]


async def sweep(tx: Tx, limit: int) -> int:
    """Delete full buckets; return the number of deleted rows."""
    tag = await tx.execute(
        """
        DELETE FROM rate_buckets WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM rate_buckets WHERE full_at < clock_timestamp() LIMIT $1 FOR UPDATE SKIP LOCKED
        ))
        """,
        limit,
    )
    return int(tag.split()[-1])


async def _draw(tx: Tx, asks: Mapping[Key, tuple[BucketRequest, TeamPlan]]) -> dict[Key, GrantedTokens]:
    rows = await tx.fetch(_DRAW, *_columns(asks))
    return {(row["team_id"], row["key"]): GrantedTokens(row["level"], row["granted"]) for row in rows}


# Grants a quarter of what is left, but at least the inflow of a quarter of a second: the last tokens stay
# in the bucket while another collector refuses requests, and are not fetched one by one.
_DRAW = """
    WITH asked AS (
        SELECT * FROM unnest(
            $1::int[], $2::bytea[], $3::float8[], $4::int[], $5::float8[], $6::int[], $7::int[]
        ) AS a (team_id, key, change, want, per_second, burst, most)
    ), found AS (
        SELECT a.*, least(a.burst, a.change + least(a.burst,
            b.level + a.per_second * greatest(0, extract(epoch FROM clock_timestamp() - b.at)))) AS held
        FROM rate_buckets b JOIN asked a USING (team_id, key)
        ORDER BY team_id, key FOR UPDATE OF b
    ), given AS (
        SELECT *, floor(greatest(0, least(want, held, greatest(1, held / 4, least(per_second / 4, most)))
        ))::int AS granted FROM found
    )
    UPDATE rate_buckets b SET level = g.held - g.granted, at = clock_timestamp(),
        full_at = clock_timestamp() + (g.burst - g.held + g.granted) / g.per_second * interval '1 second'
    FROM given g WHERE b.team_id = g.team_id AND b.key = g.key
    RETURNING b.team_id, b.key, b.level, g.granted
"""


async def _fill(tx: Tx, asks: Mapping[Key, tuple[BucketRequest, TeamPlan]]) -> None:
    keys = sorted(asks)
    await tx.execute(
        """
        INSERT INTO rate_buckets (team_id, key, level, at, full_at)
        SELECT team_id, key, burst, clock_timestamp(), clock_timestamp()
        FROM unnest($1::int[], $2::bytea[], $3::int[]) AS a (team_id, key, burst)
        ON CONFLICT (team_id, key) DO NOTHING
        """,
        [team_id for team_id, _ in keys],
        [key for _, key in keys],
        [asks[key][1].burst for key in keys],
    )


def _columns(asks: Mapping[Key, tuple[BucketRequest, TeamPlan]]) -> tuple[Sequence[object], ...]:
    return (
        [team_id for team_id, _ in asks],
        [key for _, key in asks],
        [float(ask.back - ask.debt) for ask, _ in asks.values()],
        [ask.want for ask, _ in asks.values()],
        [plan.per_second for _, plan in asks.values()],
        [plan.burst for _, plan in asks.values()],
        [plan.most for _, plan in asks.values()],
    )
