"""What a screen on a wall shows: the verdict, what is in trouble since when, and all monitors."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from collector.overview.service import overview
from collector.overview.service.overview import MonitorGroup, OverviewVerdict
from collector.overview.storage import overview as storage
from collector.overview.storage.overview import TeamCounts, TroubledMonitor
from collector.platform.storage.db import Db
from collector.probes.core.assignment import LIVE

TROUBLE: Final = ("down", "degraded", "flapping", "unmeasured")
_MOST_TROUBLED: Final = 24
_MOST_TILES: Final = 1_200


@dataclass(frozen=True, slots=True)
class Wall:
    """*states*: how many monitors are in which state; *more*: how many in trouble are not in *troubled*."""

    counts: TeamCounts
    verdict: OverviewVerdict
    states: dict[str, int]
    troubled: list[TroubledMonitor]
    more: int
    groups: list[MonitorGroup]


async def read(db: Db, team_id: int, now: datetime) -> Wall:
    """Read the state of the team's monitors."""
    async with db.connection() as tx:
        counts = await storage.counts(tx, team_id, now, LIVE)
        groups = await storage.group_counts(tx, team_id)
        drawn = overview.STATES if counts.monitors <= _MOST_TILES else TROUBLE
        tiles = await storage.tiles(tx, team_id, drawn, _MOST_TILES)
        troubled = await storage.troubled(tx, team_id, TROUBLE, _MOST_TROUBLED)
    states = overview.sum_of(groups)
    more = sum(states.get(state, 0) for state in TROUBLE) - len(troubled)
    verdict = overview.verdict(counts, states)
    return Wall(counts, verdict, states, troubled, max(0, more), overview.grouped(groups, tiles))
