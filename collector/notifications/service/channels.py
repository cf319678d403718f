"""Creates, reads, updates, deletes and tests the channels of a team."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.alerts.storage import rules
from collector.events.core.events import enveloped
from collector.events.core.kinds import EventKind
from collector.events.core.payloads import EventEnvelope, EventLinks, TestedChannelPart, TestEvent
from collector.notifications.channels import CHANNELS, load
from collector.notifications.channels.message import Message
from collector.notifications.service import outside_mails
from collector.notifications.service.fields import ChannelSettings, for_create, for_update, named_monitors
from collector.notifications.storage import channels as table
from collector.notifications.storage import faults as channel_faults
from collector.notifications.storage import reads
from collector.notifications.storage.channels import ChannelRow
from collector.notifications.storage.faults import FaultRecord
from collector.notifications.storage.reads import Delivery
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.answer_json import encode, json_object
from collector.platform.bucket import PLANS
from collector.platform.delivery import Undelivered
from collector.platform.revision import require
from collector.platform.seal import Keyring, SealScope, split, whole
from collector.platform.storage import teams
from collector.platform.storage.db import Db, Tx
from collector.platform.transport import Transport
from collector.platform.validation.validation import to_json
from shared import ids
from shared.clock import UtcClock
from shared.errors import Conflict, demand_found
from shared.kinds import secret_fields

WHAT = "Alert channel"
# Each event may cause one delivery per channel.
MOST = PLANS["pro"].channels


@dataclass(frozen=True, slots=True)
class ChannelWithConfig:
    """A channel with its complete *config*, secrets included; *unknown* names ignored fields of the request.

    *used*: some rule sends to it.
    """

    row: ChannelRow
    config: dict[str, Any]
    unknown: Sequence[str] = ()
    fault: FaultRecord | None = None
    used: bool = False


@dataclass(frozen=True, slots=True)
class ChannelTestResult:
    """The result of a test; *delivered_at* is None if the message was not delivered."""

    message: str
    delivered_at: datetime | None


async def create(
    db: Db, keyring: Keyring, who: Actor, body: Mapping[str, Any], now: datetime, *, most: int = MOST
) -> ChannelWithConfig:
    """Create a channel. *most*: limit of the team's plan. Raises Invalid; Conflict above the limit."""
    request, team_id = for_create(body), who.team_id
    async with db.transaction() as tx:
        settings, channel = request.checked(await _strangers(tx, team_id, request.monitors, known=()))
        await teams.hold(tx, team_id)
        if await table.count(tx, team_id, None) >= most:
            raise Conflict(f"The team's plan allows {most} alert channels at most")
        config, id_ = to_json(channel), ids.uuid7()
        rest, sealed = _split(keyring, team_id, id_, body["type"], config)
        row = ChannelRow(
            team_id=team_id,
            id=id_,
            name=settings.name,
            type=body["type"],
            enabled=settings.enabled,
            config=rest,
            secrets=sealed,
            revision=1,
            created_at=now,
            updated_at=now,
            for_new_monitors=settings.for_new_monitors,
        )
        await table.insert(tx, row)
        await _record(tx, who, "create", row)
    return ChannelWithConfig(row, config, request.unknown)


async def page(
    db: Db, keyring: Keyring, team_id: int, type_: str | None, limit: int | None, offset: int
) -> tuple[list[ChannelWithConfig], int]:
    """Channels of one type or all, newest first, and their total number."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, type_)
        rows = await table.newest(tx, team_id, type_, limit, offset)
        faults = await channel_faults.of(tx, team_id, [row.id for row in rows])
        used = await rules.used_channels(tx, team_id)
    return [
        replace(_known(keyring, row), fault=faults.get(row.id), used=row.id in used) for row in rows
    ], total


async def found(db: Db, team_id: int, id_: UUID) -> ChannelRow:
    """The channel's row. Raises NotFound."""
    async with db.connection() as tx:
        return demand_found(await table.get(tx, team_id, id_), WHAT)


async def one(db: Db, keyring: Keyring, team_id: int, id_: UUID) -> ChannelWithConfig:
    """The channel with its config. Raises NotFound."""
    async with db.connection() as tx:
        row = demand_found(await table.get(tx, team_id, id_), WHAT)
        faults = await channel_faults.of(tx, team_id, [id_])
        used = await rules.used_channels(tx, team_id)
    return replace(_known(keyring, row), fault=faults.get(id_), used=id_ in used)


async def update(
    db: Db,
    keyring: Keyring,
    who: Actor,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    only: frozenset[str] | None = None,
) -> ChannelWithConfig:
    """Update a channel. Without a change the revision stays; *only*: the accepted revisions.

    Raises NotFound, PreconditionFailed, Invalid, in this order.
    """
    async with db.transaction() as tx:
        team_id = who.team_id
        before = _known(keyring, demand_found(await table.lock(tx, team_id, id_), WHAT))
        row = before.row
        require(row.revision, only)
        old = settings_of(row)
        request = for_update(body, row.type, old, before.config)
        known = set(named_monitors(before.config).values())
        settings, channel = request.checked(await _strangers(tx, team_id, request.monitors, known))
        config = to_json(channel)
        fault = (await channel_faults.of(tx, team_id, [id_])).get(id_)
        used = await rules.used_channels(tx, team_id)
        if config == before.config and settings == old:
            return ChannelWithConfig(row, config, request.unknown, fault, used=id_ in used)
        rest, sealed = _split(keyring, team_id, id_, row.type, config)
        row = replace(
            row,
            name=settings.name,
            enabled=settings.enabled,
            for_new_monitors=settings.for_new_monitors,
            config=rest,
            secrets=sealed,
            revision=row.revision + 1,
            updated_at=now,
        )
        await table.save(tx, row)
        await _record(tx, who, "update", row, _changed(before, row, config))
    return ChannelWithConfig(row, config, request.unknown, fault, used=id_ in used)


