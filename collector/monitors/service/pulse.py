"""Follows the checks of monitors that open lists show: one reader a team, however many lists are open."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from collector.monitors.service import board as boards
from collector.monitors.storage import board
from collector.monitors.storage.board import LatestCheck, RecentCheck
from collector.platform.storage.db import Db
from shared.errors import Unavailable
from shared.loop import forever

# A result is shown within this and the time that the reading takes.
_EVERY: Final = timedelta(seconds=1)
# Open lists of a process.
MOST: Final = 2_000

# Makes what clients are sent of a monitor's latest checks.
Draw = Callable[[LatestCheck, Sequence[RecentCheck]], bytes]


@dataclass(slots=True, eq=False)
class ListFollower:
    """An open list of *ids*; *news*: what was not yet sent of them, only the newest of each."""

    team_id: int
    ids: frozenset[UUID]
    news: dict[UUID, bytes] = field(default_factory=dict)
    ended: bool = False
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def end(self) -> None:
        self.ended = True
        self.woken.set()

    async def take(self, within_s: float) -> bytes:
        """Return what is new; nothing if nothing is *within_s* seconds from now."""
        try:
            async with asyncio.timeout(within_s):
                await self.woken.wait()
        except TimeoutError:
            return b""
        self.woken.clear()
        news, self.news = self.news, {}
        return b"".join(news.values())


class CheckFeed:
    """The readers of all teams with open lists; the last list of a team that closes stops its reader."""

    def __init__(self, db: Db, draw: Draw) -> None:
        self._db = db
        self._draw = draw
        self._lists: dict[int, set[ListFollower]] = {}
        self._known: dict[int, dict[UUID, datetime]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._closed = False

    def join(self, team_id: int, shown: Mapping[UUID, datetime | None]) -> ListFollower:
        """Add a list of monitors, to `leave` in the end. Raises Unavailable if too many are open."""
        if self._closed or sum(map(len, self._lists.values())) >= MOST:
            raise Unavailable("No more lists can be followed here now", retry_after=5)
        follower = ListFollower(team_id, frozenset(shown))
        self._lists.setdefault(team_id, set()).add(follower)
        known = self._known.setdefault(team_id, {})
        for id_, moment in shown.items():
            # A list that is older than what is known has missed a check: all are sent it again.
            if moment is None or known.get(id_, moment) > moment:
                known.pop(id_, None)
            else:
                known.setdefault(id_, moment)
        if team_id not in self._tasks:
            turn = partial(self.turn, team_id)
            self._tasks[team_id] = asyncio.create_task(forever("pulse", turn, _EVERY), name="pulse")
        return follower

    def leave(self, follower: ListFollower) -> None:
        team_id = follower.team_id
        self._lists[team_id].discard(follower)
        if not self._lists[team_id]:
            del self._lists[team_id], self._known[team_id]
            self._tasks.pop(team_id).cancel()

    async def turn(self, team_id: int) -> bool:
        """Send the team's lists what was checked since the last turn."""
        lists, known = self._lists[team_id], self._known[team_id]
        ids = frozenset().union(*(each.ids for each in lists))
        async with self._db.connection() as tx:
            latest_checks = await board.latest(tx, team_id, ids)
            fresh = [each for each in latest_checks if known.get(each.id) != each.last_at]
            asked = [(each.monitor, boards.since(each.last_at, each.interval_s)) for each in fresh]
            checks = await board.recent(tx, asked, boards.CHECKS)
        of_monitor: dict[int, list[RecentCheck]] = {each.monitor: [] for each in fresh}
        for check in checks:
            of_monitor[check.monitor].append(check)
        news = {each.id: self._draw(each, of_monitor[each.monitor]) for each in fresh}
        known.update((each.id, each.last_at) for each in fresh)
        for each in lists:
            if mine := each.ids & news.keys():
                each.news.update((id_, news[id_]) for id_ in mine)
                each.woken.set()
        return False

    def close(self) -> None:
        """End all lists, and refuse new ones."""
        self._closed = True
        for each in [each for lists in self._lists.values() for each in lists]:
            each.end()
