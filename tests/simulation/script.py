"""What happens in the simulated world: who is cut off, crashes, restarts, whose clock is set; what goes down.

Times are microseconds of the one true time, which nobody in that world can read; 0 is `BEGINNING`.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

SECOND: Final = 1_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
BEGINNING: Final = datetime(2026, 11, 1, tzinfo=UTC)
PLACES: Final = 3
VITALS: Final = 5 * SECOND

Span = tuple[int, int]


class Spans:
    """Spans of time, in order and apart, each without its end."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]
        self.edges = sorted({*self.starts, *self.ends})

    def holds(self, at: int) -> bool:
        i = bisect_right(self.starts, at) - 1
        return i >= 0 and at < self.ends[i]

    def last(self, at: int) -> Span | None:
        """The one that *at* lies in, or else the one before it."""
        i = bisect_right(self.starts, at) - 1
        return (self.starts[i], self.ends[i]) if i >= 0 else None

    def soonest(self, at: int) -> int | None:
        """The first moment from *at* on that lies in one."""
        i = bisect_right(self.starts, at)
        if i and at < self.ends[i - 1]:
            return at
        return self.starts[i] if i < len(self.starts) else None


class Wall:
    """A wall clock: true time, and what was added to it by each time that somebody set it."""

    def __init__(self, steps: Sequence[Span] = ()) -> None:
        """*steps*: when, and by how much."""
        self.edges = [at for at, _ in sorted(steps)]
        self._offsets = [0]
        for _, step in sorted(steps):
            self._offsets.append(self._offsets[-1] + step)

    def offset(self, at: int) -> int:
        return self._offsets[bisect_right(self.edges, at)]

    def moment(self, at: int, by: int | None = None) -> datetime:
        """What it shows at *at*, or would if it were as it is at *by*."""
        return BEGINNING + timedelta(microseconds=at + self.offset(at if by is None else by))


@dataclass(frozen=True, slots=True)
class Outage:
    """A target that fails from *start* on, seen from *places*; *hangs*: it lets checks wait."""

    start: int
    end: int
    places: frozenset[int]
    hangs: bool

    @property
    def real(self) -> bool:
        """Does it fail for most?"""
        return len(self.places) > PLACES // 2


