"""A world whose team has channels and rules, and the router and the evaluator that go by them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.alerts.jobs.evaluator import Evaluator
from collector.alerts.service import rules
from collector.evaluation.jobs.holds import Holds
from collector.notifications.jobs.router import Router
from collector.platform.access import Actor
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing
from tests.notifications.ground import make_channel

UP, DOWN = Status.UP, Status.DOWN
MINUTE = timedelta(minutes=1)


@dataclass(slots=True)
class Alerting:
    """*ahead* moves the clock of all that runs here; the database's own clock is never asked."""

    world: World
    ahead: timedelta = timedelta()
    channels: dict[str, UUID] = field(default_factory=dict)

    def now(self) -> datetime:
        return utc_now() + self.ahead

    @property
    def who(self) -> Actor:
        return Actor(self.world.team_id, "usr_1", "Somebody")

    @property
    def monitor_id(self) -> UUID:
        return self.world.ids[self.world.monitors[0]]

    async def channel(self, name: str, type_: str = "slack", **config: Any) -> str:
        """Its public id; one that is no webhook is never sent to here."""
        id_ = await make_channel(self.world.db, self.world.team_id, "http://127.0.0.1:9/", **config)
        await self.world.run("UPDATE channels SET name = $2, type = $3 WHERE id = $1", id_, name, type_)
        self.channels[name] = id_
        return ids.show("chan", id_)

    async def rule(self, **fields: Any) -> UUID:
        body = {"name": "Rule", **fields}
        return (await rules.create(self.world.db, self.who, body, self.now())).row.id

    async def submit(self, *statuses: Status, **options: Any) -> None:
        """Results that end now, by our clock."""
        await self.alive()
        async with writing(self.world, now=self.now) as writer:
            await writer.submit(self.world.batch(*statuses, now=self.now(), **options))

    async def alive(self) -> None:
        await self.world.run("UPDATE probes SET seen_at = $1", self.now())

    async def settle(self) -> None:
        """Until nobody has anything to do at this moment."""
        await self.alive()
        holds = Holds(self.world.db, clock=GivenClock(self.now))
        while await holds.turn():
            pass
        for _ in range(4):
            await self.turns()

    async def turns(self) -> None:
        router = Router(self.world.db, lambda: None)
        evaluator = Evaluator(self.world.db, now=self.now)
        while await router.turn():
            pass
        while await evaluator.turn():
            pass

    async def wait(self, time: timedelta) -> None:
        self.ahead += time
        await self.settle()

    async def alerts(self) -> list[dict[str, Any]]:
        return await self.world.fetch("SELECT * FROM alerts ORDER BY fired_at, id")

    async def sent(self) -> list[tuple[str, str]]:
        """(channel, kind) of every delivery, in the order of the stream."""
        rows = await self.world.fetch(
            """
            SELECT c.name, d.event_kind FROM deliveries d JOIN channels c ON c.id = d.channel_id
            ORDER BY d.sequence, c.name
            """
        )
        return [(row["name"], row["event_kind"]) for row in rows]

    async def payloads(self, kind: str) -> list[dict[str, Any]]:
        rows = await self.world.fetch("SELECT payload FROM events WHERE kind = $1 ORDER BY sequence", kind)
        return [row["payload"] for row in rows]

    async def log(self, *types: str) -> list[tuple[str, str]]:
        rows = await self.world.fetch("SELECT type, details FROM timeline ORDER BY n")
        return [(row["type"], row["details"]) for row in rows if row["type"] in types]


async def make_alerting(db: Db, **options: Any) -> Alerting:
    """The monitors have been as they are for a day: what was measured before a change is history."""
    world = await make_world(db, **options)
    await world.run("UPDATE monitors SET updated_at = updated_at - interval '1 day'")
    return Alerting(world)
