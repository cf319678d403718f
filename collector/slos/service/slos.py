"""Creates, reads, updates and deletes the service level objectives of a team."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from collector.monitors.storage import monitors
from collector.platform import audit, references, time_zones
from collector.platform.access import Actor
from collector.platform.answer_json import read_only
from collector.platform.monitor import merge
from collector.platform.revision import require
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.shapes import members
from collector.platform.validation.validation import ignored, read, to_json
from collector.slos.answers import SloAnswer
from collector.slos.core.settings import MOST_MONITORS, Indicator, SloSettings
from collector.slos.service import states
from collector.slos.service.states import KnownSlo
from collector.slos.storage import slos as table
from collector.slos.storage.slos import SloRow
from shared import ids
from shared.errors import Conflict, Invalid, demand_found

WHAT: Final = "SLO"
MOST: Final = 500
# Fields that a GET shows and that no caller can set.
_READ_ONLY = read_only(SloAnswer, SloSettings)


@dataclass(frozen=True, slots=True)
class SavedSlo:
    """An SLO after a change, with warnings about it."""

    known: KnownSlo
    warnings: list[str]


def settable(row: SloRow) -> dict[str, Any]:
    """Return the writable fields of an SLO, with their current values."""
    return to_json(
        SloSettings(
            name=row.name,
            description=row.description,
            target=row.target,
            period=row.period,
            timezone=row.timezone,
            indicator=indicator_of(row),
            monitors=[ids.show("mon", id_) for id_ in row.monitors],
            groups=list(row.groups),
            tags=dict(row.tags) if isinstance(row.tags, Mapping) else list(row.tags),
            combine=row.combine,
        )
    )


def indicator_of(row: SloRow) -> Indicator:
    """Return the indicator of a stored SLO."""
    return Indicator(type=row.indicator, threshold_ms=row.threshold_ms)


async def page(db: Db, team_id: int, now: datetime, limit: int, offset: int) -> tuple[list[KnownSlo], int]:
    """Return SLOs with their states, newest first, and their total number."""
    async with db.connection() as tx:
        total = await table.count(tx, team_id)
        rows = await table.newest(tx, team_id, limit, offset) if offset < total else []
    return [KnownSlo(row, await states.state_of(db, row, now)) for row in rows], total


async def one(db: Db, team_id: int, id_: UUID, now: datetime) -> KnownSlo:
    """Return an SLO with its state. Raises NotFound."""
    async with db.connection() as tx:
        row = demand_found(await table.get(tx, team_id, id_), WHAT)
    return KnownSlo(row, await states.state_of(db, row, now))


async def create(db: Db, who: Actor, body: Mapping[str, Any], now: datetime) -> SavedSlo:
    """Create an SLO. Raises Invalid; Conflict if the team has too many."""
    async with db.transaction() as tx:
        settings, unknown = await _checked(tx, who.team_id, body, _sent(body), known=())
        if await table.count(tx, who.team_id) >= MOST:
            raise Conflict(f"A team has {MOST} SLOs at most")
        row = SloRow(
            team_id=who.team_id,
            id=ids.uuid7(),
            **_columns(settings),
            revision=1,
            created_at=now,
            updated_at=now,
        )
        await table.insert(tx, row)
        await audit.record(tx, who, "create", "slo", ids.show("slo", row.id), name=row.name)
        return await _saved(tx, row, unknown, now)


async def update(
    db: Db,
    who: Actor,
    id_: UUID,
    body: Mapping[str, Any],
    now: datetime,
    *,
    only: frozenset[str] | None = None,
) -> SavedSlo:
    """Update an SLO; without a change the revision stays. *only*: the accepted revisions.

    Raises NotFound, PreconditionFailed, Invalid, in this order.
    """
    async with db.transaction() as tx:
        before = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        require(before.revision, only)
        shown, sent = settable(before), _sent(body)
        if isinstance(sent.get("indicator"), Mapping):
            sent["indicator"] = merge(shown["indicator"], sent["indicator"])
        settings, unknown = await _checked(tx, who.team_id, body, shown | sent, known=before.monitors)
        after = replace(before, **_columns(settings))
        if after != before:
            after = replace(after, revision=before.revision + 1, updated_at=now)
            await table.save(tx, after)
            fields = audit.differing(shown, settable(after))
            await audit.record(tx, who, "update", "slo", ids.show("slo", id_), name=after.name, fields=fields)
        return await _saved(tx, after, unknown, now)


async def delete(db: Db, who: Actor, id_: UUID, *, only: frozenset[str] | None = None) -> None:
    """Delete an SLO. Raises NotFound, PreconditionFailed."""
    async with db.transaction() as tx:
        row = demand_found(await table.lock(tx, who.team_id, id_), WHAT)
        require(row.revision, only)
        await table.delete(tx, who.team_id, id_)
        await audit.record(tx, who, "delete", "slo", ids.show("slo", id_), name=row.name)


def _sent(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in members(SloSettings) if name in body}


async def _checked(
    tx: Tx, team_id: int, body: Mapping[str, Any], values: Mapping[str, Any], known: Collection[UUID]
) -> tuple[SloSettings, list[str]]:
    """Return the valid settings and the unknown fields. Raises Invalid with all faults."""
    unknown = [name for name in body if name not in {*members(SloSettings), *_READ_ONLY}]
    parsed = read(SloSettings, values)
    named = references.many("mon", "monitors", values.get("monitors"))
    new = {key: id_ for key, id_ in named.items() if id_ not in known}
    there = await monitors.known(tx, team_id, list(new.values())) if new else set()
    faults = {**parsed.faults, **references.strangers(new, there, "there is no such monitor")}
    if faults or parsed.value is None:
        raise Invalid(faults)
    return parsed.value, [*unknown, *parsed.unknown]


def _columns(settings: SloSettings) -> dict[str, Any]:
    named = references.many("mon", "monitors", settings.monitors)
    return {
        "name": settings.name,
        "description": settings.description,
        "target": settings.target,
        "period": settings.period,
        "timezone": time_zones.canonical(settings.timezone),
        "indicator": settings.indicator.type,
        "threshold_ms": settings.indicator.threshold_ms,
        "combine": settings.combine,
        "monitors": list(dict.fromkeys(named.values())),
        "groups": list(dict.fromkeys(settings.groups)),
        "tags": settings.tags,
    }


async def _saved(tx: Tx, row: SloRow, unknown: Sequence[str], now: datetime) -> SavedSlo:
    known = KnownSlo(row, await states.state(tx, row, now))
    warnings = ignored(unknown)
    if not known.state.monitors:
        warnings.append("no monitor is selected as things are")
    if len(known.state.monitors) == MOST_MONITORS:
        warnings.append(f"only the first {MOST_MONITORS} monitors by name count")
    return SavedSlo(known, warnings)
