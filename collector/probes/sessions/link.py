"""One session's stream: dispatches incoming messages; one task writes outgoing ones."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from datetime import datetime
from typing import Any

from collector.evaluation.writer import ResultWriter
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.core.assignment import LIVE
from collector.probes.service.sessions import AcceptedSession
from collector.probes.sessions.batches import Batches
from collector.probes.sessions.clock import Moment, ProbeClock, moment
from collector.probes.sessions.hello import BadMessage
from collector.probes.sessions.messages import readable
from collector.probes.sessions.plan import Handover, SessionPlan
from collector.probes.sessions.queue import FrameWriter, Outbox
from collector.probes.sessions.runs import RemoteRuns
from collector.probes.storage.probes import ProbeSignal
from collector.web3.service.nodes import Nodes
from shared.certificates import Passport
from shared.clock import UtcClock
from shared.errors import TocsinError, Unavailable
from shared.wire.v1 import probe_pb2

# Vitals arrive every 5 s.
_SILENT_S = 20.0


class SessionTakenOver(TocsinError):
    """A younger session of the same probe has started."""


class SessionLink:
    """A session's stream: batches and answers up, plan and runs down."""

    def __init__(
        self,
        db: Db,
        writer: ResultWriter,
        signals: Signals,
        keyring: Keyring,
        *,
        first: probe_pb2.FromProbe,
        received: Moment,
        passport: Passport,
        peer: str,
        accepted: AcceptedSession,
        now: UtcClock,
        nodes: Nodes,
    ) -> None:
        self.probe_id = probe_id = passport.probe_id
        self.trusted_until = passport.not_after
        self.peer = peer
        self.since = received.wall
        self._session = accepted.session
        self._now = now
        self._heard_at = received.wall
        self._vitals: dict[str, Any] = {}
        self._news = False
        self._stopped = False  # as announced by the probe
        self._why: TocsinError | None = None
        self._holder: asyncio.Task[Any] | None = None  # the task that owns the stream
        self._group: asyncio.TaskGroup
        self._tasks: list[asyncio.Task[None]] = []
        self._engaged = False
        self._outbox = Outbox()
        hello = first.hello
        self._clock = ProbeClock(hello.boot_id, first.sent_us, hello.wall_us, received)
        self.plan = SessionPlan(db, keyring, self._outbox, probe_id, nodes)
        self.runs = RemoteRuns(db, signals, keyring, self._outbox, probe_id, nodes)
        self._handover = Handover(db, signals, probe_id, now)
        self._batches = Batches(
            db,
            writer,
            self._outbox,
            self._clock,
            probe_id=probe_id,
            session=accepted.session,
            incarnations=accepted.committed,
            now=now,
        )

    async def hold(
        self,
        welcome: probe_pb2.ToProbe,
        messages: AsyncIterator[probe_pb2.FromProbe | BadMessage],
        write: FrameWriter,
    ) -> None:
        """Serve until the probe half-closes and everything is acknowledged. Raises what ends it earlier."""
        # `close` must not cancel this: gRPC would send its initial headers twice, and no status.
        try:
            async with asyncio.timeout(_SILENT_S):
                await write(welcome)
        except TimeoutError:
            raise Unavailable(f"nothing was taken for {_SILENT_S:g} s") from None
        del welcome
        self._holder = holder = asyncio.current_task()
        try:
            if self._why is not None:
                raise self._why
            await self._work(messages, write)
        except asyncio.CancelledError:
            why = self._why
            if why is None or holder is None:
                raise
            holder.uncancel()
            raise why from None
        finally:
            self._holder = None

    async def _work(
        self,
        messages: AsyncIterator[probe_pb2.FromProbe | BadMessage],
        write: FrameWriter,
    ) -> None:
        async with asyncio.TaskGroup() as group:
            self._group = group
            self._start(self._outbox.run(write), self.plan.run())
            while await self._take(messages):
                pass
            await self._batches.drained()
            await self._outbox.drained()
            for task in self._tasks:
                task.cancel()

    def goes_on_without(self, incarnation: int, now: datetime) -> bool:
        """Whether the probe is heard here, from a process other than the one with this incarnation."""
        connected = self._why is None and abs(now - self._heard_at) < LIVE
        return connected and not self._batches.knows(incarnation)

    def close(self, why: TocsinError) -> None:
        """End the stream from this side."""
        if self._why is None:
            self._why = why
            if self._holder is not None:
                self._holder.cancel()

    def sign(self) -> ProbeSignal | None:
        """A sign of life, if the probe was heard since the last call."""
        if not self._news:
            return None
        self._news = False
        vitals, self._vitals = self._vitals, {}
        return ProbeSignal(self.probe_id, self._session, self._heard_at, vitals)

    def last_sign(self) -> ProbeSignal:
        now, stopped = self._now(), self._stopped
        return ProbeSignal(self.probe_id, self._session, now, self._vitals, ended=True, stopped=stopped)

    def _start(self, *parts: Coroutine[Any, Any, None]) -> None:
        self._tasks += [self._group.create_task(part) for part in parts]

    def _engage(self) -> None:
        """Start the result tasks on first use: a thousand probes without results must stay cheap."""
        if not self._engaged:
            self._engaged = True
            self._start(self._batches.acknowledge(), self._handover.run())

    async def _take(self, messages: AsyncIterator[probe_pb2.FromProbe | BadMessage]) -> bool:
        """Read and handle a message; False at the end. While waiting it holds no earlier message."""
        try:
            async with asyncio.timeout(_SILENT_S):
                message = readable(await anext(messages))
        except StopAsyncIteration:
            return False
        except TimeoutError:
            raise Unavailable(f"nothing was heard for {_SILENT_S:g} s") from None
        received = moment(self._now())
        self._heard_at = received.wall
        self._clock.record(message.sent_us, received)
        await self._sort(message, received)
        return True

    async def _sort(self, message: probe_pb2.FromProbe, received: Moment) -> None:
        match message.WhichOneof("body"):
            case "batch":
                self._engage()
                await self._batches.take(message.batch)
            case "answer":
                await self.runs.answered(message.answer)
            case "released":
                self._engage()
                if numbers := self.plan.released(message.released.number):
                    await self._handover.take(numbers, await self._batches.mark())
            case "vitals":
                self._news = True
                self._vitals = _shown(message.vitals, received)
                self._stopped = message.vitals.stopping
                self.plan.compare(message.vitals.plan, message.vitals.plan_hash)
            case "hello":
                raise BadMessage("a second hello")
            case _:
                pass  # a message type newer than this collector


def _shown(vitals: probe_pb2.Vitals, received: Moment) -> dict[str, Any]:
    return {
        "wallUs": vitals.wall_us,
        "skewMs": round((vitals.wall_us - received.unix_us) / 1000),
        "started": vitals.started,
        "skipped": vitals.skipped,
        "running": vitals.running,
        "lateUsMax": vitals.late_us_max,
        "spoolBytes": vitals.spool_bytes,
        "spoolBatches": vitals.spool_batches,
        "dropped": vitals.dropped,
        "rssBytes": vitals.rss_bytes,
        "blind": vitals.blind,
    }
