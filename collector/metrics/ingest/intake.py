"""Admits pushed metrics, buffers them by monitor, and commits many pushes in one transaction."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from collector.evaluation.ingest.pushes import PushCommit, PushedResult, Pushes
from collector.history.core.receptions import ReceptionResult
from collector.metrics.core import conditions as metric_conditions
from collector.metrics.core import series as core
from collector.metrics.ingest import otlp, remote_write
from collector.metrics.ingest.receivers import Receivers
from collector.metrics.ingest.series import PushResult, ReceiverState, SeriesPush
from collector.metrics.service.series import LARGE, NOT_ADMITTED, PATIENCE_S, PushAdmission, PushOutcome, bare
from collector.metrics.storage import conditions as series_conditions
from collector.metrics.storage import series as table
from collector.metrics.storage.conditions import MonitorRevision
from collector.metrics.storage.series import Reception, SampleCount, SeriesUpdate, SeriesValue
from collector.platform.bucket import TeamPlan
from collector.platform.clock import Clock
from collector.platform.group_commit import FirstCome, GroupCommit
from collector.platform.limits import Limits
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db, Tx
from shared.clock import EPOCH
from shared.errors import Invalid, Limited, Unauthorized
from shared.kinds import ReceiverType
from shared.kinds.opentelemetry import OpenTelemetry
from shared.kinds.prometheus import Prometheus
from shared.results import Status

_MOST: Final = 500
_ROWS: Final = 2_000
# Limit of pushes to a monitor, over all collectors.
_PUSHES: Final = "pushes"
_PLAN: Final = TeamPlan(per_minute=600, burst=100)
_LARGE_AT_ONCE: Final = 4
_FORGETTING: Final = timedelta(minutes=10)


class Receiving:
    """Receives pushed metrics, one per collector.

    Three turns: `counting` commits pushes, `keeping` writes values, `limiting` settles the shared rate
    limits.
    """

    def __init__(self, db: Db, keyring: Keyring, pushes: Pushes, *, clock: Clock) -> None:
        self._db = db
        self._pushes = pushes
        self._clock = clock
        self._receivers = Receivers(db, keyring)
        self._waiting: GroupCommit[ReceiverState, None] = GroupCommit(self._commit, FirstCome(_MOST))
        self._limits = Limits(db, {_PUSHES: _PLAN})
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._heavy = asyncio.Lock()
        self._forgot_at: datetime | None = None

    async def admit(self, id_: UUID | None, token: str, type_: str) -> ReceiverState:
        """The receiver state of that monitor. Raises Unauthorized, Limited."""
        state = await self._receivers.find(id_) if id_ is not None else None
        wanted = Prometheus if type_ == ReceiverType.PROMETHEUS else OpenTelemetry
        if state is None or not isinstance(state.kind, wanted) or not state.admits(bare(token)):
            raise Unauthorized(NOT_ADMITTED)
        if not state.easy():
            await self._spend(state)
        return state

    @asynccontextmanager
    async def room(self, state: ReceiverState) -> AsyncIterator[PushAdmission]:
        """Wait for a slot of the monitor. Raises Limited if that takes too long."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                await state.places.acquire()
        except TimeoutError:
            raise Limited("The pushes before this one are not done", retry_after=1) from None
        room = PushAdmission(state.large, self._large)
        try:
            yield room
        finally:
            room.leave()
            state.places.release()

    async def remote_write(self, state: ReceiverState, body: bytes, *, second: bool) -> PushOutcome:
        """Store a remote-write body, of version 2 if *second*.

        Raises BodyTooLarge, Invalid, Unavailable.
        """
        taking = SeriesPush(state, self._clock.now())
        take = remote_write.take_v2 if second else remote_write.take_v1
        size = remote_write.unpacked_size(body)
        async with self._alone(size):
            large = size > LARGE
            raw = await asyncio.to_thread(remote_write.unpack, body) if large else remote_write.unpack(body)
            return await self._taken(take(raw, taking), taking)

    async def otlp(self, state: ReceiverState, body: bytes, *, json: bool) -> PushOutcome:
        """Store an OTLP request, in JSON or in protobuf. Raises BodyTooLarge, Invalid, Unavailable."""
        taking = SeriesPush(state, self._clock.now())
        async with self._alone(len(body)):
            raw = await asyncio.to_thread(otlp.from_json, body) if json else body
            return await self._taken(otlp.take(raw, taking), taking)

    async def limiting(self) -> bool:
        """Report spent tokens to the shared buckets, and return idle ones."""
        return await self._limits.turn()

    async def counting(self) -> bool:
        return await self._waiting.turn()

    async def keeping(self) -> bool:
        """Write values changed since the last turn, and drop old ones."""
        now = self._clock.now()
        for state in self._receivers:
            if dirty := state.dirty():
                await self._keep(state, dirty)
        before = now - timedelta(seconds=core.FORGOTTEN_S)
        if self._forgot_at is None or now - self._forgot_at > _FORGETTING:
            async with self._db.transaction() as tx:
                await table.forget(tx, before)
            self._forgot_at = now
            for state in self._receivers:
                state.forget(int(before.timestamp()))
        self._receivers.make_room()
        return False

    async def store_overdue(self, tx: Tx, results: Sequence[ReceptionResult]) -> Callable[[], None]:
        """Store late results; call the returned function after the commit."""
        try:
            written = await self._pushes.write(tx, [_result(result) for result in results])
        except BaseException:
            self._pushes.forget()
            raise
        return partial(self._pushes.settle, written)

    @asynccontextmanager
    async def _alone(self, size: int) -> AsyncIterator[None]:
        """Process large bodies one at a time: each occupies memory several times."""
        if size <= LARGE:
            yield
            return
        async with self._heavy:
            yield

    async def _taken(self, take: Awaitable[None], taking: SeriesPush) -> PushOutcome:
        """Count what was stored, even if it was followed by an error."""
        try:
            await take
        except Invalid:
            await self._count(taking.state, taking.taken)
            raise
        return await self._count(taking.state, taking.taken)

    async def _spend(self, state: ReceiverState) -> None:
        standing = state.standing = await self._limits.token(state.team_id, state.id, _PUSHES)
        if not standing.admitted:
            message = f"This monitor takes {_PLAN.per_second:g} pushes a second, {_PLAN.burst} at once"
            raise Limited(message, standing.retry_after_s)

    async def _count(self, state: ReceiverState, taken: PushResult) -> PushOutcome:
        if state.fresh or state.observed:
            await self._waiting.add(state)
        return PushOutcome(taken.samples, taken.histograms, taken.refused, _why(taken))

    async def _commit(self, group: Sequence[ReceiverState]) -> Sequence[None]:
        now = self._clock.now()
        states = {state.monitor: state for state in group}
        counted = {monitor: (state.fresh, len(state.observed)) for monitor, state in states.items()}
        try:
            async with self._db.transaction() as tx:
                brought = [_brought(state) for state in states.values() if state.fresh]
                receptions = await table.note(tx, brought, now) if brought else []
                errors = await _errors(tx, list(states.values()), now)
                stored = await self._store_due(tx, receptions, states, errors, now)
        except BaseException:
            self._pushes.forget()
            raise
        for monitor, (fresh, observed) in counted.items():
            states[monitor].settle(fresh, observed)
        if stored is not None:
            self._pushes.settle(stored)
        return [None] * len(group)

    async def _store_due(
        self,
        tx: Tx,
        receptions: Sequence[Reception],
        states: Mapping[int, ReceiverState],
        errors: Mapping[UUID, str],
        now: datetime,
    ) -> PushCommit | None:
        """Store a result for each monitor whose result is due or whose state changed."""
        due = [
            reception
            for reception in receptions
            if reception.due or reception.bad is not bool(errors.get(reception.monitor_id))
        ]
        if not due:
            return None
        results = [
            ReceptionResult(reception.monitor, now, errors.get(reception.monitor_id, ""), reception.samples)
            for reception in due
        ]
        stored = await self._pushes.write(tx, [_result(result) for result in results])
        updates = [
            _next(reception, states[reception.monitor], now, bad=bool(result.error))
            for reception, result in zip(due, results, strict=True)
        ]
        await table.settle(tx, updates)
        return stored

    async def _keep(self, state: ReceiverState, dirty: Sequence[core.SeriesState]) -> None:
        for start in range(0, len(dirty), _ROWS):
            part = dirty[start : start + _ROWS]
            values = [_value(series) for series in part]
            async with self._db.transaction() as tx:
                await table.keep(tx, state.team_id, state.id, values)
            for series, value in zip(part, values, strict=True):
                series.dirty = _moment(series.at_ms) != value.at


