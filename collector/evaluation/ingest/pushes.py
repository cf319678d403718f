"""Stores and evaluates results that arrive without a probe, many in one transaction."""

import secrets
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Final
from uuid import UUID

from collector.evaluation.error_texts import Interner, clean
from collector.evaluation.evaluate import NO_REQUESTS, CheckRequests, Evaluation, Pending, ResultToEvaluate
from collector.evaluation.ingest.columns import Columns, Part, flatten
from collector.evaluation.storage import pushes
from collector.evaluation.storage import rule_triggers as alert_marks
from collector.evaluation.storage.pushes import NewestResult, PushTarget
from collector.evaluation.transaction import NewResults, UpdatedStates, store
from collector.evaluation.watched_results import NOTHING_WATCHED, WatchedResults
from collector.history.core import receptions
from collector.platform import metrics
from collector.platform.clock import TrustedClock
from collector.platform.group_commit import FirstCome, GroupCommit
from collector.platform.storage.db import Db, Tx
from shared.clock import EPOCH
from shared.results import Run, Status
from shared.wire.convert import Batch

_MOST: Final = 2_000
_NOBODY: Final = UUID(int=0)
_US: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class PushedResult:
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
    """One per collector. *opinions*, *watch*: see `ResultWriter`."""

    def __init__(
        self,
        db: Db,
        *,
        clock: TrustedClock,
        opinions: CheckRequests = NO_REQUESTS,
        watch: WatchedResults = NOTHING_WATCHED,
    ) -> None:
        self._db = db
        self._clock = clock
        self._opinions = opinions
        self._watch = watch
        self._interner = Interner(db)
        self._waiting: GroupCommit[Sequence[PushedResult], None] = GroupCommit(self._commit, FirstCome(_MOST))

    async def push(self, brought: Sequence[PushedResult]) -> None:
        """Return once they are committed and evaluated. After an exception the commit is uncertain."""
        await self._waiting.add(brought)

    async def turn(self) -> bool:
        return await self._waiting.turn()

    async def write(self, tx: Tx, brought: Sequence[PushedResult]) -> PushCommit:
        """Store and evaluate in the caller's transaction; after its commit the caller calls `settle`.

        Results of one monitor come in order of time. Those of deleted monitors are dropped; those of
        paused ones, or under an old revision, move no state.
        """
        source = _PushedResults(brought, self._interner, self._clock.now())
        stored = await store(tx, source, self._watch.monitors, self._clock.trusted_since())
        return PushCommit(stored.results, stored.evaluation, source.ties(), source.errors)

    def settle(self, written: PushCommit) -> None:
        """After the commit: count the results and request checks."""
        self._interner.remember(written.errors)
        self.count(written.results)
        self._opinions.request(written.evaluation)

    def count(self, results: int) -> None:
        """Count the results of a commit."""
        metrics.transactions.inc()
        metrics.results_committed.inc(results)

    @property
    def watches(self) -> bool:
        """Whether any monitor's results matter to alert rules."""
        return bool(self._watch.monitors)

    async def mark_good(self, tx: Tx, good: Sequence[tuple[int, int]]) -> None:
        """Mark rules for results, (monitor, ms) each, that were stored in time and are good."""
        if not self.watches:
            return
        found = [(self._watch.monitors.get(monitor), ms) for monitor, ms in good]
        marked = {(rule.team_id, rule.id) for rule, ms in found if rule and rule.matters(Status.UP, ms, 0)}
        if marked:
            await alert_marks.add(tx, sorted(marked))

    def forget(self) -> None:
        """Forget the numbers of texts after a failed transaction: its rows may not exist."""
        self._interner.forget()

    async def _commit(self, groups: Sequence[Sequence[PushedResult]]) -> Sequence[None]:
        try:
            async with self._db.transaction() as tx:
                written = await self.write(tx, [pushed for group in groups for pushed in group])
        except BaseException:
            self.forget()
            raise
        self.settle(written)
        return [None] * len(groups)


