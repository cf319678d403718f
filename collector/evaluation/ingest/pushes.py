"""Stores and evaluates results that arrive without a probe, many in one transaction."""

import secrets
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.evaluation import rule_triggers as marking
from collector.evaluation.error_texts import Interner, clean
from collector.evaluation.evaluate import Ask, Evaluation, ResultToEvaluate, evaluate, request_none
from collector.evaluation.ingest.columns import Columns, Part, flatten
from collector.evaluation.storage import locks, pushes
from collector.evaluation.storage import rule_triggers as alert_marks
from collector.evaluation.storage.pushes import Newest, PushTarget
from collector.evaluation.watched_results import Watch
from collector.history.core import receptions
from collector.history.core.hours import end, touched
from collector.history.storage import results, rollups
from collector.platform import metrics
from collector.platform.group_commit import FirstCome, GroupCommit
from collector.platform.storage.db import Db, Tx
from shared.clock import EPOCH
from shared.results import Run, Status
from shared.wire.convert import Batch

_MOST: Final = 2_000
_NOBODY: Final = UUID(int=0)
_US: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Pushed:
    """One result of a push monitor; *ms* is its run time, *error* empty when it is up.

    *samples*: how many came since the result before, if it is about metrics.
    *revision*: that it was made under, if that may be outdated by now: then it is history.
    """

    monitor: int
    status: Status
    at: datetime
    ms: int = 0
    code: int = 0
    error: str = ""
    revision: int | None = None
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class PushCommit:
    """The outcome of one transaction, for `settle`; *ties*: the n of each result, unique within its instant.

    *errors*: the numbers of the texts.
    """

    results: int
    evaluation: Evaluation
    ties: Sequence[int | None]
    errors: Mapping[str, int] = field(default_factory=dict)


class Pushes:
    """One per collector. *since*, *ask*, *watch*: see `ResultWriter`."""

    def __init__(
        self,
        db: Db,
        *,
        since: Callable[[], datetime | None],
        now: Callable[[], datetime],
        ask: Ask = request_none,
        watch: Watch | None = None,
    ) -> None:
        self._db = db
        self._since = since
        self._now = now
        self._ask = ask
        self._watch = watch
        self._interner = Interner(db)
        self._waiting: GroupCommit[Sequence[Pushed], None] = GroupCommit(self._commit, FirstCome(_MOST))

    async def push(self, brought: Sequence[Pushed]) -> None:
        """Return once they are committed and evaluated. After an exception the commit is uncertain."""
        await self._waiting.add(brought)

    async def turn(self) -> bool:
        return await self._waiting.turn()

    async def write(self, tx: Tx, brought: Sequence[Pushed]) -> PushCommit:
        """Store and evaluate in the caller's transaction; after its commit the caller calls `settle`.

        Results of one monitor come in order of time. Those of deleted monitors are dropped; those of
        paused ones, or under an old revision, move no state.
        """
        now = self._now()
        await locks.begin(tx)
        where = await pushes.lock(tx, sorted({one.monitor for one in brought}))
        kept = [one for one in brought if one.monitor in where]
        if not kept:
            return PushCommit(0, Evaluation(), [None] * len(brought))
        errors = await self._interner.within(tx, {clean(one.error) for one in kept if one.error})
        part = _part(kept, where)
        columns = flatten([part], errors, now)
        counting = [i for i, one in enumerate(kept) if _counts(one, where[one.monitor])]
        wanting = await pushes.move(tx, _newest(kept, columns, counting))
        await results.copy(tx, columns.rows)
        if self._watch is not None:
            await marking.mark(tx, columns, self._watch.monitors, now)
        if late := touched(columns.key, columns.at_ms, end(now, where[kept[0].monitor].rolled_until)):
            await rollups.mark(tx, late)
        evaluation = Evaluation()
        if wanting:
            await locks.in_any_order(tx)
            pending = _pending([kept[i] for i in counting], where, wanting, now)
            evaluation = await evaluate(tx, pending, self._since(), now)
        places = iter(range(len(kept)))
        ties = [_tie(part, next(places)) if one.monitor in where else None for one in brought]
        return PushCommit(len(kept), evaluation, ties, errors)

    def settle(self, written: PushCommit) -> None:
        """After the commit: count the results and request checks."""
        self._interner.remember(written.errors)
        self.count(written.results)
        self._ask(written.evaluation.doubted, written.evaluation.risen)

    def count(self, results: int) -> None:
        """Count the results of a commit."""
        metrics.transactions.inc()
        metrics.results_committed.inc(results)

    async def mark_good(self, tx: Tx, good: Sequence[tuple[int, int]]) -> None:
        """Mark rules for results, (monitor, ms) each, that were stored in time and are good."""
        if self._watch is None or not self._watch.monitors:
            return
        found = [(self._watch.monitors.get(monitor), ms) for monitor, ms in good]
        marked = {(rule.team_id, rule.id) for rule, ms in found if rule and rule.matters(Status.UP, ms, 0)}
        if marked:
            await alert_marks.add(tx, sorted(marked))

    def forget(self) -> None:
        """Forget the numbers of texts after a failed transaction: its rows may not exist."""
        self._interner.forget()

    async def _commit(self, groups: Sequence[Sequence[Pushed]]) -> Sequence[None]:
        try:
            async with self._db.transaction() as tx:
                written = await self.write(tx, [one for group in groups for one in group])
        except BaseException:
            self.forget()
            raise
        self.settle(written)
        return [None] * len(groups)


