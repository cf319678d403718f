"""A monitor's history drawn by chance, laid into the tables, and recomputed second by second."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from collector.history.core import uptime
from collector.history.core.histogram import bucket_of
from collector.history.core.hours import end as end_of_hours
from collector.history.jobs.rollups import Rollups
from collector.history.storage import rollups
from collector.platform.storage.db import Db
from shared.ids import uuid7
from tests.clocks import GivenClock

HOURS = 4
SECONDS = HOURS * 3600
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
NUMBERS = ("checks", "good", "failed", "unknown", "answers", "sum_ms", "known_ms", "down_ms", "histogram")


@dataclass(frozen=True, slots=True)
class Result:
    """At *at* seconds from the beginning of the history."""

    location: int
    at: int
    status: int
    run: int
    ms: int


@dataclass(frozen=True, slots=True)
class History:
    """*cadences*: (since, seconds or None while paused); *outages*: (location, start, end or None)."""

    results: Sequence[Result]
    cadences: Sequence[tuple[int, int | None]]
    outages: Sequence[tuple[int, int, int | None]]
    maintenance: Sequence[tuple[int, int]] = ()


def _spans(location: int, cuts: Sequence[int]) -> list[tuple[int, int, int | None]]:
    ends: list[int | None] = [*cuts[1::2], *([None] if len(cuts) % 2 else [])]
    return [(location, start, end) for start, end in zip(cuts[::2], ends, strict=True)]


_moments = st.integers(0, SECONDS - 1)
_cover = st.sampled_from([20, 85, 600, 4000, 86_535])
_result = st.builds(
    Result,
    location=st.integers(0, 1),
    at=_moments,
    status=st.sampled_from([1, 1, 1, 2, 2, 3]),
    run=st.sampled_from([1, 1, 1, 2, 3]),
    ms=st.integers(0, 120_000),
)
_cuts = st.lists(_moments, max_size=5, unique=True).map(sorted)
histories = st.builds(
    lambda results, first, changes, whole, one, other, maintenance: History(
        results,
        [(-1, first), *sorted(changes)],
        [*_spans(0, whole), *_spans(1, one), *_spans(2, other)],
        [(min(pair), max(pair)) for pair in maintenance],
    ),
    st.lists(_result, max_size=60, unique_by=lambda result: (result.location, result.at)),
    _cover,
    st.lists(
        st.tuples(_moments, st.one_of(_cover, st.none())), max_size=4, unique_by=lambda change: change[0]
    ),
    _cuts,
    _cuts,
    _cuts,
    st.lists(st.tuples(_moments, _moments), max_size=3),
)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a history is laid: a monitor of its own, whose locations 0 and 1 have these numbers."""

    db: Db
    monitor: int
    locations: tuple[int, int]
    start: datetime

    def at(self, second: int) -> datetime:
        return self.start + second * SECOND


async def lay(ground: Ground, history: History) -> None:
    """Cadences, outages and maintenance."""
    numbers = (0, *ground.locations)
    async with ground.db.transaction() as tx:
        await tx.executemany(
            "INSERT INTO cadences VALUES ($1, $2, $3)",
            [(ground.monitor, ground.at(since), cover) for since, cover in history.cadences],
        )
        await tx.executemany(
            "INSERT INTO outages VALUES ($1, $2, $3, $4)",
            [
                (ground.monitor, numbers[place], ground.at(start), None if end is None else ground.at(end))
                for place, start, end in history.outages
            ],
        )
        await tx.executemany(
            """
            INSERT INTO maintenance_spans
                (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
            SELECT team_id, $2, $3, $4, false, ARRAY[id], '{}', '{}' FROM monitors WHERE monitor = $1
            """,
            [
                (ground.monitor, uuid7(), ground.at(start), ground.at(end))
                for start, end in history.maintenance
            ],
        )


async def arrive(ground: Ground, results: Sequence[Result], now: datetime) -> None:
    """Results come in one transaction, which marks what it must."""
    end = end_of_hours(now, None)
    async with ground.db.transaction() as tx:
        await tx.executemany(
            """
            INSERT INTO results (ts, monitor, location, ms, status, run, n) VALUES ($1, $2, $3, $4, $5, $6, 1)
            """,
            [
                (
                    ground.at(result.at),
                    ground.monitor,
                    ground.locations[result.location],
                    result.ms,
                    result.status,
                    result.run,
                )
                for result in results
            ],
        )
        moments = [ground.at(result.at) for result in results]
        marked = {(ground.monitor, at.replace(minute=0, second=0)) for at in moments if at < end}
        if marked:
            await rollups.mark(tx, marked)


