"""Schedules checks: at their place in the interval, sooner to confirm a change, never twice at once.

One timer serves an agenda on the boot clock, which no step of the wall clock moves. Checks due while the
machine slept or this process was suspended are skipped and counted, except for those that `late_allowed_us`
admits.
"""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Final, Protocol

import structlog

from probe.clock import wall_us as clock_wall_us
from probe.link.plan import ProbeAssignment
from probe.schedule.agenda import DueQueue
from probe.schedule.evidence import worth_telling
from probe.schedule.item import Item, ReleaseReceiver, ResultReceiver
from probe.schedule.runner import CheckRun
from probe.schedule.slots import SLOW_US, Budget
from probe.schedule.tally import Histogram, Tally
from probe.schedule.workers import CheckRunner, WorkerPool
from probe.spool.batches import carried
from shared.clock import MicrosecondClock
from shared.clock import boot_us as clock_boot_us
from shared.results import Run, Status
from shared.schedule import ALWAYS_ALLOWED_US, following, late_allowed_us, next_start

log = structlog.get_logger()

# Checks that were never run start at once, but this far apart.
AT_ONCE_APART_US: Final = 2000
# Evidence is reported for this many failures per second, ten times as many at once, so that an outage of
# all targets stays cheap.
_EVIDENCE_A_SECOND: Final = 20.0
# Another probe runs a check in time if this one releases it this long before its next start (a signal between
# collectors may take a second)...
_SOON_US: Final = 2_000_000
# ... and if nobody has taken over after this time, it is checked here again.
_RESTS_US: Final = 15_000_000


class Report(Protocol):
    """Receives results; *urgent* ones may change the target's state in the collector."""

    def __call__(self, assigned: ProbeAssignment, run: Run, ran: CheckRun, *, urgent: bool) -> None: ...


