"""One-time password links; only the SHA-256 of each secret is stored."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from collector.platform.storage.db import Tx


class LinkKind(StrEnum):
    """The purpose of a link: set up a new console as the first admin, or set a new password."""

    FIRST = "first"
    RESET = "reset"


@dataclass(frozen=True, slots=True)
class PasswordLinkUser:
    """The user of a link, and when it expires."""

    team_id: int
    user_id: UUID
    email: str
    name: str
    until: datetime


async def put(
    tx: Tx, kind: LinkKind, team_id: int, user_id: UUID, hash_: bytes, now: datetime, until: datetime
) -> None:
    """Add a link of the user."""
    await tx.execute(
        """
        INSERT INTO password_links (kind, team_id, user_id, hash, until, sent_at)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        kind.value, team_id, user_id, hash_, until, now,
    )  # fmt: skip


async def sent_at(tx: Tx, team_id: int, user_id: UUID) -> datetime | None:
    """Return when the user's newest link was made, if there is one."""
    moment: datetime | None = await tx.fetchval(
        "SELECT max(sent_at) FROM password_links WHERE team_id = $1 AND user_id = $2", team_id, user_id
    )
    return moment


async def has_first(tx: Tx, team_id: int, user_id: UUID, now: datetime) -> bool:
    """Whether a link to set up the console is still open."""
    found: bool = await tx.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM password_links WHERE team_id = $1 AND user_id = $2 AND kind = 'first' AND until > $3
        )
        """,
        team_id, user_id, now,
    )  # fmt: skip
    return found


async def with_hash(tx: Tx, kind: LinkKind, hash_: bytes) -> PasswordLinkUser | None:
    """Return the user whose secret of that kind hashes to *hash_*, with the link locked."""
    row = await tx.fetchrow(
        """
        SELECT l.team_id, l.user_id, u.email, u.name, l.until
        FROM password_links l JOIN users u ON u.team_id = l.team_id AND u.id = l.user_id
        WHERE l.hash = $1 AND l.kind = $2 FOR UPDATE OF l
        """,
        hash_,
        kind.value,
    )
    return PasswordLinkUser(**row) if row else None


async def drop(tx: Tx, team_id: int, user_id: UUID) -> None:
    """Delete all of the user's links."""
    await tx.execute("DELETE FROM password_links WHERE team_id = $1 AND user_id = $2", team_id, user_id)


async def keep_newest(tx: Tx, team_id: int, user_id: UUID, most: int) -> None:
    """Delete the oldest of the user's links to a new password, so that *most* are left."""
    await tx.execute(
        """
        DELETE FROM password_links WHERE hash IN (
            SELECT hash FROM password_links WHERE team_id = $1 AND user_id = $2 AND kind = 'reset'
            ORDER BY sent_at DESC, hash OFFSET $3
        )
        """,
        team_id, user_id, most,
    )  # fmt: skip
