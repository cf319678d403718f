"""Rollups of time that the tables do not cover, computed from raw results by the same rules."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

import asyncpg

from collector.history.core.histogram import BOUNDS
from collector.history.core.rollup import Rollup
from collector.history.core.uptime import LONGEST_S
from collector.history.core.window import Between, clusters
from collector.history.storage.maintenance import CONCERNS, TIME
from collector.platform.storage.db import Tx
from shared.clock import EPOCH

_LONGEST = timedelta(seconds=LONGEST_S)

# Each location's results within the spans, and the one before, which may still cover their beginning.
# The overall bounds, repeated, keep the partitions of other days out of the plan.
_READ = """
    SELECT m.monitor, l.location, s.since, s.until, r.*
    FROM unnest($1::int[]) m (monitor)
    CROSS JOIN unnest($2::timestamptz[], $3::timestamptz[]) s (since, until)
    CROSS JOIN LATERAL (
        SELECT max(cover_s) * interval '1 second' AS cover FROM cadences c WHERE c.monitor = m.monitor
    ) longest CROSS JOIN locations l CROSS JOIN LATERAL (
        (
            SELECT r.ts, r.n, r.ms, r.run, r.status
            FROM results_of(m.monitor, l.location, s.since - coalesce(longest.cover, $5), s.since) r
            WHERE r.ts >= $9 AND r.ts < $10 ORDER BY r.ts DESC, r.n DESC LIMIT 1
        ) UNION ALL (
            SELECT r.ts, r.n, r.ms, r.run, r.status
            FROM results_of(m.monitor, l.location, s.since, s.until) r WHERE r.ts >= $9 AND r.ts < $10
        )
    ) r
    WHERE $8::text IS NULL OR l.name = $8
