"""A visitor's subscription: request it, confirm it, change it, end it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from collector.platform.seal import Keyring
from collector.platform.storage.db import Db, Tx
from collector.status_pages.core import links
from collector.status_pages.core.links import SubscriberLink
from collector.status_pages.service.subscribers import ask, link_key, new
from collector.status_pages.storage import components as status_pages_components
from collector.status_pages.storage import status_pages
from collector.status_pages.storage import subscribers as table
from collector.status_pages.storage.status_pages import StatusPage
from collector.status_pages.storage.subscribers import Subscriber

log = structlog.get_logger()

# Limit of unconfirmed requests per page and hour: more are an attempt to flood mailboxes.
MOST_ASKED: Final = 1_000
_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription found by a link; *token* is the link's, *manage* that of the permanent link.

    *over*: the confirmation link has expired; *components* of the page, by id and name.
    """

    row: Subscriber
    page: StatusPage
    token: str
    manage: str
    over: bool
    components: Sequence[tuple[UUID, str]]

    @property
    def lasts(self) -> bool:
        """Whether it is the permanent link, which changes and ends a subscription."""
        return self.token == self.manage

    @property
    def email(self) -> str:
        return self.row.email or ""


async def begin(
    db: Db, keyring: Keyring, team_id: int, page_id: UUID, email: str, language: str, now: datetime
) -> None:
    """Mail an address about its subscription unless it was mailed recently; identical for every address."""
    async with db.transaction() as tx:
        page = await status_pages.lock(tx, team_id, page_id)
        if page is None:
            return
        row = await table.with_email(tx, team_id, page_id, email.lower())
        if row is None:
            if await table.asked_since(tx, team_id, page_id, now - _HOUR) >= MOST_ASKED:
                log.warning("too many unconfirmed subscriptions of a status page", page=page.slug)
                return
            row = replace(new(keyring, page, now), email=email.lower(), by_form=True, language=language)
            await table.insert(tx, row)
        await ask(tx, row, now)


async def find(db: Db, keyring: Keyring, text: str, now: datetime) -> Subscription | None:
    """The subscription that a link belongs to; None for an invalid link or an ended subscription."""
    async with db.transaction() as tx:
        return await _find(tx, keyring, text, now)


async def lasting(db: Db, keyring: Keyring, text: str, now: datetime) -> Subscription | None:
    """As `find`, but only for the permanent link."""
    subscription = await find(db, keyring, text, now)
    return subscription if subscription and subscription.lasts else None


async def confirm(db: Db, keyring: Keyring, text: str, now: datetime) -> Subscription | None:
    """As `find`, only for a confirmation link; if it has not expired, confirm the address."""
    async with db.transaction() as tx:
        subscription = await _find(tx, keyring, text, now)
        if subscription is None or subscription.lasts:
            return None
        if subscription.over or subscription.row.verified_at is not None:
            return subscription
        row = replace(subscription.row, verified_at=now)
        await table.save(tx, row)
        return replace(subscription, row=row)


async def choose(
    db: Db,
    keyring: Keyring,
    text: str,
    preferences: Mapping[str, bool],
    components: Sequence[UUID],
    now: datetime,
) -> Subscription | None:
    """As `find`, with new preferences; components that the page does not have are left out."""
    async with db.transaction() as tx:
        subscription = await _find(tx, keyring, text, now)
        if subscription is None or not subscription.lasts:
            return None
        known = {id_ for id_, _ in subscription.components}
        row = replace(
            subscription.row,
            preferences=dict(preferences),
            components=[id_ for id_ in dict.fromkeys(components) if id_ in known],
        )
        await table.save(tx, row)
        return replace(subscription, row=row)


async def leave(db: Db, keyring: Keyring, text: str, now: datetime) -> Subscription | None:
    """As `find`, and end the subscription."""
    async with db.transaction() as tx:
        subscription = await _find(tx, keyring, text, now)
        if subscription is None or not subscription.lasts:
            return None
        await table.delete(tx, subscription.row.team_id, subscription.row.page_id, subscription.row.id)
        return subscription


async def _find(tx: Tx, keyring: Keyring, text: str, now: datetime) -> Subscription | None:
    link: SubscriberLink | None = links.read(text)
    row = await table.with_link(tx, link.subscriber_id) if link else None
    if link is None or row is None or row.email is None:
        return None
    key = link_key(keyring, row)
    if not links.holds(link, key):
        return None
    page = await status_pages.get(tx, row.team_id, row.page_id)
    if page is None:
        return None
    components = await status_pages_components.of_page(tx, row.team_id, row.page_id)
    return Subscription(
        row,
        page,
        text,
        links.managing(key, row.id),
        links.is_over(link, now),
        [(component.id, component.name) for component in components],
    )
