"""The deciding transaction: cursors, states, results, incidents and events, all or nothing."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from collector.ingest.columns import Columns, Part, flatten, key_of, latest
from collector.ingest.interning import Interner
from collector.ingest.judging import Told, judge
from collector.storage import cursors, refused, results, states
from collector.storage.cursors import Advance
from collector.storage.db import Db, Tx
from collector.storage.refused import Lost, Refusal
from shared.clock import EPOCH
from shared.results import Status
from shared.wire.convert import Batch


@dataclass(frozen=True, slots=True)
class Submission:
    """A batch that a session brings; Unix microseconds are its boot clock's plus *offset_us*.

    *places*: where its results stood in the batch as it was sent, when some are left out since.
    *refusals*: positions in the batch that are not stored, each with the reason; -1 is the batch as a whole.
    *history*: its results move no state.
    """

    session: int
    probe_id: UUID
    batch: Batch
    offset_us: int
    places: tuple[int, ...] = ()
    refusals: tuple[tuple[int, str], ...] = ()
    history: bool = False

    @property
    def incarnation(self) -> tuple[UUID, int]:
        return self.probe_id, self.batch.incarnation


@dataclass(frozen=True, slots=True)
class Committed:
    """What one transaction came to: the submissions taken, counts of results, kinds of events."""

    taken: list[Submission]
    results: int
    dropped: int
    events: list[str]


async def commit(
    db: Db, group: Sequence[Submission], interner: Interner, started_at: datetime, now: datetime
) -> Committed:
    """Write what of *group* is new, and decide what follows. Raises whatever PostgreSQL raises."""
    errors = await interner.numbers({text for one in group for text in one.batch.errors})
    async with db.transaction() as tx:
        ordinals = await cursors.advance(tx, _runs(group), now)
        taken = [one for one in group if one.incarnation in ordinals]
        ranked = sorted(taken, key=lambda one: ordinals[one.incarnation])
        parts = [
            Part(one.probe_id, ordinals[one.incarnation], one.offset_us, one.batch, one.places)
            for one in ranked
        ]
        columns = flatten(parts, errors, now)
        stored, events = 0, list[str]()
        if columns.key:
            stored, events = await _store(tx, ranked, columns, started_at, now)
        await _keep_losses(tx, taken, now)
    return Committed(taken, stored, len(columns.key) - stored, events)


def _runs(group: Sequence[Submission]) -> list[Advance]:
    """One cursor move for the batches of each incarnation, which stand in the order of their seq."""
    runs: dict[tuple[UUID, int], Advance] = {}
    for one in group:
        batch = one.batch
        run = runs.get(one.incarnation)
        if run is None:
            # A gap may cover what was committed already: its answer was lost.
            high = batch.seq - 1 if batch.gap else batch.first_seq - 1
            run = Advance(*one.incarnation, one.session, batch.first_seq - 1, high, batch.seq)
        runs[one.incarnation] = replace(run, last=batch.seq)
    return list(runs.values())


async def _store(
    tx: Tx, ranked: Sequence[Submission], columns: Columns, started_at: datetime, now: datetime
) -> tuple[int, list[str]]:
    """Move the states, copy the results, judge; the number of results stored and the kinds of events."""
    last = latest(columns)
    moved = await states.move(tx, last)
    rows = columns.rows
    if moved.count != len(last.monitor):
        rows = await _permitted(tx, columns, last)
    await results.copy(tx, rows)
    await _keep_checkpoints(tx, columns)
    events: list[str] = []
    if moved.wanting:
        pending = _pending(ranked, columns, last, {key_of(*key) for key in moved.wanting})
        events = await judge(tx, pending, started_at, now)
    return len(rows), events


async def _permitted(tx: Tx, columns: Columns, last: states.Latest) -> list[bytes]:
    """Rows under a plan of old are history, if their monitor is still there and the probe's to check."""
    current = {key_of(*key) for key in await states.current(tx, last)}
    rows: list[bytes] = []
    start = 0
    for part in columns.parts:
        end = start + len(part.batch.monitor)
        keys = columns.key[start:end]
        doubtful = {key >> 16 for key in keys if key not in current}
        allowed = await states.may_write(tx, part.probe_id, sorted(doubtful)) if doubtful else set()
        rows.extend(
            row
            for key, row in zip(keys, columns.rows[start:end], strict=True)
            if key in current or key >> 16 in allowed
        )
        start = end
    return rows


def _pending(
    ranked: Sequence[Submission], columns: Columns, last: states.Latest, wanting: set[int]
) -> dict[tuple[int, int], deque[Told]]:
    """All results of the keys in *wanting* that were made under their latest plan, in order."""
    plans = {
        key_of(monitor, location): (assignment, revision)
        for monitor, location, assignment, revision in zip(
            last.monitor, last.location, last.assignment, last.revision, strict=True
        )
        if key_of(monitor, location) in wanting
    }
    pending: dict[tuple[int, int], deque[Told]] = {(key >> 16, key & 0xFFFF): deque() for key in plans}
    start = 0
    for one in ranked:
        batch = one.batch
        for i, key in enumerate(columns.key[start : start + len(batch.monitor)]):
            if not one.history and plans.get(key) == (batch.assignment[i], batch.revision[i]):
                pending[key >> 16, key & 0xFFFF].append(_told(batch, i, columns.at_ms[start + i]))
        start += len(batch.monitor)
    return pending


def _told(batch: Batch, i: int, at_ms: int) -> Told:
    at = EPOCH + timedelta(milliseconds=at_ms)
    error = batch.errors[batch.error[i] - 1] if batch.error[i] else ""
    return Told(Status(batch.outcome[i]), at, at + timedelta(microseconds=batch.duration_us[i]), error)


async def _keep_checkpoints(tx: Tx, columns: Columns) -> None:
    checkpoints = [
        (part.batch.monitor[i], part.batch.location[i], part.probe_id, part.batch.assignment[i], state)
        for part in columns.parts
        for i, state in part.batch.state.items()
    ]
    if checkpoints:
        await states.save_checkpoints(tx, checkpoints)


async def _keep_losses(tx: Tx, taken: Sequence[Submission], now: datetime) -> None:
    gaps = [
        Lost(
            *one.incarnation, one.batch.first_seq, one.batch.seq, one.batch.gap.results, one.batch.gap.reason
        )
        for one in taken
        if one.batch.gap is not None
    ]
    refusals = [
        Refusal(*one.incarnation, one.batch.seq, position, {}, reason)
        for one in taken
        for position, reason in one.refusals
    ]
    if gaps:
        await refused.keep_gaps(tx, gaps, now)
    if refusals:
        await refused.keep(tx, refusals, now)
