"""Random lives of a monitor in the real tables: checks, silences, and people at any of its incidents."""

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from collector.alerts.service.followers import FOLLOWERS
from collector.evaluation.jobs.holds import Holds
from collector.evaluation.jobs.recheck import Verdicts
from collector.evaluation.jobs.resolved_while_down import IncidentReopener
from collector.evaluation.writer import ResultWriter
from collector.incidents.service import actions
from collector.platform.access import Actor
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.errors import Conflict
from shared.ids import uuid7
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

HOUR = timedelta(hours=1)
STEPS = 30


class Life:
    """A monitor at one location or at three, the loops that look at it, and a clock for all of them."""

    def __init__(self, world: World, writer: ResultWriter, seed: int, born_at: datetime) -> None:
        self.world = world
        self.writer = writer
        self.chance = random.Random(seed)
        self.actor = Actor(world.team_id, ids.show("usr", uuid7()), "Operator")
        self.now = born_at
        self.turns = (
            Holds(world.db, clock=GivenClock(self.clock)).turn,
            IncidentReopener(world.db, clock=GivenClock(self.clock)).turn,
            Verdicts(world.db, clock=GivenClock(self.clock, lambda: born_at - HOUR)).turn,
        )

    def clock(self) -> datetime:
        return self.now

    async def step(self) -> None:
        await self.wait(self.chance.choice([1, 5, 40, 200, 700]))
        match self.chance.randrange(20):
            case 0 | 1:
                until = self.now + timedelta(seconds=300) if self.chance.random() < 0.6 else None
                await self.world.run("UPDATE monitors SET silenced_until = $1", until)
            case 2 | 3 | 4 | 5 | 6:
                await self.somebody_acts()
            case _:
                status = self.chance.choice([Status.DOWN, Status.DOWN, Status.UP])
                await self.check([status] * self.chance.choice([1, 3]))
        await self.look()

    async def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        await self.world.run("UPDATE probes SET seen_at = $1", self.now)

    async def check(self, statuses: list[Status], location: str | None = None) -> None:
        where = location or self.chance.choice(list(self.world.locations))
        await self.writer.submit(self.world.batch(*statuses, location=where, now=self.now))

    async def look(self) -> None:
        for turn in self.turns:
            await turn()

    async def somebody_acts(self) -> None:
        """On any incident, be it long over."""
        found = await self.world.fetch("SELECT id FROM incidents ORDER BY id")
        if not found:
            return
        db, id_ = self.world.db, self.chance.choice(found)["id"]
        deeds: list[Callable[[], Awaitable[object]]] = [
            lambda: actions.acknowledge(db, FOLLOWERS, self.actor, id_, self.now),
            lambda: actions.resolve(db, self.actor, id_, None, self.now),
            lambda: actions.reopen(db, self.actor, id_, "", self.now),
        ]
        with suppress(Conflict):
            await self.chance.choice(deeds)()

    async def told(self) -> list[str]:
        rows = await self.world.fetch(
            "SELECT kind FROM events WHERE kind IN ('monitor.down', 'monitor.up') ORDER BY position"
        )
        return [row["kind"] for row in rows]

    async def keeps_its_promises(self) -> None:
        open_ = "SELECT count(*) FROM incidents WHERE automatic AND status <> 'resolved'"
        assert await self.world.value(open_) <= 1
        lines = await self.told()
        assert ("monitor.up", "monitor.up") not in pairwise(lines), "two recoveries of one outage"
        assert lines[:1] != ["monitor.up"], "a recovery of what was never down"
        twice = """
            SELECT incident_id, t.type, next FROM (
                SELECT incident_id, type, lead(type) OVER (PARTITION BY incident_id ORDER BY n) AS next
                FROM timeline WHERE type IN ('created', 'resolved', 'reopened')
            ) t WHERE t.type = 'resolved' AND next = 'resolved' OR t.type <> 'resolved' AND next = 'reopened'
        """
        assert await self.world.fetch(twice) == [], "resolved or reopened twice"

    async def recover(self) -> None:
        """Nothing holds any more, and every location is well for long."""
        await self.world.run("UPDATE monitors SET silenced_until = NULL")
        for _ in range(25):
            await self.wait(60)
            for where in self.world.locations:
                await self.check([Status.UP], where)
            await self.look()


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_happens_what_is_promised_is_kept_and_the_end_is_told(db: Db, seed: int) -> None:
    world = await make_world(db, locations=["a", "b", "c"] if seed % 2 else ["a"])
    born_at = utc_now()
    life: Life
    async with writing(world, now=lambda: life.now, since=lambda: born_at - HOUR) as writer:
        life = Life(world, writer, seed, born_at)
        for _ in range(STEPS):
            await life.step()
            await life.keeps_its_promises()
        await life.recover()
        await life.keeps_its_promises()
    [monitor] = await world.fetch("SELECT down, told, owed, flapping_since FROM monitors")
    assert monitor == {"down": False, "told": False, "owed": False, "flapping_since": None}
    assert (await life.told())[-1:] in ([], ["monitor.up"])
