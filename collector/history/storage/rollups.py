"""Computes the rollups of hours and days from results, again where they changed."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal

from collector.history.core.histogram import BOUNDS
from collector.history.core.rollup import Rollup
from collector.history.core.uptime import LONGEST_S
from collector.history.storage.maintenance import CONCERNS, TIME
from collector.platform.storage.db import Tx

HOUR = timedelta(hours=1)
LONGEST = timedelta(seconds=LONGEST_S)

_NUMBERS = """
    monitor, location, at, checks, good, failed, unknown, answers, sum_ms, buckets, counts, known_ms, down_ms
"""


def _ms(spans: str) -> str:
    return f"""
        coalesce((
            SELECT sum(extract(epoch FROM upper(span) - lower(span)) * 1000) FROM unnest({spans}) AS span
        ), 0)
    """


# The results of each hour, and the last one before it, which may cover its beginning; location by location,
# as in their index.
_HOURS = f"""
    WITH pair AS (
        SELECT u.monitor, u.at, u.at + interval '1 hour' AS until, coalesce((
            SELECT max(c.cover_s) * interval '1 second' FROM cadences c WHERE c.monitor = u.monitor
        ), '0') AS cover
        FROM unnest($1::int[], $2::timestamptz[]) AS u (monitor, at)
    ), heard AS MATERIALIZED (
        SELECT p.monitor, p.at, p.until, l.location, r.ts, r.ts >= p.at AS inside, r.ms, r.run, r.status,
            lead(r.ts, 1, p.until) OVER (
                PARTITION BY p.monitor, p.at, l.location ORDER BY r.ts, r.n
            ) AS next
        FROM pair p CROSS JOIN locations l CROSS JOIN LATERAL (
            (
                SELECT r.ts, r.n, r.ms, r.run, r.status
                FROM results_of(p.monitor, l.location, p.at - p.cover, p.at) r
                ORDER BY r.ts DESC, r.n DESC LIMIT 1
            )
            UNION ALL
            SELECT r.ts, r.n, r.ms, r.run, r.status
            FROM results_of(p.monitor, l.location, p.at, p.until) r
        ) r
    ), cadence AS (
        SELECT p.monitor, p.at, c.since, c.cover_s * interval '1 second' AS cover,
            lead(c.since, 1, 'infinity') OVER later AS until,
            min(c.since) FILTER (WHERE c.cover_s IS NULL) OVER (
                PARTITION BY p.monitor, p.at ORDER BY c.since
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
            ) AS paused_at
        FROM pair p JOIN cadences c ON c.monitor = p.monitor AND c.since < p.until AND c.since >= coalesce((
            SELECT max(b.since) FROM cadences b WHERE b.monitor = p.monitor AND b.since <= p.at - $3::interval
        ), '-infinity')
        WINDOW later AS (PARTITION BY p.monitor, p.at ORDER BY c.since)
    ), spoken AS (
        SELECT h.monitor, h.at, h.location, greatest(h.ts, h.at) AS since,
            least(h.next, h.ts + c.cover, c.paused_at) AS until
        FROM heard h JOIN cadence c ON c.monitor = h.monitor AND c.at = h.at
            AND h.ts >= c.since AND h.ts < c.until AND c.cover IS NOT NULL
        WHERE h.status IN (1, 2)
    ), covered AS (
        SELECT monitor, at, coalesce(location, 0::smallint) AS location,
            range_agg(tstzrange(since, until)) AS spans
        FROM spoken WHERE since < until
        GROUP BY GROUPING SETS ((monitor, at, location), (monitor, at))
    ), maintained AS (
        SELECT p.monitor, p.at, range_agg({TIME}) AS spans
        FROM (SELECT at, until FROM pair GROUP BY at, until) hour
            JOIN maintenance_spans s ON {TIME} && tstzrange(hour.at, hour.until)
            JOIN pair p ON p.at = hour.at
            JOIN monitors m ON m.monitor = p.monitor AND m.team_id = s.team_id AND {CONCERNS}
        GROUP BY p.monitor, p.at
    ), known AS (
        SELECT monitor, at, location,
            covered.spans - coalesce(maintained.spans, '{{}}'::tstzmultirange) AS spans
        FROM covered LEFT JOIN maintained USING (monitor, at)
    ), down AS (
        SELECT p.monitor, p.at, o.location, range_agg(tstzrange(o.started_at, o.ended_at)) AS spans
        FROM pair p CROSS JOIN (SELECT location FROM locations UNION ALL SELECT 0::smallint) l
            JOIN outages o ON o.monitor = p.monitor AND o.location = l.location AND o.started_at < p.until
                AND (o.ended_at > p.at OR o.ended_at IS NULL)
                AND o.started_at >= coalesce((
                    SELECT max(b.started_at) FROM outages b
                    WHERE b.monitor = p.monitor AND b.location = l.location AND b.started_at <= p.at
                ), '-infinity')
        GROUP BY p.monitor, p.at, o.location
    ), counted AS (
        SELECT monitor, at, coalesce(location, 0::smallint) AS location,
            count(*) FILTER (WHERE inside) AS checks,
            count(*) FILTER (WHERE inside AND run = 1 AND status = 1) AS good,
            count(*) FILTER (WHERE inside AND run = 1 AND status = 2) AS failed,
            count(*) FILTER (WHERE inside AND run = 1 AND status = 3) AS unknown,
            count(*) FILTER (WHERE inside AND status = 1) AS answers,
            coalesce(sum(ms) FILTER (WHERE inside AND status = 1), 0) AS sum_ms
        FROM heard GROUP BY GROUPING SETS ((monitor, at, location), (monitor, at))
    ), bucketed AS (
        SELECT monitor, at, coalesce(location, 0::smallint) AS location, bucket, count(*) AS count
        FROM (
            SELECT monitor, at, location, width_bucket(ms, $4::int[]) AS bucket
            FROM heard WHERE inside AND status = 1
        ) answered
        GROUP BY GROUPING SETS ((monitor, at, location, bucket), (monitor, at, bucket))
    ), histogram AS (
        SELECT monitor, at, location,
            array_agg(bucket ORDER BY bucket) AS buckets, array_agg(count ORDER BY bucket) AS counts
        FROM bucketed GROUP BY monitor, at, location
    ), numbered AS (
        SELECT monitor, location, at, checks, good, failed, unknown, answers, sum_ms,
            coalesce(buckets, '{{}}') AS buckets, coalesce(counts, '{{}}') AS counts,
            {_ms("known.spans")} AS known_ms, {_ms("known.spans * down.spans")} AS down_ms
        FROM counted LEFT JOIN histogram USING (monitor, at, location)
            LEFT JOIN known USING (monitor, at, location) LEFT JOIN down USING (monitor, at, location)
    )
    INSERT INTO rollups_hour ({_NUMBERS}) SELECT {_NUMBERS} FROM numbered WHERE checks > 0 OR known_ms > 0
