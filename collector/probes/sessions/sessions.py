"""The gRPC service of the probe link: accepts sessions and keeps each while its stream lasts."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

import grpc
import structlog

from collector.evaluation.writer import Fenced, ResultWriter
from collector.platform import failures, grpc_server, metrics
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.service import assignments
from collector.probes.service.sessions import accept, is_connected
from collector.probes.sessions import hello as hellos
from collector.probes.sessions.batches import MAX_UNACKED
from collector.probes.sessions.certificates import Enrolment, ServerCredentials
from collector.probes.sessions.clock import moment
from collector.probes.sessions.link import SessionLink, SessionTakenOver
from collector.probes.sessions.messages import readable, services
from collector.probes.sessions.refusals import Refusals
from collector.probes.storage import enrolments, probes
from collector.web3.service.nodes import NONE, Nodes
from shared.clock import UtcClock, iso
from shared.errors import CannotStart, Conflict, Forbidden, TocsinError, Unauthorized, Unavailable
from shared.loop import Bell
from shared.wire import convert
from shared.wire.v1 import probe_pb2

log = structlog.get_logger()

Context: TypeAlias = "grpc.aio.ServicerContext[probe_pb2.FromProbe, probe_pb2.ToProbe]"

# The gRPC status of errors that only sessions have.
_STATUS: dict[type[TocsinError], grpc.StatusCode] = {
    hellos.BadMessage: grpc.StatusCode.INVALID_ARGUMENT,
    hellos.WrongProtocol: grpc.StatusCode.FAILED_PRECONDITION,
    Fenced: grpc.StatusCode.ABORTED,
    SessionTakenOver: grpc.StatusCode.ABORTED,
}

_REFUSALS = (hellos.BadMessage, hellos.WrongProtocol, Unauthorized, Forbidden, Conflict)
_OPTIONS = (
    ("grpc.max_receive_message_length", convert.MAX_BATCH_BYTES + 65_536),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # Per-connection overhead: buffers that an idle probe never fills, and a trace history.
    ("grpc.tsi.max_frame_size", 1024),
    ("grpc.enable_channelz", 0),
    ("grpc.max_channel_trace_event_memory_per_node", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 2_000),
)
_FIRST_WORD_S = 10.0
_TAKEN_OVER = "another session of this probe has taken over"
_GRACE_S = 2.0


class Sessions:
    """The probe service, one per collector. `turn` records presence; *changed*: called when a probe connects.

    *bell* triggers a turn when a session ends. *nodes*: the deployment's Web3 nodes.
    """

    def __init__(
        self,
        db: Db,
        writer: ResultWriter,
        signals: Signals,
        keyring: Keyring,
        credentials: ServerCredentials,
        *,
        changed: Callable[[], None],
        now: UtcClock,
        nodes: Nodes = NONE,
    ) -> None:
        self._db = db
        self._writer = writer
        self._signals = signals
        self._keyring = keyring
        self._credentials = credentials
        self._changed = changed
        self._now = now
        self._nodes = nodes
        self._links: dict[int, SessionLink] = {}
        self._ended: list[probes.ProbeSignal] = []
        self._refusals = Refusals()
        self._server: grpc.aio.Server | None = None
        self.bell = Bell()
        signals.subscribe("plan", self._hear_plan)
        signals.subscribe("release", self._hear_release)
        signals.subscribe("run", self._hear_run)
        signals.subscribe("revoked", self._hear_revoked)

    async def start(self, listen: str, *, shared_port: bool = False) -> int:
        """Listen for probes on ``host:port``, mTLS only; return the port. Raises CannotStart.

        Collectors that share a port would split the probes unnoticed, so that must be allowed explicitly.
        """
        await self._credentials.turn()
        enrolment = Enrolment(self._db, self._credentials, self._now)
        methods = services(session=self.serve, enrol=enrolment.enrol, renew=enrolment.renew)
        server = grpc_server.make(methods, (*_OPTIONS, ("grpc.so_reuseport", int(shared_port))))
        try:
            port: int = server.add_secure_port(listen, self._credentials.server())
        except RuntimeError as error:
            raise CannotStart(
                f"cannot listen for probes on {listen}: is the port taken? Set TOCSIN_GRPC_LISTEN"
            ) from error
        await server.start()
        self._server = server
        return port

    async def stop(self) -> None:
        """End all streams; unacknowledged batches are sent again to the next collector."""
        if self._server is not None:
            for link in self._links.values():
                link.close(Unavailable("the collector is stopping"))
            await self._server.stop(_GRACE_S)
        # Best effort: otherwise other collectors notice the end of the sessions a little later.
        with contextlib.suppress(Unavailable, TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await self.turn()

    async def turn(self) -> bool:
        """Record signs of life and ends of sessions; close sessions that were taken over."""
        signs_of = {session: sign for session, link in self._links.items() if (sign := link.sign())}
        ended = list(self._ended)
        signs = [*signs_of.values(), *ended]
        if signs:
            async with self._db.transaction() as tx:
                current = await probes.note(tx, signs)
            self._ended = [sign for sign in self._ended if sign not in ended]
            for session in signs_of.keys() - current:
                if session in self._links:
                    self._links[session].close(SessionTakenOver(_TAKEN_OVER))
        await self._dismiss()
        return False

    async def _dismiss(self) -> None:
        """Close sessions of revoked probes, and of probes whose certificate expired."""
        if not self._links:
            return
        now = self._now()
        late = [link.probe_id for link in self._links.values() if link.trusted_until <= now]
        async with self._db.connection() as tx:
            revoked = await enrolments.revoked(tx, [link.probe_id for link in self._links.values()])
            renewed = await enrolments.newest(tx, late) if late else {}
        for link in self._links.values():
            # A renewed certificate extends a stream that began with an older one.
            link.trusted_until = max(link.trusted_until, renewed.get(link.probe_id, link.trusted_until))
            if link.probe_id in revoked:
                link.close(Forbidden(f"this probe was revoked at {iso(revoked[link.probe_id])}"))
            elif link.trusted_until <= now:
                link.close(Unauthorized(f"this certificate expired at {iso(link.trusted_until)}"))

    async def serve(
        self, requests: AsyncIterator[probe_pb2.FromProbe | hellos.BadMessage], context: Context
    ) -> None:
        """Serve one stream from hello to end. Errors propagate to here and become a gRPC status."""
        end: TocsinError | None = None
        try:
            await self._hold(requests, context)
        except* TocsinError as group:
            end = _leaf(group)
        except* grpc.aio.BaseError:
            log.info("session lost", peer=context.peer())
        except* Exception:
            log.exception("session failed", peer=context.peer())
            end = Unavailable("internal error")
        if end is not None:
            self._say(context, end)
            # An unknown error is passing, so that the probe retries.
            status = _STATUS.get(type(end)) or failures.failure(end, failures.PASSING).code
            await context.abort(status, str(end))

    def _say(self, context: Context, end: TocsinError) -> None:
        """Log why a session ended or was refused; repeated refusals are logged once in a while."""
        if not isinstance(end, _REFUSALS):
            log.info("session ended", peer=context.peer(), reason=str(end))
            return
        try:
            who = str(self._credentials.passport(context).probe_id)
        except TocsinError:
            who = context.peer().rpartition(":")[0]
        if calls := self._refusals.calls(who, str(end)):
            log.info("probe refused", probe=who, peer=context.peer(), reason=str(end), calls=calls)

    async def _hold(
        self, requests: AsyncIterator[probe_pb2.FromProbe | hellos.BadMessage], context: Context
    ) -> None:
        passport = self._credentials.passport(context)
        probe_id = passport.probe_id
        messages = aiter(requests)
        first = await _first(messages)
        received = moment(self._now())
        newcomer = hellos.read(first.hello, probe_id, context.peer())
        self._demand_alone(probe_id, newcomer.incarnations[-1], received.wall)
        accepted = await accept(self._db, newcomer, received.wall)
        if newcomer.stopped:
            await self._stop(newcomer)
        self._take_over(probe_id, accepted.session)
        link = SessionLink(
            self._db,
            self._writer,
            self._signals,
            self._keyring,
            first=first,
            received=received,
            passport=passport,
            peer=newcomer.address,
            accepted=accepted,
            now=self._now,
            # Their URLs contain the operator's keys.
            nodes=self._nodes if accepted.operators else NONE,
        )
        session, committed = accepted.session, accepted.committed
        self._links[session] = link
        metrics.sessions.set(len(self._links))
        log.info("session started", probe=str(probe_id), session=session, address=newcomer.address)
        self._changed()
        # This frame lives as long as the stream, and keeps its locals alive.
        del first, received, newcomer, passport, accepted
        try:
            await link.hold(_welcome(session, committed, self._now()), messages, context.write)
        finally:
            del self._links[session]
            metrics.sessions.set(len(self._links))
            self._ended.append(link.last_sign())
            self.bell.ring()

    async def _stop(self, newcomer: probes.ProbeDescription) -> None:
        """Stop the checks that stalled this probe on all probes."""
        async with self._db.transaction() as tx:
            monitors = await assignments.stop(tx, newcomer.probe_id, newcomer.stopped)
        if monitors:
            log.warning("checks stalled a probe", probe=str(newcomer.probe_id), monitors=monitors)
            self._signals.ring()

    def _demand_alone(self, probe_id: UUID, incarnation: int, now: datetime) -> None:
        """Raise Conflict if another process of the probe is still heard here: then this is a clone."""
        for link in self._links.values():
            if link.probe_id == probe_id and link.goes_on_without(incarnation, now):
                raise is_connected(link.peer, link.since)

    def _take_over(self, probe_id: UUID, session: int) -> None:
        """Keep only the youngest session of a probe, regardless of the order in which they arrive."""
        for other, link in self._links.items():
            if link.probe_id == probe_id and other > session:
                raise SessionTakenOver(_TAKEN_OVER)
            if link.probe_id == probe_id:
                link.close(SessionTakenOver(_TAKEN_OVER))

    async def _hear_plan(self, payload: dict[str, Any]) -> None:
        for link in self._links.values():
            monitors: Sequence[int] = payload["probes"].get(str(link.probe_id), ())
            if monitors:
                link.plan.changed(monitors)

    async def _hear_release(self, payload: dict[str, Any]) -> None:
        for link in self._links.values():
            link.plan.release(payload["probes"].get(str(link.probe_id), ()))

    async def _hear_run(self, payload: dict[str, Any]) -> None:
        link = self._links.get(payload["session"])
        if link is not None:
            await link.runs.ask(payload)

    async def _hear_revoked(self, payload: dict[str, Any]) -> None:
        if any(str(link.probe_id) == payload["probe"] for link in self._links.values()):
            await self._dismiss()


async def _first(messages: AsyncIterator[probe_pb2.FromProbe | hellos.BadMessage]) -> probe_pb2.FromProbe:
    try:
        async with asyncio.timeout(_FIRST_WORD_S):
            first = readable(await anext(messages))
    except TimeoutError:
        raise hellos.BadMessage("no hello in time") from None
    except StopAsyncIteration:
        raise hellos.BadMessage("no hello") from None
    if not first.HasField("hello"):
        raise hellos.BadMessage("the first message must be hello")
    return first


def _welcome(session: int, committed: Mapping[int, int], now: datetime) -> probe_pb2.ToProbe:
    positions = [
        probe_pb2.Position(incarnation=convert.unsigned(incarnation), last_seq=seq)
        for incarnation, seq in committed.items()
    ]
    welcome = probe_pb2.Welcome(
        session=session,
        committed=positions,
        max_unacked=MAX_UNACKED,
        wall_us=int(now.timestamp() * 1_000_000),
    )
    return probe_pb2.ToProbe(welcome=welcome)


def _leaf(group: BaseExceptionGroup[TocsinError]) -> TocsinError:
    """The first of the errors that ended a session."""
    first = group.exceptions[0]
    return _leaf(first) if isinstance(first, BaseExceptionGroup) else first