class Scheduler:
    """Starts checks and reports their results.

    If an assignment is removed, or changed to another revision, its running check is cancelled: its result
    would be obsolete.
    """

    def __init__(
        self,
        check: CheckRunner,
        report: Report,
        *,
        max_concurrency: int = 1000,
        boot_us: MicrosecondClock = clock_boot_us,
        wall_us: MicrosecondClock = clock_wall_us,
    ) -> None:
        self._report = report
        self._boot_us = boot_us
        self._wall_us = wall_us
        self._items: dict[int, Item] = {}
        self._teams = Counter[int]()
        self._agenda = DueQueue()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_us = 0
        self._pool = WorkerPool(check, self._settle, max_concurrency, boot_us)
        # Re-checks get at most a fifth of the probe's capacity, assuming a second per check.
        self._budget = Budget(max_concurrency / 5, boot_us)
        self._evidence = Budget(_EVIDENCE_A_SECOND, boot_us)
        self._at_once_us = 0
        self._stopped = False
        self._loop = asyncio.get_running_loop()
        self.tallies: dict[str, Tally] = {}

    @property
    def running(self) -> int:
        return self._pool.running

    @property
    def waiting(self) -> int:
        """Checks that are due but wait for a slot."""
        return self._pool.waiting

    @property
    def started(self) -> int:
        return sum(tally.started for tally in self.tallies.values())

    @property
    def skipped(self) -> int:
        return sum(tally.skipped for tally in self.tallies.values())

    @property
    def late(self) -> Histogram:
        """How late each run started."""
        return self._pool.late

    def take(self, assigned: ProbeAssignment) -> None:
        """Add or change an assignment; the same revision again keeps its phase and its streak."""
        item = self._items.get(assigned.number)
        if item:
            assigned.kept.follow(item.assigned.kept)
        if item and item.assigned.revision == assigned.revision:
            if item.take(assigned) or item.resting:
                self._plan(item)
            return
        self.leave(assigned.number)
        item = self._items[assigned.number] = Item(assigned, self._tally(assigned.type))
        self._count(assigned.team, 1)
        self._plan(item)
        if assigned.at_once:
            self._hasten(item, max(self._boot_us(), self._at_once_us + AT_ONCE_APART_US))
        elif (delay_s := item.streak.due_s(assigned)) is not None and self._budget.take():
            item.recheck_us = self._boot_us() + int(delay_s * 1_000_000)
            self._put(item)
            self._set_timer()

    def leave(self, number: int) -> None:
        """Remove an assignment."""
        item = self._items.pop(number, None)
        if item:
            self._count(item.assigned.team, -1)
            item.gone = True
            self._agenda.remove(item)
            if item.task:
                item.task.cancel()

    def _count(self, team: int, more: int) -> None:
        """Divide the slots while there are monitors of several teams."""
        self._teams[team] += more
        if self._teams[team] == 0:
            del self._teams[team]
        self._pool.divide(among_teams=len(self._teams) > 1)

    def release(self, number: int, released: ReleaseReceiver) -> None:
        """Release a check for another probe; call *released* once its last result is in."""
        item = self._items.get(number)
        if item is None:
            return
        item.release = released
        if not item.busy and (item.resting or item.due_us - self._boot_us() > _SOON_US):
            self._let_go(item)

    def resume(self) -> None:
        """Nobody takes over the released checks: continue them."""
        for item in self._items.values():
            item.release = None
            if item.resting:
                self._plan(item)

    def ask(
        self, assigned: ProbeAssignment, run: Run, within_s: float, answer: ResultReceiver | None = None
    ) -> None:
        """Run a check now, before waiting ones. With *answer* it is a test, else its result is reported.

        It is dropped if the check is running already, or gets no slot in time.
        """
        item = self._items.get(assigned.number) if answer is None else None
        if item is None:
            limited = replace(assigned, timeout_s=min(assigned.timeout_s, within_s))
            item = Item(limited, self._tally(assigned.type))
            item.answer = answer
        if not item.busy and not self._stopped:
            now_us = self._boot_us()
            self._start(item, run, now_us, now_us, now_us + int(within_s * 1_000_000))

    def tick(self) -> None:
        """Start all due checks."""
        self._timer = None
        if self._stopped:
            return
        now_us = self._boot_us()
        ahead_us = self._wall_us() - now_us
        for item in self._agenda.take(now_us):
            self._come_due(item, now_us, ahead_us)
        self._set_timer()

    async def stop(self, seconds: float) -> None:
        """Start nothing more, let running checks finish within *seconds*, cancel the rest."""
        self._stopped = True
        if self._timer:
            self._timer.cancel()
        await self._pool.stop(seconds)

    def _let_go(self, item: Item) -> None:
        released, item.release = item.release, None
        item.resting, item.recheck_us = True, 0
        item.next_us = self._boot_us() + _RESTS_US
        self._put(item)
        self._set_timer()
        if released:
            released(item.assigned.number)

    def _hasten(self, item: Item, at_us: int) -> None:
        """Start it at that time, unless it starts earlier anyway."""
        if at_us < item.next_us:
            item.next_us = self._at_once_us = at_us
            self._put(item)
            self._set_timer()

    def _plan(self, item: Item) -> None:
        """Schedule its next regular start at its phase."""
        item.resting = False
        unix_us = self._wall_us()
        start_us = next_start(unix_us, item.phase_us, item.assigned.interval_us)
        item.next_us = start_us - unix_us + self._boot_us()
        self._put(item)
        self._set_timer()

    def _put(self, item: Item) -> None:
        soon_us = item.recheck_us
        self._agenda.put(item, soon_us if 0 < soon_us < item.next_us else item.next_us)

    def _set_timer(self) -> None:
        due_us = self._agenda.next_us
        if due_us is None or self._stopped:
            return
        if self._timer:
            if self._timer_us <= due_us:
                return
            self._timer.cancel()
        # uvloop treats less than a millisecond as zero, and would busy-loop until then.
        delay_ms = max(1, -((self._boot_us() - due_us) // 1000))
        self._timer_us = due_us
        self._timer = self._loop.call_later(delay_ms / 1000, self.tick)

    def _come_due(self, item: Item, now_us: int, ahead_us: int) -> None:
        """*ahead_us*: how far the wall clock is ahead of the boot clock."""
        planned_us = item.next_us
        if planned_us > now_us:
            item.recheck_us = 0
            if not item.busy:
                self._start(item, Run.RECHECK, now_us, item.due_us)
            self._put(item)
            return
        interval_us = item.assigned.interval_us
        late_us = now_us - planned_us
        if late_us > ALWAYS_ALLOWED_US and late_us > late_allowed_us(interval_us):
            item.tally.skip(1 + late_us // interval_us)
            item.next_us = next_start(now_us + ahead_us, item.phase_us, interval_us) - ahead_us
            self._put(item)
            return
        if item.busy:
            item.tally.skip(1)
        else:
            item.recheck_us = 0
            self._start(item, Run.SCHEDULED, now_us, planned_us)
        item.next_us = following(planned_us + ahead_us, item.phase_us, interval_us) - ahead_us
        self._put(item)

    def _start(self, item: Item, run: Run, now_us: int, wanted_us: int, until_us: int = 0) -> None:
        item.resting = False
        item.run, item.wanted_us, item.until_us = run, wanted_us, until_us
        self._pool.start(item, now_us)

    def _tally(self, type_: str) -> Tally:
        return self.tallies.setdefault(type_, Tally())

    def _settle(self, item: Item, ran: CheckRun) -> None:
        if item.answer:
            item.answer(ran)
            return
        item.slow = ran.duration_us > SLOW_US
        assigned, outcome = item.assigned, ran.outcome
        settled = item.streak.settled
        delay_s = item.streak.count(assigned, outcome.status)
        quiet = settled is not None and settled == item.streak.settled and item.run is Run.SCHEDULED
        if outcome.evidence is not None:
            ran = self._less_evidence(item, ran)
        self._report(assigned, item.run, ran, urgent=not quiet)
        if outcome.state is not None and carried(outcome):
            assigned.kept.keep(outcome.state)
        if item.release:
            self._let_go(item)
            return
        if delay_s is not None and item.next_us and not self._stopped and self._budget.take():
            item.recheck_us = self._boot_us() + int(delay_s * 1_000_000)
            self._put(item)
            self._set_timer()

    def _less_evidence(self, item: Item, ran: CheckRun) -> CheckRun:
        """Remove the evidence, unless a confirmation may rely on it and the rate limit admits it."""
        wanted = worth_telling(item.streak.fails, item.assigned.failure_threshold)
        if ran.outcome.status is Status.DOWN and wanted and self._evidence.take():
            return ran
        return replace(ran, outcome=replace(ran.outcome, evidence=None))
