"""The session with a collector: results up, plan and requests down. Checks go on without it."""

import asyncio
import contextlib
import itertools
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol, TypeAlias
from uuid import UUID

import grpc
import structlog

from probe.clock import wall_us
from probe.link import messages
from probe.link.connection import FINAL, KEEPALIVE, LASTING, QUIET_S, Keepalive, channel, is_misplaced, words
from probe.link.credentials import Credentials
from probe.link.lanes import Lanes
from probe.link.pace import Pace
from probe.link.plan import Plan
from probe.link.releases import Releases
from probe.link.vitals import take as take_vitals
from probe.schedule.runner import CheckRun
from probe.schedule.scheduler import Scheduler
from probe.spool.batches import Batcher
from probe.spool.spool import Spool
from shared import __version__
from shared.clock import boot_id, boot_us, iso, utc_now
from shared.loop import Bell
from shared.results import Run
from shared.wire.convert import signed, unsigned
from shared.wire.v1 import probe_pb2, probe_pb2_grpc

log = structlog.get_logger()

Call: TypeAlias = "grpc.aio.StreamStreamCall[probe_pb2.FromProbe, probe_pb2.ToProbe]"

PROTOCOL: Final = 1
_WELCOME_S: Final = 10.0
_VITALS_S: Final = 5.0
# While the probe waits for its next attempt, its certificate may be renewed.
_LOOK_EVERY_S: Final = 5.0
_DEFAULT_UNACKED: Final = 16
_MOST_UNACKED: Final = 256
_MOST_RANGES: Final = 1000
_MOST_ANSWERS: Final = 1000
_TO_DO: Final = (
    "stop it; or have it begin anew: remove key.pem and certificate.pem from its data directory, "
    "and start it with a new TOCSIN_JOIN_TOKEN"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The identity that this probe presents."""

    probe_id: UUID
    name: str
    locations: Sequence[str]
    kinds: Sequence[str]
    stands_in: bool


class CredentialsHolder(Protocol):
    """Keeps the probe's certificate valid."""

    @property
    def current(self) -> Credentials:
        """The newest credentials."""
        ...


class BlindnessSource(Protocol):
    """Knows whether the probe reaches anything."""

    @property
    def blind(self) -> bool:
        """Whether it reaches nothing but its own machine."""
        ...


class Session:
    """Keeps one stream at a time to one of the collectors. `run` lasts until `finish`."""

    def __init__(
        self,
        me: Identity,
        collectors: Sequence[str],
        holder: CredentialsHolder,
        *,
        spool: Spool,
        batcher: Batcher,
        plan: Plan,
        scheduler: Scheduler,
        releases: Releases,
        bell: Bell,
        sight: BlindnessSource | None = None,
        stopped: Sequence[tuple[int, int]] = (),
        keepalive: Keepalive = KEEPALIVE,
    ) -> None:
        """*bell* rings when a batch was sealed; *stopped*: monitors and revisions.

        Without *sight*, the probe never counts as blind.
        """
        self._me = me
        self._holder = holder
        self._collectors = collectors
        self._spool = spool
        self._batcher = batcher
        self._plan = plan
        self._scheduler = scheduler
        self._bell = bell
        self._sight = sight
        self._stopped = stopped
        self._keepalive = keepalive
        self._releases = releases
        self._answers: deque[probe_pb2.Answer] = deque(maxlen=_MOST_ANSWERS)
        self._vitals_at = 0.0
        self.connected = False
        self._complaint = ""
        self._failures = 0  # consecutive failures
        self._began, self._met = time.monotonic(), False
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Connect and serve the stream; when it ends, reconnect to the next collector of the list."""
        pace = Pace()
        for collector in itertools.cycle(self._collectors):
            began, shown, refused = time.monotonic(), self._holder.current, False
            try:
                await self._connect(collector)
            except grpc.aio.AioRpcError as error:
                self._complain(collector, error.code(), error.details() or "")
                refused = error.code() in FINAL
            except TimeoutError as error:
                text = str(error) or "no welcome in time"
                self._complain(collector, grpc.StatusCode.DEADLINE_EXCEEDED, text)
            await self._rest(pace.wait_s(refused=refused, lasted_s=time.monotonic() - began), shown)
            if self._stopping.is_set():
                return

    async def _rest(self, seconds: float, shown: Credentials) -> None:
        """Wait for the next attempt; a certificate other than *shown* ends the wait."""
        until = time.monotonic() + seconds
        while not self._stopping.is_set() and (left := until - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, _LOOK_EVERY_S)):
                    await self._stopping.wait()
            if self._holder.current is not shown:
                return

    def stop(self) -> None:
        """Send everything, end the stream, and let `run` return."""
        self._stopping.set()
        self._bell.ring()

    async def _connect(self, collector: str) -> None:
        mine = self._holder.current
        if mine.over(utc_now()):
            why = f"its certificate expired at {iso(mine.passport.not_after)}"
            self._complain(collector, grpc.StatusCode.UNAUTHENTICATED, why)
            return
        async with channel(
            collector,
            bundle=mine.bundle,
            key=mine.key,
            certificate=mine.certificate,
            keepalive=self._keepalive,
        ) as link:
            call: Call = probe_pb2_grpc.ProbeLinkStub(link).Session()  # type: ignore[no-untyped-call]
            told = self._ranges()
            await call.write(self._from_probe(hello=self._hello(told)))
            async with asyncio.timeout(_WELCOME_S):
                first = await call.read()
            if first is grpc.aio.EOF or not first.HasField("welcome"):
                self._complain(collector, await _code(call, first), "no welcome")
                return
            log.info("connected", collector=collector, session=first.welcome.session)
            self._complaint, self._failures, self._met = "", 0, True
            await self._talk(call, first.welcome, told)

    async def _talk(
        self, call: Call, welcome: probe_pb2.Welcome, told: Sequence[tuple[int, int, int]]
    ) -> None:
        committed = {signed(position.incarnation): position.last_seq for position in welcome.committed}
        max_unacked = min(welcome.max_unacked or _DEFAULT_UNACKED, _MOST_UNACKED)
        if welcome.wall_us:
            self._spool.confirm(welcome.wall_us)
        lanes = Lanes(self._spool, self._batcher, told, committed, max_unacked)
        self._vitals_at = 0.0
        sender = asyncio.create_task(self._send(call, lanes))
        self.connected = True
        try:
            await self._receive(call, lanes)
        finally:
            self.connected = False
            sender.cancel()
            # Whatever it encountered has ended the stream, and `_receive` gets the reason from the collector.
            await asyncio.gather(sender, return_exceptions=True)
            lanes.close()
            self._answers.clear()
            self._releases.end()

    async def _send(self, call: Call, lanes: Lanes) -> None:
        while True:
            message = self._next(lanes)
            if message is not None:
                await call.write(message)
            elif self._stopping.is_set() and not lanes.blocked:
                await call.write(self._vitals(stopping=True))
                await call.done_writing()
                return
            else:
                await self._bell.wait(max(0.0, self._vitals_at - time.monotonic()))

    def _vitals(self, *, stopping: bool = False) -> probe_pb2.FromProbe:
        blind = self._sight is not None and self._sight.blind
        vitals = take_vitals(self._scheduler, self._spool, self._plan, blind=blind)
        return self._from_probe(vitals=probe_pb2.Vitals(**asdict(vitals), stopping=stopping))

    def _next(self, lanes: Lanes) -> probe_pb2.FromProbe | None:
        if self._answers:
            return self._from_probe(answer=self._answers.popleft())
        if time.monotonic() >= self._vitals_at:
            self._vitals_at = time.monotonic() + _VITALS_S
            return self._vitals()
        if released := self._releases.next(lanes):
            return self._from_probe(released=probe_pb2.Released(number=released))
        sealed = lanes.next()
        return self._from_probe(batch=sealed.data) if sealed else None

    async def _receive(self, call: Call, lanes: Lanes) -> None:
        while (message := await call.read()) is not grpc.aio.EOF:
            if message.HasField("ack"):
                lanes.acked(signed(message.ack.incarnation), message.ack.seq)
                self._bell.ring()
            elif message.HasField("plan"):
                self._plan.apply(messages.change(message.plan))
            elif message.HasField("run"):
                self._run_now(message.run)

    def _run_now(self, asked: probe_pb2.Run) -> None:
        assigned = self._plan.prepare(messages.order(asked.check))
        within_s = asked.within_ms / 1000
        if asked.run != Run.TEST:
            self._scheduler.ask(assigned, Run.SECOND_OPINION, within_s)
            return

        def answer(ran: CheckRun) -> None:
            self._answers.append(messages.answer(asked.id, ran))
            self._bell.ring()

        self._scheduler.ask(assigned, Run.TEST, within_s, answer)

    def _ranges(self) -> list[tuple[int, int, int]]:
        """The spool's ranges for the collector, oldest first; if there are too many, unsent batches win."""
        spans = self._spool.ranges()
        unsent_first = sorted(spans, key=lambda span: span[2] <= self._spool.ledger.acked(span[0]))
        told = set(unsent_first[:_MOST_RANGES])
        return [span for span in spans if span in told]

    def _hello(self, told: Sequence[tuple[int, int, int]]) -> probe_pb2.Hello:
        return probe_pb2.Hello(
            protocol=PROTOCOL,
            version=__version__,
            probe_id=self._me.probe_id.bytes,
            name=self._me.name,
            locations=self._me.locations,
            kinds=self._me.kinds,
            boot_id=boot_id(),
            wall_us=wall_us(),
            incarnation=unsigned(self._batcher.incarnation),
            spooled=[
                probe_pb2.SpoolRange(incarnation=unsigned(incarnation), first_seq=first, last_seq=last)
                for incarnation, first, last in told
            ],
            stands_in=self._me.stands_in,
            stopped=[probe_pb2.Revision(monitor=value, revision=number) for value, number in self._stopped],
        )

    def _from_probe(self, **body: Any) -> probe_pb2.FromProbe:
        return probe_pb2.FromProbe(sent_us=boot_us(), **body)

    def _complain(self, collector: str, code: grpc.StatusCode, details: str) -> None:
        """Log each new complaint once.

        An unreachable collector is logged only from the second failure on, and after a delay at the start.
        """
        self._failures += 1
        reason = words(collector, details) or code.name
        complaint = f"{collector} {code.name} {reason}"
        if complaint == self._complaint or self._stopping.is_set():
            return
        if code not in LASTING and self._is_early(details):
            log.debug("no collector yet", collector=collector, reason=reason)
            return
        self._complaint = complaint
        if code in LASTING:
            todo = {"todo": _TO_DO} if code in FINAL else {}
            log.error("collector refuses this probe", collector=collector, reason=reason, **todo)
        else:
            log.warning("no collector", collector=collector, status=code.name, reason=reason)

    def _is_early(self, details: str) -> bool:
        starting = not self._met and time.monotonic() - self._began < QUIET_S
        return self._failures == 1 or (starting and not is_misplaced(details))


async def _code(call: Call, first: object) -> grpc.StatusCode:
    if first is grpc.aio.EOF:
        code: grpc.StatusCode = await call.code()
        return code
    return grpc.StatusCode.FAILED_PRECONDITION
