"""Callers change monitors while two collectors write their results: no batch is lost, no caller notices."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from collector.alerts.service.followers import FOLLOWERS
from collector.evaluation.jobs.holds import Holds
from collector.evaluation.jobs.recheck import Verdicts
from collector.evaluation.writer import ResultWriter
from collector.history.jobs.days import DayPartitions
from collector.monitors.service import ends, monitors
from collector.platform.context import ServiceContext
from collector.platform.monitor import Silence
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.service import assignments
from shared.clock import utc_now
from shared.errors import NotFound, Unavailable
from shared.ids import uuid7
from shared.results import Status
from shared.tokens import new_key
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, new_incarnation, writing

BATCHES = 120
CALLERS = 6
STATUSES = [Status.UP, Status.DOWN, Status.DOWN]


async def test_callers_writers_and_sweepers_get_on_with_each_other(database_url: str) -> None:
    db = await Db.open(database_url, size=20, name="crowd")
    world = await make_world(db, monitors=30, locations=("eu", "us"))
    await world.run("UPDATE probes SET kinds = '{http}'")
    other = await _second_probe(world)
    means = ServiceContext(db, Keyring.parse(new_key()), Signals(db), 1)
    results: list[int] = []  # the monitor of each
    busy: list[bool] = []
    done = asyncio.Event()
    async with writing(world) as writer, writing(world) as two:
        callers = [_call(means, world, random.Random(seed), done, busy) for seed in range(CALLERS)]
        sweeps = _sweep(db, done)
        writes = (
            _write(world, writer, random.Random(11), results),
            _write(other, two, random.Random(12), results),
        )
        tasks = [asyncio.create_task(each) for each in (*callers, sweeps)]
        async with asyncio.timeout(90):
            await asyncio.gather(*writes)
        done.set()
        await asyncio.gather(*tasks)
    assert await world.value("SELECT sum(last_seq) FROM probe_cursors") == 2 * BATCHES
    assert await world.value("SELECT count(*) FROM refused_results") == 0
    untouched = world.monitors[-10:]  # of these nothing was deleted
    kept = await world.value("SELECT count(*) FROM results WHERE monitor = ANY($1)", untouched)
    assert kept == sum(monitor in untouched for monitor in results)
    assert busy.count(True) <= len(busy) // 10
    await _sound(world)
    await db.close()


async def _second_probe(world: World) -> World:
    """Half of the monitors are its own."""
    twin = replace(world, probe_id=uuid7())
    await world.run(
        """
        INSERT INTO probes (probe_id, name, locations, session, seen_at, kinds, created_at)
        SELECT $1, 'second', locations, session, seen_at, kinds, now() FROM probes
        """,
        twin.probe_id,
    )
    async with world.db.transaction() as tx:
        await assignments.rebalance(tx, utc_now())
    await new_incarnation(twin, 8)
    return twin


async def _write(world: World, writer: ResultWriter, chance: random.Random, results: list[int]) -> None:
    for _ in range(BATCHES):
        rows = await world.fetch(
            "SELECT monitor, location, assignment, revision FROM states WHERE probe_id = $1", world.probe_id
        )
        some = chance.sample(rows, min(len(rows), 20)) or [await _any(world)]
        keys = [(row["monitor"], row["location"]) for row in some]
        submission = world.batch_of(keys, chance.choices(STATUSES, k=len(keys)))
        plan: dict[str, Any] = {
            "assignment": [row["assignment"] for row in some],
            "revision": [row["revision"] for row in some],
        }
        results.extend(monitor for monitor, _ in keys)
        assert await writer.submit(replace(submission, batch=replace(submission.batch, **plan))) is True


async def _any(world: World) -> dict[str, Any]:
    return {"monitor": world.monitors[0], "location": 1, "assignment": 1, "revision": 1}


async def _call(
    means: ServiceContext, world: World, chance: random.Random, done: asyncio.Event, busy: list[bool]
) -> None:
    while not done.is_set():
        monitor = chance.choice(world.monitors)
        try:
            await _change(means, world, monitor, chance)
            busy.append(False)
        except NotFound:
            busy.append(False)
        except Unavailable:
            busy.append(True)
        await asyncio.sleep(chance.uniform(0, 0.02))


async def _change(means: ServiceContext, world: World, monitor: int, chance: random.Random) -> None:
    id_, now = world.ids[monitor], utc_now()
    what = chance.random()
    if what < 0.3:
        await monitors.pause(means, world.team_id, id_, now)
    elif what < 0.7:
        await monitors.resume(means, world.team_id, id_, now)
    elif what < 0.9:
        body = {"timeout": chance.randint(5, 20), "locations": chance.choice([["eu"], ["eu", "us"]])}
        await monitors.update(means, world.team_id, id_, body, now)
    elif what < 0.97:
        await monitors.silence(means, world.team_id, id_, Silence(duration=1), "somebody", now)
    elif monitor not in world.monitors[-10:]:
        await ends.delete(means.db, means.signals, FOLLOWERS, world.team_id, id_, now)


async def _sweep(db: Db, done: asyncio.Event) -> None:
    started_at = utc_now() - timedelta(hours=1)
    turns = (
        Holds(db, clock=GivenClock(utc_now)).turn,
        Verdicts(db, clock=GivenClock(utc_now, lambda: started_at)).turn,
        DayPartitions(db, keep=timedelta(days=9), clock=GivenClock(utc_now)).turn,
    )
    while not done.is_set():
        await asyncio.gather(*[turn() for turn in turns])
        await asyncio.sleep(0.02)


async def _sound(world: World) -> None:
    """Whatever came, each monitor's story holds together."""
    streams: Sequence[dict[str, Any]] = await world.fetch(
        """
        SELECT array_agg(kind ORDER BY sequence) AS kinds FROM events
        WHERE kind IN ('monitor.down', 'monitor.up') GROUP BY stream_id
        """
    )
    for stream in streams:
        assert stream["kinds"] == [
            ("monitor.down", "monitor.up")[place % 2] for place in range(len(stream["kinds"]))
        ]
    rows = await world.fetch(
        """
        SELECT m.down, count(i.id) AS open FROM monitors m
        LEFT JOIN incidents i ON i.team_id = m.team_id AND i.monitor_id = m.id AND i.status <> 'resolved'
        WHERE m.flapping_since IS NULL  -- one that flaps has its incident held open
        GROUP BY m.id, m.down
        """
    )
    assert {(row["down"], row["open"]) for row in rows} <= {(True, 1), (False, 0)}
    orphans = "SELECT count(*) FROM states WHERE monitor NOT IN (SELECT monitor FROM monitors)"
    assert await world.value(orphans) == 0
