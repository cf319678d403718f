"""The largest and the ugliest that may come: it is stored, or set aside with its reason, and stops nobody."""

import asyncio
import random
import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from collector.evaluation.error_texts import MAX_TEXT, Interner, normal
from collector.evaluation.writer import Submission
from collector.platform import metrics
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.results import Status
from shared.wire.convert import MAX_RESULTS
from tests.evaluation.world import World, make_world, writing

pytestmark = pytest.mark.races

UP, DOWN = Status.UP, Status.DOWN

CONTROLS = "".join(map(chr, [*range(32), *range(127, 160)]))
HALF = "\ud800 half of a pair \udfff"
UGLY = [
    CONTROLS,
    HALF,
    "nul \0 within",
    "\0",
    "x" * 10_000_000,
    "\U0010ffff" * 600,
    "'; DROP TABLE results; --",
    "\x1b[31m%s{}\\",
    "",
    " ",
]


@pytest.mark.parametrize("text", UGLY, ids=range(len(UGLY)))
async def test_any_error_is_kept_in_its_result_its_incident_its_log_and_its_event(db: Db, text: str) -> None:
    world = await make_world(db)
    async with writing(world) as writer:
        assert await writer.submit(world.batch(DOWN, DOWN, DOWN, error=text))
    [kept] = await world.fetch("SELECT DISTINCT text FROM results JOIN errors USING (error)")
    assert kept["text"] == normal(text)
    assert await world.value("SELECT count(*) FROM refused_results") == 0
    [incident] = await world.fetch("SELECT last_error FROM incidents")
    assert len(incident["last_error"] or "") <= MAX_TEXT
    [event] = await world.fetch("SELECT payload FROM events WHERE kind = 'monitor.down'")
    assert event["payload"]["incident"]["lastError"] == (incident["last_error"] or "")
    details = [row["details"] for row in await world.fetch("SELECT details FROM timeline")]
    assert max(map(len, details)) <= MAX_TEXT + 100


async def test_ten_thousand_distinct_errors_have_ten_thousand_numbers(db: Db) -> None:
    world = await make_world(db)
    texts = [f"error {number}: {chr(0x4E00 + number % 5000)}" for number in range(10_000)]
    shuffled = [random.Random(seed).sample(texts, len(texts)) for seed in range(3)]
    interners = [Interner(db) for _ in shuffled]
    found = await asyncio.gather(
        *[each.numbers(part) for each, part in zip(interners, shuffled, strict=True)]
    )
    assert found[0] == found[1] == found[2]
    assert len(set(found[0].values())) == 10_000
    assert await world.value("SELECT count(*) FROM errors") == 10_000


async def test_the_memory_of_texts_is_bounded_and_what_it_lost_is_found_again(db: Db) -> None:
    world = await make_world(db)
    interner = Interner(db)
    first = await interner.numbers(["connect: refused"])
    for start in range(0, 30_000, 10_000):
        await interner.numbers([f"error {number}" for number in range(start, start + 10_000)])
    assert len(interner._known) <= 20_000
    assert await interner.numbers(["connect: refused"]) == first
    assert await world.value("SELECT count(*) FROM errors") == 30_001


async def test_the_largest_batch_is_stored_whole_and_judged(db: Db) -> None:
    world = await make_world(db, monitors=2_000, locations=("eu", "us", "ap", "sa", "af"))
    keys = sorted(world.assignments)
    assert len(keys) == MAX_RESULTS
    async with writing(world) as writer:
        for status in (UP, DOWN, DOWN, DOWN, UP):
            assert await writer.submit(world.batch_of(keys, [status] * len(keys)))
    assert await world.value("SELECT count(*) FROM results") == 5 * MAX_RESULTS
    assert await world.value("SELECT count(*) FROM incidents WHERE status = 'resolved'") == 2_000
    assert await world.value("SELECT count(*) FROM events") == 8_000


