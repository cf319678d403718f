"""Results drawn by chance, of every column and of every form that a column may have."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from hypothesis import strategies as st

from collector.history.core import receptions
from collector.history.storage import packing, partitions
from collector.platform.storage.db import Db, Tx
from shared.phases import pack
from shared.results import Phases

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MS = timedelta(milliseconds=1)
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
COLUMNS = ("ts", "monitor", "ms", "error", "location", "n", "run", "status", "code", "phases")

# A row of results, as COLUMNS has it.
Row: TypeAlias = tuple[datetime, int, int, int | None, int, int, int, int, int | None, bytes | None]

_SMALL = st.integers(-(2**15), 2**15 - 1)
_WHOLE = st.integers(-(2**31), 2**31 - 1)
_duration = st.one_of(st.none(), st.integers(0, 50_000), st.sampled_from([12_649, 12_650, 12_750, 1_638_250]))
_phases = st.one_of(
    st.none(),
    st.builds(
        lambda spent, days: pack(Phases(*spent), days) or None,
        st.tuples(*[_duration] * 5),
        st.one_of(st.none(), st.integers(-5000, 400)),
    ),
    st.builds(receptions.packed, st.integers(0, 10**9)),
    st.binary(max_size=30),
)
_at = st.one_of(
    st.integers(0, DAY // MS - 1),
    st.integers(0, 1439).map(lambda minute: minute * 60_000 + 17),
    st.sampled_from([0, 1, HOUR // MS - 1, HOUR // MS, DAY // MS - 1]),
)


def rows(monitors: Sequence[int], *, least: int = 0) -> st.SearchStrategy[list[Row]]:
    """Results of MONDAY, no two with the same key."""
    row = st.tuples(
        _at.map(lambda ms: MONDAY + ms * MS),
        st.sampled_from(monitors),
        st.one_of(st.integers(0, 400), st.sampled_from([-(2**31), 2**31 - 1]), _WHOLE),
        st.one_of(st.none(), st.integers(1, 3), _WHOLE),
        st.integers(1, 2),
        st.one_of(st.just(7), _SMALL),
        st.one_of(st.just(1), _SMALL),
        st.one_of(st.just(1), _SMALL),
        st.one_of(st.none(), st.just(200), _SMALL),
        _phases,
    )
    return st.lists(row, min_size=least, max_size=40, unique_by=lambda one: (one[1], one[4], one[0], one[5]))


def every_minute(monitor: int, *, location: int = 1, step: timedelta = 60_000 * MS) -> list[Row]:
    """Regular results of MONDAY, with what an HTTPS check brings."""
    return [
        (
            MONDAY + 17 * MS + i * step + i * i % 7 * MS,
            monitor,
            40 + i * 7 % 31,
            None,
            location,
            3,
            1,
            1,
            200,
            pack(Phases(1_200, 9_400 + i % 13 * 100, 12_600 + i % 5 * 100, 31_000 + i % 900 * 100, 400), 71),
        )
        for i in range(DAY // step)
    ]


async def insert(tx: Tx, some: Iterable[Row]) -> None:
    await partitions.make_days(tx, [MONDAY.date()])
    await tx.copy_records_to_table("results", records=list(some), columns=COLUMNS)


async def pack_all(db: Db, *, limit: int = 100) -> int:
    """Pack MONDAY as the job does, some monitors after the others; return how many results."""
    packed, after = 0, 0
    while True:
        async with db.transaction() as tx:
            await packing.begin(tx)
            some = await packing.waiting(tx, MONDAY, after, limit)
            if not some:
                return packed
            packed += await packing.pack(tx, some, MONDAY)
            after = some[-1].monitor


async def read(
    db: Db, series: Iterable[tuple[int, int]], since: datetime = MONDAY, until: datetime = MONDAY + DAY
) -> list[Row]:
    """What `results_of` says of these (monitor, location)s, in the order of their keys."""
    found: list[Any] = []
    async with db.connection() as tx:
        for monitor, location in sorted(series):
            found += await tx.fetch(
                "SELECT * FROM results_of($1, $2, $3, $4) ORDER BY ts, n", monitor, location, since, until
            )
    return [tuple(row[name] for name in COLUMNS) for row in found]


def in_order(some: Iterable[Row]) -> list[Row]:
    return sorted(some, key=lambda row: (row[1], row[4], row[0], row[5]))