class _PushedResults:
    """The pushed results of one transaction; *errors*: the numbers of their texts, once taken."""

    def __init__(self, brought: Sequence[PushedResult], interner: Interner, now: datetime) -> None:
        self.now = now
        self._brought = brought
        self._interner = interner
        self._targets: dict[int, PushTarget] = {}
        self._kept: list[PushedResult] = []
        # Random, so that results of two collectors in the same instant differ.
        self._salt = secrets.randbits(15)
        self.errors: Mapping[str, int] = {}

    async def take(self, tx: Tx) -> NewResults:
        """Lock the states of the monitors; results of deleted ones are dropped."""
        targets = await pushes.lock(tx, sorted({result.monitor for result in self._brought}))
        kept = [result for result in self._brought if result.monitor in targets]
        self._targets, self._kept = targets, kept
        if not kept:
            return NewResults(flatten([], {}, self.now), None)
        self.errors = await self._interner.within(
            tx, {clean(result.error) for result in kept if result.error}
        )
        columns = flatten([_part(kept, targets, self._salt)], self.errors, self.now)
        return NewResults(columns, targets[kept[0].monitor].rolled_until)

    async def move(self, tx: Tx, columns: Columns) -> UpdatedStates:
        counting = [
            i for i, result in enumerate(self._kept) if _counts(result, self._targets[result.monitor])
        ]
        wanting = await pushes.move(tx, _newest(self._kept, columns, counting))
        return UpdatedStates(frozenset(wanting), counting)

    def pending(self, columns: Columns, moved: UpdatedStates) -> Pending:
        """None is late: a late push is itself the finding."""
        pending: defaultdict[tuple[int, int], deque[ResultToEvaluate]] = defaultdict(deque)
        for i in range(len(columns.key)) if moved.counting is None else moved.counting:
            result = self._kept[i]
            key = result.monitor, self._targets[result.monitor].location
            if key in moved.wanting:
                pending[key].append(ResultToEvaluate(result.status, result.at, self.now, clean(result.error)))
        return pending

    def ties(self) -> list[int | None]:
        """Return the n of each result, None for those of deleted monitors."""
        places = count()
        return [
            (self._salt + next(places)) & 0x7FFF if result.monitor in self._targets else None
            for result in self._brought
        ]


def _counts(result: PushedResult, target: PushTarget) -> bool:
    return not target.paused and result.revision in (None, target.revision)


def _part(kept: Sequence[PushedResult], targets: Mapping[int, PushTarget], salt: int) -> Part:
    """The results as a batch without a probe."""
    texts = list(dict.fromkeys(clean(result.error) for result in kept if result.error))
    place = {text: 1 + i for i, text in enumerate(texts)}
    count = len(kept)
    batch = Batch(
        salt,
        0,
        0,
        boot_id="",
        base_us=0,
        wall_us=0,
        monitor=[result.monitor for result in kept],
        location=[targets[result.monitor].location for result in kept],
        assignment=[0] * count,
        revision=[targets[result.monitor].revision for result in kept],
        run=[int(Run.SCHEDULED)] * count,
        start_us=[(result.at - EPOCH) // _US for result in kept],
        duration_us=[result.ms * 1000 for result in kept],
        outcome=[int(result.status) for result in kept],
        code=[result.code for result in kept],
        phases=[b"" if result.samples is None else receptions.packed(result.samples) for result in kept],
        error=[place[clean(result.error)] if result.error else 0 for result in kept],
        errors=texts,
    )
    return Part(_NOBODY, 0, 0, batch)


def _newest(kept: Sequence[PushedResult], columns: Columns, counting: Sequence[int]) -> list[NewestResult]:
    """The last result of each monitor that counts, in the order of their keys."""
    last = {kept[i].monitor: i for i in counting}
    bad = {kept[i].monitor for i in counting if kept[i].status is Status.DOWN}
    return [
        NewestResult(
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
