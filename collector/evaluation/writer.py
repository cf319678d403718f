"""Group commit: commits in one transaction all results that sessions submitted since the last one."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import asyncpg
import structlog

from collector.evaluation.error_texts import Interner
from collector.evaluation.evaluate import Ask, request_none
from collector.evaluation.quarantine import guilty, without
from collector.evaluation.storage import cursors
from collector.evaluation.transaction import Committed, Submission, commit
from collector.evaluation.watched_results import Watch
from collector.platform import metrics
from collector.platform.data_errors import DATA_ERRORS
from collector.platform.group_commit import filled
from collector.platform.storage.db import Db
from shared.errors import TocsinError
from shared.wire.convert import Batch

__all__ = ["Fenced", "OutOfOrder", "ResultWriter", "Submission"]

log = structlog.get_logger()

# At most this many results are committed together; more wait for the next transaction.
MAX_GROUP = 5_000
_TRIES_AFTER_COLLISION = 3
_HELD = -1, -1

_COLLISIONS = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.LockNotAvailableError)


def _unheard() -> None:
    """Do nothing."""


class Fenced(TocsinError):
    """A newer session of the same probe has taken over: this one may write no more."""


class OutOfOrder(TocsinError):
    """A batch does not follow the last committed one of its incarnation."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    submission: Submission
    done: "asyncio.Future[bool]"


