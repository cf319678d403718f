"""The deployment's certificate authorities: one, or two during a rotation."""

from dataclasses import dataclass
from datetime import datetime

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class AuthorityRow:
    """*certificate* is DER; *sealed_key* can be unsealed only for its own row."""

    fingerprint: bytes
    certificate: bytes
    sealed_key: bytes
    created_at: datetime
    not_after: datetime


async def lock(tx: Tx) -> None:
    """Lock out other writers until the transaction ends; readers do not wait."""
    await tx.execute("LOCK TABLE authorities IN SHARE ROW EXCLUSIVE MODE")


async def all_(tx: Tx) -> list[AuthorityRow]:
    """All authorities, oldest first."""
    rows = await tx.fetch(
        """
        SELECT fingerprint, certificate, sealed_key, created_at, not_after
        FROM authorities ORDER BY created_at, fingerprint
        """
    )
    return [AuthorityRow(**row) for row in rows]


async def insert(tx: Tx, row: AuthorityRow) -> None:
    await tx.execute(
        """
        INSERT INTO authorities (fingerprint, certificate, sealed_key, created_at, not_after)
        VALUES ($1, $2, $3, $4, $5)
        """,
        row.fingerprint, row.certificate, row.sealed_key, row.created_at, row.not_after,
    )  # fmt: skip


async def drop_unused(tx: Tx, before: datetime, now: datetime) -> list[bytes]:
    """Delete authorities without valid certificates that have a successor created at *before* or earlier."""
    rows = await tx.fetch(
        """
        DELETE FROM authorities old
        WHERE EXISTS (SELECT FROM authorities a WHERE a.created_at > old.created_at AND a.created_at <= $1)
            AND NOT EXISTS (
                SELECT FROM probe_certificates c WHERE c.authority = old.fingerprint AND c.not_after > $2
            )
        RETURNING fingerprint
        """,
        before, now,
    )  # fmt: skip
    return [row["fingerprint"] for row in rows]
