"""Console sessions; only the SHA-256 of each cookie is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.platform.access import Permission
from collector.platform.storage import second_factor
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A session with its user, and the present state of the token that opened it.

    *token_id* without *token_permission*: the token is deleted. *lacks_second_factor*: its team requires one.
    """

    team_id: int
    id: UUID
    user_id: UUID
    token_id: UUID | None
    hash: bytes
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    name: str
    email: str
    role: str
    display: Mapping[str, Any]
    team_name: str
    plan: str
    token_permission: Permission | None
    expires_at: datetime | None
    revoked_at: datetime | None
    lacks_second_factor: bool


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session as its owner sees it."""

    id: UUID
    created_at: datetime
    seen_at: datetime
    ends_at: datetime
    address: str
    agent: str


async def with_hashes(tx: Tx, hashes: Sequence[bytes]) -> dict[bytes, ConsoleSession]:
    """Return the sessions whose cookies hash to one of *hashes*, ended or not."""
    rows = await tx.fetch(_WITH_HASHES, hashes)
    return {row["hash"]: _session(dict(row)) for row in rows}


_WITH_HASHES = f"""
    SELECT s.team_id, s.id, s.user_id, s.token_id, s.hash, s.created_at, s.seen_at, s.ends_at,
        u.name, u.email, u.role, u.display, m.name AS team_name, m.plan,
        t.permission AS token_permission, t.expires_at, t.revoked_at,
        {second_factor.LACKING} AS lacks_second_factor
    FROM console_sessions s
    JOIN users u ON u.team_id = s.team_id AND u.id = s.user_id
    JOIN teams m ON m.team_id = s.team_id
    LEFT JOIN tokens t ON t.team_id = s.team_id AND t.id = s.token_id
    WHERE s.hash = ANY($1)
"""


async def insert(
    tx: Tx,
    team_id: int,
    id_: UUID,
    user_id: UUID,
    token_id: UUID | None,
    hash_: bytes,
    now: datetime,
    ends_at: datetime,
    address: str,
    agent: str,
    *,
    by_provider: bool,
) -> None:
    await tx.execute(
        """
        INSERT INTO console_sessions
            (team_id, id, user_id, token_id, hash, created_at, seen_at, ends_at, address, agent, by_provider)
        VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10)
        """,
        team_id, id_, user_id, token_id, hash_, now, ends_at, address, agent, by_provider,
    )  # fmt: skip


async def see(tx: Tx, team_id: int, id_: UUID, now: datetime) -> None:
    """Record that the session is in use."""
    await tx.execute(
        "UPDATE console_sessions SET seen_at = $3 WHERE team_id = $1 AND id = $2 AND seen_at < $3",
        team_id, id_, now,
    )  # fmt: skip


async def of_user(tx: Tx, team_id: int, user_id: UUID, now: datetime, idle: timedelta) -> list[ListedSession]:
    """Return the user's live sessions, the last used first."""
    rows = await tx.fetch(
        """
        SELECT id, created_at, seen_at, ends_at, address, agent FROM console_sessions
        WHERE team_id = $1 AND user_id = $2 AND ends_at > $3::timestamptz AND seen_at > $3 - $4::interval
        ORDER BY seen_at DESC, id DESC
        """,
        team_id, user_id, now, idle,
    )  # fmt: skip
    return [ListedSession(**row) for row in rows]


async def end(tx: Tx, team_id: int, user_id: UUID, id_: UUID) -> bool:
    """End one session of the user; False if there was none."""
    done = await tx.execute(
        "DELETE FROM console_sessions WHERE team_id = $1 AND user_id = $2 AND id = $3", team_id, user_id, id_
    )
    return done != "DELETE 0"


async def end_all(tx: Tx, team_id: int, user_id: UUID, but: UUID | None = None) -> None:
    """End all sessions of the user, except for *but*."""
    await tx.execute(
        """
        DELETE FROM console_sessions
        WHERE team_id = $1 AND user_id = $2 AND ($3::uuid IS NULL OR id <> $3)
        """,
        team_id, user_id, but,
    )  # fmt: skip


async def sweep(tx: Tx, team_id: int, now: datetime, idle: timedelta) -> None:
    """Delete the team's sessions that have ended."""
    await tx.execute(
        """
        DELETE FROM console_sessions
        WHERE team_id = $1 AND (ends_at <= $2::timestamptz OR seen_at <= $2 - $3::interval)
        """,
        team_id, now, idle,
    )  # fmt: skip


def _session(row: dict[str, object]) -> ConsoleSession:
    granted = row.pop("token_permission")
    return ConsoleSession(**row, token_permission=None if granted is None else Permission(granted))  # type: ignore[arg-type]  # columns by name
