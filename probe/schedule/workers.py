"""The worker pool that runs checks; quick checks never wait behind stalled ones."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable
from dataclasses import replace
from typing import Final, Protocol

from probe.link.plan import ProbeAssignment
from probe.schedule.item import HELD_UP_US, Item
from probe.schedule.runner import CheckRun
from probe.schedule.slots import ASIDE, QUICK, SLOW, Slots
from probe.schedule.tally import Histogram
from shared.clock import MicrosecondClock
from shared.results import Outcome, Status

# If all slots are taken, a quick run that takes longer than this is set aside.
_STALLS_US: Final = 250_000
_LOOK_APART_US: Final = 20_000
# A task costs more than the rest of a start, so idle ones are kept for later checks.
_MOST_IDLE: Final = 256
# Not the target's fault: its response was not processed in time.
_HELD_UP: Final = Outcome(Status.UNKNOWN, error="the probe was held up")


class CheckRunner(Protocol):
    """Runs the check of an assignment; a bad target is a result rather than an exception."""

    def __call__(self, assigned: ProbeAssignment, /) -> Awaitable[CheckRun]: ...


class Settle(Protocol):
    """Receives the result of an item's run."""

    def __call__(self, item: Item, ran: CheckRun, /) -> None: ...


class _Worker:
    """A task that runs *item*; without one it waits for *wake*."""

    __slots__ = ("item", "task", "wake")

    item: Item | None
    task: "asyncio.Task[None]"
    wake: "asyncio.Future[None]"


class _Waiting:
    """Items waiting for slots, by team: teams take turns."""

    __slots__ = ("_by_team", "count")

    def __init__(self) -> None:
        self._by_team: dict[int, deque[Item]] = {}
        self.count = 0

    def teams(self) -> list[int]:
        return list(self._by_team)

    def put(self, item: Item) -> None:
        """Queue *item*; one with a time limit goes first."""
        queue = self._by_team.setdefault(item.assigned.team, deque())
        (queue.appendleft if item.until_us else queue.append)(item)
        self.count += 1

    def first(self, team: int) -> Item:
        return self._by_team[team][0]

    def pop(self, team: int) -> None:
        queue = self._by_team.pop(team)
        queue.popleft()
        self.count -= 1
        if queue:
            self._by_team[team] = queue


class WorkerPool:
    """*settle* receives the result of a run, unless it was cancelled or its item was removed."""

    def __init__(
        self,
        check: CheckRunner,
        settle: Settle,
        most: int,
        boot_us: MicrosecondClock,
    ) -> None:
        self._check = check
        self._settle = settle
        self._boot_us = boot_us
        self._loop = asyncio.get_running_loop()
        self._slots = Slots(most)
        self._running: dict[Item, None] = {}  # the longest-running first
        self._waiting = _Waiting()
        self._waiting_slow = _Waiting()
        self._workers: set[asyncio.Task[None]] = set()
        self._idle: list[_Worker] = []
        self._looked_us = 0
        self._relief: asyncio.TimerHandle | None = None
        self._stopped = False
        self._ended = asyncio.Event()
        self.late = Histogram()

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def waiting(self) -> int:
        return self._waiting.count + self._waiting_slow.count

    def divide(self, *, among_teams: bool) -> None:
        """Whether to divide the slots among several teams."""
        self._slots.divided = among_teams

    def start(self, item: Item, now_us: int) -> None:
        """Run *item* now, or once there is a slot; one with a time limit goes first."""
        item.tally.due += 1
        if self._take(item):
            self._launch(item, now_us)
            return
        item.waits = True
        queue = self._waiting_slow if item.slow else self._waiting
        queue.put(item)
        self._relieve_soon()

    async def stop(self, seconds: float) -> None:
        """Start nothing more, let running checks finish within *seconds*, cancel the rest."""
        self._stopped = True
        if self._relief:
            self._relief.cancel()
        if self._running:
            self._ended.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ended.wait()
        workers = list(self._workers)
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)

    def _take(self, item: Item) -> bool:
        team = item.assigned.team
        if self._slots.take(team, slow=item.slow):
            return True
        return not item.slow and self._set_aside() and self._slots.take(team, slow=False)

    def _set_aside(self) -> bool:
        """Free slots by setting stalling runs aside; return whether any were freed."""
        now_us = self._boot_us()
        if now_us - self._looked_us < _LOOK_APART_US:
            return False
        self._looked_us = now_us
        made = False
        for item in self._running:
            if now_us - item.began_us < _STALLS_US:
                break
            if item.hold == QUICK and self._slots.set_aside(item.team):
                item.hold, made = ASIDE, True
        return made

    def _launch(self, item: Item, now_us: int) -> None:
        item.began_us = now_us
        self.late.add(now_us - item.wanted_us)
        item.waits = False
        item.hold = SLOW if item.slow else QUICK
        item.team = item.assigned.team
        item.tally.started += 1
        item.tally.running += 1
        self._running[item] = None
        if self._idle:
            worker = self._idle.pop()
            worker.item = item
            worker.wake.set_result(None)
        else:
            worker = self._add_worker(item)
        item.task = worker.task

    def _add_worker(self, item: Item) -> _Worker:
        worker = _Worker()
        worker.item = item
        worker.task = self._loop.create_task(self._work(worker))
        self._workers.add(worker.task)
        worker.task.add_done_callback(lambda _: self._remove_worker(worker))
        return worker

    async def _work(self, worker: _Worker) -> None:
        while (item := worker.item) is not None:
            ran = await self._check(item.assigned)
            if ran.duration_us > HELD_UP_US and ran.duration_us > item.held_up_us:
                ran = replace(ran, outcome=_HELD_UP)
            worker.item = None
            self._finish(item)
            if not item.gone:
                item.tally.outcomes[ran.outcome.status] += 1
                self._settle(item, ran)
            if len(self._idle) >= _MOST_IDLE:
                return
            wake = worker.wake = self._loop.create_future()
            self._idle.append(worker)
            await wake

    def _remove_worker(self, worker: _Worker) -> None:
        """Remove a worker that was cancelled, maybe before it began, or is surplus."""
        self._workers.discard(worker.task)
        if worker.item is not None:
            self._finish(worker.item)
        if not worker.task.cancelled():
            worker.task.result()

    def _finish(self, item: Item) -> None:
        del self._running[item]
        item.task = None
        item.tally.running -= 1
        self._slots.give(item.team, item.hold)
        if self._waiting.count or self._waiting_slow.count:
            self._launch_waiting()
        if self._stopped and not self._running:
            self._ended.set()

    def _launch_waiting(self) -> None:
        for queue in (self._waiting, self._waiting_slow):
            while not self._stopped and any(self._launch_next(queue, team) for team in queue.teams()):
                pass

    def _launch_next(self, queue: "_Waiting", team: int) -> bool:
        """Launch the next item of a team, if there is a slot."""
        item = queue.first(team)
        over = item.gone or 0 < item.until_us < self._boot_us()
        if not over and not self._take(item):
            return False
        queue.pop(team)
        item.waits = False
        if not over:
            self._launch(item, self._boot_us())
        return True

    def _relieve_soon(self) -> None:
        """Check later for stalling runs: no other event may trigger that for long."""
        if self._waiting.count and self._relief is None and not self._stopped:
            delay_s = _LOOK_APART_US / 1_000_000
            self._relief = self._loop.call_later(delay_s, self._relieve)

    def _relieve(self) -> None:
        self._relief = None
        self._launch_waiting()
        self._relieve_soon()
