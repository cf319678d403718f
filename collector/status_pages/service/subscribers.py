"""Subscribers of a status page, by mail or webhook, as its team manages them."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.seal import Keyring, SealScope
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import to_json
from collector.status_pages.core.fields import SubscriberSettings
from collector.status_pages.core.links import ASK_AGAIN
from collector.status_pages.service.fields import StatusPageRequest, asked_for, named, record, there
from collector.status_pages.storage import components as status_pages_components
from collector.status_pages.storage import news, status_pages
from collector.status_pages.storage import subscribers as table
from collector.status_pages.storage.status_pages import StatusPage
from collector.status_pages.storage.subscribers import Subscriber
from shared import ids
from shared.errors import Conflict

WHAT = "Subscriber"
MOST_WEBHOOKS: Final = 100
_SECRET_BYTES: Final = 32
_NO_MAIL_SERVER: Final = (
    "no mail was sent to confirm the address: no mail server is set here (TOCSIN_SMTP_URL)"
)
_ASKED_RECENTLY: Final = "no other mail was sent: one an hour at most asks to confirm the address"


@dataclass(frozen=True, slots=True)
class SubscriberDetails:
    """A subscriber with its webhook's URL, if it has one, and the ignored fields of a request."""

    row: Subscriber
    url: str | None
    warnings: Sequence[str] = ()


def settable(known: SubscriberDetails) -> dict[str, Any]:
    """The writable fields of a subscriber, with their current values."""
    return {
        "email": known.row.email,
        "webhookUrl": known.url,
        "preferences": known.row.preferences,
        "components": [ids.show("comp", id_) for id_ in known.row.components],
    }


async def page(
    db: Db, keyring: Keyring, team_id: int, page_id: UUID, limit: int | None, offset: int
) -> tuple[list[SubscriberDetails], int]:
    """Subscribers, newest first, and their total number; none for an unknown page."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, page_id)
        rows = await table.newest(tx, team_id, page_id, limit, offset)
    return [known(keyring, row) for row in rows], total


async def one(db: Db, keyring: Keyring, team_id: int, page_id: UUID, id_: UUID) -> SubscriberDetails:
    """One subscriber. Raises NotFound."""
    async with db.connection() as tx:
        return known(keyring, there(await table.get(tx, team_id, page_id, id_), WHAT))


async def add(
    db: Db,
    keyring: Keyring,
    who: Actor,
    page_id: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    mails: bool,
) -> SubscriberDetails:
    """Add a subscriber; a known address is updated instead. Raises NotFound, Invalid, Conflict.

    *mails*: whether confirmation mails can be sent.
    """
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        request = asked_for(SubscriberSettings, body, {})
        asked, columns = await _columns(tx, page, request)
        warnings, row = (
            request.warnings,
            replace(new(keyring, page, now), email=_small(asked.email), **columns),
        )
        if asked.webhook_url is not None:
            return await _add_webhook(tx, keyring, who, page, row, asked, warnings)
        before = await table.with_email(tx, who.team_id, page_id, row.email or "")
        if before is None:
            await table.insert(tx, row)
            await record(tx, who, "add_subscriber", page)
        elif before.verified_at is not None:
            raise Conflict("This address has subscribed already")
        else:
            row = replace(before, preferences=row.preferences, components=row.components, by_form=False)
            await _save(tx, who, page, SubscriberDetails(before, None), SubscriberDetails(row, None))
        if not mails:
            return SubscriberDetails(row, None, [*warnings, _NO_MAIL_SERVER])
        row, mailed = await ask(tx, row, now)
        return SubscriberDetails(row, None, warnings if mailed else [*warnings, _ASKED_RECENTLY])


async def ask(tx: Tx, row: Subscriber, now: datetime) -> tuple[Subscriber, bool]:
    """Queue a mail about the subscription, at most once an hour. Return whether it was queued."""
    if row.asked_at is not None and row.asked_at > now - ASK_AGAIN:
        return row, False
    row = replace(row, asked_at=now)
    await table.save(tx, row)
    await news.ask(tx, row.team_id, row.id)
    return row, True


def new(keyring: Keyring, page: StatusPage, now: datetime) -> Subscriber:
    """A subscriber without an address, with default preferences."""
    id_ = ids.uuid7()
    return Subscriber(
        team_id=page.team_id,
        id=id_,
        page_id=page.id,
        email=None,
        sealed_hook=None,
        link_key=None,
        sealed_link_key=_sealed_link_key(keyring, page.team_id, id_, secrets.token_bytes(_SECRET_BYTES)),
        asked_at=None,
        by_form=False,
        language="en",
        preferences={"incidents": True, "maintenance": True},
        components=[],
        verified_at=None,
        subscribed_at=now,
    )


async def update(
    db: Db, keyring: Keyring, who: Actor, page_id: UUID, id_: UUID, body: Mapping[str, Any]
) -> SubscriberDetails:
    """Update a subscriber; its address cannot change. Raises NotFound, Invalid."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        before = known(keyring, there(await table.get(tx, who.team_id, page_id, id_), WHAT))
        sent = {name: value for name, value in body.items() if name not in {"email", "webhookUrl"}}
        preferences = sent.get("preferences")
        if isinstance(preferences, dict):
            sent["preferences"] = {**before.row.preferences, **preferences}
        request = asked_for(SubscriberSettings, sent, settable(before))
        asked, columns = await _columns(tx, page, request)
        row = replace(before.row, **columns)
        if asked.signing_secret is not None:
            row = replace(row, sealed_hook=_sealed(keyring, row, asked))
        await _save(tx, who, page, before, SubscriberDetails(row, before.url))
        return SubscriberDetails(row, before.url, request.warnings)


