"""Passes the batches of one session to the writer, and acknowledgements back."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import structlog
from google.protobuf.message import DecodeError

from collector.evaluation.writer import ResultWriter, Submission
from collector.platform.storage.db import Db
from collector.probes.sessions.clock import ProbeClock, moment
from collector.probes.sessions.hello import BadMessage
from collector.probes.sessions.queue import Outbox, SlimQueue
from collector.probes.storage import probes
from shared.clock import UtcClock
from shared.errors import TocsinError, Unavailable
from shared.wire import convert
from shared.wire.v1 import probe_pb2

log = structlog.get_logger()

MAX_UNACKED = 32
_MAX_INCARNATIONS = 16


@dataclass(frozen=True, slots=True)
class _Pending:
    incarnation: int
    seq: int
    written: asyncio.Future[bool]


class Batches:
    """Submits batches in order without awaiting each; stops reading while too many are uncommitted."""

    def __init__(
        self,
        db: Db,
        writer: ResultWriter,
        outbox: Outbox,
        clock: ProbeClock,
        *,
        probe_id: UUID,
        session: int,
        incarnations: Iterable[int],
        now: UtcClock,
    ) -> None:
        self._db = db
        self._writer = writer
        self._outbox = outbox
        self._clock = clock
        self._probe_id = probe_id
        self._session = session
        self._known = set(incarnations)
        self._begun = 0
        self._now = now
        self._pending = SlimQueue[_Pending | asyncio.Event](2 * MAX_UNACKED)

    async def take(self, data: bytes) -> None:
        """Hand sealed bytes to the writer; an invalid batch is set aside and skipped."""
        try:
            batch = convert.decode(data)
        except convert.BadBatch as error:
            await self._refuse(data, str(error))
            return
        await self._know(batch.incarnation)
        now = moment(self._now())
        offset_us = self._clock.offset_us(batch.boot_id, batch.base_us, batch.wall_us, now)
        written = self._writer.submit(Submission(self._session, self._probe_id, batch, offset_us))
        await self._await(batch.incarnation, batch.seq, written)

    async def acknowledge(self) -> None:
        """Acknowledge batches in order, once committed; raise the error of one that was not."""
        while True:
            pending = await self._pending.get()
            if isinstance(pending, asyncio.Event):
                pending.set()
                self._pending.task_done()
                continue
            # Wait without awaiting it directly: a session that ends must not cancel the write.
            await asyncio.wait([pending.written])
            _demand_written(pending.written)
            ack = probe_pb2.Ack(incarnation=convert.unsigned(pending.incarnation), seq=pending.seq)
            await self._outbox.put(probe_pb2.ToProbe(ack=ack))
            self._pending.task_done()

    def knows(self, incarnation: int) -> bool:
        """Whether the incarnation was in this session's hello, or began since."""
        return incarnation in self._known

    async def mark(self) -> asyncio.Event:
        """Return an event that is set once everything submitted so far is committed."""
        passed = asyncio.Event()
        await self._pending.put(passed)
        return passed

    async def drained(self) -> None:
        await self._pending.join()

    async def _await(self, incarnation: int, seq: int, written: asyncio.Future[bool]) -> None:
        written.add_done_callback(_look)
        await self._pending.put(_Pending(incarnation, seq, written))

    async def _refuse(self, data: bytes, reason: str) -> None:
        """Store the reason and advance the cursor, so that one bad batch does not block the probe forever."""
        try:
            wire = probe_pb2.Batch.FromString(data)
        except DecodeError as error:
            raise BadMessage(reason) from error
        if not 1 <= wire.first_seq <= wire.seq < 2**63:
            raise BadMessage(reason)
        incarnation = convert.signed(wire.incarnation)
        await self._know(incarnation)
        log.warning("batch refused", probe=str(self._probe_id), seq=wire.seq, reason=reason)
        written = self._writer.refuse(
            self._session, self._probe_id, incarnation, wire.first_seq, wire.seq, reason
        )
        await self._await(incarnation, wire.seq, written)

    async def _know(self, incarnation: int) -> None:
        """Open a cursor for a new incarnation, which a rewound probe begins within a session."""
        if incarnation in self._known:
            return
        if self._begun >= _MAX_INCARNATIONS:
            raise BadMessage("too many incarnations in one session")
        async with self._db.transaction() as tx:
            await probes.open_cursor(tx, self._probe_id, self._session, incarnation, self._now())
        self._known.add(incarnation)
        self._begun += 1


def _demand_written(written: asyncio.Future[bool]) -> None:
    error = written.exception()
    if error is not None and not isinstance(error, TocsinError):
        # The writer's loop has logged it; the probe only needs to reconnect.
        raise Unavailable("results cannot be stored right now") from error
    written.result()


def _look(written: asyncio.Future[bool]) -> None:
    """Mark the error as retrieved: after the session's end nobody awaits it."""
    if not written.cancelled():
        written.exception()
