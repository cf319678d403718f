"""Answers stored for repetition under an Idempotency-Key."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.platform.storage.db import Tx

KEPT_FOR: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A request that may be repeated: its owner, the hash that identifies it, the hash of its body."""

    team_id: int
    token_id: UUID
    key: bytes
    sent: bytes


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The first response; *status* None: it is not known yet."""

    sent: bytes
    status: int | None
    headers: Mapping[str, str]
    answer: bytes | None


async def lock(tx: Tx, keyed: IdempotentRequest) -> bool:
    """Lock this key until the transaction ends; False if another transaction holds it."""
    number = int.from_bytes(keyed.key[:8], "big", signed=True)
    return bool(await tx.fetchval("SELECT pg_try_advisory_xact_lock($1)", number))


async def find(
    tx: Tx, keyed: IdempotentRequest, since: datetime, claimed_since: datetime
) -> StoredAnswer | None:
    """Return what was stored after *since*, or claimed after *claimed_since*."""
    row = await tx.fetchrow(
        """
        SELECT sent, status, headers, answer FROM idempotency_keys
        WHERE team_id = $1 AND token_id = $2 AND key = $3
            AND created_at > CASE WHEN status IS NULL THEN $5 ELSE $4::timestamptz END
        """,
        keyed.team_id, keyed.token_id, keyed.key, since, claimed_since,
    )  # fmt: skip
    return StoredAnswer(**row) if row else None


async def keep(tx: Tx, keyed: IdempotentRequest, kept: StoredAnswer, now: datetime) -> None:
    """Store a response, or, without one, a claim."""
    await tx.execute(
        """
        INSERT INTO idempotency_keys (team_id, token_id, key, sent, status, headers, answer, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (team_id, token_id, key) DO UPDATE SET sent = excluded.sent, status = excluded.status,
            headers = excluded.headers, answer = excluded.answer, created_at = excluded.created_at
        """,
        keyed.team_id, keyed.token_id, keyed.key, kept.sent, kept.status, kept.headers, kept.answer, now,
    )  # fmt: skip


async def drop(tx: Tx, keyed: IdempotentRequest) -> None:
    """Delete a claim: the request may be repeated as if for the first time."""
    await tx.execute(
        "DELETE FROM idempotency_keys WHERE team_id = $1 AND token_id = $2 AND key = $3 AND status IS NULL",
        keyed.team_id, keyed.token_id, keyed.key,
    )  # fmt: skip
