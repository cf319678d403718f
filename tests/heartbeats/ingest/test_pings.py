"""Pings that several collectors take: each is decided as it would be alone, and their limit is one."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from collector.evaluation.ingest.pushes import Pushes
from collector.evaluation.storage.locks import INDEX_JOINS
from collector.evaluation.watched_results import NOTHING_WATCHED, WatchedMonitor, WatchedResults
from collector.heartbeats.core import heartbeat
from collector.heartbeats.core.heartbeat import Beat, Ping, PingSchedule, PingSignal
from collector.heartbeats.ingest import PingReceiver
from collector.heartbeats.service import ReceivedPing
from collector.heartbeats.storage import heartbeats
from collector.heartbeats.storage.heartbeats import SetSchedule
from collector.monitors.service.receivers import key_hash
from collector.platform.storage.db import Db
from shared.errors import Limited
from shared.loop import forever
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world
from tests.waiting import WAITING

pytestmark = pytest.mark.races

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
S, M, H = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
HOURLY = PingSchedule(H, "", "UTC", M)
GOOD = Ping(PingSignal.GOOD)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


async def jobs(db: Db, *plans: PingSchedule) -> World:
    """A monitor for each plan, whose key is its number."""
    world = await make_world(db, monitors=len(plans))
    async with db.transaction() as tx:
        for plan, (monitor, id_) in zip(plans, world.ids.items(), strict=True):
            await heartbeats.put(
                tx, world.team_id, [SetSchedule(id_, key_hash(str(monitor)), plan, 3660, NOON)]
            )
    return world


@pytest.fixture(params=["in a transaction", "by one statement"])
async def ordered(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Db | None]:
    """Connections on which a group of good pings is one statement; None to set the joins each time."""
    if request.param == "in a transaction":
        yield None
        return
    opened = await Db.open(database_url, size=2, name="pings", settings=INDEX_JOINS)
    yield opened
    await opened.close()


@dataclass(frozen=True)
class Watched:
    """What rules wait for, as if they had been loaded."""

    monitors: Mapping[int, WatchedMonitor]


@asynccontextmanager
async def collectors(
    db: Db,
    clock: Clock,
    count: int = 1,
    watch: WatchedResults = NOTHING_WATCHED,
    *,
    ordered: Db | None = None,
) -> AsyncIterator[Sequence[PingReceiver]]:
    made = []
    for _ in range(count):
        pushes = Pushes(db, clock=GivenClock(clock, lambda: NOON - H), watch=watch)
        made.append(PingReceiver(db, pushes, clock=GivenClock(clock), ordered=ordered))
    tasks = [
        asyncio.create_task(forever("pings", receiver.turn, timedelta(milliseconds=10))) for receiver in made
    ]
    try:
        yield made
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def of(monitor: int, ping: Ping = GOOD, body: bytes = b"") -> ReceivedPing:
    return ReceivedPing(key_hash(str(monitor)), ping, body)


async def beat_of(world: World, monitor: int) -> tuple[Beat, datetime | None]:
    """How it stands, and when somebody looks at it."""
    async with world.db.transaction() as tx:
        found = await heartbeats.lock(tx, [key_hash(str(monitor))])
    due_at = await world.value("SELECT due_at FROM heartbeats WHERE monitor = $1", monitor)
    return found[key_hash(str(monitor))].beat, due_at


PLANS = [
    pytest.param(HOURLY, id="each hour"),
    pytest.param(PingSchedule(H, "", "UTC", M, max_run=10 * M), id="with a longest run"),
    pytest.param(PingSchedule(H, "", "UTC", M, min_interval=10 * M), id="with a shortest interval"),
    pytest.param(PingSchedule(None, "0 * * * *", "Europe/Berlin", M), id="by cron"),
]
PINGS = [
    pytest.param([GOOD, GOOD, GOOD], id="good"),
    pytest.param([Ping(PingSignal.GOOD, ms=250), Ping(PingSignal.GOOD, ms=2**40)], id="telling their time"),
    pytest.param([Ping(PingSignal.STARTED, "a"), GOOD, Ping(PingSignal.GOOD, "a"), GOOD], id="a run"),
    pytest.param([GOOD, Ping(PingSignal.FAILED, code=3), GOOD, GOOD], id="a failure"),
    pytest.param([Ping(PingSignal.LOGGED), GOOD], id="a note"),
]


@pytest.mark.parametrize("plan", [PLANS[0], PLANS[3]])
async def test_pings_that_come_early_or_late_are_awaited_as_the_rules_say(db: Db, plan: PingSchedule) -> None:
    clock = Clock()
    [monitor] = (world := await jobs(db, plan)).monitors
    beat = Beat(NOON)
    async with collectors(db, clock) as [receiver]:
        for wait_s in (3_599, 2, 3_540, 3_541, 30, 3_660, 3_000):
            clock.now += wait_s * S
            assert await receiver.take(of(monitor))
            beat, _ = heartbeat.take(beat, GOOD, plan, clock.now)
            assert await beat_of(world, monitor) == (beat, heartbeat.awaited(beat, plan))


async def test_a_good_ping_marks_an_hour_that_was_rolled_up_before_it_came(db: Db) -> None:
    clock = Clock()
    [monitor] = (world := await jobs(db, HOURLY)).monitors
    await world.run("INSERT INTO rollups_done (until) VALUES ($1)", NOON + 2 * H)
    async with collectors(db, clock) as [receiver]:
        for clock.now in (NOON + 61 * M, NOON + 122 * M):
            assert await receiver.take(of(monitor))
    assert await world.fetch("SELECT monitor, at FROM rollups_dirty") == [
        {"monitor": monitor, "at": NOON + H}
    ]


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("pings", PINGS)
async def test_the_short_way_comes_to_what_the_rules_say(
    db: Db, plan: PingSchedule, pings: Sequence[Ping]
) -> None:
    clock = Clock()
    world = await jobs(db, plan)
    [monitor] = world.monitors
    beat, results = Beat(NOON), []

    async with collectors(db, clock) as [receiver]:
        for ping in pings:
            clock.now += 7 * M
            assert await receiver.take(of(monitor, ping, b"text"))
            beat, finding = heartbeat.take(beat, ping, plan, clock.now)
            results.append(finding)

    assert await beat_of(world, monitor) == (beat, heartbeat.awaited(beat, plan))
    rows = await world.fetch(
        """
        SELECT r.ts, r.status, r.ms, coalesce(r.code, 0) AS code, coalesce(e.text, '') AS error, b.body
        FROM results r LEFT JOIN errors e USING (error) LEFT JOIN ping_bodies b USING (monitor, ts, n)
        ORDER BY r.ts
        """
    )
    assert rows == [
        {
            "ts": result.at,
            "status": result.status,
            "ms": result.ms,
            "code": result.code,
            "error": result.error,
            "body": "text",
        }
        for result in results
    ]
    [state] = await world.fetch("SELECT last_at, last_status, last_ms FROM states")
    last = results[-1]
    assert state == {"last_at": last.at, "last_status": last.status, "last_ms": last.ms}


async def test_each_of_many_pings_at_once_is_a_result(db: Db, ordered: Db | None) -> None:
    clock = Clock()
    world = await jobs(db, *[HOURLY] * 50)
    sent = [of(monitor) for monitor in world.monitors for _ in range(3)]
    stranger = of(max(world.monitors) + 1)

    async with collectors(db, clock, 2, ordered=ordered) as ones:
        answers = await asyncio.gather(
            *(receiver.take(ping) for ping in sent for receiver in ones), ones[0].take(stranger)
        )

    assert all(answers[:300])
    assert answers[300] is None
    counts = await world.fetch("SELECT monitor, count(*) AS count FROM results GROUP BY monitor")
    assert {row["monitor"]: row["count"] for row in counts} == dict.fromkeys(world.monitors, 6)


async def test_pings_with_a_body_keep_it_by_either_way(db: Db, ordered: Db | None) -> None:
    clock = Clock()
    world = await jobs(db, HOURLY, HOURLY)
    first, second = world.monitors

    async with collectors(db, clock, ordered=ordered) as [receiver]:
        await asyncio.gather(receiver.take(of(first, body=b"text")), receiver.take(of(second)))

    kept = await world.fetch(
        "SELECT b.monitor, b.body FROM ping_bodies b JOIN results USING (monitor, ts, n)"
    )
    assert kept == [{"monitor": first, "body": "text"}]


async def test_good_pings_together_are_committed_by_one_statement(db: Db, database_url: str) -> None:
    """Each further round trip to the database is one for which the next group waits."""
    clock = Clock()
    world = await jobs(db, *[HOURLY] * 20)
    ordered = await Db.open(database_url, size=1, name="pings", settings=INDEX_JOINS)
    statements: list[str] = []
    async with collectors(db, clock, ordered=ordered) as [receiver]:
        assert await receiver.take(of(world.monitors[0]))  # the statement is prepared
        async with ordered.connection() as connection:
            connection.add_query_logger(lambda logged: statements.append(logged.query))
        assert all(await asyncio.gather(*(receiver.take(of(monitor)) for monitor in world.monitors)))
    await ordered.close()

    assert len(statements) == 1
    assert await world.value("SELECT count(*) FROM results") == 21


async def test_a_ping_to_a_paused_job_is_a_result_and_moves_no_state(db: Db) -> None:
    clock = Clock()
    world = await jobs(db, HOURLY)
    [monitor] = world.monitors
    await world.run("UPDATE monitors SET paused_at = $1", NOON)

    async with collectors(db, clock) as [receiver]:
        assert await receiver.take(of(monitor))

    assert await world.value("SELECT count(*) FROM results") == 1
    assert await world.value("SELECT last_at FROM states") is None
    assert await world.value("SELECT due_at FROM heartbeats") is None


async def test_the_limit_of_a_job_is_one_for_all_collectors(db: Db) -> None:
    clock = Clock()
    world = await jobs(db, HOURLY, HOURLY)
    busy, quiet = world.monitors
    tally: Counter[str] = Counter()

    async def send(receiver: PingReceiver, ping: Ping) -> None:
        try:
            assert await receiver.take(of(busy, ping))
            tally["taken"] += 1
        except Limited:
            tally["refused"] += 1

    async with collectors(db, clock, 3) as ones:
        for sign in (PingSignal.GOOD, PingSignal.LOGGED):
            await asyncio.gather(*(send(receiver, Ping(sign)) for receiver in ones for _ in range(40)))
        assert await ones[0].take(of(quiet))

    assert 100 <= tally["taken"] <= 120
    assert tally["taken"] + tally["refused"] == 240
    assert await world.value("SELECT count(*) FROM results WHERE monitor = $1", busy) == tally["taken"]


async def test_a_database_clock_that_was_set_back_refuses_nobody(db: Db) -> None:
    clock = Clock()
    world = await jobs(db, HOURLY)
    [monitor] = world.monitors
    await world.run("UPDATE heartbeats SET paced_at = now() + interval '1 hour'")

    async with collectors(db, clock) as [receiver]:
        for ping in (GOOD, Ping(PingSignal.LOGGED)):
            assert await receiver.take(of(monitor, ping))
            ahead = await world.value("SELECT extract(epoch FROM paced_at - now())::float8 FROM heartbeats")
            assert ahead < 1


async def test_a_monitor_that_begins_to_fail_meanwhile_is_decided_about(db: Db, ordered: Db | None) -> None:
    """Its state is not what it was when the statement began: the ping goes the long way."""
    clock = Clock()
    world = await jobs(db, HOURLY)
    [monitor] = world.monitors

    async with collectors(db, clock, ordered=ordered) as [receiver]:
        async with db.transaction() as tx:
            await tx.execute("UPDATE states SET fails = 1, failed_since = $1", NOON)
            taking = asyncio.create_task(receiver.take(of(monitor)))
            await _blocked(world)
        assert await taking

    [state] = await world.fetch("SELECT fails, failed_since, last_at FROM states")
    assert state == {"fails": 0, "failed_since": None, "last_at": NOON}
    assert await world.value("SELECT count(*) FROM results") == 1


async def _blocked(world: World) -> None:
    """Somebody waits for a lock."""
    async with asyncio.timeout(10):
        while not await world.value(WAITING):
            await asyncio.sleep(0.01)


async def test_good_pings_that_are_slow_leave_a_mark_for_the_rules_that_wait_for_them(
    db: Db, ordered: Db | None
) -> None:
    clock = Clock()
    world = await jobs(db, HOURLY, HOURLY)
    slow, fast = world.monitors

    async def marks(sent: dict[int, int]) -> Any:
        rule = {m: WatchedMonitor(world.team_id, id_, 10, 1000, frozenset()) for m, id_ in world.ids.items()}
        async with collectors(db, clock, watch=Watched(rule), ordered=ordered) as [receiver]:
            for monitor, ms in sent.items():
                assert await receiver.take(of(monitor, Ping(PingSignal.GOOD, ms=ms)))
        return [row["monitor_id"] for row in await world.fetch("SELECT monitor_id FROM alert_marks")]

    assert await marks({slow: 5000, fast: 20}) == [world.ids[slow]]
