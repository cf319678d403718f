"""One location of one monitor: when it checks, what the checks come to, and what its probe makes of them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from collector.evaluation.core.state import CheckStreak
from probe.link.plan import Order, prepare
from probe.schedule.streak import Streak
from shared.results import Status
from shared.schedule import following, next_start, phase_us
from tests.simulation.chance import Losses
from tests.simulation.script import MINUTE, PLACES, SECOND, Outage, Script

INTERVAL: Final = MINUTE
TIMEOUT: Final = 10 * SECOND
WELL: Final = CheckStreak()

_TAKES: Final = 50_000
_REFUSAL_TAKES: Final = 2_000
_FOREVER: Final = 2**62
# So many late failures are as good as more, and what is older than this at the end of a cut is late.
_ENOUGH: Final = 4
_HEARD_IN_TIME: Final = 2 * MINUTE
_HUNG: Final = "connect: timed out after 10.0 s to 192.0.2.1:443"
_REFUSED: Final = "connect: refused by 192.0.2.1:443"


@dataclass(frozen=True, slots=True)
class Result:
    """A check that ran from *start* to *end*."""

    status: Status
    start: int
    end: int
    error: str = ""


class Place:
    """The slots of the schedule are numbered; *number* and *next* are of the one that comes next.

    *state* is what the collector thinks, *streak* what the probe does; *began* is the true start of the
    collector's streak, *turned* that of the check that moved it last, *checked* that of the newest that said
    something to it, what was left out aside, *looked* that of the newest at all, *error* what the newest
    failed one said, *unheard* what the collector does not know yet.
    *version* tells the plan that holds from older ones.
    """

    __slots__ = (
        "_outages", "_passed", "_starts", "_well", "assigned", "began", "busy", "checked", "error",
        "incarnation", "looked", "losses", "name", "next", "number", "phase", "place", "recheck", "running",
        "script", "state", "streak", "turned", "turns", "unheard", "version",
    )  # fmt: skip

    def __init__(self, script: Script, monitor: int, place: int, outages: Sequence[Outage]) -> None:
        order = Order(
            number=monitor * PLACES + place + 1, monitor=monitor, location=place + 1, revision=1, type="tcp",
            config=b'{"host": "192.0.2.1", "port": 443}', interval_ms=INTERVAL // 1000,
            timeout_ms=TIMEOUT // 1000, turn=place, turns=PLACES, failure_threshold=3, recovery_threshold=1,
        )  # fmt: skip
        self.script, self.place, self.name = script, place, f"place {place}"
        self.assigned = prepare(order)
        self.phase = phase_us(monitor, INTERVAL, place, PLACES)
        self.losses = Losses(script.seed, monitor, place, script.loss)
        self.streak = Streak(self.assigned)
        self.state, self.error = WELL, ""
        self.began = self.turned = self.checked = self.looked = 0
        self.running = self.busy = False
        self.incarnation = self.version = self.number = self.recheck = 0
        self.unheard: list[Result] = []
        self.next = self._passed = _FOREVER
        self._outages = [outage for outage in outages if place in outage.places]
        self._starts = [outage.start for outage in self._outages]
        self._well = (0, 0)
        edges = {edge for outage in self._outages for edge in (outage.start, outage.end)}
        self.turns = sorted({*script.edges[place], *script.clock.edges, *edges})

    def start_work(self, now: int) -> None:
        """The probe process has its plan: it goes on where the collector says that the streak stands."""
        self.running = True
        self.streak = Streak(replace(self.assigned, fails=self.state.fails, failing=self.state.failing))
        offset = self.script.walls[self.place].offset(now)
        self.next = next_start(now + offset, self.phase, INTERVAL) - offset

    def crash(self, now: int) -> None:
        """What runs is lost; what ended is in the spool."""
        self.anchor(now)
        self.running = self.busy = False
        self.incarnation += 1
        self.recheck, self.next = 0, _FOREVER

    def anchor(self, now: int) -> None:
        """Pass by the slots that were left out because nothing could come of them."""
        if self.next < now:
            passed = -((self.next - now) // INTERVAL)
            self.number += passed
            self.next += passed * INTERVAL
            self.losses.move(self.number - 1)
            self._passed = self.next - INTERVAL

    def pass_slot(self) -> None:
        """The next one is at its phase, as the probe's clock has it now."""
        offset = self.script.walls[self.place].offset(self.next)
        self.losses.move(self.number)
        self.number += 1
        self.next = following(self.next + offset, self.phase, INTERVAL) - offset

    def occupied(self, now: int) -> bool:
        """Does a check run, be it one that was left out?"""
        return self.busy or self._passed <= now < self._passed + _TAKES

    @property
    def calm(self) -> bool:
        """Could nothing come of a good check?"""
        quiet = not (self.busy or self.recheck or self.unheard)
        return quiet and self.streak.settled is True and self.state == WELL

    def soonest(self) -> int:
        """The start of the next slot of which something may come."""
        if self.busy or self.recheck:
            return self.next
        since, turn = self._well
        if since <= self.next < turn:
            return self._leap(turn) if self.calm else self.next
        if not self._regular():
            return self.next
        i = bisect_left(self.turns, self.next)
        if i and self.looked < self.turns[i - 1]:
            return self.next
        turn = self.turns[i] if i < len(self.turns) else _FOREVER
        failure = self.fails(self.next)
        if failure is not None:
            return self.next + max(0, self._alike(turn, failure[0])) * INTERVAL
        self._well = (self.turns[i - 1] if i else 0, turn)
        return self._leap(turn) if self.calm else self.next

    def _leap(self, turn: int) -> int:
        """Over good checks, to what is lost or turns first."""
        slots = min(self.losses.next - self.number, -((self.next - turn) // INTERVAL))
        return self.next + max(0, slots) * INTERVAL

    def _alike(self, turn: int, status: Status) -> int:
        """How many more checks that end so change nothing, those that may be heard in time aside."""
        if status is Status.UNKNOWN:
            return -((self.next - turn) // INTERVAL)
        confirmed = self.streak.settled is False
        if confirmed and self.state.failing and self.state.goods == 0 and not self.unheard:
            return -((self.next - turn) // INTERVAL)
        if confirmed and len(self.unheard) >= _ENOUGH:
            return -((self.next - turn + _HEARD_IN_TIME) // INTERVAL)
        return 0

    def check(self, now: int, *, lost: bool) -> Result:
        """The result of a check that starts now."""
        found = self.fails(now)
        if found is None and lost:
            found = Status.DOWN, TIMEOUT, _HUNG
        if found is None:
            return Result(Status.UP, now, now + _TAKES)
        status, takes, error = found
        return Result(status, now, now + takes, error)

    def _regular(self) -> bool:
        offset = self.script.walls[self.place].offset(self.next)
        return self.next < _FOREVER and (self.next + offset - self.phase) % INTERVAL == 0

    def fails(self, now: int) -> tuple[Status, int, str] | None:
        """The result of a check that starts then and is not lost: status, time and error; None if well."""
        if self.script.cut[self.place].holds(now):
            return Status.UNKNOWN if self.script.blind else Status.DOWN, TIMEOUT, _HUNG
        i = bisect_right(self._starts, now) - 1
        if i < 0 or now >= self._outages[i].end:
            return None
        hangs = self._outages[i].hangs
        return (Status.DOWN, TIMEOUT, _HUNG) if hangs else (Status.DOWN, _REFUSAL_TAKES, _REFUSED)