"""

_DAYS = f"""
    WITH pair AS (
        SELECT u.monitor, u.at FROM unnest($1::int[], $2::timestamptz[]) AS u (monitor, at)
    ), hour AS MATERIALIZED (
        SELECT p.monitor, r.location, p.at, r.checks, r.good, r.failed, r.unknown, r.answers, r.sum_ms,
            r.buckets, r.counts, r.known_ms, r.down_ms
        FROM pair p CROSS JOIN (SELECT location FROM locations UNION ALL SELECT 0::smallint) l
            JOIN rollups_hour r ON r.monitor = p.monitor AND r.location = l.location
                AND r.at >= p.at AND r.at < p.at + interval '1 day'
    ), summed AS (
        SELECT monitor, location, at, sum(checks) AS checks, sum(good) AS good, sum(failed) AS failed,
            sum(unknown) AS unknown, sum(answers) AS answers, sum(sum_ms) AS sum_ms,
            sum(known_ms) AS known_ms, sum(down_ms) AS down_ms
        FROM hour GROUP BY monitor, location, at
    ), bucketed AS (
        SELECT monitor, location, at, u.bucket, sum(u.count) AS count
        FROM hour CROSS JOIN unnest(buckets, counts) AS u (bucket, count)
        GROUP BY monitor, location, at, u.bucket
    ), histogram AS (
        SELECT monitor, location, at,
            array_agg(bucket ORDER BY bucket) AS buckets, array_agg(count ORDER BY bucket) AS counts
        FROM bucketed GROUP BY monitor, location, at
    )
    INSERT INTO rollups_day ({_NUMBERS})
    SELECT monitor, location, at, checks, good, failed, unknown, answers, sum_ms,
        coalesce(buckets, '{{}}'), coalesce(counts, '{{}}'), known_ms, down_ms
    FROM summed LEFT JOIN histogram USING (monitor, location, at)
