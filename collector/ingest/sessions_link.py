"""One session while its stream lasts: what comes up is sorted, what goes down is written by one task."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from typing import Any

from collector.core.seal import Keyring
from collector.ingest.sessions_batches import Batches
from collector.ingest.sessions_clock import Moment, ProbeClock, moment
from collector.ingest.sessions_hello import BadMessage
from collector.ingest.sessions_outbox import Outbox
from collector.ingest.sessions_plan import Plan
from collector.ingest.sessions_runs import Runs
from collector.ingest.writer import Writer
from collector.services.sessions import Accepted
from collector.services.signals import Signals
from collector.storage.db import Db
from collector.storage.probes import Sign
from shared.errors import TocsinError, Unavailable
from shared.pki import Passport
from shared.wire.v1 import probe_pb2

# Vitals come each 5 s.
_SILENT_S = 20.0


class TakenOver(TocsinError):
    """A younger session of the same probe has begun."""


class Link:
    """Its parts share the stream: batches and answers up, plan and runs down."""

    def __init__(
        self,
        db: Db,
        writer: Writer,
        signals: Signals,
        keyring: Keyring,
        *,
        first: probe_pb2.FromProbe,
        received: Moment,
        passport: Passport,
        accepted: Accepted,
        now: Callable[[], datetime],
    ) -> None:
        self.probe_id = probe_id = passport.probe_id
        self.trusted_until = passport.not_after
        self._session = accepted.session
        self._now = now
        self._heard_at = received.wall
        self._vitals: dict[str, Any] = {}
        self._news = False
        self._closing = asyncio.Event()
        self._why: TocsinError | None = None
        self._outbox = Outbox()
        hello = first.hello
        self._clock = ProbeClock(hello.boot_id, first.sent_us, hello.wall_us, received)
        self.plan = Plan(db, keyring, self._outbox, probe_id)
        self.runs = Runs(db, signals, keyring, self._outbox, probe_id, now)
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
        messages: AsyncIterator[probe_pb2.FromProbe],
        write: Callable[[probe_pb2.ToProbe], Awaitable[None]],
    ) -> None:
        """Until the probe half-closes and everything is acknowledged; raises what ended it otherwise."""
        await self._outbox.put(welcome)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(part)
                for part in (
                    self._outbox.run(write),
                    self._batches.acknowledge(),
                    self.plan.run(),
                    self._closed(),
                )
            ]
            await self._read(messages)
            await self._batches.drained()
            await self._outbox.drained()
            for task in tasks:
                task.cancel()

    def close(self, why: TocsinError) -> None:
        """End the stream from this side."""
        self._why = self._why or why
        self._closing.set()

    def sign(self) -> Sign | None:
        """That the probe is alive, if it was heard since the last time."""
        if not self._news:
            return None
        self._news = False
        return Sign(self.probe_id, self._session, self._heard_at, self._vitals)

    def last_sign(self) -> Sign:
        return Sign(self.probe_id, self._session, self._now(), self._vitals, ended=True)

    async def _closed(self) -> None:
        await self._closing.wait()
        if self._why is not None:
            raise self._why

    async def _read(self, messages: AsyncIterator[probe_pb2.FromProbe]) -> None:
        while True:
            try:
                async with asyncio.timeout(_SILENT_S):
                    message = await anext(messages)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise Unavailable(f"nothing was heard for {_SILENT_S:g} s") from None
            received = moment(self._now())
            self._heard_at = received.wall
            self._clock.heard(message.sent_us, received)
            await self._sort(message, received)

    async def _sort(self, message: probe_pb2.FromProbe, received: Moment) -> None:
        match message.WhichOneof("body"):
            case "batch":
                await self._batches.take(message.batch)
            case "answer":
                await self.runs.answered(message.answer)
            case "vitals":
                self._news = True
                self._vitals = _shown(message.vitals, received)
                self.plan.compare(message.vitals.plan, message.vitals.plan_hash)
            case "hello":
                raise BadMessage("a second hello")
            case _:
                pass  # something newer than this collector


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