async def delete(db: Db, who: Actor, id_: UUID, *, only: frozenset[str] | None = None) -> None:
    """Delete a channel; *only*: the accepted revisions. Raises NotFound, PreconditionFailed."""
    async with db.transaction() as tx:
        row = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        require(row.revision, only)
        await rules.drop_channel(tx, who.team_id, id_)
        await table.delete(tx, who.team_id, id_)
        await _record(tx, who, "delete", row)


async def test(
    db: Db, keyring: Keyring, transport: Transport, team_id: int, id_: UUID, now: UtcClock
) -> ChannelTestResult:
    """Send one real test message. Raises NotFound; a failed delivery is a result, not an error."""
    known = await one(db, keyring, team_id, id_)
    channel = load(known.row.type, known.config)
    if waiting := await unconfirmed(db, transport, known):
        await outside_mails.ask_again(db, team_id, waiting)
    try:
        sent = await channel.send(_trial(known.row, now()), transport, now())
    except Undelivered as error:
        return ChannelTestResult(f"The test message was not delivered: {error}", None)
    async with db.transaction() as tx:
        await channel_faults.work(tx, team_id, id_)
    answer = "" if sent.status is None else f"; the receiver answered {sent.status}"
    return ChannelTestResult(
        f"The test message was delivered{answer}{'; ' + sent.note if sent.note else ''}", now()
    )


async def unconfirmed(db: Db, transport: Transport, known: ChannelWithConfig) -> list[str]:
    """The addresses of a channel that receive nothing until they confirm."""
    if known.row.type != "email" or transport.mailer is None or not transport.mailer.confirms:
        return []
    return await outside_mails.unconfirmed(db, known.row.team_id, known.config["recipients"])


def silence(known: ChannelWithConfig) -> list[str]:
    """A warning for a channel that no rule uses; only webhooks receive events without a rule."""
    return [] if known.used or known.row.type == "webhook" else ["no rule sends here"]


async def deliveries(db: Db, team_id: int, id_: UUID, limit: int, offset: int) -> tuple[list[Delivery], int]:
    """A channel's deliveries, newest first, and their total number."""
    async with db.connection() as tx:
        total = await reads.count(tx, team_id, id_)
        found = await reads.newest(tx, team_id, id_, limit, offset) if offset < total else []
    return found, total


def settings_of(row: ChannelRow) -> ChannelSettings:
    return ChannelSettings(name=row.name, enabled=row.enabled, for_new_monitors=row.for_new_monitors)


def _trial(row: ChannelRow, now: datetime) -> Message:
    event_id = ids.show("evt", ids.uuid7())
    payload = TestEvent(
        event=EventKind.TEST,
        timestamp=now,
        message=f"This is a test of the alert channel {row.name}. Nothing is wrong.",
        channel=TestedChannelPart(id=ids.show("chan", row.id), name=row.name),
    )
    envelope = EventEnvelope(id=event_id, sequence=0, links=EventLinks())
    body = encode(enveloped(payload.event, json_object(payload), envelope))
    return Message(event_id, ids.show("dlv", ids.uuid7()), payload.event, body, team_id=row.team_id)


async def _strangers(
    tx: Tx, team_id: int, named: Mapping[str, UUID], known: Collection[UUID]
) -> dict[str, str]:
    """Errors for ids of monitors that the team does not have; *known* ones may have been deleted since."""
    new = {key: id_ for key, id_ in named.items() if id_ not in known}
    unknown = await table.unknown_monitors(tx, team_id, list(new.values())) if new else set()
    return {key: "there is no such monitor" for key, id_ in new.items() if id_ in unknown}


async def _record(tx: Tx, who: Actor, action: str, row: ChannelRow, fields: Sequence[str] = ()) -> None:
    await audit.record(
        tx, who, action, "alert-channel", ids.show("chan", row.id), name=row.name, fields=fields
    )


def _changed(before: ChannelWithConfig, row: ChannelRow, config: Mapping[str, Any]) -> list[str]:
    """The names of the changed fields."""
    own = audit.differing(to_json(settings_of(before.row)), to_json(settings_of(row)))
    return own + audit.differing(before.config, config, "config.")


def _known(keyring: Keyring, row: ChannelRow) -> ChannelWithConfig:
    return ChannelWithConfig(row, whole(keyring, row.config, row.secrets, _place(row.team_id, row.id)))


def _split(
    keyring: Keyring, team_id: int, id_: UUID, type_: str, config: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes | None]:
    return split(keyring, config, secret_fields(CHANNELS[type_]), _place(team_id, id_))


def _place(team_id: int, id_: UUID) -> SealScope:
    return SealScope(team_id, "channels", id_, "secrets")
