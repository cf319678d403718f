"""Reads results of any range, newest first, touching only what is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class ResultCursor:
    """The end of a page; the next one holds older results."""

    ts: datetime
    location: int
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFilter:
    """Results from *since* to *until*, both inclusive; *location* and *status* None mean any."""

    since: datetime
    until: datetime
    location: str | None = None
    status: int | None = None
    before: ResultCursor | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A row, with its location's name and its error's text; *run* as in shared.results."""

    ts: datetime
    location: int
    n: int
    name: str
    status: int
    ms: int
    code: int | None
    phases: bytes | None
    error: str | None
    run: int

    @property
    def cursor(self) -> ResultCursor:
        return ResultCursor(self.ts, self.location, self.n)


Between = tuple[datetime, datetime]

# The key is (monitor, location, ts, n): each location's newest are the head of one range of the index.
_PLACES = "FROM (SELECT location, name FROM locations WHERE $4::text IS NULL OR name = $4) l"


def _newest(source: str, since: str, until: str) -> str:
    return f"""
        SELECT f.ts, f.location, f.n, f.name, f.status, f.ms, f.code, f.phases, e.text AS error, f.run
        FROM (
            SELECT r.*, l.name {source}
            CROSS JOIN LATERAL (
                SELECT r.ts, r.location, r.n, r.status, r.ms, r.code, r.phases, r.error, r.run
                FROM results_of($1, l.location, {since}, {until}) r
                WHERE ($5::smallint IS NULL OR r.status = $5)
                    AND ($6::timestamptz IS NULL
                        OR (r.ts, r.location, r.n) < ($6, $7::smallint, $8::smallint))
                ORDER BY r.ts DESC, r.n DESC LIMIT $9
            ) r
            ORDER BY r.ts DESC, r.location DESC, r.n DESC LIMIT $9
        ) f LEFT JOIN errors e USING (error)
        ORDER BY f.ts DESC, f.location DESC, f.n DESC
    """


# Of the range, which includes its end.
_SINCE, _UNTIL = "$2::timestamptz", "$3::timestamptz + interval '1 microsecond'"
_ALL = _newest(_PLACES, _SINCE, _UNTIL)
_SOME = _newest(
    f"{_PLACES} CROSS JOIN unnest($10::timestamptz[], $11::timestamptz[]) s (since, until)",
    f"greatest(s.since, {_SINCE})",
    f"least(s.until, {_UNTIL})",
)


async def newest(tx: Tx, monitor: int, wanted: ResultFilter, limit: int) -> list[Result]:
    """Return the newest results of each location, merged."""
    rows = await tx.fetch(_ALL, *_asked(monitor, wanted, limit))
    return [Result(*row) for row in rows]


async def newest_within(
    tx: Tx, monitor: int, wanted: ResultFilter, limit: int, spans: Sequence[Between]
) -> list[Result]:
    """As `newest`, only in the half-open *spans*, which do not overlap; fast if they are near each other."""
    first, last = min(since for since, _ in spans), max(until for _, until in spans)
    near = replace(wanted, since=max(wanted.since, first), until=min(wanted.until, last))
    rows = await tx.fetch(
        _SOME,
        *_asked(monitor, near, limit),
        [since for since, _ in spans],
        [until for _, until in spans],
    )
    return [Result(*row) for row in rows]


def _asked(monitor: int, wanted: ResultFilter, limit: int) -> tuple[object, ...]:
    before = wanted.before
    return (
        monitor,
        wanted.since,
        min(wanted.until, before.ts) if before else wanted.until,
        wanted.location,
        wanted.status,
        before.ts if before else None,
        before.location if before else None,
        before.n if before else None,
        limit,
    )


async def count(
    tx: Tx,
    monitor: int,
    spans: Sequence[Between],
    *,
    location: str | None,
    status: int | None,
) -> int:
    """Count the results in the half-open *spans*; fast if they are near each other."""
    total: int = await tx.fetchval(
        """
        SELECT coalesce(sum(r.count), 0)::bigint
        FROM (SELECT location FROM locations WHERE $4::text IS NULL OR name = $4) l
        CROSS JOIN unnest($2::timestamptz[], $3::timestamptz[]) s (since, until)
        CROSS JOIN LATERAL (
            SELECT count(*) AS count FROM results_of($1, l.location, s.since, s.until) r
            WHERE r.ts >= $6 AND r.ts < $7 AND ($5::smallint IS NULL OR r.status = $5)
        ) r
        """,
        monitor,
        [since for since, _ in spans],
        [until for _, until in spans],
        location,
        status,
        min(since for since, _ in spans),
        max(until for _, until in spans),
    )
    return total


async def kept(tx: Tx, at: datetime) -> bool:
    """Whether results of *at* and of the day before exist, packed or in the partitions of their days."""
    exists: bool = await tx.fetchval(
        """
        SELECT bool_and(
            EXISTS (SELECT FROM packed_days WHERE since = date_trunc('day', day, 'UTC'))
            OR to_regclass(to_char(day AT TIME ZONE 'UTC', '"results_"YYYY_MM_DD')) IS NOT NULL
        )
        FROM (VALUES ($1::timestamptz), ($1 - interval '1 day')) days (day)
        """,
        at,
    )
    return exists
