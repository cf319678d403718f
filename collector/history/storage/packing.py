"""Packs the results of past days: see the migration `packed_results` for their form."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from collector.platform.storage.db import Tx

_PHASES: Final = ("dns", "connect", "tls", "first_byte", "transfer", "days_left")
_COUNTS: Final = range(1, len(_PHASES) + 1)
# As their index has them: rows stay in this order through all steps, without a sort.
_IN_ORDER: Final = "ORDER BY monitor, location, ts, n"
_KEY: Final = "monitor, location, ts, n"

# Beside what is packed already; no result is in both, but for one sent again after the database was restored.
_MERGED: Final = f"""
    SELECT DISTINCT ON ({_KEY}) r.* FROM (
        SELECT DISTINCT monitor, location FROM results
        WHERE monitor = ANY ($1::int[]) AND ts >= $3 AND ts < $4
    ) late CROSS JOIN LATERAL results_of(late.monitor, late.location, $3, $4) r {_IN_ORDER}
"""
_FRESH: Final = """
    SELECT ts, monitor, ms, error, location, n, run, status, code, phases FROM results
    WHERE monitor BETWEEN ($1::int[])[1] AND ($1::int[])[cardinality($1::int[])] AND ts >= $3 AND ts < $4
"""
# Each with its place in its series, and the bytes of its phases, with zeros for those that it lacks.
_PLACED: Final = f"""
    SELECT r.monitor, location, ts, n, ms, run, status, error, code, phases, first_ms, step_ms,
        at_ms - first_ms - step_ms * i AS at, 0 AS end_0,
        coalesce(phases, '') || '\\x00000000000000000000000000'::bytea AS bytes
    FROM (
        SELECT *, row_number() OVER series - 1 AS i, (extract(epoch FROM ts) * 1000)::bigint AS at_ms,
            (extract(epoch FROM first_value(ts) OVER series) * 1000)::bigint AS first_ms
        FROM ({{source}}) r WINDOW series AS (PARTITION BY monitor, location ORDER BY ts, n)
    ) r JOIN unnest($1::int[], $2::int[]) AS u (monitor, step_ms) ON u.monitor = r.monitor
    {_IN_ORDER}
