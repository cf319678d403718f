"""What a simulated month came to: each incident held against the outage that it is of, or against none."""

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.simulation.collector import Incident
from tests.simulation.month import Month
from tests.simulation.place import INTERVAL, TIMEOUT
from tests.simulation.script import MINUTE, PLACES, SECOND, Outage, Script

# An outage that lasts longer than this is to be found, wherever in the interval it begins.
SURE: Final = INTERVAL // PLACES + 8 * SECOND
# Somebody away, or not trusted, makes an outage harder to see for so long.
_SHADOW: Final = 3 * MINUTE
# A streak may begin with checks that were lost just before.
_BEFORE: Final = 2 * (TIMEOUT + 2 * SECOND)


@dataclass(slots=True)
class Tally:
    """*missed*: outages that had to be found; *again*: found more than once; *wrong*: with another beginning
    or end than the truth; each with its monitor. *waits*: microseconds from the first failed check to the
    incident, and *delays* from the outage's beginning, where nobody was away.
    """

    monitors: int = 0
    checks: int = 0
    due: int = 0
    found: int = 0
    false: list[tuple[int, Incident]] = field(default_factory=list)
    missed: list[tuple[int, Outage]] = field(default_factory=list)
    again: list[tuple[int, Outage]] = field(default_factory=list)
    wrong: list[tuple[int, Outage, Incident]] = field(default_factory=list)
    waits: dict[bool, list[int]] = field(default_factory=lambda: {False: [], True: []})
    delays: dict[bool, list[int]] = field(default_factory=lambda: {False: [], True: []})

    def add(self, other: "Tally") -> None:
        """Join what was counted elsewhere."""
        self.monitors += other.monitors
        self.checks += other.checks
        self.due += other.due
        self.found += other.found
        self.false += other.false
        self.missed += other.missed
        self.again += other.again
        self.wrong += other.wrong
        for hangs in (False, True):
            self.waits[hangs] += other.waits[hangs]
            self.delays[hangs] += other.delays[hangs]

    def lines(self) -> Iterator[str]:
        """For people."""
        caught = self.due - len(self.missed)
        told = self.found + len(self.false)
        precision, recall = self.found / max(1, told), caught / max(1, self.due)
        yield f"{self.monitors} monitors, {self.due} outages to be found, {self.checks} checks looked into"
        yield f"precision {precision:.4f} ({len(self.false)} false incidents)"
        yield f"recall {recall:.4f} ({len(self.missed)} missed, {len(self.again)} found twice)"
        yield f"with a wrong beginning or end: {len(self.wrong)}"
        for hangs, name in ((False, "refuses"), (True, "hangs")):
            waits, delays = _times(self.waits[hangs]), _times(self.delays[hangs])
            yield f"a target that {name} is told {waits} after its first failed check,"
            yield f"    {delays} after the outage's beginning"


def lived(script: Script, monitors: Iterable[int]) -> Tally:
    """Live through the script with each of *monitors*, and count."""
    tally, edges = Tally(), _shadows(script)
    for number in monitors:
        month = Month(script, number)
        month.run()
        tally.monitors += 1
        tally.checks += month.checks
        _count(tally, number, month, edges)
    return tally


def _shadows(script: Script) -> list[int]:
    """When somebody goes or comes, or a clock is set."""
    heard = {edge for spans in (*script.heard, *script.cut, script.up) for edge in spans.edges}
    walls = {edge for wall in (*script.walls, script.clock) for edge in wall.edges}
    return sorted(heard | walls)


def _count(tally: Tally, number: int, month: Month, edges: Sequence[int]) -> None:
    left = list(month.judge.incidents)
    for outage in (one for one in month.outages if one.real):
        mine = [incident for incident in left if _is_of(incident, outage)]
        left = [incident for incident in left if incident not in mine]
        clear = _clear(outage, edges, month)
        must = clear and outage.end - outage.start > SURE + (3 * TIMEOUT if outage.hangs else 0)
        must = must or outage.end - outage.start > 4 * _SHADOW
        tally.due += must
        tally.found += bool(mine)
        if must and not mine:
            tally.missed.append((number, outage))
        if len(mine) > 1:
            tally.again.append((number, outage))
        for incident in mine[:1]:
            _time(tally, outage, incident, clear=clear)
            if must and not _is_right(outage, incident, clear=clear):
                tally.wrong.append((number, outage, incident))
    tally.false += [(number, incident) for incident in left]


def _is_of(incident: Incident, outage: Outage) -> bool:
    return outage.start - _BEFORE <= incident.began < outage.end + TIMEOUT


def _clear(outage: Outage, edges: Sequence[int], month: Month) -> bool:
    """Are all there while it begins and ends, and nobody's clock set?"""
    return not any(
        bisect_right(edges, at + _SHADOW) - bisect_right(edges, at - _SHADOW) or month.away(at)
        for at in (outage.start, outage.end)
    )


def _is_right(outage: Outage, incident: Incident, *, clear: bool) -> bool:
    """Has it the beginning and the end of the outage, as near as checks can tell?"""
    slack = 0 if clear else 4 * _SHADOW
    begun = outage.start - _BEFORE <= incident.began <= outage.start + INTERVAL // PLACES + SECOND + slack
    # Two locations must see it well again, each at its own time, and one good check in fifty is lost.
    return (
        begun
        and incident.ended is not None
        and outage.end <= incident.ended <= outage.end + 3 * INTERVAL + slack
    )


def _time(tally: Tally, outage: Outage, incident: Incident, *, clear: bool) -> None:
    if clear:
        tally.waits[outage.hangs].append(incident.opened - incident.began)
        tally.delays[outage.hangs].append(incident.opened - outage.start)


def _times(times: Sequence[int]) -> str:
    if len(times) < 2:
        return "never"
    ninth = statistics.quantiles(times, n=10)[-1]
    return f"{statistics.median(times) / SECOND:.1f} s (median), {ninth / SECOND:.1f} s (p90)"
