"""A monitor is deleted while a delivery of its events is under way: that try is the last of it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest

from collector.alerts.service.followers import FOLLOWERS
from collector.events.storage import events
from collector.monitors.service import ends
from collector.notifications.storage import monitor_deliveries
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared import ids
from shared.clock import iso, utc_now
from shared.loop import Bell
from tests.evaluation.world import World, make_world
from tests.events.payloads import payload_of
from tests.notifications.ground import attempts, deliveries, make_channel, make_due, make_incident
from tests.notifications.jobs.test_sender import (
    killed_in_flight,
    make_sender,
    none_waits,
    route,
    running,
    until_true,
)
from tests.receiver import Received, Receiver, Step, answer, receiving, reset, stall, until
from tests.waiting import WAITING

pytestmark = pytest.mark.races


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = Transport(allow_private=True)
    yield transport
    await transport.close()


@pytest.fixture
async def world(db: Db) -> World:
    """Its monitor is down, and that was announced."""
    world = await make_world(db)
    await world.run("UPDATE monitors SET down = true, told = true")
    return world


def monitor_of(world: World) -> UUID:
    return world.ids[world.monitors[0]]


async def goes_down(world: World, receiver: Receiver, kind: str = "monitor.down") -> None:
    """*kind*: the event that the receiver hears of it."""
    db, team_id, monitor_id = world.db, world.team_id, monitor_of(world)
    channel = await make_channel(db, team_id, receiver.url())
    incident = await make_incident(db, team_id, monitor_id)
    about = {"id": ids.show("mon", monitor_id), "name": "api", "type": "http", "url": None}
    payload = {"event": kind, "timestamp": iso(utc_now()), "monitor": about}
    async with db.transaction() as tx:
        event = events.Event(team_id, monitor_id, kind, payload_of(payload), incident, [channel])
        await events.append_all(tx, [event], utc_now())


async def delete(world: World) -> None:
    db = world.db
    await ends.delete(db, Signals(db), FOLLOWERS, world.team_id, monitor_of(world), utc_now())


def heard(received: list[Received]) -> list[tuple[Any, Any]]:
    return [(one.json["event"], one.json["monitor"].get("status")) for one in received]


@pytest.mark.parametrize(
    ("kind", "after"), [("monitor.down", [("monitor.up", "deleted")]), ("alert.fired", [])]
)
@pytest.mark.parametrize("said", [answer(503), answer(429, {"Retry-After": "1"}), reset])
async def test_nothing_but_the_end_is_sent_after_it(
    world: World, transport: Transport, kind: str, after: list[tuple[Any, Any]], said: Step
) -> None:
    go = asyncio.Event()
    async with receiving(until(go, said)) as receiver:
        await goes_down(world, receiver, kind)
        async with running(world.db, transport):
            await receiver.wait_for(1)
            await delete(world)
            go.set()
            await until_true(lambda: none_waits(world.db))

    assert heard(receiver.received)[1:] == after
    first, *_ = await deliveries(world.db)
    assert (first["status"], first["attempt"]) == (2, 1)
    assert await world.value("SELECT count(*) FROM timeline WHERE type = 'notification_failed'") == 1


async def test_one_that_arrives_has_arrived(world: World, transport: Transport) -> None:
    go = asyncio.Event()
    async with receiving(until(go, answer())) as receiver:
        await goes_down(world, receiver)
        async with running(world.db, transport):
            await receiver.wait_for(1)
            await delete(world)
            go.set()
            await until_true(lambda: none_waits(world.db))

    assert [row["status"] for row in await deliveries(world.db)] == [1, 1]


async def test_what_a_dead_sender_had_under_way_is_not_sent_again(world: World, transport: Transport) -> None:
    async with receiving(stall) as receiver:
        await goes_down(world, receiver)
        await route(world.db)
        async with killed_in_flight(world.db, transport, receiver):
            await delete(world)
            await make_due(world.db)
            async with running(world.db, transport):
                await until_true(lambda: none_waits(world.db))

    assert heard(receiver.received)[1:] == [("monitor.up", "deleted")]


async def test_a_try_that_ends_while_the_monitor_is_being_deleted_is_the_last(
    world: World, transport: Transport
) -> None:
    db = world.db
    async with receiving(answer(503)) as receiver:
        await goes_down(world, receiver)
        await route(db)
        sender = make_sender(db, transport)
        await sender.turn()
        await until_true(lambda: ended(sender.bell))
        async with db.transaction() as tx:
            await monitor_deliveries.drop(tx, world.team_id, [monitor_of(world)])
            recording = asyncio.create_task(sender.turn())
            await until_true(lambda: world.value(WAITING))
        await recording
        await sender.close()

    [one] = await deliveries(db)
    assert (one["status"], one["leased"]) == (2, False)


async def ended(bell: Bell) -> bool:
    await bell.wait(1)
    return True


async def test_a_try_that_ended_before_it_is_not_made_again(world: World, transport: Transport) -> None:
    async with receiving(answer(503)) as receiver:
        await goes_down(world, receiver)
        async with running(world.db, transport):
            await until_true(lambda: failed_once(world))
            await delete(world)
            await until_true(lambda: none_waits(world.db))

    assert heard(receiver.received)[1:] == [("monitor.up", "deleted")]


async def failed_once(world: World) -> bool:
    return bool(await attempts(world.db)) and not any(row["leased"] for row in await deliveries(world.db))
