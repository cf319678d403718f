"""The audit log: appended in the action's transaction; the database refuses changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.access import Actor
from collector.platform.storage.db import Tx
from shared.ids import uuid7


@dataclass(frozen=True, slots=True)
class AuditedAction:
    """An action: *resource_id* as shown by the API, *fields* the names of what changed, never values."""

    action: str
    resource: str
    resource_id: str
    name: str
    fields: Sequence[str]


async def insert(tx: Tx, who: Actor, done: Sequence[AuditedAction]) -> None:
    """Insert entries with the database's time, which is the same throughout a transaction."""
    await tx.execute(
        """
        INSERT INTO audit_log (team_id, id, at, actor_kind, actor_id, actor_name, token_id, address,
            request_id, action, resource, resource_id, resource_name, fields)
        SELECT $1, u.id, now(), $2, $3, $4, $5, $6, $7, u.action, u.resource, u.resource_id, u.resource_name,
            u.fields
        FROM jsonb_populate_recordset(NULL::audit_log, $8) AS u
        """,
        who.team_id, who.kind, who.id, who.name, who.token_id, who.address, who.request_id,
        [_row(each) for each in done],
    )  # fmt: skip


def _row(done: AuditedAction) -> dict[str, object]:
    return {
        "id": uuid7(),
        "action": done.action,
        "resource": done.resource,
        "resource_id": done.resource_id,
        "resource_name": done.name,
        "fields": list(done.fields),
    }


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An entry of the log."""

    id: UUID
    at: datetime
    actor_kind: str
    actor_id: str | None
    actor_name: str
    token_id: UUID | None
    address: str | None
    request_id: str | None
    action: str
    resource: str
    resource_id: str
    resource_name: str
    fields: Sequence[str]


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """None matches all. *actor*: an id (``usr_...``), a kind or a name; *resource*: an id or a noun."""

    actor: str | None = None
    resource: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_WHERE = """
    WHERE team_id = $1
        AND ($2::text IS NULL OR $2 IN (actor_id, actor_kind, actor_name))
        AND ($3::text IS NULL OR $3 IN (resource, resource_id))
        AND ($4::text IS NULL OR action = $4)
        AND ($5::timestamptz IS NULL OR at >= $5) AND ($6::timestamptz IS NULL OR at <= $6)
"""


async def of_request(
    tx: Tx, who: Actor, request_id: str, resource: str, since: datetime
) -> list[tuple[str, str]]:
    """Return action and resource id of what the actor did to such resources by one request."""
    rows = await tx.fetch(
        """
        SELECT action, resource_id FROM audit_log
        WHERE team_id = $1 AND at >= $2 AND actor_id = $3 AND request_id = $4 AND resource = $5
        """,
        who.team_id, since, who.id, request_id, resource,
    )  # fmt: skip
    return [(row["action"], row["resource_id"]) for row in rows]


async def count(tx: Tx, team_id: int, wanted: AuditFilter) -> int:
    found: int = await tx.fetchval(f"SELECT count(*) FROM audit_log {_WHERE}", team_id, *_arguments(wanted))
    return found


async def newest(tx: Tx, team_id: int, wanted: AuditFilter, limit: int, offset: int) -> list[AuditEntry]:
    rows = await tx.fetch(
        f"""
        SELECT id, at, actor_kind, actor_id, actor_name, token_id, address, request_id, action,
            resource, resource_id, resource_name, fields
        FROM audit_log {_WHERE} ORDER BY at DESC, id DESC LIMIT $7 OFFSET $8
        """,
        team_id, *_arguments(wanted), limit, offset,
    )  # fmt: skip
    return [AuditEntry(**row) for row in rows]


def _arguments(wanted: AuditFilter) -> tuple[str | datetime | None, ...]:
    return wanted.actor, wanted.resource, wanted.action, wanted.since, wanted.until
