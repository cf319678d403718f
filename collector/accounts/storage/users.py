"""Users of a team, their passwords and invitations."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.access import Role
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class User:
    """*invited_until* is None once the invitation was accepted."""

    team_id: int
    id: UUID
    email: str
    name: str
    role: Role
    created_at: datetime
    invited_until: datetime | None


_NAMES = tuple(each.name for each in fields(User))
_COLUMNS = ", ".join(_NAMES)


async def page(tx: Tx, team_id: int, limit: int | None, offset: int) -> tuple[list[User], int]:
    """Return a page of users, newest first, and their number."""
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS} FROM users WHERE team_id = $1
        ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3
        """,
        team_id, limit, offset,
    )  # fmt: skip
    total: int = await tx.fetchval("SELECT count(*) FROM users WHERE team_id = $1", team_id)
    return [User(**row) for row in rows], total


async def get(tx: Tx, team_id: int, id_: UUID) -> User | None:
    row = await tx.fetchrow(f"SELECT {_COLUMNS} FROM users WHERE team_id = $1 AND id = $2", team_id, id_)
    return User(**row) if row else None


async def hold(tx: Tx, team_id: int, id_: UUID) -> User | None:
    """Return the user, with the role locked until the transaction ends."""
    row = await tx.fetchrow(
        f"SELECT {_COLUMNS} FROM users WHERE team_id = $1 AND id = $2 FOR SHARE", team_id, id_
    )
    return User(**row) if row else None


async def lock(tx: Tx, team_id: int, id_: UUID) -> dict[UUID, User]:
    """Lock the user and every admin of the team in order, so that admins who remove each other wait."""
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS} FROM users WHERE team_id = $1 AND (role = 'admin' OR id = $2)
        ORDER BY id FOR UPDATE
        """,
        team_id, id_,
    )  # fmt: skip
    return {row["id"]: User(**row) for row in rows}


async def first_admin(tx: Tx, team_id: int) -> User | None:
    """Return the team's oldest admin."""
    row = await tx.fetchrow(
        f"""
        SELECT {_COLUMNS} FROM users WHERE team_id = $1 AND role = 'admin'
        ORDER BY created_at, id LIMIT 1 FOR SHARE
        """,
        team_id,
    )
    return User(**row) if row else None


async def with_email(tx: Tx, email: str) -> list[User]:
    """Return the users with the address, in any team."""
    rows = await tx.fetch(
        f"SELECT {_COLUMNS} FROM users WHERE lower(email) = lower($1) ORDER BY team_id", email
    )
    return [User(**row) for row in rows]


async def with_passwords(tx: Tx, email: str, limit: int) -> list[tuple[User, str]]:
    """Return the users with the address and a password, in any team, with the stored hash."""
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS}, password FROM users WHERE lower(email) = lower($1) AND password IS NOT NULL
        ORDER BY team_id LIMIT $2
        """,
        email,
        limit,
    )
    return [(User(*(row[name] for name in _NAMES)), row["password"]) for row in rows]


async def insert(tx: Tx, user: User, invitation: bytes) -> None:
    """Insert a user. Raises UniqueViolationError if the address is in use in the team."""
    await tx.execute(
        """
        INSERT INTO users (team_id, id, email, name, role, created_at, invited_until, invitation)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """,
        user.team_id, user.id, user.email, user.name, user.role, user.created_at, user.invited_until,
        invitation,
    )  # fmt: skip


async def save(tx: Tx, team_id: int, id_: UUID, email: str, name: str, role: str) -> None:
    """Save a user. A new address or role ends password links, a new address also an invitation.

    Raises UniqueViolationError if another user of the team has the address.
    """
    await tx.execute(
        """
        WITH changed AS (
            SELECT lower(email) <> lower($3) AS address, role <> $5 AS role
            FROM users WHERE team_id = $1 AND id = $2
        ), ended AS (
            DELETE FROM password_links
            WHERE team_id = $1 AND user_id = $2 AND EXISTS (SELECT FROM changed WHERE address OR role)
        )
        UPDATE users SET email = $3, name = $4, role = $5,
            invitation = CASE WHEN (SELECT address FROM changed) THEN NULL ELSE invitation END
        WHERE team_id = $1 AND id = $2
        """,
        team_id, id_, email, name, role,
    )  # fmt: skip


async def invite(tx: Tx, team_id: int, id_: UUID, invitation: bytes, until: datetime) -> None:
    """Replace the user's invitation."""
    await tx.execute(
        "UPDATE users SET invitation = $3, invited_until = $4 WHERE team_id = $1 AND id = $2",
        team_id, id_, invitation, until,
    )  # fmt: skip


async def invited(tx: Tx, invitation: bytes) -> User | None:
    """Return the user whose invitation hashes to *invitation*, locked."""
    row = await tx.fetchrow(f"SELECT {_COLUMNS} FROM users WHERE invitation = $1 FOR UPDATE", invitation)
    return User(**row) if row else None


async def set_password(tx: Tx, team_id: int, id_: UUID, password: str) -> None:
    """Set a hashed *password*; an invitation and all password links end."""
    await tx.execute(
        """
        UPDATE users SET password = $3, invitation = NULL, invited_until = NULL
        WHERE team_id = $1 AND id = $2
        """,
        team_id, id_, password,
    )  # fmt: skip
    # A statement of its own also sees links that were made while this waited for the user's lock.
    await tx.execute("DELETE FROM password_links WHERE team_id = $1 AND user_id = $2", team_id, id_)


async def note_sign_in(tx: Tx, team_id: int, id_: UUID, now: datetime) -> None:
    """Record the first sign-in, of any kind, which ends the link to set up the console."""
    await tx.execute(
        "UPDATE users SET signed_in_at = $3 WHERE team_id = $1 AND id = $2 AND signed_in_at IS NULL",
        team_id, id_, now,
    )  # fmt: skip
    await tx.execute(
        "DELETE FROM password_links WHERE team_id = $1 AND user_id = $2 AND kind = 'first'", team_id, id_
    )


async def save_display(tx: Tx, team_id: int, id_: UUID, display: Mapping[str, Any]) -> None:
    """Save how the user wants the console shown."""
    await tx.execute("UPDATE users SET display = $3 WHERE team_id = $1 AND id = $2", team_id, id_, display)


async def newcomer(tx: Tx) -> User | None:
    """Return the oldest admin of the oldest team, unless that user has set up the console."""
    row = await tx.fetchrow(
        f"""
        SELECT {_COLUMNS} FROM users
        WHERE password IS NULL AND signed_in_at IS NULL AND (team_id, id) = (
            SELECT team_id, id FROM users WHERE role = 'admin' ORDER BY team_id, created_at, id LIMIT 1
        )
        """
    )
    return User(**row) if row else None


async def password(tx: Tx, team_id: int, id_: UUID) -> str | None:
    """Return the user's hashed password."""
    found: str | None = await tx.fetchval(
        "SELECT password FROM users WHERE team_id = $1 AND id = $2", team_id, id_
    )
    return found


async def anybody_has_password(tx: Tx) -> bool:
    """Whether any user of any team has a password."""
    return bool(await tx.fetchval("SELECT EXISTS (SELECT FROM users WHERE password IS NOT NULL)"))


async def delete(tx: Tx, team_id: int, id_: UUID) -> None:
    """Delete the user with all tokens."""
    await tx.execute("DELETE FROM tokens WHERE team_id = $1 AND user_id = $2", team_id, id_)
    await tx.execute("DELETE FROM users WHERE team_id = $1 AND id = $2", team_id, id_)
