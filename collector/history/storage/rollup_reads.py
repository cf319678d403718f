"""Reads rollups: some hours and days of one monitor, or the days of many."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from collector.history.core.rollup import Rollup
from collector.platform.storage.db import Tx

Between = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class RollupExtent:
    """*until*: hours before it are rolled up; None if none are. *dirty*: hours with an outdated rollup."""

    until: datetime | None
    dirty: list[datetime]


async def extent(tx: Tx, monitor: int, since: datetime, until: datetime) -> RollupExtent:
    """Return which rollups of the hours from *since* to *until* are valid.

    A result counts as long as its monitor's cadence says: a late one also affects later hours.
    """
    [row] = await tx.fetch(
        """
        SELECT (SELECT until FROM rollups_done) AS until, ARRAY(
            SELECT DISTINCT h.at
            FROM (SELECT max(cover_s) * interval '1 second' AS cover FROM cadences WHERE monitor = $1) c
            CROSS JOIN rollups_dirty d CROSS JOIN LATERAL generate_series(
                d.at, d.at + interval '1 hour' + coalesce(c.cover, interval '0'), interval '1 hour'
            ) h (at)
            WHERE d.monitor = $1 AND d.at < $3::timestamptz
                AND h.at > $2::timestamptz - interval '1 hour' AND h.at < $3
        ) AS dirty
        """,
        monitor,
        since,
        until,
    )
    return RollupExtent(**row)


# The key is (monitor, location, at): each location's rollups are one range of the index. The OFFSET makes
# the planner use it rather than read all rows of the monitor.
_LOCATIONS = "(SELECT 0::smallint AS location, NULL AS name UNION ALL SELECT location, name FROM locations) l"
_SPANS = "unnest({}::timestamptz[], {}::timestamptz[]) s (since, until)"
_COLUMNS = """
    r.location, l.name AS place, r.at, r.checks, r.good, r.failed, r.unknown, r.answers, r.sum_ms, r.buckets,
    r.counts, r.known_ms, r.down_ms
