"""A month of one monitor, event by event, leaping over the checks of which nothing can come."""

import heapq
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, Final

from collector.evaluation.second_opinions import AGAIN_AFTER
from shared.results import Status
from shared.schedule import recheck_delay
from tests.simulation.collector import Incident, Judge
from tests.simulation.place import INTERVAL, TIMEOUT, Place, Result
from tests.simulation.script import PLACES, SECOND, Outage, Script, outages

_CRASH, _WORK, _HEARD, _ENDED, _ASKED, _DUE, _LOOK = range(7)
_LATENCY: Final = 30_000
_AGAIN_AFTER: Final = int(AGAIN_AFTER.total_seconds() * SECOND)
_CATCHES_UP: Final = 100_000
_LOOKS_EVERY: Final = 5 * SECOND
# A lost check whose re-check and second opinions are good is over after this.
_OVER: Final = TIMEOUT + 3 * SECOND


class Month:
    """*stepwise*: leap over nothing. A check has the same result in both ways, and so has the month."""

    __slots__ = (
        "_asked_at", "_edges", "_events", "_handlers", "_looking", "_n", "_quiet_until", "_script",
        "_stepwise", "checks", "judge", "outages", "places",
    )  # fmt: skip

    def __init__(self, script: Script, monitor: int, *, stepwise: bool = False) -> None:
        self._script = script
        self._stepwise = stepwise
        self._events: list[tuple[int, int, int, int, Any]] = []
        self._n = 0
        self._looking = False
        self._asked_at = -_AGAIN_AFTER
        self._quiet_until = 0
        self.checks = 0
        self.outages: list[Outage] = outages(script, monitor)
        self.places = [Place(script, monitor, place, self.outages) for place in range(PLACES)]
        self.judge = Judge(script, self.places)
        turns = {edge for outage in self.outages for edge in (outage.start, outage.end)}
        heard = {edge for spans in (*script.heard, *script.cut, script.up) for edge in spans.edges}
        walls = {edge for wall in (*script.walls, script.clock) for edge in wall.edges}
        self._edges = sorted(turns | heard | walls)
        self._handlers: dict[int, Callable[[int, Place, Any], None]] = {
            _CRASH: self._crash, _WORK: self._work, _HEARD: self._hear, _ENDED: self._end,
            _ASKED: self._give_opinion, _DUE: self._due, _LOOK: self._look,
        }  # fmt: skip

    def run(self) -> list[Incident]:
        """Live through it; the openings of incidents."""
        for place, spans in enumerate(self._script.running):
            for start, end in zip(spans.starts, spans.ends, strict=True):
                self._push(start, _WORK, place)
                if end < self._script.until:
                    self._push(end, _CRASH, place)
        events, until = self._events, self._script.until
        while events and events[0][0] < until:
            now, kind, place, _, what = heapq.heappop(events)
            self._handlers[kind](now, self.places[place], what)
        return self.judge.incidents

    def away(self, at: int) -> bool:
        """Is some place not heard then, or a probe's clock wrong?"""
        script = self._script
        astray = any(wall.offset(at) for wall in script.walls)
        return astray or not all(spans.holds(at) for spans in script.heard)

    def _push(self, at: int, kind: int, place: int, what: Any = None) -> None:
        self._n += 1
        heapq.heappush(self._events, (at, kind, place, self._n, what))

    def _work(self, now: int, place: Place, _: Any) -> None:
        place.start_work(now)
        self._plan(place, now)

    def _crash(self, now: int, place: Place, _: Any) -> None:
        place.crash(now)
        place.version += 1

    def _plan(self, place: Place, now: int) -> None:
        """Have the next check come due that may change something."""
        place.version += 1
        if not place.running:
            return
        place.anchor(now)
        at = place.next
        if 0 < place.recheck < at:
            at = place.recheck
        elif not self._stepwise:
            at = place.soonest()
        self._push(at, _DUE, place.place, place.version)

    def _due(self, now: int, place: Place, version: int) -> None:
        if version != place.version:
            return
        place.anchor(now)
        if now < place.next:
            place.recheck = 0
            if not place.busy:
                self._start(place, now, lost=place.losses.extra(now))
        else:
            lost = place.number == place.losses.next
            if not place.busy and not (lost and self._comes_to_nothing(place, now)):
                place.recheck = 0
                self._start(place, now, lost=lost)
            place.pass_slot()
        self._plan(place, now + 1)

    def _comes_to_nothing(self, place: Place, now: int) -> bool:
        """Is it lost alone, so that its re-check and the second opinions end the doubt at once?"""
        crowded = bool(self._events) and self._events[0][0] <= now + _OVER
        fresh = now < self._asked_at + _AGAIN_AFTER
        if self._stepwise or crowded or fresh or not self._quiet(now):
            return False
        if not (self.judge.calm and all(one.calm for one in self.places)):
            return False
        again = now + TIMEOUT + int(recheck_delay(1, INTERVAL / SECOND) * SECOND)
        asked = now + TIMEOUT + 2 * _LATENCY
        others = [one for one in self.places if one is not place and one.running]
        if place.losses.extra(again) or any(one.losses.extra(asked) for one in others):
            return False
        self._asked_at = asked - _LATENCY
        place.looked = place.checked = again
        for one in others:
            one.looked = one.checked = asked
        return True

    def _quiet(self, now: int) -> bool:
        """Is everybody heard, does nothing fail, and will a doubt be over before that changes?"""
        over = now + _OVER
        if over < self._quiet_until:
            return True
        i = bisect_right(self._edges, now)
        until = self._edges[i] if i < len(self._edges) else self._script.until
        heard = all(spans.holds(now) for spans in self._script.heard)
        if until <= over or not heard or any(place.fails(now) for place in self.places):
            return False
        self._quiet_until = until
        return True

    def _start(self, place: Place, now: int, *, lost: bool) -> None:
        place.busy = True
        place.looked = now
        self.checks += 1
        result = place.check(now, lost=lost)
        self._push(result.end, _ENDED, place.place, (place.incarnation, result))

    def _end(self, now: int, place: Place, what: tuple[int, Result]) -> None:
        incarnation, result = what
        if incarnation != place.incarnation:
            return
        place.busy = False
        delay_s = place.streak.count(place.assigned, result.status)
        if delay_s is not None:
            place.recheck = now + int(delay_s * SECOND)
        heard = self._script.heard[place.place].soonest(now)
        if heard is not None and not (place.calm and result.status is Status.UP):
            place.unheard.append(result)
            self._push(heard + (_LATENCY if heard == now else _CATCHES_UP), _HEARD, place.place)
        elif heard == now:
            place.checked = result.start
        self._plan(place, now + 1)

    def _hear(self, now: int, place: Place, _: Any) -> None:
        """All that has come from there by now."""
        results, place.unheard = place.unheard, []
        if results and self.judge.hear(place, results, now) and now >= self._asked_at + _AGAIN_AFTER:
            self._asked_at = now
            for other in self.places:
                if self._asks(other, now):
                    self._push(now + _LATENCY, _ASKED, other.place)
        self._look_soon(now)
        self._plan(place, now + 1)

    def _asks(self, other: Place, now: int) -> bool:
        """Where there is trouble already, the probe checks again by itself."""
        troubled = other.state.failing or other.state.fails > 0
        return other.running and not troubled and self._script.heard[other.place].holds(now)

    def _give_opinion(self, now: int, place: Place, _: Any) -> None:
        place.anchor(now)
        if place.running and not place.occupied(now):
            self._start(place, now, lost=place.losses.extra(now))

    def _look_soon(self, now: int) -> None:
        """Verdicts that fall with time alone are looked for each few seconds, while a collector runs."""
        if self._looking or not self.judge.doubtful:
            return
        at = self._script.up.soonest(now + _LOOKS_EVERY - now % _LOOKS_EVERY)
        if at is not None:
            self._looking = True
            self._push(at, _LOOK, 0)

    def _look(self, now: int, _: Place, __: Any) -> None:
        self._looking = False
        self.judge.decide(now)
        self._look_soon(now)
