"""Hundreds of receivers that never answer, of every type, delay none of the others."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from collector.events.storage import events
from collector.notifications.channels import CHANNELS
from collector.notifications.jobs.budget import PER_CHANNEL, Places, SendBudget, room
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.platform.committed_events import commit_hook
from collector.platform.mailer import Mailer
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared import ids
from shared.clock import utc_now
from shared.loop import forever
from tests.events.payloads import payload_of
from tests.mailbox import mailbox
from tests.notifications.channels.every import HTTP
from tests.notifications.ground import KEYRING, PUBLIC_URL, make_any, make_team
from tests.receiver import receiving, stall

pytestmark = pytest.mark.races

# Apprise's requests are made in threads, of which there are few: it has a test of its own.
TYPES = tuple(type_ for type_ in HTTP if type_ != "apprise")
STALLING = 500
OTHERS = 20


async def tell(db: Db, team: int, stream: UUID, channels: Sequence[UUID], number: int) -> None:
    """An event for these channels, as a rule that fires makes one."""
    payload = {"event": "alert.fired", "monitor": {"name": f"number {number} of all"}}
    async with db.transaction() as tx:
        event = events.Event(team, stream, "alert.fired", payload_of(payload), None, channels)
        await events.append_all(tx, [event], utc_now())


async def heard_by_stalling(db: Db) -> list[int]:
    """How many are under way to each channel that has any, the most first."""
    async with db.connection() as tx:
        rows = await tx.fetch(
            "SELECT count(*) FROM deliveries WHERE leased GROUP BY channel_id ORDER BY 1 DESC"
        )
    return [row["count"] for row in rows]


@pytest.mark.slow
async def test_five_hundred_that_stall_delay_none_of_the_others(db: Db) -> None:
    team, transport = await make_team(db), Transport(allow_private=True)
    async with receiving(always=stall) as stalling, receiving() as good, mailbox() as box:
        transport.mailer = Mailer(box.url(), "alerts@example.com")
        stalled = [await make_any(db, team, TYPES[n % len(TYPES)], stalling.url("")) for n in range(STALLING)]
        others = [await make_any(db, team, type_, good.url("")) for type_ in (*TYPES, "email")]
        assert {"apprise", *TYPES, "email"} == set(CHANNELS)
        sender = Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now)
        router = Router(db)
        db.pass_on = commit_hook(router.bell.ring, sender.bell.ring)
        loops = [
            asyncio.create_task(forever("sender", sender.turn, timedelta(seconds=0.2), sender.bell)),
            asyncio.create_task(forever("router", router.turn, timedelta(seconds=0.05), router.bell)),
        ]
        try:
            for _ in range(PER_CHANNEL):
                await tell(db, team, ids.uuid7(), stalled, 0)
            await stalling.wait_for(STALLING, 60)
            stream = ids.uuid7()
            for number in range(OTHERS):
                await tell(db, team, stream, others, number)
            await good.wait_for(OTHERS * len(TYPES), 25)
            async with asyncio.timeout(20):
                while len(box.mails) < OTHERS:
                    await asyncio.sleep(0.05)
            under_way = await heard_by_stalling(db)
        finally:
            for loop in loops:
                loop.cancel()
            await asyncio.gather(*loops, return_exceptions=True)
            await sender.close(grace_s=0.1)
            await transport.close()

    assert len(under_way) >= STALLING, "each has its place meanwhile, and keeps it"
    assert max(under_way) <= PER_CHANNEL
    for type_, path in (("slack", "/services"), ("discord", "/api"), ("telegram", "/bot"), ("webhook", "/S")):
        told = [received.body for received in good.received if received.target.startswith(path)]
        assert len(told) == OTHERS, f"{type_}: once each"
        for number, body in enumerate(told):
            assert f"number {number} of all".encode() in body, f"{type_}: in order"
    assert all(f"number {n} of all" in mail.message["Subject"] for n, mail in enumerate(box.mails))


@pytest.mark.parametrize(
    ("flying", "free"),
    [
        pytest.param({}, SendBudget(5, PER_CHANNEL), id="at first everybody may have several"),
        pytest.param({1: 3}, SendBudget(2, PER_CHANNEL), id="as long as there are such places"),
        pytest.param({1: 5}, SendBudget(10, 1), id="then each channel gets by with one"),
        pytest.param({1: 9, 2: 5}, SendBudget(1, 1), id="whoever's they are"),
        pytest.param({1: 10, 2: 4, 3: 1}, SendBudget(5, 1, [1]), id="the last are for teams that have few"),
        pytest.param({1: 10, 2: 10}, SendBudget(0, 1, [1, 2]), id="and there are no more"),
    ],
)
def test_places_are_shared(flying: dict[int, int], free: SendBudget) -> None:
    assert room(Places(5, 15, 20), Counter(flying)) == free


async def test_a_team_whose_receivers_stall_leaves_places_for_other_teams(db: Db) -> None:
    hostile, other = await make_team(db), await make_team(db, "Other")
    transport, places = Transport(allow_private=True), Places(8, 16, 24)
    async with receiving(always=stall) as tar, receiving() as good:
        stalled = [await make_any(db, hostile, "webhook", tar.url("")) for _ in range(40)]
        theirs = await make_any(db, other, "slack", good.url(""))
        sender = Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now, places=places)
        router = Router(db)
        await tell(db, hostile, ids.uuid7(), stalled, 0)
        await router.turn()
        while await sender.turn():
            pass
        taken = len(await tar.wait_for(places.single))
        for number in range(10):
            await tell(db, other, ids.uuid7(), [theirs], number)
        await router.turn()
        async with asyncio.timeout(20):
            while len(good.received) < 10:
                await sender.turn()
                await asyncio.sleep(0.01)
        await sender.close(grace_s=0.1)
        await transport.close()

    assert (taken, len(tar.received)) == (places.single, places.single)
