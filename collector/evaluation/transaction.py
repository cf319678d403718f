"""The deciding transaction: states, results, incidents and events, all or nothing, whatever their source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from collector.evaluation import rule_triggers
from collector.evaluation.evaluate import Evaluation, Pending, evaluate
from collector.evaluation.ingest import certificates, evidence, findings
from collector.evaluation.ingest.columns import Columns, kept_by
from collector.evaluation.storage import checkpoints, locks
from collector.evaluation.watched_results import WatchedMonitor
from collector.history.core.hours import end, touched
from collector.history.storage import results, rollups
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class NewResults:
    """The new results of a transaction; hours before *rolled_until* are rolled up."""

    columns: Columns
    rolled_until: datetime | None


@dataclass(frozen=True, slots=True)
class UpdatedStates:
    """The states after their newest results; *wanting*: the (monitor, location)s that need a decision.

    *counting*: the places of results that may move a state; *stored*: the places of those to store. None
    for all.
    """

    wanting: frozenset[tuple[int, int]]
    counting: Sequence[int] | None = None
    stored: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """The number of results stored, and the decisions; *found*: Web3 findings are to be announced."""

    results: int = 0
    evaluation: Evaluation = field(default_factory=Evaluation)
    found: bool = False


class ResultSource(Protocol):
    """Where the results of one transaction come from; its methods are called once each, in this order."""

    @property
    def now(self) -> datetime:
        """The time of the transaction."""

    async def take(self, tx: Tx) -> NewResults:
        """Lock what belongs to the source, and return its new results."""

    async def move(self, tx: Tx, columns: Columns) -> UpdatedStates:
        """Give each state its newest result, in the order of the keys."""

    def pending(self, columns: Columns, moved: UpdatedStates) -> Pending:
        """Return the results that count of the keys that need a decision, in order."""


async def store(
    tx: Tx, source: ResultSource, watched: Mapping[int, WatchedMonitor], since: datetime | None
) -> Stored:
    """Store the source's new results, and evaluate them. Raises whatever PostgreSQL raises.

    Locks are taken in this order: the source's own rows, states by key, monitors by key, the team's stream
    of events. *watched*: the monitors whose results matter to alert rules; *since*: see `decide`.
    """
    now = source.now
    await locks.begin(tx)
    arrived = await source.take(tx)
    columns = arrived.columns
    if not columns.key:
        return Stored()
    moved = await source.move(tx, columns)
    rows, keys, at_ms = columns.rows, columns.key, columns.at_ms
    if moved.stored is not None:
        rows, keys = [rows[i] for i in moved.stored], [keys[i] for i in moved.stored]
        at_ms = [at_ms[i] for i in moved.stored]
    await results.copy(tx, rows)
    # Hours that are rolled up already are rolled up again for late results.
    if late := touched(keys, at_ms, end(now, arrived.rolled_until)):
        await rollups.mark(tx, late)
    await _keep_checkpoints(tx, columns)
    evaluation = Evaluation()
    if moved.wanting:
        stored = {key >> 16 for key in keys}
        evaluation = await _evaluate(tx, source, columns, moved, stored, since)
    await rule_triggers.mark(tx, columns, watched, now)
    # After the evaluation, which locks monitors, too.
    found = await findings.note(tx, columns, now)
    return Stored(len(rows), evaluation, found)


async def _evaluate(
    tx: Tx,
    source: ResultSource,
    columns: Columns,
    moved: UpdatedStates,
    stored: set[int],
    since: datetime | None,
) -> Evaluation:
    """Decide where the moved states need it; *stored*: the monitors of which results were stored."""
    await locks.in_any_order(tx)
    if found := findings.monitors(columns) & stored:
        await locks.lock(tx, sorted(found | {monitor for monitor, _ in moved.wanting}))
    pending = source.pending(columns, moved)
    await evidence.remember(tx, columns, moved.counting, moved.wanting)
    evaluation = await evaluate(tx, pending, since, source.now)
    await certificates.note(tx, columns, moved.counting, moved.wanting, source.now)
    return evaluation


async def _keep_checkpoints(tx: Tx, columns: Columns) -> None:
    kept = {
        kept_by(part, i): state for part in columns.parts for i, state in sorted(part.batch.state.items())
    }
    if kept:
        await checkpoints.save(tx, kept)
