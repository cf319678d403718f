"""A team with channels and events, for tests of what becomes of them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from collector.events.storage import events
from collector.notifications.channels import CHANNELS
from collector.notifications.storage import channels
from collector.notifications.storage.channels import ChannelRow
from collector.platform.seal import Keyring, SealScope, split
from collector.platform.storage.db import Db
from collector.platform.validation.validation import check, to_json
from shared import ids
from shared.clock import iso, utc_now
from shared.kinds import secret_fields
from tests.events.payloads import payload_of
from tests.notifications.channels.every import config

KEYRING = Keyring.parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PUBLIC_URL = "https://tocsin.example.com"


async def make_team(db: Db, name: str = "Default") -> int:
    async with db.connection() as tx:
        team: int = await tx.fetchval(
            "INSERT INTO teams (id, name, plan, created_at) VALUES ($1, $2, 'pro', now()) RETURNING team_id",
            ids.uuid7(),
            name,
        )
    return team


async def make_channel(db: Db, team_id: int, url: str, *, enabled: bool = True, **config: Any) -> UUID:
    """A webhook channel as the API would store it; *config* in camelCase."""
    id_ = ids.uuid7()
    webhook, unknown = check(CHANNELS["webhook"], {"url": url, "timeout": 5, **config})
    assert not unknown
    place = SealScope(team_id, "channels", id_, "secrets")
    rest, sealed = split(KEYRING, to_json(webhook), secret_fields(CHANNELS["webhook"]), place)
    row = ChannelRow(team_id, id_, "Hook", "webhook", enabled, rest, sealed, 1, utc_now(), utc_now())
    async with db.connection() as tx:
        await channels.insert(tx, row)
    return id_


async def make_any(db: Db, team_id: int, type_: str, base: str = "http://127.0.0.1:9", **more: Any) -> UUID:
    """A channel of that type as the API would store it; *base*: scheme, host and port of its receiver."""
    id_, cls = ids.uuid7(), CHANNELS[type_]
    made, _ = check(cls, {**config(type_, base), **more})
    place = SealScope(team_id, "channels", id_, "secrets")
    rest, sealed = split(KEYRING, to_json(made), secret_fields(cls), place)
    row = ChannelRow(team_id, id_, f"Ops {type_}", type_, True, rest, sealed, 1, utc_now(), utc_now())
    async with db.connection() as tx:
        await channels.insert(tx, row)
    return id_


async def make_incident(db: Db, team_id: int, monitor_id: UUID) -> UUID:
    id_ = ids.uuid7()
    async with db.connection() as tx:
        await tx.execute(
            """
            INSERT INTO incidents (team_id, id, monitor_id, monitor_name, automatic, title, status, severity,
                                   started_at, created_at, span_from)
            VALUES ($1, $2, $3, 'api', true, 'api is down', 'open', 'critical', now(), now(), now())
            """,
            team_id,
            id_,
            monitor_id,
        )
    return id_


async def happen(
    db: Db, team_id: int, monitor_id: UUID, *kinds: str, incident_id: UUID | None = None
) -> None:
    """Append an event of each kind to the monitor's stream."""
    async with db.transaction() as tx:
        for kind in kinds:
            payload = {
                "event": kind,
                "timestamp": iso(utc_now()),
                "monitor": {"id": ids.show("mon", monitor_id), "name": "api é", "type": "http", "url": None},
            }
            await events.append(tx, team_id, monitor_id, kind, payload_of(payload), utc_now(), incident_id)


async def deliveries(db: Db) -> Sequence[Any]:
    """All of them, as they are stored, in the order of their streams."""
    async with db.connection() as tx:
        return await tx.fetch("SELECT * FROM deliveries ORDER BY stream_id, sequence, channel_id")


async def attempts(db: Db) -> Sequence[Any]:
    async with db.connection() as tx:
        return await tx.fetch("SELECT * FROM delivery_attempts ORDER BY delivery_id, attempt")


async def make_due(db: Db) -> None:
    """The time of every next try, and of every lease's end, has come."""
    async with db.connection() as tx:
        await tx.execute("UPDATE deliveries SET due_at = now() - interval '1 ms' WHERE status = 0")
