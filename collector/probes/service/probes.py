"""Probes: list, rename, drain, revoke; a team its own, the operator all."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from annotated_types import MaxLen, MinLen, Predicate

from collector.platform import audit, signals
from collector.platform.access import DEPLOYMENT, Actor
from collector.platform.monitor import has_ink
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import check
from collector.probes.storage import join_tokens
from collector.probes.storage import reads as table
from collector.probes.storage.reads import Probe
from shared import ids
from shared.clock import iso
from shared.errors import Conflict, Forbidden, NotFound
from shared.kinds.fields import ErrorText

WHAT = "Probe"
_HEARD_WITHIN = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFields:
    """The writable fields of a probe."""

    name: Annotated[str, MinLen(1), MaxLen(100), Predicate(has_ink), ErrorText("must not be blank")]


async def page(db: Db, team_id: int, limit: int | None, offset: int) -> tuple[list[Probe], int]:
    """The team's own and the operator's probes, and their total number."""
    async with db.connection() as tx:
        return await table.page(tx, team_id, limit, offset)


async def all_(db: Db) -> list[Probe]:
    """Every probe, for the operator."""
    async with db.connection() as tx:
        return await table.all_(tx)


async def one(db: Db, team_id: int, probe_id: UUID) -> Probe:
    """A probe that serves the team. Raises NotFound."""
    async with db.connection() as tx:
        return await _found(tx, team_id, probe_id)


async def own(db: Db, team_id: int, probe_id: UUID) -> None:
    """Check that the probe belongs to the team. Raises NotFound, and Forbidden for the operator's."""
    async with db.connection() as tx:
        await _own(tx, team_id, probe_id)


async def rename(db: Db, who: Actor, probe_id: UUID, body: Mapping[str, Any]) -> None:
    """Rename a probe. Raises NotFound, Forbidden for the operator's, and Invalid."""
    async with db.transaction() as tx:
        before = await _own(tx, who.team_id, probe_id)
        fields, _ = check(ProbeFields, {"name": body["name"]} if "name" in body else {})
        await table.rename(tx, probe_id, fields.name)
        if fields.name != before.name:
            shown = ids.show("prb", probe_id)
            await audit.record(tx, who, "update", "probe", shown, name=fields.name, fields=["name"])


async def drain(db: Db, who: Actor, probe_id: UUID, at: datetime | None) -> None:
    """Move its monitors to other probes; with *at* None, let them come back.

    The operator may drain any probe. Raises NotFound, Forbidden, and Conflict for a revoked one.
    """
    async with db.transaction() as tx:
        before = await _reached(tx, who, probe_id)
        if before.revoked_at is not None:
            raise Conflict(f"This probe was revoked at {iso(before.revoked_at)}: it checks nothing")
        await table.drain(tx, probe_id, at)
        if (before.draining_at is None) != (at is None):
            await _record(tx, who, "undrain" if at is None else "drain", before)


async def revoke(db: Db, who: Actor, probe_id: UUID, now: datetime) -> None:
    """Revoke the probe permanently, together with its join token; ring the signals afterwards.

    Raises NotFound and Forbidden.
    """
    async with db.transaction() as tx:
        before = await _reached(tx, who, probe_id)
        await table.revoke(tx, probe_id, now)
        await join_tokens.end_used_by(tx, probe_id, now)
        if before.revoked_at is None:
            await _record(tx, who, "revoke", before)
        await signals.send(tx, "revoked", {"probe": str(probe_id)}, _HEARD_WITHIN)


async def _found(tx: Tx, team_id: int, probe_id: UUID) -> Probe:
    probe = await table.one(tx, team_id, probe_id)
    if probe is None:
        raise NotFound(f"{WHAT} not found")
    return probe


async def _own(tx: Tx, team_id: int, probe_id: UUID) -> Probe:
    probe = await _found(tx, team_id, probe_id)
    if probe.team_id != team_id:
        raise Forbidden("This probe is the operator's and serves every team: tocsin probes changes it")
    return probe


async def _reached(tx: Tx, who: Actor, probe_id: UUID) -> Probe:
    """The probe, if *who* may change it. Raises NotFound and Forbidden."""
    if who.kind != "operator":
        return await _own(tx, who.team_id, probe_id)
    probes = [probe for probe in await table.all_(tx) if probe.probe_id == probe_id]
    if not probes:
        raise NotFound(f"{WHAT} not found")
    return probes[0]


async def _record(tx: Tx, who: Actor, action: str, probe: Probe) -> None:
    """Add an entry to the audit log of the probe's owner."""
    by = replace(who, team_id=DEPLOYMENT if probe.team_id is None else probe.team_id)
    await audit.record(tx, by, action, "probe", ids.show("prb", probe.probe_id), name=probe.name)