def _counts(one: Pushed, receiver: PushTarget) -> bool:
    return not receiver.paused and one.revision in (None, receiver.revision)


def _part(kept: Sequence[Pushed], where: dict[int, PushTarget]) -> Part:
    """The results as a batch without a probe; its random salt separates the results of two collectors."""
    texts = list(dict.fromkeys(clean(one.error) for one in kept if one.error))
    place = {text: 1 + i for i, text in enumerate(texts)}
    count = len(kept)
    salt = secrets.randbits(15)
    batch = Batch(
        salt,
        0,
        0,
        boot_id="",
        base_us=0,
        wall_us=0,
        monitor=[one.monitor for one in kept],
        location=[where[one.monitor].location for one in kept],
        assignment=[0] * count,
        revision=[where[one.monitor].revision for one in kept],
        run=[int(Run.SCHEDULED)] * count,
        start_us=[(one.at - EPOCH) // _US for one in kept],
        duration_us=[one.ms * 1000 for one in kept],
        outcome=[int(one.status) for one in kept],
        code=[one.code for one in kept],
        phases=[b"" if one.samples is None else receptions.packed(one.samples) for one in kept],
        error=[place[clean(one.error)] if one.error else 0 for one in kept],
        errors=texts,
    )
    return Part(_NOBODY, 0, 0, batch)


def _tie(part: Part, place: int) -> int:
    return (part.batch.incarnation + place) & 0x7FFF


def _newest(kept: Sequence[Pushed], columns: Columns, counting: Sequence[int]) -> list[Newest]:
    """The last result of each monitor that counts, in the order of their keys."""
    last = {kept[i].monitor: i for i in counting}
    bad = {kept[i].monitor for i in counting if kept[i].status is Status.DOWN}
    return [
        Newest(
            monitor,
            columns.key[i] & 0xFFFF,
            EPOCH + timedelta(milliseconds=columns.at_ms[i]),
            int(kept[i].status),
            kept[i].ms,
            columns.error[i],
            monitor in bad,
        )
        for monitor, i in sorted(last.items())
    ]


def _pending(
    counted: Sequence[Pushed], where: dict[int, PushTarget], wanting: set[tuple[int, int]], now: datetime
) -> dict[tuple[int, int], deque[ResultToEvaluate]]:
    """The results that need a decision. None is late: a late push is itself the finding."""
    pending: defaultdict[tuple[int, int], deque[ResultToEvaluate]] = defaultdict(deque)
    for one in counted:
        key = one.monitor, where[one.monitor].location
        if key in wanting:
            pending[key].append(ResultToEvaluate(one.status, one.at, now, clean(one.error)))
    return pending
