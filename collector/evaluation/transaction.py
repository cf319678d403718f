"""The deciding transaction: cursors, states, results, incidents and events, all or nothing."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

from collector.evaluation import rule_triggers
from collector.evaluation.error_texts import Interner, clean
from collector.evaluation.evaluate import Evaluation, ResultToEvaluate, evaluate
from collector.evaluation.ingest import certificates, evidence, findings
from collector.evaluation.ingest.columns import Columns, Part, flatten, kept_by, key_of, latest, mixed
from collector.evaluation.storage import checkpoints, cursors, locks, refused, states
from collector.evaluation.storage.cursors import Advance
from collector.evaluation.storage.refused import Lost, RefusedResult
from collector.evaluation.watched_results import WatchedMonitor
from collector.history.core.hours import end, touched
from collector.history.storage import results, rollups
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
class Committed:
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
) -> Committed:
    """Write what is new in *group*, and evaluate it. Raises whatever PostgreSQL raises.

    *watched*: the monitors whose results matter to alert rules.
    """
    errors = await interner.numbers({text for one in group for text in one.batch.errors})
    async with db.transaction() as tx:
        await locks.begin(tx)
        advanced = await cursors.advance(tx, _runs(group), now)
        ordinals = advanced.ordinals
        taken = [one for one in group if one.incarnation in ordinals]
        ranked = sorted(taken, key=lambda one: ordinals[one.incarnation])
        parts = [
            Part(one.probe_id, ordinals[one.incarnation], one.offset_us, one.batch, one.places)
            for one in ranked
        ]
        columns = flatten(parts, errors, now)
        stored, evaluation, found = 0, Evaluation(), False
        if columns.key:
            stored, evaluation = await _store(
                tx, ranked, columns, since, now, rolled_until=end(now, advanced.rolled_until)
            )
            await rule_triggers.mark(tx, columns, watched, now)
            # After the evaluation, which locks monitors, too.
            found = await findings.note(tx, columns, now)
        await _keep_losses(tx, taken, now)
    return Committed(taken, stored, len(columns.key) - stored, evaluation, found)


def _runs(group: Sequence[Submission]) -> list[Advance]:
    """One cursor move for the batches of each incarnation, which are sorted by seq."""
    runs: dict[tuple[UUID, int], Advance] = {}
    for one in group:
        run = runs.get(one.incarnation)
        if run is None:
            run = Advance(*one.incarnation, one.session, one.follows[0], one.follows[-1], one.batch.seq)
        runs[one.incarnation] = replace(run, last=one.batch.seq)
    return sorted(runs.values(), key=lambda run: (run.probe_id, run.incarnation))


async def _store(
    tx: Tx,
    ranked: Sequence[Submission],
    columns: Columns,
    since: datetime | None,
    now: datetime,
    *,
    rolled_until: datetime,
) -> tuple[int, Evaluation]:
    """Move the states, copy the results, evaluate; return the number of results stored and the evaluation.

    *rolled_until*: hours before it are rolled up again for late results.
    """
    counting = await _counting(tx, ranked, columns)
    last = latest(columns, counting)
    moved = await states.move(tx, last)
    rows, keys, at_ms = columns.rows, columns.key, columns.at_ms
    if counting is not None or moved.count != len(last.monitor):
        places = await _permitted(tx, columns, last)
        rows, keys = [rows[i] for i in places], [keys[i] for i in places]
        at_ms = [at_ms[i] for i in places]
    await results.copy(tx, rows)
    if late := touched(keys, at_ms, rolled_until):
        await rollups.mark(tx, late)
    await _keep_checkpoints(tx, columns)
    evaluation = Evaluation()
    if moved.wanting:
        await locks.in_any_order(tx)
        if found := findings.monitors(columns) & {key >> 16 for key in keys}:
            await locks.lock(tx, sorted(found | {monitor for monitor, _ in moved.wanting}))
        pending = _pending(columns, counting, {key_of(*key) for key in moved.wanting})
        await evidence.remember(tx, columns, counting, moved.wanting)
        evaluation = await evaluate(tx, pending, since, now)
        await certificates.note(tx, columns, counting, moved.wanting, now)
    return len(rows), evaluation


async def _counting(tx: Tx, ranked: Sequence[Submission], columns: Columns) -> list[int] | None:
    """The places of results that may move a state; None if `move` alone can decide that.

    `move` sees one result of each key. Where a key has results of several probes, incarnations or plans,
    those of the current plan must be found first: else another would hide them, or join them.
    """
    if not mixed(columns) and not any(one.history for one in ranked):
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
            told = _told(columns.parts[part].batch, i - starts[part], columns.at_ms[i])
            pending[key >> 16, key & 0xFFFF].append(told)
    return pending


def _told(batch: Batch, i: int, at_ms: int) -> ResultToEvaluate:
    at = EPOCH + timedelta(milliseconds=at_ms)
    error = clean(batch.errors[batch.error[i] - 1]) if batch.error[i] else ""
    return ResultToEvaluate(
        Status(batch.outcome[i]), at, at + timedelta(microseconds=batch.duration_us[i]), error
    )


async def _keep_checkpoints(tx: Tx, columns: Columns) -> None:
    kept = {
        kept_by(part, i): state for part in columns.parts for i, state in sorted(part.batch.state.items())
    }
    if kept:
        await checkpoints.save(tx, kept)


async def _keep_losses(tx: Tx, taken: Sequence[Submission], now: datetime) -> None:
    gaps = [
        Lost(
            *one.incarnation, one.batch.first_seq, one.batch.seq, one.batch.gap.results, one.batch.gap.reason
        )
        for one in taken
        if one.batch.gap is not None
    ]
    refusals = [
        RefusedResult(*one.incarnation, one.batch.seq, position, result, reason)
        for one in taken
        for position, reason, result in one.refusals
    ]
    if gaps:
        await refused.keep_gaps(tx, gaps, now)
    if refusals:
        await refused.keep(tx, refusals, now)