"""


def _decoded(source: str, n: int) -> str:
    """The number that begins at `end_(n-1)`, of one or two bytes, and its end."""
    begin = f"end_{n - 1}"
    return f"""
        SELECT *, {begin} + 1 + (get_byte(bytes, {begin}) >> 7) AS end_{n},
            CASE WHEN get_byte(bytes, {begin}) < 128 THEN get_byte(bytes, {begin})
                ELSE (get_byte(bytes, {begin}) & 127) + (get_byte(bytes, {begin} + 1) << 7) END AS v{n}
        FROM ({source}) r {_IN_ORDER}
    """


def _packable(n: int) -> str:
    """Whether a number is encoded in the only way that reading gives back."""
    return f"v{n} < 16384 AND (v{n} >= 128) = (end_{n} - end_{n - 1} = 2)"


def _numbers(source: str) -> str:
    """Each result with *plain*: whether its phases are these numbers and nothing else."""
    for n in _COUNTS:
        source = _decoded(source, n)
    length = " ".join(f"WHEN v{n} > 0 THEN end_{n}" for n in reversed(_COUNTS))
    plain = f"{' AND '.join(map(_packable, _COUNTS))} AND length(phases) = CASE {length} END"
    return f"SELECT *, coalesce({plain}, phases IS NULL) AS plain FROM ({source}) r {_IN_ORDER}"


def _small(source: str) -> str:
    """Each result as small numbers; those of phases that are not plain are 0."""
    numbers = ", ".join(f"CASE WHEN plain THEN v{n} ELSE 0 END AS {_PHASES[n - 1]}" for n in _COUNTS)
    total = " + ".join(f"greatest({name}, 1)" for name in _PHASES[:-1])
    return f"""
        SELECT *, ms - ({total}) / 10 AS rest_ms FROM (
            SELECT monitor, location, ts, n, ms::bigint, run, status, error, code, phases, first_ms, step_ms,
                at, plain, {numbers}
            FROM ({_numbers(source)}) r {_IN_ORDER}
        ) r {_IN_ORDER}
    """


def _bytes(number: str) -> str:
    return f"string_agg(set_byte('\\x00'::bytea, 0, (({number}) & 255)::int), '')"


def _packed(source: str) -> str:
    """One row for each series, under the columns of the table."""
    lows = ", ".join(f"{_bytes(name)} AS {name}" for name in _PHASES[:-1])
    high = " + ".join(f"({name} >> 8 << {6 * place})" for place, name in enumerate(_PHASES[:-1]))
    return f"""
        SELECT monitor, location, $3::timestamptz AS since, $4::timestamptz AS until, count(*) AS count,
            min(first_ms) AS first_ms, min(step_ms) AS step_ms, min(at) AS earliest_ms, max(at) AS latest_ms,
            {_bytes("at + 128")} AS at, array_agg((at + 128 >> 8)::int) AS at_high,
            {_bytes("rest_ms + 128")} AS ms, array_agg((rest_ms + 128 >> 8)::int) AS ms_high,
            {lows}, array_agg({high}) AS phases_high, array_agg(days_left::smallint) AS days_left,
            CASE WHEN NOT bool_and(plain) THEN array_agg(CASE WHEN NOT plain THEN phases END) END AS odd,
            array_agg(error) AS error, array_agg(n) AS n, array_agg(run) AS run,
            array_agg(status) AS status, array_agg(code) AS code
        FROM ({_small(source)}) r GROUP BY monitor, location
    """


_SHORTENED: Final = (
    "at", "at_high", "ms", "ms_high", "dns", "connect", "tls", "first_byte", "transfer", "phases_high",
    "days_left", "error", "n", "run", "status", "code",
)  # fmt: skip
_COLUMNS: Final = (
    "monitor", "location", "since", "until", "count", "first_ms", "step_ms", "earliest_ms", "latest_ms",
    "odd", *_SHORTENED,
)  # fmt: skip


def _insert(source: str) -> str:
    values = ", ".join(f"shortened({name})" if name in _SHORTENED else name for name in _COLUMNS)
    changes = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[4:])
    return f"""
        INSERT INTO packed_results ({", ".join(_COLUMNS)})
        SELECT {values} FROM ({_packed(_PLACED.format(source=source))}) p
        ON CONFLICT (monitor, location, since) DO UPDATE SET until = excluded.until, {changes}
    """


_INSERT_FRESH: Final = _insert(_FRESH)
_INSERT_MERGED: Final = _insert(_MERGED)

_DAY: Final = timedelta(days=1)
_HOUR: Final = timedelta(hours=1)
# Series with more results in a day are packed by hours: a page reads a few of them.
_MANY: Final = 5_000
# Deviations from the steps fit their columns.
_JITTER_MS: Final = 100
_LONGEST_MS: Final = 10 * _DAY // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class UnpackedMonitor:
    """A monitor with results of a day in rows: *total* of them, *most* at one location.

    *apart_ms*: the usual time between them; None for one result. *piece*: what one packed row of that day
    covers already; None without any.
    """

    monitor: int
    total: int
    most: int
    apart_ms: int | None
    piece: timedelta | None

    @property
    def step_ms(self) -> int:
        """The step with the least deviations, whole seconds if that is near; 0 if it is too long for one."""
        apart = self.apart_ms or 0
        seconds = 1000 * round(apart / 1000)
        step = seconds if abs(apart - seconds) <= _JITTER_MS else apart
        return step if step * self.most <= _LONGEST_MS else 0

    @property
    def length(self) -> timedelta:
        """What one packed row shall cover: the pieces of a day have one length."""
        return self.piece or (_DAY if self.most <= _MANY else _HOUR)


async def begin(tx: Tx) -> None:
    """Let the transaction see one moment: what arrives meanwhile is neither packed nor deleted."""
    await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    # In the order of the index, which only merge joins keep.
    await tx.execute("SET LOCAL enable_hashjoin = off; SET LOCAL enable_seqscan = off")


async def waiting(tx: Tx, day: datetime, after: int, limit: int) -> list[UnpackedMonitor]:
    """Return the next monitors, by number, with results of the *day* in rows."""
    rows = await tx.fetch(
        """
        WITH RECURSIVE past (monitor) AS (
            SELECT (SELECT min(monitor) FROM results WHERE monitor > $3 AND ts >= $1 AND ts < $2)
            UNION ALL
            SELECT (
                SELECT min(r.monitor) FROM results r
                WHERE r.monitor > past.monitor AND r.ts >= $1 AND r.ts < $2
            )
            FROM past WHERE past.monitor IS NOT NULL
        ), next AS (SELECT monitor FROM past WHERE monitor IS NOT NULL LIMIT $4)
        SELECT next.monitor, r.total, r.most, coalesce(p.step_ms, apart.ms)::int AS apart_ms, p.piece
        FROM next CROSS JOIN LATERAL (
            SELECT sum(count)::bigint AS total, max(count) AS most, min(location) AS location FROM (
                SELECT r.location, count(*) AS count FROM results r
                WHERE r.monitor = next.monitor AND r.ts >= $1 AND r.ts < $2 GROUP BY r.location
            ) r
        ) r CROSS JOIN LATERAL (
            SELECT min(p.until - p.since) AS piece, max(p.step_ms) AS step_ms FROM packed_results p
            WHERE p.monitor = next.monitor AND p.since >= $1 AND p.since < $2
        ) p CROSS JOIN LATERAL (
            SELECT 1000 * percentile_disc(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ts - last)) AS ms
            FROM (
                SELECT ts, lag(ts) OVER (ORDER BY ts) AS last FROM (
                    SELECT o.ts FROM results o
                    WHERE o.monitor = next.monitor AND o.location = r.location AND o.ts >= $1 AND o.ts < $2
                    ORDER BY o.ts, o.n LIMIT 100
                ) first
            ) gaps
        ) apart
        ORDER BY next.monitor
        """,
        day,
        day + _DAY,
        after,
        limit,
    )
    return [UnpackedMonitor(**row) for row in rows]


async def pack(tx: Tx, monitors: Sequence[UnpackedMonitor], day: datetime) -> int:
    """Pack the results of these `waiting` monitors, which follow one another; return their number."""
    for length in (_DAY, _HOUR):
        for statement, some in (
            (_INSERT_FRESH, [each for each in monitors if each.length == length and each.piece is None]),
            (_INSERT_MERGED, [each for each in monitors if each.length == length and each.piece]),
        ):
            ids, steps = [each.monitor for each in some], [each.step_ms for each in some]
            for n in range(_DAY // length if some else 0):
                await tx.execute(statement, ids, steps, day + n * length, day + (n + 1) * length)
    tag = await tx.execute(
        "DELETE FROM results WHERE monitor BETWEEN $1 AND $2 AND ts >= $3 AND ts < $4",
        monitors[0].monitor,
        monitors[-1].monitor,
        day,
        day + _DAY,
    )
    await tx.execute("INSERT INTO packed_days (since) VALUES ($1) ON CONFLICT DO NOTHING", day)
    return int(tag.split()[-1])


async def days(tx: Tx) -> list[datetime]:
    """Return the days of which results are packed, the oldest first."""
    rows = await tx.fetch("SELECT since FROM packed_days ORDER BY since")
    return [row["since"] for row in rows]


async def drop(tx: Tx, day: datetime, limit: int) -> bool:
    """Delete at most *limit* packed rows of the *day*; return whether none is left."""
    tag = await tx.execute(
        """
        DELETE FROM packed_results WHERE ctid = ANY(ARRAY(
            SELECT ctid FROM packed_results WHERE since >= $1 AND since < $2 LIMIT $3
        ))
        """,
        day,
        day + _DAY,
        limit,
    )
    over = int(tag.split()[-1]) < limit
    if over:
        await tx.execute("DELETE FROM packed_days WHERE since = $1", day)
    return over
