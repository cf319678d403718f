"""Stores and evaluates batches of probes: cursors decide which are new."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

from collector.evaluation.error_texts import Interner, clean
from collector.evaluation.evaluate import Evaluation, Pending, ResultToEvaluate
from collector.evaluation.ingest.columns import Columns, Part, flatten, key_of, latest, mixed
from collector.evaluation.storage import cursors, refused, states
from collector.evaluation.storage.cursors import Advance
from collector.evaluation.storage.refused import LostBatches, RefusedResult
from collector.evaluation.transaction import NewResults, UpdatedStates, store
from collector.evaluation.watched_results import WatchedMonitor
from collector.platform.storage.db import Db, Tx
from shared.clock import EPOCH
from shared.results import Status
from shared.wire.convert import Batch


@dataclass(frozen=True, slots=True)
class Submission:
    """A batch from a session; Unix microseconds are its boot clock's plus *offset_us*.

    *places*: the positions of its results in the batch as it was sent, if some were left out since.
    *refusals*: positions in the batch that are not stored, each with the reason and the result; -1 is the
    batch as a whole.
    *history*: its results move no state.
    """

    session: int
    probe_id: UUID
    batch: Batch
    offset_us: int
    places: tuple[int, ...] = ()
    refusals: tuple[tuple[int, str, dict[str, Any]], ...] = ()
    history: bool = False

    @property
    def incarnation(self) -> tuple[UUID, int]:
        return self.probe_id, self.batch.incarnation

    @property
    def follows(self) -> range:
        """Where the cursor may be before it. A gap may cover committed batches: their answer was lost."""
        return range(self.batch.first_seq - 1, self.batch.seq if self.batch.gap else self.batch.first_seq)


@dataclass(frozen=True, slots=True)
class CommittedBatches:
    """The outcome of one transaction: submissions taken, counts of results, decisions.

    *found*: Web3 checks brought findings to announce.
    """

    taken: list[Submission]
    results: int
    dropped: int
    evaluation: Evaluation
    found: bool = False


async def commit(
    db: Db,
    group: Sequence[Submission],
    interner: Interner,
    since: datetime | None,
    now: datetime,
    watched: Mapping[int, WatchedMonitor],
) -> CommittedBatches:
    """Store what is new in *group*, and evaluate it; *since*, *watched*: see `store`."""
    errors = await interner.numbers({text for submission in group for text in submission.batch.errors})
    source = _ProbeBatches(group, errors, now)
    async with db.transaction() as tx:
        stored = await store(tx, source, watched, since)
        await _keep_losses(tx, source.taken, now)
    dropped = source.count - stored.results
    return CommittedBatches(source.taken, stored.results, dropped, stored.evaluation, stored.found)


class _ProbeBatches:
    """The batches of one transaction; *taken*: those that its cursors admit, *count*: their results."""

    def __init__(self, group: Sequence[Submission], errors: Mapping[str, int], now: datetime) -> None:
        """*errors*: the number of each text."""
        self.now = now
        self._group = group
        self._errors = errors
        self._ranked: list[Submission] = []
        self.taken: list[Submission] = []
        self.count = 0

    async def take(self, tx: Tx) -> NewResults:
        """Move the cursors."""
        advanced = await cursors.advance(tx, _runs(self._group), self.now)
        ordinals = advanced.ordinals
        self.taken = [submission for submission in self._group if submission.incarnation in ordinals]
        self._ranked = sorted(self.taken, key=lambda submission: ordinals[submission.incarnation])
        parts = [
            Part(
                submission.probe_id,
                ordinals[submission.incarnation],
                submission.offset_us,
                submission.batch,
                submission.places,
            )
            for submission in self._ranked
        ]
        columns = flatten(parts, self._errors, self.now)
        self.count = len(columns.key)
        return NewResults(columns, advanced.rolled_until)

    async def move(self, tx: Tx, columns: Columns) -> UpdatedStates:
        counting = await _counting(tx, self._ranked, columns)
        last = latest(columns, counting)
        moved = await states.move(tx, last)
        stored = None
        if counting is not None or moved.count != len(last.monitor):
            stored = await _permitted(tx, columns, last)
        return UpdatedStates(moved.wanting, counting, stored)

    def pending(self, columns: Columns, moved: UpdatedStates) -> Pending:
        return _pending(columns, moved.counting, {key_of(*key) for key in moved.wanting})


def _runs(group: Sequence[Submission]) -> list[Advance]:
    """One cursor move for the batches of each incarnation, which are sorted by seq."""
    runs: dict[tuple[UUID, int], Advance] = {}
    for submission in group:
        run = runs.get(submission.incarnation)
        if run is None:
            run = Advance(
                *submission.incarnation,
                submission.session,
                submission.follows[0],
                submission.follows[-1],
                submission.batch.seq,
            )
        runs[submission.incarnation] = replace(run, last=submission.batch.seq)
    return sorted(runs.values(), key=lambda run: (run.probe_id, run.incarnation))


async def _counting(tx: Tx, ranked: Sequence[Submission], columns: Columns) -> list[int] | None:
    """The places of results that may move a state; None if `move` alone can decide that.

    `move` sees one result of each key. Where a key has results of several probes, incarnations or plans,
    those of the current plan must be found first: else another would hide them, or join them.
    """
    if not mixed(columns) and not any(submission.history for submission in ranked):
        return None
    plans = await states.lock(tx, [(key >> 16, key & 0xFFFF) for key in sorted(set(columns.key))])
    counting = []
    for i, key in enumerate(columns.key):
        plan = plans.get((key >> 16, key & 0xFFFF))
        part = columns.part[i]
        if plan is None or ranked[part].history or plan.ordinal > columns.ordinal[i]:
            continue
        made = ranked[part].probe_id, columns.assignment[i], columns.revision[i]
        if made == (plan.probe_id, plan.assignment, plan.revision):
            counting.append(i)
    return counting


async def _permitted(tx: Tx, columns: Columns, last: states.Latest) -> list[int]:
    """The places to store: a result under an old plan is history, if the probe may write to its monitor."""
    current = await states.current(tx, last)
    own = {
        key_of(monitor, location): last.probes[part]
        for monitor, location, part in zip(last.monitor, last.location, last.part, strict=True)
        if (monitor, location) in current
    }
    places: list[int] = []
    start = 0
    for part in columns.parts:
        end = start + len(part.batch.monitor)
        keys = columns.key[start:end]
        doubtful = {(key >> 16, key & 0xFFFF) for key in keys if own.get(key) != part.probe_id}
        allowed = await states.may_write(tx, part.probe_id, doubtful) if doubtful else set()
        places.extend(
            place
            for place, key in enumerate(keys, start)
            if own.get(key) == part.probe_id or (key >> 16, key & 0xFFFF) in allowed
        )
        start = end
    return places


def _pending(
    columns: Columns, counting: Sequence[int] | None, wanting: set[int]
) -> dict[tuple[int, int], deque[ResultToEvaluate]]:
    """The results that count of the keys in *wanting*, in order; those of one key are all of one plan."""
    pending: dict[tuple[int, int], deque[ResultToEvaluate]] = {
        (key >> 16, key & 0xFFFF): deque() for key in wanting
    }
    starts = list(accumulate((len(part.batch.monitor) for part in columns.parts), initial=0))
    for i in range(len(columns.key)) if counting is None else counting:
        key = columns.key[i]
        if key in wanting:
            part = columns.part[i]
            result = _result(columns.parts[part].batch, i - starts[part], columns.at_ms[i])
            pending[key >> 16, key & 0xFFFF].append(result)
    return pending


def _result(batch: Batch, i: int, at_ms: int) -> ResultToEvaluate:
    at = EPOCH + timedelta(milliseconds=at_ms)
    error = clean(batch.errors[batch.error[i] - 1]) if batch.error[i] else ""
    return ResultToEvaluate(
        Status(batch.outcome[i]), at, at + timedelta(microseconds=batch.duration_us[i]), error
    )


async def _keep_losses(tx: Tx, taken: Sequence[Submission], now: datetime) -> None:
    gaps = [
        LostBatches(
            *submission.incarnation,
            submission.batch.first_seq,
            submission.batch.seq,
            submission.batch.gap.results,
            submission.batch.gap.reason,
        )
        for submission in taken
        if submission.batch.gap is not None
    ]
    refusals = [
        RefusedResult(*submission.incarnation, submission.batch.seq, position, result, reason)
        for submission in taken
        for position, reason, result in submission.refusals
    ]
    if gaps:
        await refused.keep_gaps(tx, gaps, now)
    if refusals:
        await refused.keep(tx, refusals, now)
