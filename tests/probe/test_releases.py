"""Assignments that another probe takes over: checked until then, released between two starts, in order."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import pytest

from shared.results import Run, Status
from shared.wire.v1 import probe_pb2
from tests.probe.peer import Peer
from tests.probe.test_scheduler import MINUTE, SECOND, World, assigned
from tests.probe.test_session import Probe, assignment

pytestmark = pytest.mark.races


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    yield made
    made.release.set()
    await made.scheduler.stop(1)


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
    await made.stop()


async def until_next(world: World, monitor: int, us: int) -> None:
    """Pass time until the monitor's next start is *us* away."""
    item = world.scheduler._items[monitor]
    await world.pass_(item.next_us - us - world.boot_us)


@pytest.mark.parametrize("halves", [1, 3])
async def test_what_starts_soon_is_let_go_of_after_its_check_and_rests_then(
    world: World, halves: int
) -> None:
    """Soon: before another collector can have read it, which takes a second, and informed its probe."""
    gone: list[int] = []
    world.scheduler.take(assigned(7, 10))
    await until_next(world, 7, halves * SECOND // 2)
    world.scheduler.release(7, gone.append)
    assert gone == []
    await world.pass_((halves + 1) * SECOND // 2)
    assert (gone, len(world.starts(7))) == ([7], 1)
    await world.pass_(12 * SECOND)
    assert len(world.starts(7)) == 1


async def test_what_does_not_start_soon_is_let_go_of_at_once(world: World) -> None:
    gone: list[int] = []
    world.scheduler.take(assigned(7, 60))
    await until_next(world, 7, 10 * SECOND)
    world.scheduler.release(7, gone.append)
    assert gone == [7]
    await world.pass_(11 * SECOND)
    assert world.starts(7) == []


async def test_a_check_that_runs_ends_before_it_is_let_go_of(world: World) -> None:
    gone: list[int] = []
    world.slow.add(7)
    world.scheduler.take(assigned(7, at_once=True))
    await world.pass_(SECOND)
    world.scheduler.release(7, gone.append)
    await world.pass_(SECOND)
    assert gone == []
    world.release.set()
    await world.settle()
    assert gone == [7]
    assert world.runs() == [Run.SCHEDULED]


async def test_a_failure_that_is_being_confirmed_is_left_to_who_takes_over(world: World) -> None:
    gone: list[int] = []
    world.status = Status.DOWN
    world.scheduler.take(assigned(7, at_once=True))
    world.scheduler.release(7, gone.append)
    await world.pass_(10 * SECOND)
    assert (gone, len(world.starts(7))) == ([7], 1)

    world.scheduler.take(assigned(8, fails=1))
    before = world.boot_us
    await world.pass_(2 * SECOND)
    assert [at - before <= 1.2 * SECOND for at in world.starts(8)] == [True]
    assert world.runs()[-1] is Run.RECHECK


async def test_what_nobody_takes_over_is_gone_on_with_after_a_while(world: World) -> None:
    world.scheduler.take(assigned(7, 60))
    await until_next(world, 7, 5 * SECOND)
    before = world.boot_us
    before = world.boot_us
    world.scheduler.release(7, lambda _: None)
    await world.pass_(2 * MINUTE)
    starts = world.starts(7)
    assert len(starts) >= 2
    assert starts[0] - before < 20 * SECOND
    assert all(later - earlier < 90 * SECOND for earlier, later in pairwise(starts))


async def test_at_the_end_of_the_session_it_is_gone_on_with_at_its_place(world: World) -> None:
    gone: list[int] = []
    world.scheduler.take(assigned(7, 10))
    await world.pass_(15 * SECOND)
    await until_next(world, 7, 5 * SECOND)
    due_us = world.scheduler._items[7].next_us
    world.scheduler.release(7, gone.append)
    world.scheduler.resume()
    await world.pass_(6 * SECOND)
    assert gone == [7]
    assert 0 <= world.starts(7)[-1] - due_us <= SECOND // 10


async def test_it_is_told_after_the_last_result_and_checked_no_more(peer: Peer, probe: Probe) -> None:
    checks = [assignment(number, interval_ms=1000, at_once=False) for number in range(1, 41)]
    plan = probe_pb2.Plan(number=1, starts_snapshot=True, ends_snapshot=True, upsert=checks)
    await peer.send_when_connected(probe_pb2.ToProbe(plan=plan))
    await peer.until_results(60)
    asked = probe_pb2.Plan(number=2, release=list(range(1, 41)))
    await peer.send_when_connected(probe_pb2.ToProbe(plan=asked))
    await peer.until(lambda: len(peer.released) == 40)
    counted = dict(peer.released)
    assert counted.keys() == set(range(1, 41))
    for number, before in counted.items():
        assert number not in {monitor for monitor, _, _ in peer.results[before:]}


async def test_a_plan_that_names_it_again_has_it_checked_again(peer: Peer, probe: Probe) -> None:
    probe_plan = probe_pb2.Plan(
        number=1, starts_snapshot=True, ends_snapshot=True, upsert=[assignment(1, interval_ms=1000)]
    )
    await peer.send_when_connected(probe_pb2.ToProbe(plan=probe_plan))
    await peer.until_results(1)
    await peer.send_when_connected(probe_pb2.ToProbe(plan=probe_pb2.Plan(number=2, release=[1])))
    await peer.until(lambda: peer.released)
    before = len(peer.results)
    await peer.send_when_connected(probe_pb2.ToProbe(plan=probe_plan))
    async with asyncio.timeout(5):
        await peer.until_results(before + 2)
