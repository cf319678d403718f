"""What the first page shows: a verdict, open incidents, all monitors by group, what to look at next."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.incidents.service import incidents
from collector.incidents.service.stats import SEVERITIES
from collector.incidents.storage.reads import Incident, IncidentFilter
from collector.maintenance.service import calendar
from collector.maintenance.service.calendar import UpcomingSpan
from collector.overview.storage import overview as storage
from collector.overview.storage.overview import (
    AbsentProbe,
    ExpiringCertificate,
    GroupCount,
    MonitorDowntime,
    RecentEvent,
    ResponseTime,
    TeamCounts,
    Tile,
)
from collector.platform.storage.db import Db
from collector.probes.core.assignment import LIVE

# As they are listed: what needs somebody first.
STATES: Final = ("down", "degraded", "flapping", "unmeasured", "new", "paused", "up")
# Of more monitors than this only those are drawn that are not simply up.
_ALL_TILES: Final = 600
_TILES: Final = 400
_INCIDENTS: Final = 6
# Of so many of the newest, the most severe are shown.
_MOST_INCIDENTS: Final = 100
_FEW: Final = 5
_EVENTS: Final = 12
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class OverviewVerdict:
    """Whether all is well; *tone*: ``good``, ``warn``, ``bad``, or ``off`` where nothing is known.

    *state* and *count*: how many monitors are in the state that it names, if it names one.
    """

    tone: str
    text: str
    state: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class MonitorGroup:
    """A group of monitors; *name* is empty for those without one, *states* how many are in which state."""

    name: str
    states: dict[str, int]
    tiles: list[Tile]

    @property
    def count(self) -> int:
        return sum(self.states.values())

    @property
    def hidden(self) -> int:
        """How many have no tile."""
        return self.count - len(self.tiles)


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """*lasted*: seconds for which it has been open."""

    incident: Incident
    lasted: int
    snoozed_until: datetime | None


@dataclass(frozen=True, slots=True)
class Overview:
    counts: TeamCounts
    verdict: OverviewVerdict
    states: dict[str, int]
    incidents: list[OpenIncident]
    groups: list[MonitorGroup]
    maintenance: list[UpcomingSpan]
    certificates: list[ExpiringCertificate]
    most_down: list[MonitorDowntime]
    slowest: list[ResponseTime]
    absent_probes: list[AbsentProbe]
    events: list[RecentEvent]


@dataclass(frozen=True, slots=True)
class _Present:
    """What is going on now."""

    counts: TeamCounts
    groups: list[GroupCount]
    tiles: list[Tile]
    incidents: list[OpenIncident]


@dataclass(frozen=True, slots=True)
class _Beside:
    """What to look at next."""

    maintenance: list[UpcomingSpan]
    certificates: list[ExpiringCertificate]
    most_down: list[MonitorDowntime]
    slowest: list[ResponseTime]
    absent_probes: list[AbsentProbe]
    events: list[RecentEvent]


async def read(db: Db, team_id: int, now: datetime, kinds: Collection[str]) -> Overview:
    """*kinds*: those of the recent events."""
    # Each half takes PostgreSQL as long as the other: on two connections the page waits for one of them.
    present, beside = await asyncio.gather(_present(db, team_id, now), _beside(db, team_id, now, kinds))
    states = sum_of(present.groups)
    return Overview(
        present.counts,
        verdict(present.counts, states),
        states,
        present.incidents,
        grouped(present.groups, present.tiles),
        beside.maintenance,
        beside.certificates,
        beside.most_down,
        beside.slowest,
        beside.absent_probes,
        beside.events,
    )


async def _present(db: Db, team_id: int, now: datetime) -> _Present:
    async with db.connection() as tx:
        counts = await storage.counts(tx, team_id, now, LIVE)
        groups = await storage.group_counts(tx, team_id)
        small = counts.monitors <= _ALL_TILES
        drawn = STATES if small else STATES[:4]
        tiles = await storage.tiles(tx, team_id, drawn, _ALL_TILES if small else _TILES)
    open_ = await _open_incidents(db, team_id, now) if counts.incidents else []
    return _Present(counts, groups, tiles, open_)


async def _beside(db: Db, team_id: int, now: datetime, kinds: Collection[str]) -> _Beside:
    async with db.connection() as tx:
        certificates = await storage.ending_certificates(tx, team_id, now, _FEW)
        most_down = await storage.most_down(tx, team_id, now - _WEEK, now, _FEW)
        slowest = await storage.slowest(tx, team_id, _FEW)
        absent = await storage.absent_probes(tx, team_id, now, LIVE, _FEW)
        recent = await storage.recent_events(tx, team_id, kinds, _EVENTS)
    maintenance = await _maintenance(db, team_id, now)
    return _Beside(maintenance, certificates, most_down, slowest, absent, recent)


def verdict(counts: TeamCounts, states: Mapping[str, int]) -> OverviewVerdict:
    """One sentence: what is wrong, the worst first, or that nothing is."""
    checked = counts.monitors - states.get("paused", 0)
    sentences = (
        (counts.monitors == 0, OverviewVerdict("off", "No monitors yet")),
        (states.get("down"), _counted(states, "bad", "down")),
        (counts.live == 0, OverviewVerdict("bad", "No probe is connected: nothing is being checked")),
        (checked == 0, OverviewVerdict("off", "All monitors are paused")),
        (states.get("degraded"), _counted(states, "warn", "degraded")),
        (states.get("flapping"), _counted(states, "warn", "flapping")),
        (states.get("unmeasured"), _counted(states, "warn", "unmeasured", "not measured")),
        (not states.get("up"), OverviewVerdict("off", "Waiting for the first results")),
        (counts.incidents, OverviewVerdict("warn", "All monitors are up, with incidents still open")),
    )
    for holds, sentence in sentences:
        if holds:
            return sentence
    return OverviewVerdict("good", "All monitors are up" if checked > 1 else "The monitor is up")


def _counted(states: Mapping[str, int], tone: str, state: str, words: str = "") -> OverviewVerdict:
    count = states.get(state, 0)
    text = f"{count:,} {'monitor is' if count == 1 else 'monitors are'} {words or state}"
    return OverviewVerdict(tone, text, state, count)


async def _maintenance(db: Db, team_id: int, now: datetime) -> list[UpcomingSpan]:
    """The present or next span of each window, by its start."""
    nearest: dict[UUID, UpcomingSpan] = {}
    for span in await calendar.planned(db, team_id, now):
        nearest.setdefault(span.row.id, span)
    return list(nearest.values())[:_FEW]


async def _open_incidents(db: Db, team_id: int, now: datetime) -> list[OpenIncident]:
    """Those that nobody has acknowledged first, of those the most severe."""
    found: list[Incident] = []
    for status in ("open", "acknowledged"):
        if len(found) < _INCIDENTS:
            some, _ = await incidents.page(db, team_id, IncidentFilter(status=status), _MOST_INCIDENTS, 0)
            found += sorted(some, key=lambda incident: SEVERITIES.index(incident.severity))
    return [
        OpenIncident(incident, incidents.lasted_s(incident, now), incident.snoozed(now))
        for incident in found[:_INCIDENTS]
    ]


def sum_of(groups: Sequence[GroupCount]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for count in groups:
        sums[count.state] = sums.get(count.state, 0) + count.count
    return sums


def grouped(counts: Sequence[GroupCount], tiles: Sequence[Tile]) -> list[MonitorGroup]:
    """Groups by name, what has no group last; in each, what needs somebody first."""
    groups: dict[str, MonitorGroup] = {}
    for count in counts:
        groups.setdefault(count.name, MonitorGroup(count.name, {}, [])).states[count.state] = count.count
    for tile in sorted(tiles, key=lambda tile: STATES.index(tile.state)):
        if tile.group in groups:
            groups[tile.group].tiles.append(tile)
    return sorted(groups.values(), key=lambda group: (not group.name, group.name.lower()))
