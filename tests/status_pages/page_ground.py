"""A status page with subscribers and its senders, for tests of what reaches each subscriber."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from collector.platform.access import Actor
from collector.platform.mailer import Mailer
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.status_pages.jobs.mails import PageMails
from collector.status_pages.jobs.sender import PageSender
from collector.status_pages.service import incidents, status_pages, subscribers
from collector.status_pages.service.domains import ServiceNames
from collector.status_pages.storage import subscribers as table
from collector.status_pages.storage.status_pages import StatusPage
from shared.clock import utc_now
from shared.loop import forever
from tests.mailbox import Mailbox
from tests.notifications.ground import KEYRING, PUBLIC_URL, make_team

SENDER = "Example <status@example.com>"


async def make_page(db: Db, team_id: int | None = None, **body: Any) -> tuple[Actor, StatusPage]:
    """A page with three components, and who may change it."""
    who = Actor(team_id or await make_team(db), None, "Somebody")
    components = [{"name": name} for name in ("API", "Shop", "Search")]
    known = await status_pages.create(
        db,
        who,
        {"name": "Example", "components": components, **body},
        utc_now(),
        own=ServiceNames(PUBLIC_URL),
    )
    return who, known.page


async def subscribe(db: Db, page: StatusPage, emails: Sequence[str], **more: Any) -> list[UUID]:
    """Those addresses, confirmed."""
    rows = [
        replace(
            subscribers.new(KEYRING, page, utc_now()),
            email=email,
            **{"verified_at": utc_now(), "asked_at": utc_now(), **more},
        )
        for email in emails
    ]
    async with db.transaction() as tx:
        for row in rows:
            await table.insert(tx, row)
    return [row.id for row in rows]


async def publish(db: Db, who: Actor, page: StatusPage, **body: Any) -> UUID:
    details = await incidents.publish(
        db, who, page.id, {"title": "Checkout is slow", "message": "We look into it", **body}, utc_now()
    )
    return details.row.id


async def update(db: Db, who: Actor, page: StatusPage, id_: UUID, status: str, **body: Any) -> None:
    body = {"message": f"Now it is {status}", "status": status, **body}
    await incidents.update(db, who, page.id, id_, body, utc_now())


def mails(db: Db, url: str, most: int = 8, keyring: Keyring = KEYRING, **mailer: Any) -> PageSender:
    carrier = PageMails(keyring, Mailer(url, SENDER, **mailer), public_url=PUBLIC_URL)
    return PageSender(db, "mail", carrier, most=most, now=utc_now)


@asynccontextmanager
async def at_work(*senders: PageSender) -> AsyncIterator[None]:
    rest = timedelta(milliseconds=20)
    loops = [asyncio.create_task(forever("page news", sender.turn, rest, sender.bell)) for sender in senders]
    try:
        yield
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await asyncio.gather(*(sender.close() for sender in senders))


async def drained(db: Db, timeout_s: float = 60.0) -> None:
    """Wait until no notification is pending."""
    async with asyncio.timeout(timeout_s):
        while await left(db):
            await asyncio.sleep(0.02)


async def left(db: Db) -> int:
    """Letters, and news for which there are not yet all."""
    async with db.connection() as tx:
        total: int = await tx.fetchval(
            "SELECT (SELECT count(*) FROM status_letters)"
            " + (SELECT count(*) FROM status_news WHERE spread_at IS NULL)"
        )
    return total


def subjects(box: Mailbox, to: str | None = None) -> list[str]:
    """In the order in which they came."""
    return [mail.message["Subject"] for mail in box.mails if to is None or mail.recipients == [to]]
