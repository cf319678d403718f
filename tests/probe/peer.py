"""A collector's end of the probe link for tests: a real gRPC server that does what the test says."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc

from probe.link.credentials import Credentials
from shared.wire.convert import Batch, decode, signed, unsigned
from shared.wire.v1 import probe_pb2, probe_pb2_grpc
from tests.pki import Deployment


@dataclass(slots=True)
class Holder:
    """Holds credentials, which a test may replace."""

    current: Credentials


class Peer:
    """Commits in memory as a collector does at its cursors, and acknowledges when *acking* is set."""

    def __init__(self) -> None:
        self.committed: dict[int, int] = defaultdict(int)
        self.results: list[tuple[int, int, int]] = []  # monitor, incarnation, seq
        self.batches: list[Batch] = []
        self.gaps: list[Batch] = []
        self.out_of_order = 0
        self.most_unacked = 0
        self.hellos: list[probe_pb2.Hello] = []
        self.answers: list[probe_pb2.Answer] = []
        self.vitals: list[probe_pb2.Vitals] = []
        self.released: list[tuple[int, int]] = []  # assignment, results that had come before
        self.half_closed = 0
        self.acking = asyncio.Event()
        self.acking.set()
        self.max_unacked = 8
        self.delay_s = 0.0
        self.refusal: tuple[grpc.StatusCode, str] | None = None
        self.host = "127.0.0.1"
        self.deployment = Deployment()
        self.port = 0
        self._unacked = 0
        self._out: asyncio.Queue[probe_pb2.ToProbe] | None = None
        self._server: grpc.aio.Server | None = None
        self._changed = asyncio.Condition()

    async def start(self) -> None:
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
        probe_pb2_grpc.add_ProbeLinkServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        self.port = self._server.add_secure_port(f"{self.host}:{self.port}", self.deployment.server())
        await self._server.start()

    async def stop(self) -> None:
        """As if it died: what was not acknowledged is not."""
        if self._server:
            await self._server.stop(None)
            await self._server.wait_for_termination()
        self._server = None

    async def send_when_connected(self, message: probe_pb2.ToProbe) -> None:
        await self.until(lambda: self.vitals)
        assert self._out
        await self._out.put(message)

    async def until_hellos(self, count: int) -> None:
        await self.until(lambda: len(self.hellos) >= count)

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until *holds* of this peer."""
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(holds)

    async def until_results(self, count: int) -> None:
        await self.until(lambda: len(self.results) >= count)

    async def Session(  # noqa: N802 - the name in the .proto
        self, requests: AsyncIterator[probe_pb2.FromProbe], context: Any
    ) -> None:
        first = await anext(aiter(requests))
        self.hellos.append(first.hello)
        await self._tell()
        if self.refusal:
            await context.abort(*self.refusal)
        self._unacked = 0
        out = self._out = asyncio.Queue()
        await context.write(self._welcome(first.hello))
        sender = asyncio.create_task(self._send(context, out))
        try:
            async for message in requests:
                if out is not self._out:
                    return  # a newer session fences this one
                await self._take(message, out)
            self.half_closed += 1
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
            await self._tell()

    def _welcome(self, hello: probe_pb2.Hello) -> probe_pb2.ToProbe:
        known = {signed(span.incarnation) for span in hello.spooled} | {signed(hello.incarnation)}
        positions = [
            probe_pb2.Position(incarnation=unsigned(incarnation), last_seq=self.committed[incarnation])
            for incarnation in known
        ]
        welcome = probe_pb2.Welcome(
            session=len(self.hellos), committed=positions, max_unacked=self.max_unacked
        )
        return probe_pb2.ToProbe(welcome=welcome)

    async def _take(self, message: probe_pb2.FromProbe, out: "asyncio.Queue[probe_pb2.ToProbe]") -> None:
        assert message.sent_us > 0
        if message.HasField("answer"):
            self.answers.append(message.answer)
        elif message.HasField("released"):
            self.released.extend((number, len(self.results)) for number in message.released.number)
        elif message.HasField("vitals"):
            self.vitals.append(message.vitals)
        elif message.HasField("batch"):
            self._unacked += 1
            self.most_unacked = max(self.most_unacked, self._unacked)
            batch = decode(message.batch)
            self._commit(batch)
            ack = probe_pb2.Ack(incarnation=unsigned(batch.incarnation), seq=batch.seq)
            await out.put(probe_pb2.ToProbe(ack=ack))
        await self._tell()

    def _commit(self, batch: Batch) -> None:
        last = self.committed[batch.incarnation]
        if batch.first_seq != last + 1:
            self.out_of_order += 1
            return
        self.committed[batch.incarnation] = batch.seq
        self.batches.append(batch)
        self.results.extend((monitor, batch.incarnation, batch.seq) for monitor in batch.monitor)
        if batch.gap:
            self.gaps.append(batch)

    async def _send(self, context: Any, out: "asyncio.Queue[probe_pb2.ToProbe]") -> None:
        while True:
            message = await out.get()
            if message.HasField("ack"):
                await self.acking.wait()
                await asyncio.sleep(self.delay_s)
                self._unacked -= 1
            await context.write(message)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
