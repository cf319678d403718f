"""Subscribers of a status page that have a webhook: signed as those of channels, and as safe."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from collector.notifications.core.retry import RetryPolicy
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.platform.access import Actor
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from collector.status_pages.jobs import hooks as page_hooks
from collector.status_pages.jobs.hooks import PageHooks
from collector.status_pages.jobs.pages import StatusPages
from collector.status_pages.jobs.sender import PageSender
from collector.status_pages.service import subscribers
from collector.status_pages.storage.status_pages import StatusPage
from shared import ids
from shared.clock import iso, utc_now
from shared.loop import forever
from tests.notifications.ground import KEYRING, PUBLIC_URL, make_channel
from tests.receiver import answer, receiving
from tests.status_pages.page_ground import at_work, make_page, publish, update

pytestmark = pytest.mark.races


@asynccontextmanager
async def hooks(db: Db, *, allow_private: bool = True) -> AsyncIterator[PageSender]:
    """Two who send, at work; one of them."""
    transport = Transport(allow_private=allow_private)
    carrier = PageHooks(KEYRING, transport, public_url=PUBLIC_URL)
    senders = [PageSender(db, "webhook", carrier, most=8, now=utc_now) for _ in range(2)]
    try:
        async with at_work(*senders):
            yield senders[0]
    finally:
        await transport.close()


async def add(db: Db, who: Actor, page: StatusPage, **body: Any) -> None:
    await subscribers.add(db, KEYRING, who, page.id, body, utc_now(), mails=False)


async def test_each_update_arrives_once_in_order_and_says_what_the_public_knows(db: Db) -> None:
    who, page = await make_page(db)
    async with receiving() as receiver:
        await add(db, who, page, webhookUrl=receiver.url("/hook"))
        async with hooks(db):
            incident = await publish(db, who, page)
            await update(db, who, page, incident, "resolved")
            await arrived(db)
        first, second = await receiver.wait_for(2)

    assert [received.json["event"] for received in (first, second)] == [
        "status_page.incident.published",
        "status_page.incident.updated",
    ]
    assert first.json["incident"]["title"] == "Checkout is slow"
    assert second.json["incident"]["status"] == "resolved"
    assert first.json["links"] == {"statusPage": f"{PUBLIC_URL}/status/example"}
    assert "actor" not in first.json
    assert first.headers["webhook-id"] == first.json["id"] != second.json["id"]


async def test_a_reminder_has_an_id_of_its_own(db: Db) -> None:
    who, page = await make_page(db)
    start = iso(utc_now() + timedelta(hours=2))
    async with receiving() as receiver:
        await add(db, who, page, webhookUrl=receiver.url("/hook"))
        async with hooks(db):
            await publish(db, who, page, severity="maintenance", scheduledStart=start, reminderMinutes=60)
            await receiver.wait_for(1)
            await StatusPages(db, now=lambda: utc_now() + timedelta(minutes=61)).turn()
            planned, reminder = await receiver.wait_for(2)

    assert [request.json["occasion"] for request in (planned, reminder)] == ["planned", "reminder"]
    assert reminder.json["incident"] == planned.json["incident"]
    assert reminder.json["id"] != planned.json["id"]


async def test_it_is_signed_with_its_own_secret(db: Db) -> None:
    who, page = await make_page(db)
    async with receiving() as receiver:
        await add(db, who, page, webhookUrl=receiver.url(), signingSecret="SEEDED-secret")
        async with hooks(db):
            await publish(db, who, page)
            [got] = await receiver.wait_for(1)

    hex_ = hmac.new(b"SEEDED-secret", got.body, hashlib.sha256).hexdigest()
    assert got.headers["x-service-signature"] == hex_
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    mac = base64.b64encode(hmac.new(b"SEEDED-secret", signed, hashlib.sha256).digest()).decode()
    assert got.headers["webhook-signature"] == f"v1,{mac}"


async def test_one_that_fails_is_tried_again_with_the_same_id(db: Db) -> None:
    who, page = await make_page(db)
    async with receiving(answer(500), answer(200)) as receiver:
        await add(db, who, page, webhookUrl=receiver.url())
        async with hooks(db):
            await publish(db, who, page)
            first, second = await receiver.wait_for(2)

    assert first.body == second.body
    assert first.headers["x-service-delivery"] == second.headers["x-service-delivery"]
    assert second.at - first.at >= 1


async def test_one_that_fails_for_ever_is_given_up(db: Db, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_hooks, "_POLICY", RetryPolicy(max_retries=0))
    who, page = await make_page(db)
    async with receiving(answer(500)) as receiver:
        await add(db, who, page, webhookUrl=receiver.url())
        async with hooks(db):
            await publish(db, who, page)
            await arrived(db)

    assert len(receiver.received) == 1


async def test_no_address_is_reached_that_is_guarded(db: Db) -> None:
    who, page = await make_page(db)
    async with receiving() as receiver:
        await add(db, who, page, webhookUrl=receiver.url())
        await add(db, who, page, webhookUrl="http://169.254.169.254/latest/meta-data/")
        async with hooks(db, allow_private=False), db.connection() as tx:
            await publish(db, who, page)
            while await tx.fetchval("SELECT count(*) FROM status_letters WHERE attempt > 1") < 2:
                await asyncio.sleep(0.02)

    assert receiver.received == []


async def test_a_webhook_channel_hears_of_it_only_if_it_wants_to(db: Db) -> None:
    who, page = await make_page(db)
    transport = Transport(allow_private=True)
    sender = Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now)
    async with receiving() as receiver:
        await make_channel(db, who.team_id, receiver.url("/all"))
        await make_channel(
            db,
            who.team_id,
            receiver.url("/wants"),
            events=["status_page.*"],
            monitors=[ids.show("mon", page.id)],
        )
        incident = await publish(db, who, page)
        await update(db, who, page, incident, "resolved")
        await Router(db).turn()
        loop = asyncio.create_task(forever("sender", sender.turn, timedelta(seconds=1), sender.bell))
        await receiver.wait_for(2)
        loop.cancel()
        await asyncio.gather(loop, return_exceptions=True)
    await sender.close()
    await transport.close()

    assert [(received.target, received.json["event"]) for received in receiver.received] == [
        ("/wants", "status_page.incident.published"),
        ("/wants", "status_page.incident.updated"),
    ]
    assert receiver.received[0].json["links"] == {"statusPage": f"{PUBLIC_URL}/status/example"}


async def test_its_url_is_sealed_in_the_database(db: Db) -> None:
    who, page = await make_page(db)
    await add(db, who, page, webhookUrl="https://hooks.example.com/SEEDED", signingSecret="SEEDED-secret")

    async with db.connection() as tx:
        stored = await tx.fetchval("SELECT string_agg(s::text, ' ') FROM status_subscribers s")
        held = await tx.fetchval("SELECT sealed_hook FROM status_subscribers")

    assert "SEEDED" not in stored
    assert b"SEEDED" not in held


async def arrived(db: Db) -> None:
    """Wait until no letter is left."""
    async with asyncio.timeout(10), db.connection() as tx:
        while await tx.fetchval("SELECT count(*) FROM status_letters"):
            await asyncio.sleep(0.02)
