"""A probe whose spool could not hold all of a long outage reads again what it lost of a chain."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import orjson
import pytest

from probe.link.assignments import Assignments
from probe.link.plan import Plan, ProbeAssignment
from probe.link.releases import Releases
from probe.link.session import Session
from probe.net.engine import Net
from probe.schedule.prepared import check_of
from probe.schedule.runner import CheckRun, run
from probe.schedule.scheduler import Scheduler
from probe.spool.batches import Batcher
from probe.spool.spool import Spool
from shared.clock import boot_us
from shared.loop import Bell
from shared.results import Outcome, Run, Status
from shared.wire.v1 import probe_pb2
from tests.probe.peer import Holder, Peer
from tests.probe.test_session import ASSIGNED, ME
from tests.probe.web3.chain import Chain
from tests.probe.web3.zoo import Zoo

pytestmark = pytest.mark.races

NUMBER = 5
BODY = b"x" * 2000


class Rig:
    """A whole probe with a small spool and one check, which is assigned again at each connection."""

    def __init__(self, directory: Path, peer: Peer, zoo: Zoo, state: bytes = b"") -> None:
        self.peer, self.zoo = peer, zoo
        self.net = Net()
        self.spool = Spool(directory, max_bytes=256 * 1024, segment_bytes=16 * 1024)
        self.bell = Bell()
        self.batcher = Batcher(self._keep)
        self.scheduler = Scheduler(self._check, self.batcher.add)
        releases = Releases(self.scheduler, self.batcher, self.bell)
        self.checked = asyncio.Event()
        self.state = state
        plan = Plan(Assignments(self.scheduler, releases))
        mine = peer.deployment.probe()
        self.session = Session(
            ME,
            [f"127.0.0.1:{peer.port}"],
            Holder(mine),
            spool=self.spool,
            batcher=self.batcher,
            plan=plan,
            scheduler=self.scheduler,
            releases=releases,
            bell=self.bell,
        )
        self.task = asyncio.create_task(self.session.run())

    def _keep(self, incarnation: int, seq: int, results: int, data: bytes) -> None:
        self.spool.append(incarnation, seq, results, data)
        self.bell.ring()

    async def _check(self, assigned: ProbeAssignment) -> CheckRun:
        ran = await run(check_of(assigned), self.net, 5)
        self.state = ran.outcome.state or self.state
        self.checked.set()
        return ran

    async def plan(self) -> None:
        """As a collector tells it after each welcome."""
        kind = self.zoo.kind()
        config = {
            "chainId": kind.chain_id,
            "address": kind.address,
            "eventName": kind.event_name,
            "rpcUrl": kind.rpc_url,
            "confirmations": 0,
        }
        assignment = probe_pb2.Assignment(
            number=NUMBER, monitor=1, location=1, revision=1, type="web3_contract_event",
            config=orjson.dumps(config), interval_ms=200, timeout_ms=5000, turns=1, at_once=True,
            failure_threshold=3, recovery_threshold=1, state=self.state,
        )  # fmt: skip
        plan = probe_pb2.Plan(number=1, starts_snapshot=True, ends_snapshot=True, upsert=[assignment])
        await self.peer.send_when_connected(probe_pb2.ToProbe(plan=plan))

    async def reads(self, chain: Chain) -> None:
        """Until a check has come as far as the chain."""

        def there() -> bool:
            return bool(self.state) and orjson.loads(self.state)["more"]["cursor"][0] > chain.head

        async with asyncio.timeout(20):
            while not there():
                self.checked.clear()
                await self.checked.wait()

    def overflow(self, until: Callable[[], bool]) -> None:
        """Fill the spool with other results."""
        for _ in range(400):
            if until():
                return
            bulk = Outcome(Status.UP, state=BODY)
            self.batcher.add(ASSIGNED, Run.SCHEDULED, CheckRun(bulk, boot_us(), 5), urgent=False)
            self.batcher.seal()
        raise AssertionError("the spool lost nothing")

    def lost(self) -> bool:
        """Whether the spool dropped what was reported of the chain."""
        losses = self.spool.ledger.losses(self.batcher.incarnation)
        return any(NUMBER in loss.missed for loss in losses)

    def kept(self) -> bool:
        """Is nothing lost yet?"""
        return not self.spool.ledger.losses(self.batcher.incarnation)

    async def die(self) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.task
        await self.scheduler.stop(0)
        self.batcher.seal()
        self.spool.close()
        self.net.close()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    await made.start()
    yield made
    await made.stop()


def told(peer: Peer, zoo: Zoo) -> set[str]:
    """The numbers of the events of which the collector has heard."""
    for batch in peer.batches:
        for _, findings in sorted(batch.found.items()):
            zoo.ledger.take(findings)
    peer.batches.clear()
    return set(zoo.ledger.held)


async def offline(rig: Rig, chain: Chain) -> None:
    """The collector is away for so long that the spool loses what happened meanwhile."""
    await rig.plan()
    await rig.reads(chain)
    await rig.peer.until(lambda: rig.peer.batches)
    await rig.peer.stop()
    rig.zoo.ring(1, 2, 3)
    await rig.reads(chain)
    rig.batcher.seal()
    assert rig.kept()
    rig.overflow(rig.lost)
    rig.zoo.ring(4, 5)
    await rig.reads(chain)


async def test_what_happened_during_an_outage_too_long_for_the_spool_is_told_after_it(
    chain: Chain, zoo: Zoo, peer: Peer, tmp_path: Path
) -> None:
    rig = Rig(tmp_path, peer, zoo)
    try:
        await offline(rig, chain)
        peer.vitals.clear()
        await peer.start()
        await rig.plan()
        await peer.until(lambda: len(told(peer, zoo)) == 5 and not rig.spool.ledger.owed)
        zoo.settled()
        assert peer.gaps
        assert not zoo.ledger.gone
    finally:
        await rig.die()


async def test_a_process_that_ended_before_it_could_is_survived_by_what_it_lost(
    chain: Chain, zoo: Zoo, peer: Peer, tmp_path: Path
) -> None:
    """Its newest results had overtaken the rest: from what the collector keeps nobody would go back."""
    rig = Rig(tmp_path, peer, zoo)
    await offline(rig, chain)
    newest = rig.state
    await rig.die()
    rig = Rig(tmp_path, peer, zoo, newest)
    try:
        peer.vitals.clear()
        await peer.start()
        await rig.plan()
        await peer.until(lambda: len(told(peer, zoo)) == 5)
        zoo.settled()
    finally:
        await rig.die()
