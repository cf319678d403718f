"""What the database does by itself agrees with the definitions, to the bucket and to the millisecond."""

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.history.core.histogram import BOUNDS, bucket_of
from collector.history.storage import partitions, rollups
from collector.monitors.storage import cadences, monitors
from collector.platform.storage.db import Db
from shared.clock import utc_now
from tests.probes.ground import fetch, make_monitors, make_team

HOUR = timedelta(hours=1)
MS = timedelta(milliseconds=1)
START = (utc_now() - timedelta(days=1)).replace(minute=0, second=0, microsecond=0)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=500))
async def test_the_database_puts_a_latency_into_the_same_bucket(db: Db, latencies: Sequence[int]) -> None:
    edges = [*(bound - 1 for bound in BOUNDS), *BOUNDS, 2**31 - 1]
    rows = await fetch(
        db,
        "SELECT ms, width_bucket(ms, $2::int[]) AS bucket FROM unnest($1::int[]) ms",
        [*edges, *latencies],
        BOUNDS,
    )
    assert [row["bucket"] for row in rows] == [bucket_of(row["ms"]) for row in rows]


async def test_known_time_is_exact_to_the_millisecond(db: Db) -> None:
    [monitor] = await make_monitors(db, await make_team(db, START), now=START)
    async with db.transaction() as tx:
        await partitions.make(tx, utc_now().date())
        location = await tx.fetchval("INSERT INTO locations (name) VALUES ('local') RETURNING location")
        await tx.execute("INSERT INTO cadences VALUES ($1, $2, 85)", monitor, START - HOUR)
        await tx.executemany(
            """
            INSERT INTO results (ts, monitor, location, ms, status, run, n) VALUES ($1, $2, $3, 7, $4, 1, $5)
            """,
            [
                (START + 1 * MS, monitor, location, 1, 1),
                (START + 60_002 * MS, monitor, location, 3, 1),
                (START + 60_002 * MS, monitor, location, 2, 2),  # of one instant the last one speaks
                (START + 61_003 * MS, monitor, location, 3, 1),
            ],
        )
        await tx.execute(
            "INSERT INTO outages VALUES ($1, 0, $2, $3)", monitor, START + 60_000 * MS, START + 60_100 * MS
        )
        await rollups.make(tx, [(monitor, START)])
    [row] = await fetch(db, "SELECT known_ms, down_ms, checks FROM rollups_hour WHERE location = 0")
    assert row == {"known_ms": 61_002, "down_ms": 100, "checks": 4}


async def test_a_cadence_is_kept_only_when_it_is_another_one(db: Db) -> None:
    team_id = await make_team(db, START)
    [monitor] = await make_monitors(db, team_id, now=START)
    [row] = await fetch(db, "SELECT id FROM monitors")
    key = team_id, row["id"]

    async def kept() -> list[tuple[int, int | None]]:
        rows = await fetch(
            db, "SELECT since, cover_s FROM cadences WHERE monitor = $1 ORDER BY since", monitor
        )
        return [((row["since"] - START) // MS, row["cover_s"]) for row in rows]

    async with db.transaction() as tx:
        await cadences.note(tx, key[0], [key[1]], START)
        await cadences.note(tx, key[0], [key[1]], START + 5 * MS)
    assert await kept() == [(0, 85)]
    async with db.transaction() as tx:
        await monitors.pause(tx, *key, 2, START + 9 * MS)
    assert await kept() == [(0, 85), (9, None)]
    async with db.transaction() as tx:
        await monitors.resume(tx, *key, 3, START + 7 * MS)  # by a clock that was set back
    assert await kept() == [(0, 85), (9, 85)]