"""


_ALL_OR_ONE = "$6::text IS NULL OR l.name = $6"
_WHOLE_OR_ONE = "l.name IS NOT DISTINCT FROM $6::text"


def _of(table: str, since: str, until: str, which: str) -> str:
    return f"""
        SELECT {_COLUMNS} FROM {_LOCATIONS} CROSS JOIN {_SPANS.format(since, until)} CROSS JOIN LATERAL (
            SELECT * FROM {table} r
            WHERE r.monitor = $1 AND r.location = l.location AND r.at >= s.since AND r.at < s.until OFFSET 0
        ) r
        WHERE {which}
    """


async def within(
    tx: Tx, monitor: int, days: Sequence[Between], hours: Sequence[Between], location: str | None = None
) -> list[Rollup]:
    """Return rollups of whole *days* and *hours*: of the monitor and each location, or only of *location*."""
    rows = await tx.fetch(
        f"""
        {_of("rollups_day", "$2", "$3", _ALL_OR_ONE)}
        UNION ALL {_of("rollups_hour", "$4", "$5", _ALL_OR_ONE)}
        """,
        monitor,
        [since for since, _ in days],
        [until for _, until in days],
        [since for since, _ in hours],
        [until for _, until in hours],
        location,
    )
    return list(map(Rollup._make, rows))


async def troubled(
    tx: Tx, monitor: int, hours: Sequence[Between], *, location: str | None, status: int
) -> list[datetime]:
    """Return the starts of whole *hours* that may hold a result of *status*, which is not the good one."""
    rows = await tx.fetch(
        f"""
        SELECT at FROM ({_of("rollups_hour", "$2", "$3", _WHOLE_OR_ONE.replace("$6", "$4"))}) r
        WHERE checks <> answers AND (
            checks <> good + failed + unknown OR CASE $5::smallint WHEN 2 THEN failed ELSE unknown END > 0
        )
        """,
        monitor,
        [since for since, _ in hours],
        [until for _, until in hours],
        location,
        status,
    )
    return [row["at"] for row in rows]


@dataclass(frozen=True, slots=True)
class ResultTally:
    """The number of results in some rollups, without the *unsettled* hours, whose number is unknown."""

    total: int
    unsettled: list[datetime]


async def tally(
    tx: Tx,
    monitor: int,
    days: Sequence[Between],
    hours: Sequence[Between],
    *,
    location: str | None,
    status: int | None,
) -> ResultTally:
    """Count results of any run; *status*: as in results. Extra runs leave failed and unknown unsettled."""
    [row] = await tx.fetch(
        f"""
        WITH rollups AS (
            {_of("rollups_day", "$2", "$3", _WHOLE_OR_ONE)}
            UNION ALL {_of("rollups_hour", "$4", "$5", _WHOLE_OR_ONE)}
        ), counted AS (
            SELECT at, CASE
                WHEN $7::smallint IS NULL THEN checks
                WHEN $7 = 1 THEN answers
                WHEN checks = answers THEN 0
                WHEN checks = good + failed + unknown THEN CASE $7 WHEN 2 THEN failed ELSE unknown END
            END AS total
            FROM rollups
        )
        SELECT coalesce(sum(total), 0)::bigint AS total,
            coalesce(array_agg(at) FILTER (WHERE total IS NULL), '{{}}') AS unsettled
        FROM counted
        """,
        monitor,
        [since for since, _ in days],
        [until for _, until in days],
        [since for since, _ in hours],
        [until for _, until in hours],
        location,
        status,
    )
    return ResultTally(**row)


@dataclass(frozen=True, slots=True)
class Recent:
    """Numbers of a whole monitor, from the rollups, which end at *until*; None without any.

    Known and down times are of 1, 7, 30 and 90 days; the rest is of the last 24 hours but *checks_today*.
    """

    until: datetime | None
    known_ms: list[int]
    down_ms: list[int]
    checks_today: int
    good: int
    failed: int
    answers: int
    sum_ms: int
    buckets: list[int]
    counts: list[int]


# Hours before it are rolled up.
_EDGE = "SELECT coalesce((SELECT until FROM rollups_done), '-infinity') AS at"
_RECENT = f"""
    WITH edge AS ({_EDGE}), hours AS (
        SELECT r.*, r.at >= date_trunc('day', e.at, 'UTC') AS after_days, r.at >= $2 AS last_day
        FROM edge e CROSS JOIN LATERAL (
            SELECT * FROM rollups_hour r WHERE r.monitor = $1 AND r.location = 0
                AND r.at >= least($2, date_trunc('day', e.at, 'UTC')) AND r.at < e.at
        ) r
    ), sums AS (
        SELECT sum(known_ms) FILTER (WHERE last_day) AS known_day,
            sum(down_ms) FILTER (WHERE last_day) AS down_day,
            coalesce(sum(known_ms) FILTER (WHERE after_days), 0) AS known,
            coalesce(sum(down_ms) FILTER (WHERE after_days), 0) AS down,
            sum(checks) FILTER (WHERE at >= $3) AS checks_today, sum(good) FILTER (WHERE last_day) AS good,
            sum(failed) FILTER (WHERE last_day) AS failed, sum(answers) FILTER (WHERE last_day) AS answers,
            sum(sum_ms) FILTER (WHERE last_day) AS sum_ms
        FROM hours
    ), days AS (
        SELECT coalesce(sum(r.known_ms) FILTER (WHERE r.at >= ($4::timestamptz[])[1]), 0) AS known_week,
            coalesce(sum(r.down_ms) FILTER (WHERE r.at >= ($4::timestamptz[])[1]), 0) AS down_week,
            coalesce(sum(r.known_ms) FILTER (WHERE r.at >= ($4::timestamptz[])[2]), 0) AS known_month,
            coalesce(sum(r.down_ms) FILTER (WHERE r.at >= ($4::timestamptz[])[2]), 0) AS down_month,
            coalesce(sum(r.known_ms), 0) AS known_quarter, coalesce(sum(r.down_ms), 0) AS down_quarter
        FROM edge e CROSS JOIN LATERAL (
            SELECT at, known_ms, down_ms FROM rollups_day
            WHERE monitor = $1 AND location = 0
                AND at >= ($4::timestamptz[])[3] AND at < date_trunc('day', e.at, 'UTC')
        ) r
    ), histogram AS (
        SELECT array_agg(bucket ORDER BY bucket) AS buckets, array_agg(count ORDER BY bucket) AS counts
        FROM (
            SELECT u.bucket, sum(u.count) AS count
            FROM hours CROSS JOIN unnest(buckets, counts) u (bucket, count)
            WHERE last_day GROUP BY u.bucket
        ) u
    )
    SELECT nullif(e.at, '-infinity') AS until,
        ARRAY[
            coalesce(known_day, 0), known + known_week, known + known_month, known + known_quarter
        ]::bigint[] AS known_ms,
        ARRAY[
            coalesce(down_day, 0), down + down_week, down + down_month, down + down_quarter
        ]::bigint[] AS down_ms,
        coalesce(checks_today, 0)::int AS checks_today, coalesce(good, 0)::int AS good,
        coalesce(failed, 0)::int AS failed, coalesce(answers, 0)::int AS answers,
        coalesce(sum_ms, 0)::bigint AS sum_ms, coalesce(buckets, '{{}}')::int[] AS buckets,
        coalesce(counts, '{{}}')::int[] AS counts
    FROM edge e CROSS JOIN sums CROSS JOIN days CROSS JOIN histogram
