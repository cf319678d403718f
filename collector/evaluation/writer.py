"""Group commit: commits in one transaction all results that sessions submitted since the last one."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import structlog

from collector.evaluation.error_texts import Interner
from collector.evaluation.evaluate import NO_REQUESTS, CheckRequests
from collector.evaluation.ingest.probe_batches import CommittedBatches, Submission, commit
from collector.evaluation.quarantine import guilty, without
from collector.evaluation.storage import cursors
from collector.evaluation.storage.cursors import BatchCursor
from collector.evaluation.watched_results import NOTHING_WATCHED, WatchedResults
from collector.platform import metrics
from collector.platform.clock import TrustedClock
from collector.platform.data_errors import DATA_ERRORS
from collector.platform.group_commit import BatchSelector, CommitAgain, GroupCommit
from collector.platform.storage.db import Db
from shared.errors import TocsinError
from shared.loop import Bell
from shared.wire.convert import Batch

__all__ = ["Fenced", "OutOfOrder", "ResultWriter", "Submission"]

log = structlog.get_logger()

# At most this many results are committed together; more wait for the next transaction.
MAX_GROUP = 5_000
# The end of an incarnation of which a batch waits: no further batch follows it.
_HELD = -1, -1


class Fenced(TocsinError):
    """A newer session of the same probe has taken over: this one may write no more."""


class OutOfOrder(TocsinError):
    """A batch does not follow the last committed one of its incarnation."""


@dataclass(frozen=True, slots=True)
class CursorOrder(BatchSelector[Submission]):
    """Chooses whole batches, without a gap within an incarnation; the others wait for the next group."""

    most_results: int

    def choose(self, waiting: Iterable[Submission]) -> Sequence[int]:
        chosen: list[int] = []
        ends: dict[tuple[UUID, int], tuple[int, int]] = {}
        size = 0
        for position, submission in enumerate(waiting):
            if size >= self.most_results:
                break
            before = submission.session, submission.batch.first_seq - 1
            if ends.get(submission.incarnation, before) != before:
                ends[submission.incarnation] = _HELD
                continue
            ends[submission.incarnation] = submission.session, submission.batch.seq
            chosen.append(position)
            size += len(submission.batch.monitor)
        return chosen


class ResultWriter:
    """One per collector. Submissions of one incarnation must come in the order of their seq."""

    def __init__(
        self,
        db: Db,
        *,
        clock: TrustedClock,
        opinions: CheckRequests = NO_REQUESTS,
        watch: WatchedResults = NOTHING_WATCHED,
        findings: Bell | None = None,
    ) -> None:
        """*opinions*: requests checks after each commit that decided something. *watch*: knows which results
        alert rules need. *findings*: is rung after each commit that stored findings of Web3 checks.
        """
        self._db = db
        self._clock = clock
        self._opinions = opinions
        self._watch = watch
        self._findings = findings
        self._interner = Interner(db)
        self._group = GroupCommit(self._commit, CursorOrder(MAX_GROUP))

    def submit(self, submission: Submission) -> "asyncio.Future[bool]":
        """True once it is committed, False if it was before; raises Fenced, OutOfOrder, or what went wrong.

        After an exception the commit is uncertain: read the cursors again.
        """
        return self._group.add(submission)

    def refuse(
        self, session: int, probe_id: UUID, incarnation: int, first_seq: int, seq: int, reason: str
    ) -> "asyncio.Future[bool]":
        """Set an unreadable batch aside, so that its probe can continue."""
        empty = Batch(incarnation, first_seq, seq, boot_id="", base_us=0, wall_us=0)
        return self.submit(Submission(session, probe_id, empty, 0, refusals=((-1, reason, {}),)))

    async def turn(self) -> bool:
        """Commit what waits; if nothing does, wait for a while."""
        try:
            return await self._group.turn()
        except BaseException:
            self._interner.forget()
            raise

    async def _commit(self, submissions: Sequence[Submission]) -> Sequence[bool | Exception]:
        try:
            return await self._try(submissions)
        except DATA_ERRORS:
            if len(submissions) > 1:
                raise
            return await self._isolate(submissions[0])

    async def _try(self, submissions: Sequence[Submission]) -> Sequence[bool | Exception]:
        since, now = self._clock.trusted_since(), self._clock.now()
        done = await commit(self._db, submissions, self._interner, since, now, self._watch.monitors)
        self._count(done)
        taken = {id(submission) for submission in done.taken}
        left = [submission for submission in submissions if id(submission) not in taken]
        answers = await self._outcomes(left) if left else {}
        return [answers.get(id(submission), True) for submission in submissions]

    async def _isolate(self, submission: Submission) -> Sequence[bool | Exception]:
        """Commit a batch's good results and store the others as refused; its cursor moves on in any case."""
        bad = await guilty(self._db, submission, self._interner, self._clock.now())
        log.warning(
            "results refused", probe=str(submission.probe_id), seq=submission.batch.seq, rows=len(bad)
        )
        cleaned = without(submission, bad)
        for attempt in (cleaned, replace(cleaned, history=True)):
            try:
                return await self._try([attempt])
            except DATA_ERRORS:
                log.exception(
                    "batch cannot be evaluated", probe=str(submission.probe_id), seq=submission.batch.seq
                )
        self._interner.forget()
        whole = [(position, "could not be stored") for position in range(len(cleaned.batch.monitor))]
        return await self._try([without(cleaned, whole)])

    async def _outcomes(self, left: Sequence[Submission]) -> dict[int, bool | Exception]:
        try:
            return await self._sort_out(left)
        except Exception as error:  # noqa: BLE001 - the others are committed, whatever is wrong with these
            return dict.fromkeys(map(id, left), error)

    async def _sort_out(self, left: Sequence[Submission]) -> dict[int, bool | Exception]:
        """Return the outcome of each batch that was left out, by its `id`.

        Those that follow a replayed one are tried again.
        """
        answers: dict[int, bool | Exception] = {}
        waits: set[tuple[UUID, int]] = set()
        async with self._db.connection() as connection:
            for submission in left:
                cursor = await cursors.read(connection, *submission.incarnation)
                answer = _outcome(submission, cursor, behind=submission.incarnation in waits)
                answers[id(submission)] = answer
                if isinstance(answer, CommitAgain):
                    waits.add(submission.incarnation)
        return answers

    def _count(self, done: CommittedBatches) -> None:
        metrics.transactions.inc()
        metrics.results_committed.inc(done.results)
        metrics.results_dropped.inc(done.dropped)
        metrics.results_refused.inc(sum(len(submission.refusals) for submission in done.taken))
        metrics.result_gaps.inc(sum(submission.batch.gap is not None for submission in done.taken))
        self._opinions.request(done.evaluation)
        if done.found and self._findings is not None:
            self._findings.ring()


def _outcome(submission: Submission, cursor: BatchCursor | None, *, behind: bool) -> bool | Exception:
    """Return False for a batch that was committed before, else why it was left out.

    *behind*: another batch of its incarnation, before it, is tried again.
    """
    if cursor is None or cursor.session != submission.session:
        return Fenced("another session of this probe has taken over")
    if cursor.last_seq >= submission.batch.seq:
        return False
    if behind or cursor.last_seq in submission.follows:
        return CommitAgain("a batch before it was a replay")
    return OutOfOrder(f"batch {submission.batch.first_seq} does not follow {cursor.last_seq}")
