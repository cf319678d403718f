"""Incidents that people and System move: which of a monitor's is the outage's, and both in one moment."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.evaluation.jobs.resolved_while_down import IncidentReopener
from collector.incidents.service import actions
from collector.platform.access import Actor
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import utc_now
from shared.errors import Conflict
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, make_world, writing

pytestmark = pytest.mark.races

UP, DOWN = Status.UP, Status.DOWN
LATER = timedelta(minutes=11)


@pytest.fixture
async def world(db: Db) -> World:
    return await make_world(db)


def someone(world: World) -> Actor:
    return Actor(world.team_id, ids.show("usr", ids.uuid7()), "On call")


async def resolve(world: World, id_: UUID) -> None:
    await actions.resolve(world.db, someone(world), id_, None, utc_now())


async def reopen(world: World, id_: UUID) -> None:
    await actions.reopen(world.db, someone(world), id_, "still odd", utc_now())


async def an_earlier_outage(world: World) -> None:
    """One that ended twenty minutes ago."""
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await writer.submit(world.batch(UP))
    await world.run(
        """
        UPDATE incidents SET resolved_at = resolved_at - $1::interval, created_at = created_at - $1::interval,
            started_at = started_at - $1::interval, span_from = span_from - $1::interval
        """,
        timedelta(minutes=20),
    )


async def test_an_outage_is_of_the_incident_that_was_open_last(world: World) -> None:
    """Of two, the older was opened again by hand, and resolved while its monitor is down."""
    await an_earlier_outage(world)
    await an_earlier_outage(world)
    first, _ = [row["id"] for row in await world.fetch("SELECT id FROM incidents ORDER BY created_at")]
    await reopen(world, first)
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        await resolve(world, first)
        held = await world.value("SELECT count(*) FROM incidents WHERE status <> 'resolved'")
        await IncidentReopener(world.db, clock=GivenClock(lambda: utc_now() + LATER)).turn()
        again = await world.fetch("SELECT id FROM incidents WHERE status = 'open'")
        await writer.submit(world.batch(UP))

    assert held == 0
    assert again == [{"id": first}]
    told = await world.fetch("SELECT kind, incident_id FROM events ORDER BY position DESC")
    [up, *_] = [item for item in told if item["kind"] == "monitor.up"]
    assert up["incident_id"] == first


@asynccontextmanager
async def nobody_announces(world: World) -> AsyncIterator[None]:
    """Within this, whoever has moved an incident waits before its commit."""
    async with world.db.transaction() as tx:
        await tx.execute("SELECT FROM streams FOR UPDATE")
        yield


async def at_once(world: World, moves: Sequence[Awaitable[Any]]) -> Awaitable[None]:
    """Begin each when those before it wait; what comes back ends with them all."""
    tasks = []
    for count, move in enumerate(moves, 1):
        tasks.append(asyncio.ensure_future(move))
        await until_waiting(world, count)
    return _ended(tasks)


async def _ended(tasks: Sequence["asyncio.Future[Any]"]) -> None:
    """Who comes second may be refused."""
    for end in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(end, BaseException) and not isinstance(end, Conflict):
            raise end


async def until_waiting(world: World, count: int) -> None:
    async with asyncio.timeout(10):
        while await world.value(_WAITING) < count:
            await asyncio.sleep(0.005)


_WAITING = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def moved(world: World, how: str) -> tuple[int, int]:
    """How often an incident was announced as *how*, and written down so."""
    events = Counter(row["kind"] for row in await world.fetch("SELECT kind FROM events"))
    entries = Counter(row["type"] for row in await world.fetch("SELECT type FROM timeline"))
    return events[f"incident.{how}"], entries[how]


@pytest.mark.parametrize("system_first", [False, True])
async def test_what_is_resolved_by_both_at_once_is_announced_once(
    world: World, *, system_first: bool
) -> None:
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
        [incident] = await world.fetch("SELECT id FROM incidents")
        async with nobody_announces(world):
            both: list[Awaitable[Any]] = [resolve(world, incident["id"]), writer.submit(world.batch(UP))]
            ends = await at_once(world, list(reversed(both)) if system_first else both)
        await ends

    assert await moved(world, "resolved") == (1, 1)


@pytest.mark.parametrize("system_first", [False, True])
async def test_what_is_reopened_by_both_at_once_is_announced_once(
    world: World, *, system_first: bool
) -> None:
    async with writing(world) as writer:
        await writer.submit(world.batch(DOWN, DOWN, DOWN))
    [incident] = await world.fetch("SELECT id FROM incidents")
    await resolve(world, incident["id"])
    await world.run("UPDATE probes SET seen_at = $1", utc_now() + LATER)
    reopening = IncidentReopener(world.db, clock=GivenClock(lambda: utc_now() + LATER))
    async with nobody_announces(world):
        both: list[Awaitable[Any]] = [reopen(world, incident["id"]), reopening.turn()]
        ends = await at_once(world, list(reversed(both)) if system_first else both)
    await ends

    assert await moved(world, "reopened") == (1, 1)