async def delete(db: Db, who: Actor, page_id: UUID, id_: UUID) -> None:
    """Delete a subscriber. Raises NotFound."""
    async with db.transaction() as tx:
        page = there(await status_pages.lock(tx, who.team_id, page_id))
        there(await table.get(tx, who.team_id, page_id, id_), WHAT)
        await table.delete(tx, who.team_id, page_id, id_)
        await record(tx, who, "delete_subscriber", page)


def known(keyring: Keyring, row: Subscriber) -> SubscriberDetails:
    """The subscriber with its webhook's URL. Raises Unsealable."""
    if row.sealed_hook is None:
        return SubscriberDetails(row, None)
    return SubscriberDetails(row, opened(keyring, row.team_id, row.id, row.sealed_hook)["url"])


def opened(keyring: Keyring, team_id: int, id_: UUID, sealed: bytes) -> dict[str, Any]:
    """The unsealed fields of a subscriber's webhook: ``url`` and, if there is one, ``signingSecret``."""
    hook: dict[str, Any] = orjson.loads(keyring.open(sealed, _place(team_id, id_)))
    return hook


def link_key(keyring: Keyring, row: Subscriber) -> bytes:
    """The key that signs the links in a subscriber's mails. Raises Unsealable."""
    return opened_link_key(keyring, row.team_id, row.id, row.sealed_link_key, row.link_key)


def opened_link_key(
    keyring: Keyring, team_id: int, id_: UUID, sealed: bytes | None, plain: bytes | None
) -> bytes:
    """The same, from the two columns that may hold it."""
    if sealed is None:
        return plain or b""
    return keyring.open(sealed, _place(team_id, id_, "sealed_link_key"))


async def seal_link_keys(tx: Tx, keyring: Keyring, limit: int) -> int:
    """Seal keys that earlier versions stored in plain text; links in sent mails stay valid."""
    rows = await table.unsealed(tx, limit)
    sealed = {
        (row.team_id, row.id): _sealed_link_key(keyring, row.team_id, row.id, row.link_key)
        for row in rows
        if row.link_key is not None
    }
    if sealed:
        await table.seal_link_keys(tx, sealed)
    return len(sealed)


def _sealed_link_key(keyring: Keyring, team_id: int, id_: UUID, key: bytes) -> bytes:
    return keyring.seal(key, _place(team_id, id_, "sealed_link_key"))


def _sealed(keyring: Keyring, row: Subscriber, asked: SubscriberSettings) -> bytes:
    plain = {"url": asked.webhook_url, "signingSecret": asked.signing_secret}
    return keyring.seal(orjson.dumps(plain), _place(row.team_id, row.id))


def _place(team_id: int, id_: UUID, column: str = "sealed_hook") -> SealScope:
    return SealScope(team_id, "status_subscribers", id_, column)


async def _add_webhook(
    tx: Tx,
    keyring: Keyring,
    who: Actor,
    page: StatusPage,
    row: Subscriber,
    asked: SubscriberSettings,
    warnings: list[str],
) -> SubscriberDetails:
    """Add a webhook without confirmation: as for a channel, the team must know its owner."""
    if await table.webhooks(tx, page.team_id, page.id) >= MOST_WEBHOOKS:
        raise Conflict(f"A status page has {MOST_WEBHOOKS} webhooks at most")
    row = replace(row, sealed_hook=_sealed(keyring, row, asked), verified_at=row.subscribed_at)
    await table.insert(tx, row)
    await record(tx, who, "add_subscriber", page)
    return SubscriberDetails(row, asked.webhook_url, warnings)


def _small(email: str | None) -> str | None:
    return None if email is None else email.lower()


async def _columns(
    tx: Tx, page: StatusPage, request: StatusPageRequest[SubscriberSettings]
) -> tuple[SubscriberSettings, dict[str, Any]]:
    """Validate the request and convert it to columns. Raises Invalid."""
    on_it = {row.id for row in await status_pages_components.of_page(tx, page.team_id, page.id)}
    components, faults = named("components", request.fields.get("components"), on_it)
    asked = request.checked(faults)
    return asked, {"preferences": to_json(asked.preferences), "components": components}


async def _save(
    tx: Tx, who: Actor, page: StatusPage, before: SubscriberDetails, after: SubscriberDetails
) -> None:
    changed = audit.differing(settable(before), settable(after))
    if before.row.sealed_hook != after.row.sealed_hook:
        changed = [*changed, "signingSecret"]
    if changed or before.row != after.row:
        await table.save(tx, after.row)
    if changed:
        await record(tx, who, "update_subscriber", page, changed)
