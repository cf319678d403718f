"""What a caller may do with the channels of a team."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from collector.channels import CHANNELS, load
from collector.channels.message import Message, Undelivered
from collector.channels.transport import Transport
from collector.core.revision import require
from collector.core.seal import Keyring, Place, split, whole
from collector.services.channel_fields import Settings, for_create, for_update, named_monitors
from collector.services.validation import to_json
from collector.storage import channels as table
from collector.storage import delivery_reads
from collector.storage.channels import Row
from collector.storage.db import Db, Tx
from collector.storage.delivery_reads import Delivery
from shared import ids
from shared.clock import iso
from shared.errors import NotFound
from shared.kinds import secret_fields

WHAT = "Alert channel"


@dataclass(frozen=True, slots=True)
class Known:
    """A channel with its whole *config*, secrets too; *unknown* names what a request said in vain."""

    row: Row
    config: dict[str, Any]
    unknown: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Tested:
    """How a test went; *delivered_at* is None when it did not arrive."""

    message: str
    delivered_at: datetime | None


async def create(db: Db, keyring: Keyring, team_id: int, body: Mapping[str, Any], now: datetime) -> Known:
    """Raises Invalid."""
    wish = for_create(body)
    async with db.transaction() as tx:
        settings, channel = wish.checked(await _strangers(tx, team_id, wish.monitors, known=()))
        config, id_ = to_json(channel), ids.uuid7()
        rest, sealed = _split(keyring, team_id, id_, body["type"], config)
        row = Row(
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
        )
        await table.insert(tx, row)
    return Known(row, config, wish.unknown)


async def page(
    db: Db, keyring: Keyring, team_id: int, type_: str | None, limit: int | None, offset: int
) -> tuple[list[Known], int]:
    """Channels of one type or all, newest first, and how many there are."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id, type_)
        rows = await table.newest(tx, team_id, type_, limit, offset)
    return [_known(keyring, row) for row in rows], total


async def found(db: Db, team_id: int, id_: UUID) -> Row:
    """The channel's row. Raises NotFound."""
    async with db.connection() as tx:
        return _there(await table.get(tx, team_id, id_))


async def one(db: Db, keyring: Keyring, team_id: int, id_: UUID) -> Known:
    """Raises NotFound."""
    return _known(keyring, await found(db, team_id, id_))


async def update(
    db: Db,
    keyring: Keyring,
    team_id: int,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    only: frozenset[str] | None = None,
) -> Known:
    """What changes nothing leaves the revision as it is; *only*: the revisions that may be changed.

    Raises NotFound, PreconditionFailed, Invalid, in this order.
    """
    async with db.transaction() as tx:
        before = _known(keyring, _there(await table.lock(tx, team_id, id_)))
        row = before.row
        require(row.revision, only)
        old = Settings(name=row.name, enabled=row.enabled)
        wish = for_update(body, row.type, old, before.config)
        known = set(named_monitors(before.config).values())
        settings, channel = wish.checked(await _strangers(tx, team_id, wish.monitors, known))
        config = to_json(channel)
        if config == before.config and settings == old:
            return Known(row, config, wish.unknown)
        rest, sealed = _split(keyring, team_id, id_, row.type, config)
        row = replace(
            row,
            name=settings.name,
            enabled=settings.enabled,
            config=rest,
            secrets=sealed,
            revision=row.revision + 1,
            updated_at=now,
        )
        await table.save(tx, row)
    return Known(row, config, wish.unknown)


async def delete(db: Db, team_id: int, id_: UUID, *, only: frozenset[str] | None = None) -> None:
    """*only*: the revisions that may be deleted. Raises NotFound, PreconditionFailed."""
    async with db.transaction() as tx:
        row = _there(await table.lock(tx, team_id, id_))
        require(row.revision, only)
        await table.delete(tx, team_id, id_)


async def test(
    db: Db, keyring: Keyring, transport: Transport, team_id: int, id_: UUID, now: Callable[[], datetime]
) -> Tested:
    """One real try with a message that says it is a test. Raises NotFound; a failure is an answer."""
    known = await one(db, keyring, team_id, id_)
    channel = load(known.row.type, known.config)
    try:
        status = await channel.send(_trial(known.row, now()), transport, now())
    except Undelivered as error:
        return Tested(f"The test message was not delivered: {error}", None)
    return Tested(f"The test message was delivered; the receiver answered {status}", now())


async def deliveries(db: Db, team_id: int, id_: UUID, limit: int, offset: int) -> tuple[list[Delivery], int]:
    """Those of one channel, newest first, and how many there are."""
    async with db.connection() as tx:
        total = await delivery_reads.count(tx, team_id, id_)
        found = await delivery_reads.newest(tx, team_id, id_, limit, offset) if offset < total else []
    return found, total


def _trial(row: Row, now: datetime) -> Message:
    event_id = ids.show("evt", ids.uuid7())
    body = {
        "event": "test",
        "id": event_id,
        "sequence": 0,
        "timestamp": iso(now),
        "message": f"This is a test of the alert channel {row.name}. Nothing is wrong.",
        "channel": {"id": ids.show("chan", row.id), "name": row.name},
        "links": {},
    }
    return Message(event_id, ids.show("dlv", ids.uuid7()), "test", orjson.dumps(body))


async def _strangers(
    tx: Tx, team_id: int, named: Mapping[str, UUID], known: Collection[UUID]
) -> dict[str, str]:
    """Faults of named monitors that the team does not have; *known* ones may have gone since."""
    new = {key: id_ for key, id_ in named.items() if id_ not in known}
    unknown = await table.unknown_monitors(tx, team_id, list(new.values())) if new else set()
    return {key: "there is no such monitor" for key, id_ in new.items() if id_ in unknown}


def _there(row: Row | None) -> Row:
    if row is None:
        raise NotFound(f"{WHAT} not found")
    return row


def _known(keyring: Keyring, row: Row) -> Known:
    return Known(row, whole(keyring, row.config, row.secrets, _place(row.team_id, row.id)))


def _split(
    keyring: Keyring, team_id: int, id_: UUID, type_: str, config: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes | None]:
    return split(keyring, config, secret_fields(CHANNELS[type_]), _place(team_id, id_))


def _place(team_id: int, id_: UUID) -> Place:
    return Place(team_id, "channels", id_, "secrets")
