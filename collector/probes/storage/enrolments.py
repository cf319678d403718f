"""Enrolled probes and the certificates that they were issued."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Enrolled:
    """The enrolment data of a probe; *team_id* None: it serves every team."""

    probe_id: UUID
    team_id: int | None
    locations: Sequence[str]
    key_hash: bytes
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """*serial* has 20 bytes; *authority* is the issuer's fingerprint."""

    serial: bytes
    probe_id: UUID
    authority: bytes
    issued_at: datetime
    not_after: datetime


_COLUMNS = "probe_id, team_id, locations, key_hash, revoked_at"


async def with_key(tx: Tx, key_hash: bytes) -> Enrolled | None:
    """The probe with this key, locked."""
    row = await tx.fetchrow(f"SELECT {_COLUMNS} FROM probes WHERE key_hash = $1 FOR UPDATE", key_hash)
    return Enrolled(**row) if row else None


async def one(tx: Tx, probe_id: UUID) -> Enrolled | None:
    """The probe, locked."""
    row = await tx.fetchrow(
        f"SELECT {_COLUMNS} FROM probes WHERE probe_id = $1 AND key_hash IS NOT NULL FOR UPDATE", probe_id
    )
    return Enrolled(**row) if row else None


async def put(tx: Tx, probe: Enrolled, *, name: str, may_stand_in: bool, now: datetime) -> None:
    """Insert the probe, or update the locations of the one with its id; an existing name stays."""
    await tx.execute(
        """
        INSERT INTO probes (probe_id, team_id, name, locations, key_hash, may_stand_in, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (probe_id) DO UPDATE SET locations = $4, may_stand_in = $6,
            stood = ARRAY(SELECT DISTINCT unnest(probes.stood || probes.locations))
        """,
        probe.probe_id, probe.team_id, name, list(probe.locations), probe.key_hash, may_stand_in, now,
    )  # fmt: skip


async def note(tx: Tx, certificate: IssuedCertificate) -> None:
    """Store a certificate, and delete the probe's expired ones."""
    await tx.execute(
        "DELETE FROM probe_certificates WHERE probe_id = $1 AND not_after < $2",
        certificate.probe_id,
        certificate.issued_at,
    )
    await tx.execute(
        """
        INSERT INTO probe_certificates (serial, probe_id, authority, issued_at, not_after)
        VALUES ($1, $2, $3, $4, $5)
        """,
        certificate.serial, certificate.probe_id, certificate.authority, certificate.issued_at,
        certificate.not_after,
    )  # fmt: skip


async def newest(tx: Tx, probe_ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """The expiry of the newest certificate of each probe."""
    rows = await tx.fetch(
        """
        SELECT probe_id, max(not_after) AS not_after FROM probe_certificates
        WHERE probe_id = ANY ($1) GROUP BY probe_id
        """,
        probe_ids,
    )
    return {row["probe_id"]: row["not_after"] for row in rows}


async def revoked(tx: Tx, probe_ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """The revoked ones of *probe_ids*, with the time of revocation."""
    rows = await tx.fetch(
        "SELECT probe_id, revoked_at FROM probes WHERE probe_id = ANY ($1) AND revoked_at IS NOT NULL",
        probe_ids,
    )
    return {row["probe_id"]: row["revoked_at"] for row in rows}
