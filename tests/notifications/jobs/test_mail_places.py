"""More mails than the mail server takes at once: those that wait use up no try, and no place of others."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from email.message import EmailMessage

import pytest

from collector.notifications.jobs.budget import Places
from collector.notifications.jobs.router import Router
from collector.notifications.jobs.sender import Sender
from collector.platform import mailer
from collector.platform.mailer import AT_A_TIME, Mailer
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from shared import ids
from shared.clock import utc_now
from tests.mailbox import Mailbox, mailbox
from tests.notifications.ground import KEYRING, PUBLIC_URL, deliveries, make_any, make_team
from tests.notifications.jobs.test_stalling import tell
from tests.receiver import receiving

pytestmark = pytest.mark.races

CHANNELS, EACH = 4, 3


async def queued(db: Db) -> None:
    team = await make_team(db)
    mails = [await make_any(db, team, "email") for _ in range(CHANNELS)]
    for number in range(EACH):
        await tell(db, team, ids.uuid7(), mails, number)
    await Router(db).turn()


@asynccontextmanager
async def sending(db: Db, box: Mailbox, places: int) -> AsyncIterator[Sender]:
    transport = Transport(allow_private=True, mailer=Mailer(box.url(), "alerts@example.com"))
    sender = Sender(db, KEYRING, transport, public_url=PUBLIC_URL, now=utc_now, places=Places(mails=places))
    try:
        yield sender
    finally:
        await sender.close(grace_s=0.1)
        await transport.close()


async def turn_until(sender: Sender, holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await holds():
            await sender.turn()
            await asyncio.sleep(0.01)


async def test_no_more_mails_are_begun_than_there_are_places(db: Db) -> None:
    await queued(db)
    async with mailbox() as box, sending(db, box, 2) as sender:
        box.stalls = True
        for _ in range(5):
            await sender.turn()
        rows = await deliveries(db)

    assert sum(row["attempt"] for row in rows) == sum(row["leased"] for row in rows) == 2


async def test_all_of_them_are_sent_at_the_first_try(db: Db) -> None:
    await queued(db)

    async def all_sent() -> bool:
        return all(row["status"] == 1 for row in await deliveries(db))

    async with mailbox() as box, sending(db, box, 2) as sender:
        await turn_until(sender, all_sent)

    assert {row["attempt"] for row in await deliveries(db)} == {1}
    assert len(box.mails) == CHANNELS * EACH


async def test_mails_that_wait_keep_no_other_channel_waiting(db: Db) -> None:
    await queued(db)
    team = await make_team(db, "Other")
    async with mailbox() as box, receiving() as good, sending(db, box, 1) as sender:
        box.stalls = True
        hook = await make_any(db, team, "slack", good.url(""))
        await tell(db, team, ids.uuid7(), [hook], 0)
        await Router(db).turn()
        await sender.turn()
        await good.wait_for(1)


def small() -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"], mail["From"], mail["To"] = "down", "alerts@example.com", "team@example.com"
    return mail


async def test_who_stops_waits_for_no_server_that_stalls() -> None:
    async with mailbox() as box:
        box.stalls = True
        handing = asyncio.create_task(
            Mailer(box.url(), "alerts@example.com").hand_in(small(), ["team@example.com"])
        )
        await box.stalled.wait()

        handing.cancel()
        await asyncio.wait([handing], timeout=5)

        assert handing.cancelled()


async def test_the_wait_for_a_place_is_not_the_server_s_time(monkeypatch: pytest.MonkeyPatch) -> None:
    mail = small()
    async with mailbox() as box, AsyncExitStack() as others:
        handing = Mailer(box.url(), "alerts@example.com")
        await handing.hand_in(mail, ["team@example.com"])  # which looks up our own name, too
        monkeypatch.setattr(mailer, "TIMEOUT_S", 2.0)
        for _ in range(AT_A_TIME):
            await others.enter_async_context(handing._places)
        waiting = asyncio.create_task(handing.hand_in(mail, ["team@example.com"]))
        await asyncio.wait([waiting], timeout=2.2)
        await others.aclose()

        assert await waiting == {}
        assert len(box.mails) == 2