async def _errors(tx: Tx, states: Sequence[ReceiverState], now: datetime) -> dict[UUID, str]:
    """Errors of the monitors with conditions, after their new samples are stored."""
    ruled = [state for state in states if state.kind.conditions]
    if not ruled:
        return {}
    of = {state.id: MonitorRevision(state.team_id, state.id, state.revision) for state in ruled}
    moved = [
        (of[state.id], condition)
        for state in ruled
        for condition in metric_conditions.moved(state.kind.conditions, list(state.observed))
    ]
    if moved:
        await series_conditions.move(tx, moved)
    heard = [(of[state.id], now - timedelta(seconds=state.stale_after_s)) for state in ruled]
    holding = await series_conditions.holding(tx, heard)
    errors = {
        state.id: metric_conditions.error(state.kind.conditions, holding[state.id], now) for state in ruled
    }
    return {id_: error for id_, error in errors.items() if error}


def _brought(state: ReceiverState) -> SampleCount:
    look_in = timedelta(seconds=state.stale_after_s)
    return SampleCount(state.team_id, state.id, state.revision, state.fresh, look_in)


def _result(result: ReceptionResult) -> PushedResult:
    status = Status.DOWN if result.error else Status.UP
    return PushedResult(result.monitor, status, result.at, error=result.error, samples=result.samples)


def _next(reception: Reception, state: ReceiverState, now: datetime, *, bad: bool) -> SeriesUpdate:
    return SeriesUpdate(
        reception.team_id,
        reception.monitor_id,
        state.revision,
        reception.last_at,
        next_at=now + timedelta(seconds=state.interval_s),
        due_at=now + timedelta(seconds=state.stale_after_s),
        bad=bad,
        reported=True,
    )


def _why(taken: PushResult) -> str:
    return "; ".join(f"{why} ({count} samples)" for why, count in taken.faults.items())


def _moment(at_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=at_ms)


def _value(series: core.SeriesState) -> SeriesValue:
    seen_at = EPOCH + timedelta(seconds=series.seen_s)
    return SeriesValue(
        series.key, dict(series.labels), _moment(series.at_ms), series.value, series.stale, seen_at
    )
