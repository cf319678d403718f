"""Every result reaches the collector once and in order, through restarts of either side; fresh ones pass."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import grpc
import pytest
import structlog

from probe.link.assignments import Assignments
from probe.link.connection import KEEPALIVE, Keepalive
from probe.link.credentials import Credentials
from probe.link.plan import Order, Plan, ProbeAssignment, prepare
from probe.link.releases import Releases
from probe.link.session import Identity, Session
from probe.schedule.runner import CheckRun
from probe.schedule.scheduler import Scheduler
from probe.spool.batches import Batcher
from probe.spool.spool import Spool
from shared.clock import boot_us
from shared.loop import Bell
from shared.results import Outcome, Run, Status
from shared.schedule import plan_hash
from shared.wire.convert import signed
from shared.wire.v1 import probe_pb2
from tests.probe.peer import Holder, Peer

pytestmark = pytest.mark.races

ME = Identity(probe_id=UUID(int=7), name="test", locations=("local",), kinds=("http", "tcp"), stands_in=True)
ASSIGNED = prepare(
    Order(
        number=9, monitor=1, location=1, revision=1, type="tcp",
        config=b'{"host": "192.0.2.1", "port": 1}', interval_ms=60_000, timeout_ms=1000,
    )
)  # fmt: skip


class Probe:
    """All of a probe but the network behind its checks."""

    def __init__(
        self,
        directory: Path,
        mine: Credentials,
        *collectors: str,
        outcome: Outcome = Outcome(Status.UP, 200),  # noqa: B008 - it is frozen
        keepalive: Keepalive = KEEPALIVE,
    ) -> None:
        self.outcome = outcome
        self.told = 0
        self.spool = Spool(directory, segment_bytes=64 * 1024)
        self.bell = Bell()
        self.batcher = Batcher(self._keep)
        self.scheduler = Scheduler(self._check, self.batcher.add)
        self.releases = Releases(self.scheduler, self.batcher, self.bell)
        self.plan = Plan(Assignments(self.scheduler, self.releases))
        self.session = Session(
            ME,
            collectors,
            Holder(mine),
            spool=self.spool,
            batcher=self.batcher,
            plan=self.plan,
            scheduler=self.scheduler,
            releases=self.releases,
            bell=self.bell,
            keepalive=keepalive,
        )
        self.task = asyncio.create_task(self.session.run())

    def _keep(self, incarnation: int, seq: int, results: int, data: bytes) -> None:
        self.spool.append(incarnation, seq, results, data)
        self.bell.ring()

    async def _check(self, assigned: ProbeAssignment) -> CheckRun:
        if assigned.fault:
            return CheckRun(Outcome(Status.UNKNOWN, error=assigned.fault), boot_us(), 0)
        return CheckRun(self.outcome, boot_us(), 5)

    def tell(self, batches: int) -> None:
        """Seal so many batches of one result each; results are numbered through as monitors."""
        for _ in range(batches):
            self.told += 1
            self.batcher.add(
                replace(ASSIGNED, monitor=self.told),
                Run.SCHEDULED,
                CheckRun(self.outcome, boot_us(), 5),
                urgent=False,
            )
            self.batcher.seal()

    async def stop(self) -> None:
        await self.scheduler.stop(1)
        self.batcher.seal()
        self.session.stop()
        async with asyncio.timeout(5):
            await self.task
        self.spool.close()

    async def die(self) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task
        await self.scheduler.stop(0)
        self.spool.close()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def probe(peer: Peer, tmp_path: Path) -> AsyncIterator[Probe]:
    made = Probe(tmp_path, peer.deployment.probe(), f"127.0.0.1:{peer.port}")
    yield made
    if not made.task.done():
        await made.stop()


def once(peer: Peer, count: int) -> bool:
    """Have results 1 to *count* arrived, each once?"""
    return sorted(monitor for monitor, _, _ in peer.results) == list(range(1, count + 1))


def assignment(number: int, **changes: object) -> probe_pb2.Assignment:
    fields: dict[str, object] = {
        "number": number,
        "monitor": number,
        "location": 1,
        "revision": 1,
        "type": "tcp",
        "config": b'{"host": "192.0.2.1", "port": 1}',
        "interval_ms": 3_600_000,
        "timeout_ms": 1000,
        "turns": 1,
        "failure_threshold": 3,
        "recovery_threshold": 1,
        "at_once": True,
    }
    return probe_pb2.Assignment(**(fields | changes))  # type: ignore[arg-type]


async def test_says_who_it_is_and_what_it_has(peer: Peer, probe: Probe) -> None:
    await peer.until(lambda: peer.vitals)
    [hello] = peer.hellos
    assert hello.protocol == 1
    assert UUID(bytes=hello.probe_id) == ME.probe_id
    assert (list(hello.locations), list(hello.kinds), hello.stands_in) == (["local"], ["http", "tcp"], True)
    assert signed(hello.incarnation) == probe.batcher.incarnation
    assert hello.boot_id
    assert hello.wall_us > 10**15
    assert peer.vitals[0].rss_bytes > 10**6


async def test_results_arrive_once_and_in_order(peer: Peer, probe: Probe) -> None:
    probe.tell(50)
    await peer.until(lambda: once(peer, 50))
    probe.tell(50)
    await peer.until(lambda: once(peer, 100))
    assert [monitor for monitor, _, _ in peer.results] == list(range(1, 101))
    assert peer.out_of_order == 0


async def test_never_more_unacknowledged_than_allowed_and_the_rest_stays_on_disk(
    peer: Peer, probe: Probe
) -> None:
    peer.acking.clear()
    probe.tell(300)
    await peer.until(lambda: len(peer.results) >= peer.max_unacked)
    await asyncio.sleep(0.1)
    assert peer.most_unacked == len(peer.results) == peer.max_unacked
    peer.acking.set()
    await peer.until(lambda: once(peer, 300))
    assert peer.most_unacked <= peer.max_unacked


async def test_a_collector_that_goes_away_finds_everything_when_it_is_back(peer: Peer, probe: Probe) -> None:
    probe.tell(10)
    await peer.until(lambda: once(peer, 10))
    await peer.stop()
    probe.tell(200)
    await peer.start()
    await peer.until(lambda: once(peer, 210))
    assert peer.out_of_order == 0


async def test_what_was_sent_and_not_acknowledged_is_sent_again(peer: Peer, probe: Probe) -> None:
    peer.acking.clear()
    probe.tell(20)
    await peer.until(lambda: len(peer.results) == peer.max_unacked)
    await peer.stop()
    # The commit was lost with the collector.
    peer.committed.clear()
    peer.results.clear()
    peer.acking.set()
    await peer.start()
    await peer.until(lambda: once(peer, 20))


async def test_nothing_is_sent_twice_to_a_collector_that_has_it(peer: Peer, probe: Probe) -> None:
    probe.tell(20)
    await peer.until(lambda: once(peer, 20))
    await peer.stop()
    await peer.start()
    await peer.until(lambda: len(peer.hellos) == 2)
    probe.tell(20)
    await peer.until(lambda: once(peer, 40))
    assert peer.out_of_order == 0


async def test_a_restored_database_is_made_whole(peer: Peer, probe: Probe) -> None:
    probe.tell(100)
    await peer.until(lambda: once(peer, 100))
    await peer.stop()
    peer.committed[probe.batcher.incarnation] = 30
    peer.results = [result for result in peer.results if result[0] <= 30]
    await peer.start()
    await peer.until(lambda: once(peer, 100))


async def test_a_restarted_probe_sends_what_it_left_under_the_incarnation_that_wrote_it(
    peer: Peer, probe: Probe, tmp_path: Path
) -> None:
    await peer.until(lambda: peer.hellos)
    await peer.stop()
    probe.tell(40)
    before = probe.batcher.incarnation
    await probe.die()
    await peer.start()
    again = Probe(tmp_path, peer.deployment.probe(), f"127.0.0.1:{peer.port}")
    again.told = 40
    again.tell(5)
    await peer.until(lambda: once(peer, 45))
    assert {incarnation for monitor, incarnation, _ in peer.results if monitor <= 40} == {before}
    assert {incarnation for monitor, incarnation, _ in peer.results if monitor > 40} == {
        again.batcher.incarnation
    }
    assert peer.out_of_order == 0
    await again.stop()


async def test_a_probe_that_was_rewound_begins_a_new_incarnation(peer: Peer, probe: Probe) -> None:
    probe.tell(3)
    await peer.until(lambda: once(peer, 3))
    before = probe.batcher.incarnation
    await peer.stop()
    peer.committed[before] = 900
    await peer.start()
    # Sealed before the probe learns of it, and after.
    probe.tell(2)
    await peer.until(lambda: len(peer.hellos) == 2)
    probe.tell(2)
    await peer.until(lambda: {monitor for monitor, _, _ in peer.results} == set(range(1, 8)))
    assert probe.batcher.incarnation != before
    assert {inc for monitor, inc, _ in peer.results if monitor > 3} <= {before, probe.batcher.incarnation}
    assert peer.out_of_order == 0


async def test_a_backlog_drains_while_fresh_results_pass_it(peer: Peer, probe: Probe) -> None:
    await peer.until(lambda: peer.hellos)
    await peer.stop()
    probe.tell(1500)
    peer.delay_s = 0.001
    await peer.start()
    await peer.until(lambda: len(peer.results) > 20)
    probe.tell(1)
    await peer.until(lambda: any(monitor == 1501 for monitor, _, _ in peer.results))
    assert len(peer.results) < 1000
    await peer.until(lambda: once(peer, 1501))
    assert peer.out_of_order == 0


def _first_segment(directory: Path) -> Path:
    return min(directory.glob("*.seg"))


async def test_what_was_lost_arrives_as_a_gap(peer: Peer, probe: Probe, tmp_path: Path) -> None:
    await peer.until(lambda: peer.hellos)
    await peer.stop()
    probe.tell(1400)
    _first_segment(tmp_path).unlink()
    incarnation = probe.batcher.incarnation
    await peer.start()
    await peer.until(lambda: peer.gaps)
    gap = peer.gaps[0]
    assert gap.gap
    assert (gap.incarnation, gap.first_seq) == (incarnation, 1)
    assert gap.gap.results == gap.seq
    await peer.until(lambda: len(peer.results) == 1400 - gap.seq)
    assert peer.out_of_order == 0


async def test_the_plan_is_run_and_its_results_come_up(peer: Peer, probe: Probe) -> None:
    plan = probe_pb2.Plan(
        number=1,
        starts_snapshot=True,
        ends_snapshot=True,
        upsert=[assignment(1), assignment(2), assignment(3, type="tarot")],
        hash=plan_hash([(1, 1), (2, 1), (3, 1)]),
    )
    await peer.send_when_connected(probe_pb2.ToProbe(plan=plan))
    await peer.until(lambda: once(peer, 3))
    assert probe.plan.hash == plan.hash


async def test_checks_go_on_without_a_collector(peer: Peer, probe: Probe) -> None:
    plan = probe_pb2.Plan(number=1, upsert=[assignment(1, interval_ms=100)])
    await peer.send_when_connected(probe_pb2.ToProbe(plan=plan))
    await peer.until(lambda: peer.results)
    await peer.stop()
    before = probe.scheduler.started
    await asyncio.sleep(0.5)
    assert probe.scheduler.started >= before + 3
    await peer.start()
    await peer.until(lambda: len(peer.results) >= before + 3)
    assert peer.out_of_order == 0


async def test_a_test_is_answered(peer: Peer, probe: Probe) -> None:
    probe.outcome = Outcome(Status.DOWN, 503, "status 503\0")
    run = probe_pb2.Run(id=77, run=Run.TEST, within_ms=2000, check=assignment(0))
    await peer.send_when_connected(probe_pb2.ToProbe(run=run))
    await peer.until(lambda: peer.answers)
    [answer] = peer.answers
    assert (answer.id, answer.outcome, answer.code, answer.error) == (77, Status.DOWN, 503, "status 503?")
    assert peer.results == []


async def test_a_second_opinion_is_a_result(peer: Peer, probe: Probe) -> None:
    run = probe_pb2.Run(id=1, run=Run.SECOND_OPINION, within_ms=2000, check=assignment(5))
    await peer.send_when_connected(probe_pb2.ToProbe(run=run))
    await peer.until(lambda: peer.results)
    assert peer.results[0][0] == 5
    assert peer.answers == []


async def test_a_stop_sends_what_there_is_and_ends_the_stream_in_order(peer: Peer, probe: Probe) -> None:
    await peer.until(lambda: peer.vitals)
    probe.tell(30)
    await probe.stop()
    await peer.until(lambda: peer.half_closed == 1)
    assert once(peer, 30)


async def test_the_next_collector_takes_over(peer: Peer, tmp_path: Path) -> None:
    probe = Probe(tmp_path / "other", peer.deployment.probe(), "127.0.0.1:9", f"127.0.0.1:{peer.port}")
    probe.tell(3)
    await peer.until(lambda: once(peer, 3))
    await probe.stop()


async def test_a_refusal_is_told_once_in_the_collectors_words_and_tried_again(tmp_path: Path) -> None:
    peer = Peer()
    peer.refusal = (grpc.StatusCode.ALREADY_EXISTS, "this probe runs at 192.0.2.7 already")
    await peer.start()
    with structlog.testing.capture_logs() as logs:
        probe = Probe(tmp_path, peer.deployment.probe(), f"127.0.0.1:{peer.port}")
        await peer.until_hellos(3)
    peer.refusal = None
    probe.tell(1)
    await peer.until(lambda: once(peer, 1))
    await probe.stop()
    await peer.stop()
    mappings = [entry for entry in logs if entry["log_level"] == "error"]
    assert [entry["reason"] for entry in mappings] == ["this probe runs at 192.0.2.7 already"]


async def test_nobody_there_is_worth_a_warning_from_the_second_time_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = Peer()
    monkeypatch.setattr("probe.link.pace.full_jitter", lambda *_: itertools.repeat(0.6))
    with structlog.testing.capture_logs() as logs:
        await peer.start()
        await peer.stop()
        probe = Probe(tmp_path, peer.deployment.probe(), f"127.0.0.1:{peer.port}")
        await asyncio.sleep(0.3)
        assert not logs
        await peer.start()
        await peer.until_hellos(1)
        await peer.until(lambda: peer.vitals)
        await peer.stop()
        async with asyncio.timeout(20):
            while not any(entry["log_level"] == "warning" for entry in logs):
                await asyncio.sleep(0.05)
    await probe.die()
    assert [entry["event"] for entry in logs] == ["connected", "no collector"]


async def test_of_too_many_incarnations_the_unsent_are_told_oldest_first(
    probe: Probe, peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("probe.link.session._MOST_RANGES", 4)
    await peer.until(lambda: peer.vitals)
    await peer.stop()
    ages = []
    for number in range(8):
        probe.tell(1)
        ages.append(probe.batcher.incarnation)
        if number in {0, 3, 5, 6}:
            probe.spool.acked(probe.batcher.incarnation, 1)
        probe.batcher.renew()
    await peer.start()
    await peer.until_hellos(2)
    assert [signed(span.incarnation) for span in peer.hellos[1].spooled] == [
        ages[number] for number in (1, 2, 4, 7)
    ]