"""
_CADENCE = """
    SELECT monitor, since, cover_s, lead(since) OVER own AS until,
        min(since) FILTER (WHERE cover_s IS NULL) OVER (
            PARTITION BY monitor ORDER BY since ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS paused_at
    FROM cadences WHERE monitor = ANY ($1) WINDOW own AS (PARTITION BY monitor ORDER BY since)
"""
# Until the next result there, limited by the cadence at its start, and by the next pause.
_SPOKEN = """
    SELECT r.monitor, r.location, greatest(r.ts, r.since) AS since,
        least(r.following, r.until, r.ts + make_interval(secs => c.cover_s), c.paused_at) AS until
    FROM (
        SELECT *, lead(ts) OVER (PARTITION BY monitor, location, since ORDER BY ts, n) AS following FROM read
    ) r
    JOIN cadence c ON c.monitor = r.monitor AND c.since <= r.ts AND (c.until IS NULL OR c.until > r.ts)
    WHERE r.status IN (1, 2) AND c.cover_s IS NOT NULL
"""
_COVERED = """
    SELECT monitor, coalesce(location, 0) AS location, range_agg(tstzrange(since, until)) AS spans
    FROM spoken WHERE since < until GROUP BY GROUPING SETS ((monitor, location), (monitor))
"""
_BOUNDS = """
    SELECT min(s.since) AS since, max(s.until) AS until
    FROM unnest($2::timestamptz[], $3::timestamptz[]) s (since, until)
"""
_MAINTAINED = f"""
    SELECT m.monitor, range_agg({TIME}) AS spans
    FROM ({_BOUNDS}) b JOIN maintenance_spans s ON {TIME} && tstzrange(b.since, b.until)
        JOIN monitors m ON m.team_id = s.team_id AND {CONCERNS}
    WHERE m.monitor = ANY ($1) GROUP BY m.monitor
"""
_KNOWN = """
    SELECT monitor, location, c.spans - coalesce(m.spans, '{}'::tstzmultirange) AS spans
    FROM covered c LEFT JOIN maintained m USING (monitor)
"""
_DOWN = """
    SELECT monitor, location, range_agg(tstzrange(started_at, ended_at)) AS spans
    FROM outages
    WHERE monitor = ANY ($1) AND started_at < (SELECT max(u) FROM unnest($3::timestamptz[]) u)
        AND (ended_at IS NULL OR ended_at > (SELECT min(s) FROM unnest($2::timestamptz[]) s))
    GROUP BY monitor, location
"""
_POINTS = """
    SELECT p.at,
        tstzmultirange(tstzrange(greatest(p.at, s.since), least(p.at + $4::interval, s.until))) AS span
    FROM unnest($2::timestamptz[], $3::timestamptz[]) s (since, until)
    CROSS JOIN generate_series(
        date_bin($4::interval, s.since, $7), s.until - interval '1 microsecond', $4::interval
    ) p (at)
"""
_LENGTH = "(SELECT sum(upper(r) - lower(r)) FROM unnest({}) r)"
_TIMES = f"""
    SELECT k.monitor, k.location, p.at,
        extract(epoch FROM sum({_LENGTH.format("k.spans * p.span")})) * 1000 AS known_ms,
        extract(epoch FROM sum({_LENGTH.format("k.spans * d.spans * p.span")})) * 1000 AS down_ms
    FROM known k JOIN points p ON p.span && k.spans LEFT JOIN down d USING (monitor, location)
    GROUP BY k.monitor, k.location, p.at
"""
# One row per bucket, and one without a bucket for failed results.
_COUNTED = """
    SELECT monitor, coalesce(location, 0) AS location, at, bucket, count(*) AS checks,
        count(*) FILTER (WHERE run = 1 AND status = 1) AS good,
        count(*) FILTER (WHERE run = 1 AND status = 2) AS failed,
        count(*) FILTER (WHERE run = 1 AND status = 3) AS unknown,
        sum(ms) FILTER (WHERE status = 1) AS sum_ms
    FROM (
        SELECT monitor, location, date_bin($4::interval, ts, $7) AS at, run, status, ms,
            CASE WHEN status = 1 THEN width_bucket(ms, $6::int[]) END AS bucket
        FROM read WHERE ts >= since
    ) r
    GROUP BY GROUPING SETS ((monitor, location, at, bucket), (monitor, at, bucket))
"""
_COUNTS = """
    SELECT monitor, location, at, sum(checks) AS checks, sum(good) AS good, sum(failed) AS failed,
        sum(unknown) AS unknown, coalesce(sum(checks) FILTER (WHERE bucket IS NOT NULL), 0) AS answers,
        coalesce(sum(sum_ms), 0) AS sum_ms,
        coalesce(array_agg(bucket ORDER BY bucket) FILTER (WHERE bucket IS NOT NULL), '{}') AS buckets,
        coalesce(array_agg(checks ORDER BY bucket) FILTER (WHERE bucket IS NOT NULL), '{}') AS counts
    FROM counted GROUP BY monitor, location, at
"""
_ROLLUPS = f"""
    WITH read AS ({_READ}), cadence AS ({_CADENCE}), spoken AS ({_SPOKEN}), covered AS ({_COVERED}),
        maintained AS ({_MAINTAINED}), known AS ({_KNOWN}),
        down AS ({_DOWN}), points AS ({_POINTS}), times AS ({_TIMES}),
        counted AS ({_COUNTED}), counts AS ({_COUNTS})
    SELECT monitor, location, l.name AS place, at,
        coalesce(checks, 0)::int AS checks, coalesce(good, 0)::int AS good,
        coalesce(failed, 0)::int AS failed, coalesce(unknown, 0)::int AS unknown,
        coalesce(answers, 0)::int AS answers, coalesce(sum_ms, 0)::bigint AS sum_ms,
        coalesce(buckets, '{{}}')::int[] AS buckets, coalesce(counts, '{{}}')::int[] AS counts,
        coalesce(known_ms, 0)::bigint AS known_ms, coalesce(down_ms, 0)::bigint AS down_ms
    FROM counts FULL JOIN times USING (monitor, location, at) LEFT JOIN locations l USING (location)
    WHERE $8::text IS NULL OR l.name = $8
"""


async def plan_once(tx: Tx) -> None:
    """Use generic plans in this transaction: planning each query takes as long as running it."""
    await tx.execute("SET LOCAL plan_cache_mode = force_generic_plan")


async def rollups(
    tx: Tx,
    monitors: Sequence[int],
    spans: Sequence[Between],
    step: timedelta,
    location: str | None = None,
) -> dict[int, list[Rollup]]:
    """Compute rollups of each monitor, by steps counted from 1970; only of *spans*, which do not overlap.

    No span may end in the future: the last result would be taken to cover that time.
    """
    by_monitor: dict[int, list[Rollup]] = defaultdict(list)
    for near in clusters(spans):
        for row in await _fetch(tx, monitors, near, step, location):
            by_monitor[row["monitor"]].append(Rollup(*row[1:]))
    return by_monitor


async def _fetch(
    tx: Tx, monitors: Sequence[int], spans: Sequence[Between], step: timedelta, location: str | None
) -> list[asyncpg.Record]:
    return await tx.fetch(
        _ROLLUPS,
        list(monitors),
        [since for since, _ in spans],
        [until for _, until in spans],
        step,
        _LONGEST,
        BOUNDS,
        EPOCH,
        location,
        spans[0][0] - _LONGEST,
        spans[-1][1],
    )