@dataclass(frozen=True, slots=True)
class Script:
    """*cut*, *running*, *heard* and *walls* by place: no way out; the probe has work; a collector hears it.

    *up*: a collector runs. *blind*: a probe without a way out knows it. *loss* is a share of the checks,
    *partial* one of the outages: those that one place alone sees.
    """

    seed: int
    until: int
    loss: float
    partial: float
    blind: bool
    cut: Sequence[Spans]
    running: Sequence[Spans]
    heard: Sequence[Spans]
    walls: Sequence[Wall]
    up: Spans
    clock: Wall
    edges: Sequence[Sequence[int]]

    def seen_at(self, place: int, at: int) -> datetime | None:
        """When its probe was last heard, as the collector's clock put it: vitals come each five seconds."""
        span = self.heard[place].last(at)
        if span is None:
            return None
        start, end = span
        return self.clock.moment(start + (min(at, end) - start) // VITALS * VITALS)


def written(seed: int, days: int, *, loss: float = 0.02, partial: float = 0.0, blind: bool = True) -> Script:
    """A script of *days*: each has a cut of an hour, a crash, a restart, and clocks that are set."""
    chance = random.Random(f"script {seed}")
    until = days * DAY
    cuts, crashes = _apart(chance, days, HOUR, HOUR), _apart(chance, days, 5 * SECOND, 5 * MINUTE)
    downs = sorted(span for _, span in _apart(chance, days, 2 * SECOND, 45 * SECOND))
    up = Spans(_between([span for span in downs if span[1] < until], until))
    astray = [_astray(chance, days, place) for place in range(PLACES + 1)]
    cut = [Spans([span for place, span in cuts if place == mine]) for mine in range(PLACES)]
    alive = [
        Spans(_between([span for place, span in crashes if place == mine and span[1] < until], until))
        for mine in range(PLACES)
    ]
    heard = [_heard(chance, alive[place], cut[place], up) for place in range(PLACES)]
    running = [_running(alive[place], heard[place]) for place in range(PLACES)]
    clocks = [Wall(steps) for steps in astray]
    edges = [
        sorted({*running[p].edges, *heard[p].edges, *cut[p].edges, *clocks[p].edges}) for p in range(PLACES)
    ]
    return Script(
        seed, until, loss, partial, blind, cut, running, heard, clocks[:PLACES], up, clocks[PLACES], edges
    )


def outages(script: Script, monitor: int) -> list[Outage]:
    """Of one target: one in ten days, from seconds to half a day, some by hanging and some not for all."""
    chance = random.Random(f"outages {script.seed} {monitor}")
    found: list[Outage] = []
    at = int(chance.expovariate(1 / (10 * DAY)))
    while at < script.until - 13 * HOUR:
        length = int(math.exp(chance.uniform(math.log(5 * SECOND), math.log(12 * HOUR))))
        places = range(PLACES)
        if chance.random() < script.partial:
            places = range(first := chance.randrange(PLACES), first + 1)
        found.append(Outage(at, at + length, frozenset(places), chance.random() < 0.25))
        at += length + 20 * MINUTE + int(chance.expovariate(1 / (10 * DAY)))
    return found


def _apart(chance: random.Random, days: int, least: int, most: int) -> list[tuple[int, Span]]:
    """One a day, at some place: (place, span)."""
    found = []
    for day in range(days):
        start = day * DAY + chance.randrange(MINUTE, DAY - 2 * HOUR)
        length = int(math.exp(chance.uniform(math.log(least), math.log(most)))) if most > least else least
        found.append((chance.randrange(PLACES), (start, start + length)))
    return found


def _astray(chance: random.Random, days: int, whose: int) -> list[Span]:
    """A clock is set wrong, and right again later: a probe's by turns, the collector's daily."""
    steps = []
    for day in range(days) if whose == PLACES else range(whose, days, PLACES):
        at = day * DAY + chance.randrange(DAY - 3 * HOUR)
        most = 10 * MINUTE if whose == PLACES else HOUR
        size = chance.choice((-1, 1)) * int(math.exp(chance.uniform(math.log(SECOND), math.log(most))))
        steps += [(at, size), (at + chance.randrange(HOUR, 2 * HOUR), -size)]
    return steps


def _between(gaps: Sequence[Span], until: int) -> list[Span]:
    """What *gaps* leave of all the time."""
    starts = [0, *[end for _, end in gaps]]
    ends = [*[start for start, _ in gaps], until]
    return list(zip(starts, ends, strict=True))


def _heard(chance: random.Random, alive: Spans, cut: Spans, up: Spans) -> Spans:
    """Where a probe runs, has a way out and somebody to talk to; it takes a moment to find that."""
    edges = sorted({0, *alive.edges, *cut.edges, *up.edges})
    spans: list[Span] = []
    for start, end in pairwise(edges):
        if not (alive.holds(start) and up.holds(start)) or cut.holds(start):
            continue
        if spans and spans[-1][1] == start:
            spans[-1] = spans[-1][0], end
            continue
        begins = start + (chance.randrange(SECOND // 4, 3 * SECOND) if start else 0)
        if begins < end:
            spans.append((begins, end))
    return Spans(spans)


def _running(alive: Spans, heard: Spans) -> Spans:
    """A probe has no work before it was heard for the first time; then it goes on whatever happens."""
    found = []
    for start, end in zip(alive.starts, alive.ends, strict=True):
        begins = heard.soonest(start)
        if begins is not None and begins < end:
            found.append((begins, end))
    return Spans(found)