async def test_the_largest_batches_of_one_monitor_at_one_instant_tie_nowhere(db: Db) -> None:
    world = await make_world(db)
    now = utc_now()
    key = next(iter(world.assignments))

    def clamped() -> Submission:
        submission = world.batch_of([key] * MAX_RESULTS, [UP] * MAX_RESULTS, ago=timedelta(days=30))
        return replace(submission, batch=replace(submission.batch, start_us=[0] * MAX_RESULTS))

    async with writing(world, now=lambda: now) as writer:
        assert await asyncio.gather(*[writer.submit(clamped()) for _ in range(3)]) == [True] * 3
    assert await world.value("SELECT count(*) FROM results") == 3 * MAX_RESULTS
    assert await world.value("SELECT count(DISTINCT ts) FROM results") == 1
    assert await world.value("SELECT count(*) FROM refused_results") == 0


async def test_a_large_batch_that_is_there_already_holds_nobody_up(db: Db) -> None:
    world = await make_world(db, monitors=2_000, locations=("eu", "us", "ap", "sa", "af"))
    keys = sorted(world.assignments)
    submission = world.batch_of(keys, [UP] * len(keys))
    async with writing(world) as writer:
        start = time.monotonic()
        await writer.submit(submission)
        at_first = time.monotonic() - start
        await world.run("DELETE FROM results WHERE monitor = $1", world.monitors[7])
        await world.run("UPDATE probe_cursors SET last_seq = 0")
        async with asyncio.timeout(5 + 5 * at_first):
            assert await writer.submit(submission)
    assert await world.value("SELECT count(*) FROM results") == MAX_RESULTS
    assert await world.value("SELECT count(*) FROM refused_results") == MAX_RESULTS - 5


async def test_results_on_both_sides_of_midnight_and_of_no_day_at_all(db: Db) -> None:
    world = await make_world(db)
    midnight = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
    second = timedelta(seconds=1)

    def at(moment: datetime, *statuses: Status) -> Submission:
        return world.batch(*statuses, now=moment, ago=timedelta())

    await world.run(f"DROP TABLE results_{midnight:%Y_%m_%d}")
    async with writing(world) as writer:
        assert await writer.submit(at(midnight - second, UP))
        assert await writer.submit(at(midnight, UP, UP))  # a millisecond apart
    rows = await world.fetch("SELECT ts, tableoid::regclass::text AS lies FROM results ORDER BY ts")
    yesterday = f"results_{midnight - second:%Y_%m_%d}"
    assert [row["lies"] for row in rows] == [yesterday, yesterday, "results_default"]
    assert rows[-1]["ts"] == midnight


async def test_what_was_refused_is_kept_with_all_that_it_said(db: Db) -> None:
    world = await make_world(db, monitors=2)
    keys = sorted(world.assignments)
    submission = world.batch_of(keys, [UP, DOWN], error=f"nul \0 and {HALF}")
    bad: dict[str, Any] = {"code": [200, 70_000]}
    before = metrics.results_refused._value.get()
    async with writing(world) as writer:
        assert await writer.submit(replace(submission, batch=replace(submission.batch, **bad)))
    [refused] = await world.fetch("SELECT position, result, reason FROM refused_results")
    assert refused["position"] == 1
    said = refused["result"]
    assert (said["monitor"], said["location"], said["outcome"], said["code"]) == (*keys[1], 2, 70_000)
    assert said["error"] == "nul  and ? half of a pair ?"
    assert said["startUs"] == submission.batch.base_us
    assert metrics.results_refused._value.get() == before + 1


async def test_places_of_refused_results_are_those_of_the_batch_as_it_was_sent(db: Db) -> None:
    world = await make_world(db, monitors=3)
    keys = sorted(world.assignments)
    submission = world.batch_of(keys, [DOWN] * 3)
    bad: dict[str, Any] = {"code": [70_000, 0, 0]}
    await world.run("ALTER TABLE states ADD CHECK (last_status <> 2)")
    async with writing(world) as writer:
        assert await writer.submit(replace(submission, batch=replace(submission.batch, **bad)))
    rows = await _refused(world)
    assert rows == [0]
    assert await world.value("SELECT count(*) FROM results") == 2


async def _refused(world: World) -> list[int]:
    rows = await world.fetch("SELECT position FROM refused_results ORDER BY position")
    return [row["position"] for row in rows]