async def roll(db: Db, now: datetime) -> None:
    """Until there is nothing more to do; whoever did it before is gone."""
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM leases")
    work = Rollups(db, clock=GivenClock(lambda: now))
    while await work.turn():
        pass


async def rolled(ground: Ground, table: str = "rollups_hour") -> dict[tuple[int, int], dict[str, Any]]:
    """By location, 0 for all, and hour or day of the history."""
    length = HOUR if table == "rollups_hour" else 24 * HOUR
    first = ground.start if table == "rollups_hour" else ground.start.replace(hour=0)
    async with ground.db.connection() as tx:
        rows = await tx.fetch(f"SELECT * FROM {table} WHERE monitor = $1", ground.monitor)
    numbers = (0, *ground.locations)
    return {
        (numbers.index(row["location"]), (row["at"] - first) // length): {
            **{name: row[name] for name in NUMBERS[:-1]},
            "histogram": dict(zip(row["buckets"], row["counts"], strict=True)),
        }
        for row in rows
    }


def recomputed(history: History) -> dict[tuple[int, int], dict[str, Any]]:
    """The same, counted second by second."""
    maintained = {second for start, end in history.maintenance for second in range(start, end)}
    known = {place: _known(history, place) - maintained for place in (1, 2)}
    known[0] = known[1] | known[2]
    hours: dict[tuple[int, int], dict[str, Any]] = {}
    for place in (0, 1, 2):
        down = _down(history, place)
        for hour in range(HOURS):
            numbers = _counts(
                result
                for result in history.results
                if result.at // 3600 == hour and place in (0, result.location + 1)
            )
            seconds = {second for second in known[place] if second // 3600 == hour}
            numbers |= {"known_ms": 1000 * len(seconds), "down_ms": 1000 * len(seconds & down)}
            if numbers["checks"] or seconds:
                hours[place, hour] = numbers
    return hours


def _known(history: History, place: int) -> set[int]:
    mine = sorted((one for one in history.results if one.location + 1 == place), key=lambda one: one.at)
    known: set[int] = set()
    for i, result in enumerate(mine):
        following = mine[i + 1].at if i + 1 < len(mine) else SECONDS
        cover = [cover for since, cover in history.cadences if since <= result.at][-1]
        if result.status == 3 or cover is None:
            continue
        for second in range(result.at, min(following, result.at + cover)):
            if any(since == second and paused is None for since, paused in history.cadences):
                break
            known.add(second)
    return known


def defined(history: History) -> dict[tuple[int, int], tuple[int, int]]:
    """Milliseconds known and down of each location and hour, by the definition of uptime; where any are."""
    cadences = [(since * 1000, cover) for since, cover in history.cadences]
    maintenance = [(start * 1000, end * 1000) for start, end in history.maintenance]
    known: dict[int, list[uptime.Span]] = {}
    for place in (1, 2):
        mine = sorted(
            (result.at * 1000, result.status != 3)
            for result in history.results
            if result.location + 1 == place
        )
        known[place] = uptime.known(mine, cadences, maintenance)
    known[0] = uptime.union(known[1], known[2])
    hours = {}
    for place, spans in known.items():
        outages = [
            (start * 1000, (SECONDS if end is None else end) * 1000)
            for at, start, end in history.outages
            if at == place
        ]
        down = uptime.intersection(spans, uptime.union(outages))
        for hour in range(HOURS):
            window = hour * 3_600_000, (hour + 1) * 3_600_000
            hours[place, hour] = uptime.length_ms(spans, *window), uptime.length_ms(down, *window)
    return {key: both for key, both in hours.items() if both[0]}


def _down(history: History, place: int) -> set[int]:
    spans = [(start, SECONDS if end is None else end) for at, start, end in history.outages if at == place]
    return {second for start, end in spans for second in range(start, end)}


def _counts(results: Iterable[Result]) -> dict[str, Any]:
    all_of_it = list(results)
    answers = [result.ms for result in all_of_it if result.status == 1]
    scheduled = [result.status for result in all_of_it if result.run == 1]
    buckets = sorted(bucket_of(ms) for ms in answers)
    return {
        "checks": len(all_of_it),
        "good": scheduled.count(1),
        "failed": scheduled.count(2),
        "unknown": scheduled.count(3),
        "answers": len(answers),
        "sum_ms": sum(answers),
        "histogram": {bucket: buckets.count(bucket) for bucket in buckets},
    }
