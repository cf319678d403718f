"""Probes as people see them, and their actions on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.probes.core.assignment import LIVE
from collector.probes.core.presence import ProbeStatus


@dataclass(frozen=True, slots=True)
class Probe:
    """*team_id* None: it serves every team. *serial* and *not_after* belong to its newest certificate."""

    probe_id: UUID
    team_id: int | None
    name: str
    locations: Sequence[str]
    stands_in: bool
    version: str
    ended_at: datetime | None
    seen_at: datetime | None
    vitals: dict[str, Any]
    blind_since: datetime | None
    draining_at: datetime | None
    revoked_at: datetime | None
    created_at: datetime
    assigned: int
    serial: bytes | None
    not_after: datetime | None

    def status(self, now: datetime) -> ProbeStatus:
        if self.revoked_at is not None:
            return ProbeStatus.REVOKED
        live = self.ended_at is None and self.seen_at is not None and abs(now - self.seen_at) < LIVE
        if not live:
            return ProbeStatus.OFFLINE
        return ProbeStatus.ONLINE if self.draining_at is None else ProbeStatus.DRAINING


_SELECT = """
    SELECT p.probe_id, p.team_id, p.name, p.locations, p.stands_in, p.version, p.ended_at, p.seen_at,
        p.vitals, p.blind_since, p.draining_at, p.revoked_at, p.created_at, c.serial, c.not_after,
        (SELECT count(*) FROM states s WHERE s.probe_id = p.probe_id) AS assigned
    FROM probes p LEFT JOIN LATERAL (
        SELECT serial, not_after FROM probe_certificates c WHERE c.probe_id = p.probe_id
        ORDER BY not_after DESC LIMIT 1
    ) c ON true
"""


async def all_(tx: Tx) -> list[Probe]:
    """Every probe of the deployment, newest first."""
    rows = await tx.fetch(f"{_SELECT} ORDER BY p.created_at DESC, p.probe_id DESC")
    return [Probe(**row) for row in rows]


async def page(tx: Tx, team_id: int, limit: int | None, offset: int) -> tuple[list[Probe], int]:
    """Probes that serve the team, newest first, and their total number."""
    rows = await tx.fetch(
        f"""
        {_SELECT} WHERE coalesce(p.team_id, $1) = $1
        ORDER BY p.created_at DESC, p.probe_id DESC LIMIT $2 OFFSET $3
        """,
        team_id, limit, offset,
    )  # fmt: skip
    total: int = await tx.fetchval("SELECT count(*) FROM probes WHERE coalesce(team_id, $1) = $1", team_id)
    return [Probe(**row) for row in rows], total


async def one(tx: Tx, team_id: int, probe_id: UUID) -> Probe | None:
    """The probe, if it serves the team."""
    row = await tx.fetchrow(
        f"{_SELECT} WHERE coalesce(p.team_id, $1) = $1 AND p.probe_id = $2", team_id, probe_id
    )
    return Probe(**row) if row else None


async def rename(tx: Tx, probe_id: UUID, name: str) -> None:
    await tx.execute("UPDATE probes SET name = $2 WHERE probe_id = $1", probe_id, name)


async def drain(tx: Tx, probe_id: UUID, at: datetime | None) -> None:
    """Start draining the probe; None ends it. An existing start time stays."""
    await tx.execute(
        """
        UPDATE probes SET draining_at = CASE WHEN $2::timestamptz IS NULL THEN NULL
            ELSE coalesce(draining_at, $2) END
        WHERE probe_id = $1
        """,
        probe_id, at,
    )  # fmt: skip


async def revoke(tx: Tx, probe_id: UUID, now: datetime) -> None:
    """Revoke permanently. Its certificates are deleted, so that their authority can be dropped."""
    await tx.execute(
        "UPDATE probes SET revoked_at = coalesce(revoked_at, $2) WHERE probe_id = $1", probe_id, now
    )
    await tx.execute("DELETE FROM probe_certificates WHERE probe_id = $1", probe_id)
