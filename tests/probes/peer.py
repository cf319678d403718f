"""A probe as the collector sees it: the real stream of the generated client, driven by hand."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import grpc
import grpc.aio
import pytest

from collector.evaluation.writer import ResultWriter
from collector.history.storage import partitions
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.service.assignments import place
from collector.probes.sessions.certificates import ServerCredentials
from collector.probes.sessions.sessions import Sessions
from collector.web3.service.nodes import NONE, Nodes
from probe.link.credentials import Credentials as ProbeCredentials
from shared.clock import utc_now
from shared.ids import uuid7
from shared.loop import forever
from shared.results import Run, Status
from shared.schedule import plan_hash
from shared.tokens import new_key
from shared.wire import convert
from shared.wire.v1 import probe_pb2, probe_pb2_grpc
from tests import pki
from tests.clocks import GivenClock
from tests.probes.ground import enrol, fetch, make_monitors, make_team

PATIENCE_S = 20
# Of all collectors of a deployment.
KEYRING = Keyring.parse(new_key())


@dataclass(slots=True)
class Collector:
    """All of a collector that a session needs, at work."""

    db: Db
    sessions: Sessions
    writer: ResultWriter
    signals: Signals
    keyring: Keyring
    credentials: ServerCredentials
    port: int
    team_id: int
    changes: int = 0

    async def place(self, monitor: int, revision: int = 1, locations: Sequence[str] = ("eu",)) -> None:
        async with self.db.transaction() as tx:
            await place(tx, monitor, revision, locations, now=utc_now())
        self.signals.ring()

    async def monitors(self, count: int = 1, **what: Any) -> list[int]:
        return await make_monitors(self.db, self.team_id, count, locations=("eu",), now=utc_now(), **what)

    async def placed(self, count: int = 1) -> list[int]:
        """Monitors that the probe of eu is to check."""
        made = await self.monitors(count)
        for monitor in made:
            await self.place(monitor)
        return made

    async def fetch(self, sql: str, *args: Any) -> list[dict[str, Any]]:
        return await fetch(self.db, sql, *args)


@asynccontextmanager
async def collecting(
    db: Db, *, writes: bool = True, keyring: Keyring | None = None, nodes: Nodes = NONE
) -> AsyncIterator[Collector]:
    """A collector that takes probes; one that does not write leaves everything waiting."""
    async with db.transaction() as tx:
        await partitions.make(tx, utc_now().date())
    started_at = utc_now() - timedelta(hours=1)
    writer = ResultWriter(db, clock=GivenClock(utc_now, lambda: started_at))
    signals, keyring = Signals(db), keyring or KEYRING

    def changed() -> None:
        collector.changes += 1

    credentials = ServerCredentials(db, keyring, names=["127.0.0.1"], now=utc_now)
    sessions = Sessions(db, writer, signals, keyring, credentials, changed=changed, now=utc_now, nodes=nodes)
    port = await sessions.start("127.0.0.1:0")
    team_id = await make_team(db, utc_now())
    collector = Collector(db, sessions, writer, signals, keyring, credentials, port, team_id)
    turns = {"signals": signals.turn, "writer": writer.turn}
    tasks = [
        asyncio.create_task(forever(name, turn, timedelta(milliseconds=50), signals.bell))
        for name, turn in turns.items()
        if writes or name != "writer"
    ]
    try:
        yield collector
    finally:
        await sessions.stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass(slots=True)
class Peer:
    """One stream; what came down is sorted by what it is, and the plan is applied as a probe would."""

    stream: Any
    channel: Any
    welcome: probe_pb2.Welcome
    boot_us: int = 1_000_000_000
    acked: dict[int, int] = field(default_factory=dict)
    plan: dict[int, probe_pb2.Assignment] = field(default_factory=dict)
    plans: list[probe_pb2.Plan] = field(default_factory=list)
    runs: list[probe_pb2.Run] = field(default_factory=list)
    unnamed: set[int] = field(default_factory=set)
    asked: set[int] = field(default_factory=set)  # what it is to let go of

    async def say(self, **body: Any) -> None:
        self.boot_us += 1
        await self.stream.write(probe_pb2.FromProbe(sent_us=self.boot_us, **body))

    async def hear(self) -> None:
        """Take in one message. Raises what ended the stream, EOFError if nothing did."""
        async with asyncio.timeout(PATIENCE_S):
            message = await self.stream.read()
        if message is grpc.aio.EOF:
            raise EOFError
        match message.WhichOneof("body"):
            case "ack":
                self.acked[message.ack.incarnation] = message.ack.seq
            case "plan":
                self._apply(message.plan)
            case "run":
                self.runs.append(message.run)

    async def hear_until(self, holds: Callable[[], object]) -> None:
        while not holds():
            await self.hear()

    async def snapshot(self, after: int = 0) -> None:
        """Take in a whole snapshot that ends later than the plan *after*."""
        await self.hear_until(
            lambda: self.plans and self.plans[-1].ends_snapshot and self.plans[-1].number > after
        )

    async def ended(self) -> tuple[grpc.StatusCode, str]:
        """How the collector ends the stream."""
        try:
            while True:
                await self.hear()
        except grpc.aio.AioRpcError as error:
            return error.code(), error.details() or ""
        except EOFError:
            return grpc.StatusCode.OK, ""

    @property
    def hash(self) -> int:
        return plan_hash((number, one.revision) for number, one in self.plan.items())

    def _apply(self, plan: probe_pb2.Plan) -> None:
        self.plans.append(plan)
        if plan.starts_snapshot:
            self.unnamed = set(self.plan)
        self.asked.update(plan.release)
        for number in plan.removed:
            del self.plan[number]
        for assignment in plan.upsert:
            self.plan[assignment.number] = assignment
            self.unnamed.discard(assignment.number)
        if plan.ends_snapshot:
            for number in self.unnamed:
                del self.plan[number]
            self.unnamed = set()


def hello(**says: Any) -> probe_pb2.Hello:
    fields = {
        "protocol": 1,
        "version": "0.1.0",
        "probe_id": uuid7().bytes,
        "name": "probe",
        "locations": ["eu"],
        "kinds": ["http", "tcp"],
        "boot_id": "boot-1",
        "wall_us": int(utc_now().timestamp() * 1e6),
        "incarnation": 7,
        **says,
    }
    return probe_pb2.Hello(**fields)


def spooled(incarnation: int, first: int, last: int) -> probe_pb2.SpoolRange:
    return probe_pb2.SpoolRange(incarnation=incarnation, first_seq=first, last_seq=last)


@asynccontextmanager
async def dialled(
    collector: Collector, mine: ProbeCredentials | None = None
) -> AsyncIterator[tuple[Any, Any]]:
    """A stream on which nothing was said yet, and its channel."""
    if mine is None:
        mine = await enrolled(collector, hello())
    async with pki.channel(collector.port, mine) as channel:
        yield probe_pb2_grpc.ProbeLinkStub(channel).Session(), channel  # type: ignore[no-untyped-call]


async def enrolled(collector: Collector, hello: probe_pb2.Hello) -> ProbeCredentials:
    """What the probe that will say this hello was given before."""
    await enrol(collector.db, identity(hello), list(hello.locations))
    return pki.certified(collector.credentials.trust, list(hello.locations), probe_id=identity(hello))


@asynccontextmanager
async def connected(
    collector: Collector, said: probe_pb2.Hello, mine: ProbeCredentials | None = None
) -> AsyncIterator[Peer]:
    """A session that was welcomed."""
    async with dialled(collector, mine or await enrolled(collector, said)) as (stream, channel):
        await stream.write(probe_pb2.FromProbe(sent_us=1_000_000_000, hello=said))
        async with asyncio.timeout(PATIENCE_S):
            first = await stream.read()
        peer = Peer(stream, channel, first.welcome)
        try:
            yield peer
        finally:
            await stream.done_writing()


async def refusal(
    collector: Collector, hello: probe_pb2.Hello, mine: ProbeCredentials | None = None
) -> tuple[grpc.StatusCode, str]:
    """How the collector answers a hello that it does not welcome."""
    async with dialled(collector, mine or await enrolled(collector, hello)) as (stream, _):
        with suppress(grpc.aio.AioRpcError):  # refused before it was said
            await stream.write(probe_pb2.FromProbe(sent_us=1, hello=hello))
        return await refused(stream)


async def refused(stream: Any) -> tuple[grpc.StatusCode, str]:
    """How the collector ends a stream on which it said nothing."""
    async with asyncio.timeout(PATIENCE_S):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stream.read()
    return caught.value.code(), caught.value.details() or ""


def batch(
    seq: int,
    *,
    incarnation: int = 7,
    monitor: int = 1,
    assignment: probe_pb2.Assignment | None = None,
    status: Status = Status.UP,
    **says: Any,
) -> convert.Batch:
    """One result, that began at boot microsecond 1,000,000,000."""
    made = convert.Batch(
        incarnation=convert.signed(incarnation),
        first_seq=seq,
        seq=seq,
        boot_id="boot-1",
        base_us=1_000_000_000,
        wall_us=int(utc_now().timestamp() * 1e6),
        monitor=[assignment.monitor if assignment else monitor],
        location=[assignment.location if assignment else 1],
        assignment=[assignment.number if assignment else 0],
        revision=[assignment.revision if assignment else 1],
        run=[Run.SCHEDULED],
        start_us=[0],
        duration_us=[2500],
        outcome=[status],
        code=[200],
        phases=[b""],
        error=[0],
    )
    return replace(made, **says)


def sealed(seq: int, **says: Any) -> bytes:
    return convert.encode(batch(seq, **says))


def identity(hello: probe_pb2.Hello) -> UUID:
    return UUID(bytes=hello.probe_id)