class ResultWriter:
    """One per collector. Submissions of one incarnation must come in the order of their seq."""

    def __init__(
        self,
        db: Db,
        *,
        since: Callable[[], datetime | None],
        now: Callable[[], datetime],
        ask: Ask = request_none,
        watch: Watch | None = None,
        found: Callable[[], None] = _unheard,
    ) -> None:
        """*since*: see `ClockGuard`. *ask* is called after each commit that decided something, to request
        immediate checks where doubt remains. *watch* knows which results alert rules need; without it
        none do. *found* is called after each commit that stored findings of Web3 checks.
        """
        self._db = db
        self._since = since
        self._now = now
        self._ask = ask
        self._watch = watch
        self._found = found
        self._interner = Interner(db)
        self._queue: deque[_Waiting] = deque()
        self._filled = asyncio.Event()

    def submit(self, submission: Submission) -> "asyncio.Future[bool]":
        """True once it is committed, False if it was before; raises Fenced, OutOfOrder, or what went wrong.

        After an exception the commit is uncertain: read the cursors again.
        """
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._queue.append(_Waiting(submission, done))
        self._filled.set()
        return done

    def refuse(
        self, session: int, probe_id: UUID, incarnation: int, first_seq: int, seq: int, reason: str
    ) -> "asyncio.Future[bool]":
        """Set an unreadable batch aside, so that its probe can continue."""
        empty = Batch(incarnation, first_seq, seq, boot_id="", base_us=0, wall_us=0)
        return self.submit(Submission(session, probe_id, empty, 0, refusals=((-1, reason, {}),)))

    async def turn(self) -> bool:
        """Commit what waits; if nothing does, wait for a while."""
        if not await filled(self._filled):
            return True
        group = self._take()
        try:
            await self._commit([waiting.submission for waiting in group], group)
        except BaseException as error:
            self._interner.forget()
            for waiting in group:
                if not waiting.done.done():
                    waiting.done.set_exception(error if isinstance(error, Exception) else _stopped())
                    waiting.done.exception()
            raise
        return True

    def _take(self) -> list[_Waiting]:
        """The next group: whole batches, without a gap within an incarnation."""
        group: list[_Waiting] = []
        held: list[_Waiting] = []
        ends: dict[tuple[UUID, int], tuple[int, int]] = {}
        size = 0
        while self._queue and size < MAX_GROUP:
            waiting = self._queue.popleft()
            one = waiting.submission
            before = one.session, one.batch.first_seq - 1
            if ends.get(one.incarnation, before) != before:
                ends[one.incarnation] = _HELD
                held.append(waiting)
                continue
            ends[one.incarnation] = one.session, one.batch.seq
            group.append(waiting)
            size += len(one.batch.monitor)
        self._queue.extendleft(reversed(held))
        if not self._queue:
            self._filled.clear()
        return group

    async def _commit(self, submissions: list[Submission], group: list[_Waiting]) -> None:
        try:
            done = await self._with_patience(submissions)
        except DATA_ERRORS:
            await self._one_by_one(group)
            return
        self._count(done)
        taken = {id(one) for one in done.taken}
        left = [waiting for waiting in group if id(waiting.submission) not in taken]
        for waiting in group:
            if id(waiting.submission) in taken and not waiting.done.done():
                waiting.done.set_result(True)
        if left:
            await self._sort_out(left)

    async def _with_patience(self, submissions: Sequence[Submission]) -> Committed:
        """Commit; retry a collision with another transaction at once."""
        for _ in range(_TRIES_AFTER_COLLISION):
            try:
                return await self._try(submissions)
            except _COLLISIONS:
                metrics.collisions.inc()
        return await self._try(submissions)

    async def _try(self, submissions: Sequence[Submission]) -> Committed:
        watched = self._watch.monitors if self._watch is not None else {}
        return await commit(self._db, submissions, self._interner, self._since(), self._now(), watched)

    async def _one_by_one(self, group: list[_Waiting]) -> None:
        """Some content is bad: commit each batch alone, so that only the bad one is set aside."""
        for waiting in group:
            if len(group) > 1:
                await self._commit([waiting.submission], [waiting])
            else:
                await self._isolate(waiting)

    async def _isolate(self, waiting: _Waiting) -> None:
        """Commit a batch's good results and store the others as refused; its cursor moves on in any case."""
        submission = waiting.submission
        bad = await guilty(self._db, submission, self._interner, self._now())
        log.warning(
            "results refused", probe=str(submission.probe_id), seq=submission.batch.seq, rows=len(bad)
        )
        cleaned = without(submission, bad)
        for attempt in (cleaned, replace(cleaned, history=True)):
            try:
                done = await self._with_patience([attempt])
            except DATA_ERRORS:
                log.exception(
                    "batch cannot be evaluated", probe=str(submission.probe_id), seq=submission.batch.seq
                )
            else:
                await self._finish(waiting, done)
                return
        whole = [(position, "could not be stored") for position in range(len(cleaned.batch.monitor))]
        await self._finish(waiting, await self._with_patience([without(cleaned, whole)]))

    async def _finish(self, waiting: _Waiting, done: Committed) -> None:
        self._count(done)
        if not done.taken:
            await self._sort_out([waiting])
        elif not waiting.done.done():
            waiting.done.set_result(True)

    async def _sort_out(self, left: Sequence[_Waiting]) -> None:
        """Set the outcome of batches that were left out; retry those that follow a replayed one."""
        again: list[_Waiting] = []
        waits: set[tuple[UUID, int]] = set()
        for waiting in left:
            one = waiting.submission
            async with self._db.connection() as connection:
                cursor = await cursors.read(connection, *one.incarnation)
            if waiting.done.done():
                continue
            if cursor is None or cursor.session != one.session:
                waiting.done.set_exception(Fenced("another session of this probe has taken over"))
            elif cursor.last_seq >= one.batch.seq:
                waiting.done.set_result(False)
            elif one.incarnation in waits or cursor.last_seq in one.follows:
                again.append(waiting)
                waits.add(one.incarnation)
            else:
                message = f"batch {one.batch.first_seq} does not follow {cursor.last_seq}"
                waiting.done.set_exception(OutOfOrder(message))
        self._queue.extendleft(reversed(again))
        if again:
            self._filled.set()

    def _count(self, done: Committed) -> None:
        metrics.transactions.inc()
        metrics.results_committed.inc(done.results)
        metrics.results_dropped.inc(done.dropped)
        metrics.results_refused.inc(sum(len(one.refusals) for one in done.taken))
        metrics.result_gaps.inc(sum(one.batch.gap is not None for one in done.taken))
        self._ask(done.evaluation.doubted, done.evaluation.risen)
        if done.found:
            self._found()


def _stopped() -> TocsinError:
    return TocsinError("the writer stopped")
