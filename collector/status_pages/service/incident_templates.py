"""Creates, reads, updates and deletes the templates of incidents on status pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import asyncpg

from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.storage.db import Db, Tx
from collector.status_pages.core.incident_templates import IncidentTemplateSettings
from collector.status_pages.service.fields import parse, there
from collector.status_pages.storage import incident_templates as table
from collector.status_pages.storage.incident_templates import IncidentTemplate
from shared import ids
from shared.errors import Conflict

WHAT: Final = "Incident template"
PREFIX: Final = "tpl"
RESOURCE: Final = "incident-template"
MOST: Final = 200


@dataclass(frozen=True, slots=True)
class IncidentTemplateDetails:
    """A template, and what of the request was ignored."""

    row: IncidentTemplate
    warnings: Sequence[str] = ()


async def page(db: Db, team_id: int, limit: int | None, offset: int) -> tuple[list[IncidentTemplate], int]:
    """Return templates by name, and their total number."""
    async with db.connection() as tx:
        return await table.of_team(tx, team_id, limit, offset), await table.count(tx, team_id)


async def one(db: Db, team_id: int, id_: UUID) -> IncidentTemplate:
    """Return a template. Raises NotFound."""
    async with db.connection() as tx:
        return there(await table.get(tx, team_id, id_), WHAT)


async def create(db: Db, who: Actor, body: Mapping[str, Any], now: datetime) -> IncidentTemplateDetails:
    """Create a template. Raises Invalid; Conflict if its name is in use or there are too many."""
    asked, warnings = parse(IncidentTemplateSettings, body, {})
    row = _row(asked, who.team_id, ids.uuid7(), now, now)
    try:
        async with db.transaction() as tx:
            if await table.count(tx, who.team_id) >= MOST:
                raise Conflict(f"A team has at most {MOST} incident templates")
            await table.insert(tx, row)
            await _record(tx, who, "create", row)
    except asyncpg.UniqueViolationError:
        raise _taken(row) from None
    return IncidentTemplateDetails(row, warnings)


async def update(
    db: Db, who: Actor, id_: UUID, body: Mapping[str, Any], now: datetime
) -> IncidentTemplateDetails:
    """Update a template. Raises NotFound, Invalid; Conflict if its name is in use."""
    async with db.transaction() as tx:
        before = there(await table.lock(tx, who.team_id, id_), WHAT)
        asked, warnings = parse(IncidentTemplateSettings, body, settable(before))
        after = _row(asked, who.team_id, id_, before.created_at, now)
        changed = audit.differing(settable(before), settable(after))
        if not changed:
            return IncidentTemplateDetails(before, warnings)
        try:
            await table.save(tx, after)
        except asyncpg.UniqueViolationError:
            raise _taken(after) from None
        await _record(tx, who, "update", after, changed)
    return IncidentTemplateDetails(after, warnings)


async def delete(db: Db, who: Actor, id_: UUID) -> str:
    """Delete a template; return its name. Raises NotFound."""
    async with db.transaction() as tx:
        name = there(await table.delete(tx, who.team_id, id_), WHAT)
        await audit.record(tx, who, "delete", RESOURCE, ids.show(PREFIX, id_), name=name)
    return name


def settable(row: IncidentTemplate) -> dict[str, Any]:
    """Return the writable fields with their current values."""
    return {
        "name": row.name,
        "title": row.title,
        "status": row.status,
        "severity": row.severity,
        "componentStatus": row.component_status,
        "message": row.message,
    }


def _row(
    asked: IncidentTemplateSettings, team_id: int, id_: UUID, created_at: datetime, now: datetime
) -> IncidentTemplate:
    return IncidentTemplate(
        team_id=team_id,
        id=id_,
        name=asked.name,
        title=asked.title,
        status=asked.status,
        severity=asked.severity,
        component_status=asked.component_status,
        message=asked.message,
        created_at=created_at,
        updated_at=now,
    )


def _taken(row: IncidentTemplate) -> Conflict:
    return Conflict(f"Another incident template has the name {row.name}")


async def _record(tx: Tx, who: Actor, action: str, row: IncidentTemplate, fields: Sequence[str] = ()) -> None:
    await audit.record(tx, who, action, RESOURCE, ids.show(PREFIX, row.id), name=row.name, fields=fields)