"""


async def recent(tx: Tx, monitor: int, hours: datetime, today: datetime, days: Sequence[datetime]) -> Recent:
    """Return the numbers since *hours*, since *today*, and since each of three *days*."""
    [row] = await tx.fetch(_RECENT, monitor, hours, today, days)
    return Recent(**row)


@dataclass(frozen=True, slots=True)
class MonitorDays:
    """A monitor's days and their times in milliseconds, in no order.

    *until*: the end of the last one; None without any rollup. *lately_down*: in an outage since.
    """

    monitor: int
    until: datetime | None
    lately_down: bool
    starts: list[datetime]
    known_ms: list[int]
    down_ms: list[int]


async def days(tx: Tx, monitors: Sequence[int], since: datetime) -> list[MonitorDays]:
    """Return the days from *since* on of each of *monitors*; today's as far as its hours are rolled up."""
    rows = await tx.fetch(
        f"""
        WITH edge AS ({_EDGE})
        SELECT m.monitor, nullif(e.at, '-infinity') AS until,
            EXISTS (
                SELECT FROM outages o
                WHERE o.monitor = m.monitor AND o.location = 0 AND (o.ended_at IS NULL OR o.ended_at > e.at)
            ) AS lately_down,
            coalesce(r.starts, '{{}}') AS starts, coalesce(r.known_ms, '{{}}')::bigint[] AS known_ms,
            coalesce(r.down_ms, '{{}}')::bigint[] AS down_ms
        FROM edge e CROSS JOIN unnest($1::int[]) m (monitor) CROSS JOIN LATERAL (
            SELECT array_agg(at) AS starts, array_agg(known_ms) AS known_ms, array_agg(down_ms) AS down_ms
            FROM (
                SELECT at, known_ms, down_ms FROM rollups_day
                WHERE monitor = m.monitor AND location = 0
                    AND at >= $2 AND at < date_trunc('day', e.at, 'UTC')
                UNION ALL
                SELECT date_trunc('day', e.at, 'UTC'), sum(known_ms), sum(down_ms) FROM rollups_hour
                WHERE monitor = m.monitor AND location = 0
                    AND at >= greatest($2, date_trunc('day', e.at, 'UTC')) AND at < e.at
                HAVING count(*) > 0
            ) r
        ) r
        """,
        monitors,
        since,
    )
    return [MonitorDays(**row) for row in rows]
