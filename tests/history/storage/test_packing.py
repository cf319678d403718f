"""A packed day says what its rows said, to the last byte of every column."""

from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.history.storage import packing
from collector.platform.storage.db import Db
from tests.history.packed import (
    DAY,
    HOUR,
    MONDAY,
    MS,
    Row,
    every_minute,
    in_order,
    insert,
    pack_all,
    read,
    rows,
)
from tests.probes.ground import fetch, make_monitors, make_team

SERIES = [(monitor, location) for monitor in (901, 902) for location in (1, 2)]


async def clear(db: Db) -> None:
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM results")
        await tx.execute("DELETE FROM packed_results")


async def rows_left(db: Db) -> int:
    return int((await fetch(db, "SELECT count(*) FROM results"))[0]["count"])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows([901, 902], least=1), rows([901, 902]), st.tuples(st.integers(0, 86_400_000), st.integers(1, 10**7))
)
async def test_unpacked_equals_raw_and_late_ones_join(
    db: Db, first: Sequence[Row], later: Sequence[Row], window: tuple[int, int]
) -> None:
    await clear(db)
    keys = {(row[1], row[4], row[0], row[5]) for row in first}
    late = [row for row in later if (row[1], row[4], row[0], row[5]) not in keys]
    since = MONDAY + window[0] * MS
    until = since + window[1] * MS
    async with db.transaction() as tx:
        await insert(tx, first)

    assert await pack_all(db, limit=1) == len(first)
    assert await read(db, SERIES) == in_order(first)
    async with db.transaction() as tx:
        await insert(tx, late)
    assert await read(db, SERIES) == in_order([*first, *late])
    assert await pack_all(db) == len(late)

    assert await rows_left(db) == 0
    assert await read(db, SERIES) == in_order([*first, *late])
    assert await read(db, SERIES, since, until) == in_order(
        row for row in [*first, *late] if since <= row[0] < until
    )


async def test_a_regular_day_is_small_and_read_in_part(db: Db) -> None:
    [monitor] = await make_monitors(db, await make_team(db, MONDAY), now=MONDAY)
    day = every_minute(monitor)
    async with db.transaction() as tx:
        await insert(tx, day)
    assert await pack_all(db) == 1440
    [row] = await fetch(db, "SELECT step_ms, pg_column_size(p) AS size FROM packed_results p")
    assert row["step_ms"] == 60_000
    assert row["size"] < 6 * 1440
    noon = MONDAY + 12 * HOUR
    assert await read(db, [(monitor, 1)], noon, noon + HOUR) == day[720:780]


async def test_a_series_with_many_results_is_packed_by_hours_and_stays_so(db: Db) -> None:
    day = every_minute(901, step=10_000 * MS)
    assert len(day) > 5_000
    async with db.transaction() as tx:
        await insert(tx, [row for i, row in enumerate(day) if i != 4_000])
    await pack_all(db)
    pieces = "SELECT since FROM packed_results ORDER BY since"
    hours = [MONDAY + n * HOUR for n in range(24)]
    assert [row["since"] for row in await fetch(db, pieces)] == hours
    async with db.transaction() as tx:
        await insert(tx, [day[4_000]])
    await pack_all(db)
    assert [row["since"] for row in await fetch(db, pieces)] == hours
    assert await read(db, [(901, 1)]) == day


async def test_late_results_leave_the_pieces_of_others_alone(db: Db) -> None:
    """And those of a day with few stay in a day's piece, however many come late."""
    few, day = every_minute(902)[:3], every_minute(901, step=10_000 * MS)
    async with db.transaction() as tx:
        await insert(tx, [*few, day[0]])
    await pack_all(db)
    packed = "SELECT xmin::text FROM packed_results WHERE monitor = 902"
    before = await fetch(db, packed)
    async with db.transaction() as tx:
        await insert(tx, day[1:])
    await pack_all(db)
    assert await fetch(db, packed) == before
    assert await read(db, [(901, 1), (902, 1)]) == in_order([*day, *few])
    assert [row["count"] for row in await fetch(db, "SELECT count(*) FROM packed_results")] == [2]


async def test_a_result_that_comes_again_is_there_once(db: Db) -> None:
    day = every_minute(901)[:5]
    async with db.transaction() as tx:
        await insert(tx, day)
    await pack_all(db)
    async with db.transaction() as tx:
        await insert(tx, day[2:4])
    await pack_all(db)
    assert await read(db, [(901, 1)]) == day


async def test_what_arrives_while_a_day_is_packed_is_kept(db: Db) -> None:
    day = every_minute(901)[:10]
    async with db.transaction() as tx:
        await insert(tx, day[:9])
    async with db.transaction() as tx:
        await packing.begin(tx)
        some = await packing.waiting(tx, MONDAY, 0, 10)
        async with db.transaction() as other:
            await insert(other, day[9:])
        await packing.pack(tx, some, MONDAY)
    assert await rows_left(db) == 1
    assert await read(db, [(901, 1)]) == day


@pytest.mark.parametrize("since", [MONDAY - DAY, MONDAY, MONDAY + DAY])
async def test_a_day_is_dropped_a_little_at_a_time(db: Db, since: datetime) -> None:
    async with db.transaction() as tx:
        await insert(tx, [*every_minute(901)[:2], *every_minute(902)[:2], *every_minute(903)[:2]])
    await pack_all(db)
    turns = 0
    while True:
        async with db.transaction() as tx:
            turns += 1
            if await packing.drop(tx, since, 2):
                break
    async with db.connection() as tx:
        left = await packing.days(tx)
    gone = since == MONDAY
    assert (turns, left) == ((2, []) if gone else (1, [MONDAY]))
    assert len(await read(db, [(901, 1), (902, 1), (903, 1)])) == (0 if gone else 6)
