"""In whatever batches, transactions, replays and incarnations results come: as a slow plain model has it."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.evaluation.core.quorum import needed
from collector.evaluation.writer import ResultWriter, Submission
from collector.platform.storage.db import Db
from shared.clock import EPOCH, utc_now
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world

pytestmark = pytest.mark.races

FAILURES = 3
Key = tuple[int, int]
_names = count()


@dataclass(slots=True)
class Place:
    """One location of a monitor, as plain as can be."""

    revision: int = 1
    ordinal: int = 0
    failing: bool = False
    fails: int = 0
    goods: int = 0
    changes: list[str] = field(default_factory=list)
    counted: int = 0

    def hear(self, status: Status, recovery: int) -> None:
        if status is Status.DOWN:
            self.fails, self.goods = self.fails + 1, 0
            if self.failing:
                self.counted += 1
            elif self.fails == FAILURES:
                self.failing = True
                self.changes.append("monitor.down")
                self.counted += FAILURES
        elif status is Status.UP and not self.failing:
            self.fails = 0
        elif status is Status.UP:
            self.fails, self.goods = 0, self.goods + 1
            if self.goods == recovery:
                self.failing, self.goods = False, 0
                self.changes.append("monitor.up")


@dataclass(frozen=True, slots=True)
class Step:
    """What happens next: some batches are sent, together, after something else."""

    before: str
    which: int
    batches: Sequence[Sequence[tuple[int, Status]]]
    replayed: int
    held: bool


STATUSES = st.sampled_from([Status.UP, Status.DOWN, Status.DOWN, Status.DOWN, Status.UNKNOWN])
BATCH = st.lists(st.tuples(st.integers(0, 5), STATUSES), min_size=1, max_size=7)
STEP = st.builds(
    Step,
    before=st.sampled_from(["", "", "", "restart", "reconnect", "change"]),
    which=st.integers(0, 5),
    batches=st.lists(BATCH, min_size=1, max_size=4),
    replayed=st.integers(0, 3),
    held=st.booleans(),
)


class Run:
    """One example: the world, the model of it, and how time goes."""

    def __init__(self, world: World, recovery: int) -> None:
        self.world = world
        self.recovery = recovery
        self.keys = sorted(world.assignments)
        self.places: dict[Key, Place] = {key: Place() for key in self.keys}
        self.stored: Counter[tuple[Key, Any, Status]] = Counter()
        self.sent: dict[int, list[Submission]] = defaultdict(list)
        self.held: list[Submission] = []
        self.at = int((utc_now() - timedelta(seconds=8) - EPOCH).total_seconds() * 1000)
        self.incarnations = 0
        self.writer = ResultWriter(
            world.db, clock=GivenClock(utc_now, lambda: utc_now() - timedelta(hours=1))
        )

    async def begin(self) -> None:
        """A new incarnation; what the one before still holds back comes after it has spoken."""
        self.incarnations += 1
        self.world.incarnation, self.world.seq = self.incarnations, 0
        await self.world.run(
            "INSERT INTO probe_cursors (probe_id, incarnation, session, moved_at) VALUES ($1, $2, $3, now())",
            self.world.probe_id,
            self.incarnations,
            self.world.session,
        )

    async def step(self, step: Step) -> None:
        key = self.keys[step.which]
        if step.before == "restart":
            await self.begin()
        elif step.before == "reconnect":
            self.world.session += 1
            await self.world.run(
                "UPDATE probe_cursors SET session = $2 WHERE probe_id = $1",
                self.world.probe_id,
                self.world.session,
            )
        new = [self._make(batch) for batch in step.batches]
        if step.before == "change":  # after these were made, and before they come
            self.places[key].revision += 1
            await self.world.run(
                "UPDATE states SET revision = revision + 1 WHERE monitor = $1 AND location = $2", *key
            )
        late, self.held = self.held, new if step.held else []
        old = self.sent[self.world.incarnation][-step.replayed :] if step.replayed else []
        await self._send([*old, *late, *([] if step.held else new)], {id(submission) for submission in old})

    async def finish(self) -> None:
        await self._send(self.held, set())

    def _make(self, results: Sequence[tuple[int, Status]]) -> Submission:
        keys = [self.keys[which] for which, _ in results]
        submission = self.world.batch_of(keys, [status for _, status in results])
        self.at += len(results)
        return replace(
            submission,
            batch=replace(
                submission.batch,
                base_us=self.at * 1000,
                revision=[self.places[key].revision for key in keys],
            ),
        )

    async def _send(self, submissions: Sequence[Submission], replays: set[int]) -> None:
        sent = [replace(submission, session=self.world.session) for submission in submissions]
        futures = [self.writer.submit(submission) for submission in sent]
        while not all(future.done() for future in futures):
            async with asyncio.timeout(5):
                await self.writer.turn()
        outcomes = [future.result() for future in futures]
        assert outcomes == [id(submission) not in replays for submission in submissions]
        fresh = [submission for submission in sent if submission.batch.seq > self._last(submission)]
        # One transaction takes the incarnations in the order of their age.
        for submission in sorted(fresh, key=lambda one: one.batch.incarnation):
            self._tell(submission)

    def _last(self, submission: Submission) -> int:
        before = self.sent[submission.batch.incarnation]
        return before[-1].batch.seq if before else 0

    def _tell(self, submission: Submission) -> None:
        batch = submission.batch
        self.sent[batch.incarnation].append(submission)
        for i, key in enumerate(zip(batch.monitor, batch.location, strict=True)):
            place, status = self.places[key], Status(batch.outcome[i])
            self.stored[key, (batch.base_us + batch.start_us[i]) // 1000, status] += 1
            if batch.revision[i] == place.revision and batch.incarnation >= place.ordinal:
                place.ordinal = batch.incarnation
                place.hear(status, self.recovery)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    steps=st.lists(STEP, min_size=1, max_size=8),
    locations=st.sampled_from([1, 2, 3]),
    recovery=st.integers(1, 2),
    quorum=st.sampled_from(["majority", "any", "all", "2"]),
)
async def test_any_way_of_coming_leads_to_the_same(
    db: Db, steps: list[Step], locations: int, recovery: int, quorum: str
) -> None:
    names = [f"place-{next(_names)}" for _ in range(locations)]
    world = await make_world(db, monitors=6 // locations, locations=names)
    await world.run(
        "UPDATE monitors SET quorum = $1, recovery_threshold = $2 WHERE monitor = ANY($3)",
        quorum,
        recovery,
        world.monitors,
    )
    run = Run(world, recovery)
    await run.begin()
    for step in steps:
        await run.step(step)
    await run.finish()
    await _same_results(run)
    await _same_states(run)
    for monitor in world.monitors:
        await _same_verdict(run, monitor, locations, quorum)


async def _same_results(run: Run) -> None:
    rows = await run.world.fetch(
        """
        SELECT monitor, location, ts, status, count(*) FROM results
        WHERE monitor = ANY($1) GROUP BY 1, 2, 3, 4
        """,
        run.world.monitors,
    )
    stored = Counter(
        {
            (
                (row["monitor"], row["location"]),
                int((row["ts"] - EPOCH) / timedelta(milliseconds=1)),
                Status(row["status"]),
            ): row["count"]
            for row in rows
        }
    )
    assert stored == run.stored


async def _same_states(run: Run) -> None:
    rows = await run.world.fetch(
        "SELECT monitor, location, failing, fails, goods FROM states WHERE monitor = ANY($1)",
        run.world.monitors,
    )
    states = {(row["monitor"], row["location"]): (row["failing"], row["fails"], row["goods"]) for row in rows}
    assert states == {key: (place.failing, place.fails, place.goods) for key, place in run.places.items()}


async def _same_verdict(run: Run, monitor: int, locations: int, quorum: str) -> None:
    places = [place for key, place in run.places.items() if key[0] == monitor]
    down = sum(place.failing for place in places) >= needed(quorum, locations)
    [row] = await run.world.fetch(
        "SELECT down, told, flapping_since FROM monitors WHERE monitor = $1", monitor
    )
    if row["flapping_since"]:
        assert row["down"] is down
        return
    assert (row["down"], row["told"]) == (down, down)
    id_ = run.world.ids[monitor]
    rows = await run.world.fetch(
        "SELECT kind FROM events WHERE stream_id = $1 AND kind LIKE 'monitor.%' ORDER BY sequence", id_
    )
    kinds = [row["kind"] for row in rows]
    assert kinds == [("monitor.down", "monitor.up")[i % 2] for i in range(len(kinds))]
    assert len(kinds) % 2 == down
    incidents = await run.world.fetch(
        "SELECT status, failure_count FROM incidents WHERE monitor_id = $1", id_
    )
    assert [incident["status"] for incident in incidents] == (
        ["open" if down else "resolved"] if kinds else []
    )
    if locations == 1:
        assert kinds == places[0].changes
        assert sum(incident["failure_count"] for incident in incidents) == places[0].counted