"""


async def make(tx: Tx, hours: Iterable[tuple[int, datetime]]) -> None:
    """Compute these (monitor, hour)s from stored results in place of older rollups, and their days."""
    pairs = sorted(set(hours))
    monitors, starts = [monitor for monitor, _ in pairs], [at for _, at in pairs]
    await _clear(tx, "rollups_hour", monitors, starts)
    # The planner's estimates are poor for lists, and for days that are not analysed: force indexes.
    await tx.execute("SET LOCAL enable_seqscan = off; SET LOCAL jit = off")
    await tx.execute(_HOURS, monitors, starts, LONGEST, BOUNDS)
    days = sorted({(monitor, at.replace(hour=0)) for monitor, at in pairs})
    monitors, starts = [monitor for monitor, _ in days], [at for _, at in days]
    await _clear(tx, "rollups_day", monitors, starts)
    await tx.execute(_DAYS, monitors, starts)


async def _clear(tx: Tx, table: str, monitors: Sequence[int], starts: Sequence[datetime]) -> None:
    await tx.execute(
        f"""
        DELETE FROM {table} r
        USING unnest($1::int[], $2::timestamptz[]) AS u (monitor, at),
            (SELECT location FROM locations UNION ALL SELECT 0::smallint) l
        WHERE r.monitor = u.monitor AND r.location = l.location AND r.at = u.at
        """,
        monitors,
        starts,
    )


async def load(tx: Tx, kind: Literal["hour", "day"], rows: Sequence[tuple[int, Rollup]]) -> None:
    """Store rollups, by their monitors' numbers, that were computed elsewhere; there are none of them yet."""
    await tx.copy_records_to_table(
        f"rollups_{kind}",
        records=[
            (monitor, row.location, row.at, *row[3:9], list(row.buckets), list(row.counts), *row[11:])
            for monitor, row in rows
        ],
        columns=[name.strip() for name in _NUMBERS.split(",")],
    )


async def until(tx: Tx) -> datetime | None:
    """Return until when hours are rolled up; None before the first."""
    end: datetime | None = await tx.fetchval("SELECT until FROM rollups_done")
    return end


async def done(tx: Tx, until: datetime) -> None:
    """Record that hours before *until* are rolled up."""
    await tx.execute(
        "INSERT INTO rollups_done (until) VALUES ($1) ON CONFLICT (one) DO UPDATE SET until = excluded.until",
        until,
    )


async def monitors(tx: Tx, after: int, limit: int) -> list[int]:
    """Return the next monitors by number."""
    rows = await tx.fetch(
        "SELECT monitor FROM monitors WHERE monitor > $1 ORDER BY monitor LIMIT $2", after, limit
    )
    return [row["monitor"] for row in rows]


async def mark(tx: Tx, hours: Iterable[tuple[int, datetime]]) -> None:
    """Mark these (monitor, hour)s for recomputation."""
    pairs = sorted(set(hours))
    await tx.execute(
        "INSERT INTO rollups_dirty (monitor, at) SELECT * FROM unnest($1::int[], $2::timestamptz[])",
        [monitor for monitor, _ in pairs],
        [at for _, at in pairs],
    )


async def take_marks(tx: Tx, since: datetime, until: datetime, limit: int) -> list[tuple[int, datetime]]:
    """Take some marks of hours before *until*; return the (monitor, hour)s from *since* on that they affect.

    A result counts as long as its monitor's cadence says, so later hours may change too.
    """
    rows = await tx.fetch(
        """
        WITH few AS (SELECT monitor, at, mark FROM rollups_dirty WHERE at < $2 LIMIT $3),
        taken AS (
            DELETE FROM rollups_dirty d USING few
            WHERE d.monitor = few.monitor AND d.at = few.at AND d.mark = few.mark
            RETURNING d.monitor, d.at
        )
        SELECT DISTINCT t.monitor, hour AS at
        FROM (SELECT DISTINCT monitor, at FROM taken WHERE at >= $1) t JOIN monitors m USING (monitor)
        CROSS JOIN LATERAL (SELECT max(c.cover_s) AS s FROM cadences c WHERE c.monitor = t.monitor) cover
        CROSS JOIN LATERAL generate_series(
            t.at, t.at + interval '1 hour' + coalesce(cover.s, 0) * interval '1 second', interval '1 hour'
        ) AS hour
        WHERE hour < $2
        """,
        since,
        until,
        limit,
    )
    return [(row["monitor"], row["at"]) for row in rows]


async def needed_since(tx: Tx) -> datetime | None:
    """Return until when raw results are no longer needed by rollups; None without any rollup."""
    since: datetime | None = await tx.fetchval(
        """
        SELECT least((SELECT until FROM rollups_done), (SELECT min(at) FROM rollups_dirty)) - $1::interval
        """,
        LONGEST,
    )
    return since
