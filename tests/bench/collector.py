"""A collector's end of the probe link that only counts: it hands out one plan and acknowledges all."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc

from shared.schedule import phase_us, plan_hash
from shared.wire.v1 import probe_pb2, probe_pb2_grpc
from tests.pki import Deployment

_IN_A_MESSAGE = 1_000


class Counting:
    """*results* counts; *late_us* has how late each regular start was, while *timing* is set."""

    def __init__(self) -> None:
        self.results = 0
        self.bad = 0
        self.fault = ""
        self.late_us: list[int] = []
        self.timing = False
        self.timed: range = range(0)
        self.vitals: probe_pb2.Vitals | None = None
        self.welcomes = 0
        self.port = 0
        self.deployment = Deployment()
        self.came = asyncio.Event()
        self._orders: Sequence[probe_pb2.Assignment] = ()
        self._committed: dict[int, int] = {}
        self._server: grpc.aio.Server | None = None

    async def start(self, orders: Sequence[probe_pb2.Assignment]) -> None:
        self._orders = orders
        self._server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
        probe_pb2_grpc.add_ProbeLinkServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        self.port = self._server.add_secure_port("127.0.0.1:0", self.deployment.server())
        await self._server.start()

    async def stop(self) -> None:
        assert self._server
        await self._server.stop(None)

    async def Session(  # noqa: N802 - the name in the .proto
        self, requests: AsyncIterator[probe_pb2.FromProbe], context: Any
    ) -> None:
        first = await anext(aiter(requests))
        committed = [
            probe_pb2.Position(
                incarnation=each.incarnation, last_seq=self._committed.get(each.incarnation, 0)
            )
            for each in first.hello.spooled
        ]
        self.welcomes += 1
        welcome = probe_pb2.Welcome(session=self.welcomes, committed=committed, max_unacked=64)
        await context.write(probe_pb2.ToProbe(welcome=welcome))
        for part in self._plan():
            await context.write(part)
        async for message in requests:
            if message.HasField("vitals"):
                self.vitals = message.vitals
            elif message.HasField("batch"):
                await context.write(probe_pb2.ToProbe(ack=self._count(message.batch)))

    def _plan(self) -> list[probe_pb2.ToProbe]:
        parts = [
            self._orders[start : start + _IN_A_MESSAGE]
            for start in range(0, len(self._orders), _IN_A_MESSAGE)
        ]
        hash_ = plan_hash((order.number, order.revision) for order in self._orders)
        return [
            probe_pb2.ToProbe(
                plan=probe_pb2.Plan(
                    number=1,
                    starts_snapshot=part is parts[0],
                    ends_snapshot=part is parts[-1],
                    upsert=part,
                    hash=hash_ if part is parts[-1] else 0,
                )
            )
            for part in parts
        ]

    def _count(self, data: bytes) -> probe_pb2.Ack:
        batch = probe_pb2.Batch.FromString(data)
        self._committed[batch.incarnation] = batch.seq
        self.results += len(batch.monitor)
        self.bad += sum(
            outcome != 1 and monitor in self.timed
            for monitor, outcome in zip(batch.monitor, batch.outcome, strict=True)
        )
        self.fault = batch.errors[0] if batch.errors else self.fault
        if self.timing:
            self._time(batch)
        self.came.set()
        return probe_pb2.Ack(incarnation=batch.incarnation, seq=batch.seq)

    def _time(self, batch: probe_pb2.Batch) -> None:
        for monitor, run, start_us in zip(batch.monitor, batch.run, batch.start_us, strict=True):
            if run == 1 and monitor in self.timed:
                interval_us = self._orders[monitor - 1].interval_ms * 1000
                unix_us = batch.wall_us + start_us
                late_us = (unix_us - phase_us(monitor, interval_us, 0, 1)) % interval_us
                # The two clocks drift: what looks a little early is no whole interval late.
                self.late_us.append(min(late_us, abs(late_us - interval_us)))


def orders(
    type_: str, config: bytes, monitors: range, *, interval_ms: int, timeout_ms: int = 10_000
) -> list[probe_pb2.Assignment]:
    return [
        probe_pb2.Assignment(
            number=number, monitor=number, location=1, revision=1, type=type_, config=config,
            interval_ms=interval_ms, timeout_ms=timeout_ms, failure_threshold=3, recovery_threshold=1,
        )
        for number in monitors
    ]  # fmt: skip
