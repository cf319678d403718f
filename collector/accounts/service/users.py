"""Users of a team: invite, update, remove. A token never grants more than its user's role."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

import asyncpg
from annotated_types import MaxLen, MinLen, Predicate

from collector.accounts.answers import UserAnswer
from collector.accounts.service import password_hashes
from collector.accounts.storage import console_sessions, removed_users, tokens
from collector.accounts.storage import users as table
from collector.accounts.storage.removed_users import RemovedUser
from collector.accounts.storage.users import User
from collector.console.display import Display
from collector.platform import audit, time_zones
from collector.platform.access import ROLES, Actor, Role, beyond, operator
from collector.platform.answer_json import read_only
from collector.platform.fields import Email
from collector.platform.monitor import has_ink
from collector.platform.secret_hash import secret_hash
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import check, to_json
from shared import ids
from shared.errors import Conflict, Invalid, NotFound, demand_found
from shared.ids import uuid7
from shared.kinds.fields import ErrorText

WHAT = "User"
# The queue of users who sign in or set a password.
PEOPLE = "people"
INVITED_FOR = timedelta(days=7)
_ENDED = "the invitation to the old address has ended: send it again"
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1024


def is_line(text: str) -> bool:
    return has_ink(text) and text.isprintable()


Name = Annotated[
    str,
    MinLen(1),
    MaxLen(100),
    Predicate(is_line),
    ErrorText("must be 1 to 100 printable characters, not all blank"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """The fields that a caller may set."""

    email: Email
    """Mail address, which the user signs in with."""
    name: Name
    """Name of the user, 1 to 100 characters."""
    role: Role
    """Role: admins manage users and tokens, editors change everything else, viewers read."""


# A GET shows them, and no caller can set them.
_READ_ONLY = read_only(UserAnswer, UserSettings)


@dataclass(frozen=True, slots=True)
class UserDetails:
    """A user; *secret*: of the invitation, shown once; *unknown*: fields of the body that were ignored."""

    user: User
    secret: str | None
    unknown: list[str]
    warnings: tuple[str, ...] = ()


async def page(db: Db, team_id: int, limit: int | None, offset: int) -> tuple[list[User], int]:
    """Return a page of users, newest first, and their number."""
    async with db.connection() as tx:
        return await table.page(tx, team_id, limit, offset)


async def one(db: Db, team_id: int, id_: UUID) -> User:
    """Return a user. Raises NotFound."""
    async with db.connection() as tx:
        return demand_found(await table.get(tx, team_id, id_), WHAT)


async def invite(db: Db, who: Actor, body: Mapping[str, Any], now: datetime) -> UserDetails:
    """Invite a user, who sets a password by the invitation. Raises Invalid, Conflict."""
    sent = _settable(body)
    email = sent.get("email")
    named = {"name": email.partition("@")[0][:100]} if isinstance(email, str) else {}
    settings, unknown = check(UserSettings, {"role": "viewer", **named, **sent})
    user = User(who.team_id, uuid7(), settings.email, settings.name, settings.role, now, now + INVITED_FOR)
    secret = secrets.token_urlsafe(32)
    try:
        async with db.transaction() as tx:
            await table.insert(tx, user, secret_hash(secret))
            await audit.record(tx, who, "create", "user", _shown(user.id), name=user.email)
    except asyncpg.UniqueViolationError:
        raise _taken(settings.email) from None
    return UserDetails(user, secret, unknown)


async def invite_again(db: Db, who: Actor, id_: UUID, now: datetime) -> UserDetails:
    """Replace an invitation. Raises NotFound; Conflict if the user has joined."""
    async with db.transaction() as tx:
        user = demand_found((await table.lock(tx, who.team_id, id_)).get(id_), WHAT)
        if user.invited_until is None:
            raise Conflict("This user has joined already")
        user, secret = replace(user, invited_until=now + INVITED_FOR), secrets.token_urlsafe(32)
        await table.invite(tx, who.team_id, id_, secret_hash(secret), now + INVITED_FOR)
        await audit.record(tx, who, "invite", "user", _shown(id_), name=user.email)
    return UserDetails(user, secret, [])


async def accept(db: Db, secret: str, password: str, now: datetime) -> User:
    """Accept an invitation, once. Raises Invalid for a bad password, NotFound for an invalid invitation."""
    _demand_length(password)
    async with db.connection() as tx:
        await _invited(tx, secret, now)
    # Hashing is slow on purpose: it runs outside the transaction, and only for a valid invitation.
    kept = await stored(password)
    async with db.transaction() as tx:
        user = await _invited(tx, secret, now)
        await table.set_password(tx, user.team_id, user.id, kept)
        who = Actor(user.team_id, _shown(user.id), user.name)
        await audit.record(tx, who, "join", "user", _shown(user.id), name=user.email)
    return replace(user, invited_until=None)


async def update(db: Db, who: Actor, id_: UUID, body: Mapping[str, Any]) -> UserDetails:
    """Update a user; a lower role also lowers their tokens' permissions, a higher one raises none.

    Raises NotFound, Invalid; Conflict for the last admin and for an address in use.
    """
    try:
        async with db.transaction() as tx:
            locked = await table.lock(tx, who.team_id, id_)
            before = demand_found(locked.get(id_), WHAT)
            old = UserSettings(email=before.email, name=before.name, role=before.role)
            settings, unknown = check(UserSettings, {**to_json(old), **_settable(body)})
            named = [name for name, value in to_json(settings).items() if value != to_json(old)[name]]
            after = replace(before, email=settings.email, name=settings.name, role=settings.role)
            if named:
                await _save(tx, before, after, locked)
                await audit.record(tx, who, "update", "user", _shown(id_), name=after.email, fields=named)
    except asyncpg.UniqueViolationError:
        raise _taken(settings.email) from None
    ended = before.invited_until is not None and before.email.lower() != after.email.lower()
    return UserDetails(after, None, unknown, (_ENDED,) if ended else ())


async def set_display(db: Db, team_id: int, id_: UUID, body: Mapping[str, Any]) -> None:
    """Save how a user wants the console shown. Raises Invalid."""
    display, _ = check(Display, body)
    named = None if display.timezone is None else time_zones.canonical(display.timezone)
    async with db.transaction() as tx:
        await table.save_display(tx, team_id, id_, asdict(replace(display, timezone=named)))


async def delete(db: Db, who: Actor, id_: UUID) -> None:
    """Delete a user with all tokens; what is kept of the user's actions loses the name.

    Raises NotFound; Conflict for the last admin.
    """
    async with db.transaction() as tx:
        locked = await table.lock(tx, who.team_id, id_)
        user = demand_found(locked.get(id_), WHAT)
        if user.role == "admin":
            _demand_another(locked, id_)
        await table.delete(tx, who.team_id, id_)
        removed = await _removed(tx, user)
        await audit.record(tx, who, "delete", "user", removed.id, name=removed.label)
        await removed_users.forget(tx, removed)


async def _removed(tx: Tx, user: User) -> RemovedUser:
    number = await removed_users.number(tx, user.team_id)
    names = await removed_users.names(tx, user.team_id, _shown(user.id), user.name)
    return RemovedUser(user.team_id, _shown(user.id), names, user.email, f"removed user {number}")


async def set_password(db: Db, email: str, team_id: int | None, password: str) -> None:
    """Set a password as the operator; *team_id*: needed if users of several teams have this address.

    Raises Invalid for a bad password, NotFound.
    """
    kept = await stored(password)
    async with db.transaction() as tx:
        user = await only_with_email(tx, email, team_id)
        await table.set_password(tx, user.team_id, user.id, kept)
        await console_sessions.end_all(tx, user.team_id, user.id)
        by = operator(user.team_id)
        await audit.record(tx, by, "set-password", "user", _shown(user.id), name=user.email)


async def only_with_email(tx: Tx, email: str, team_id: int | None) -> User:
    """Return the only user with the address, in the team if one is given. Raises NotFound."""
    known = await table.with_email(tx, email)
    users = [user for user in known if team_id is None or user.team_id == team_id]
    if len(users) != 1:
        raise NotFound(f"{'several users have' if users else 'no user has'} the address {email}")
    return users[0]


async def stored(password: str) -> str:
    """Return the hash of *password*. Raises Invalid, Limited, Unavailable."""
    _demand_length(password)
    return await password_hashes.stored(password, PEOPLE)


def password_faults(password: str) -> dict[str, str]:
    """Return why the text cannot be a password."""
    if SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        return {}
    return {"password": f"must be {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters long"}


def _demand_length(password: str) -> None:
    if faults := password_faults(password):
        raise Invalid(faults)


async def _invited(tx: Tx, secret: str, now: datetime) -> User:
    user = await table.invited(tx, secret_hash(secret))
    if user is None or user.invited_until is None or now >= user.invited_until:
        raise NotFound("This invitation was used already, or is over: ask for another one")
    return user


async def _save(tx: Tx, before: User, after: User, locked: Mapping[UUID, User]) -> None:
    if before.role == "admin" and after.role != "admin":
        _demand_another(locked, after.id)
    await table.save(tx, after.team_id, after.id, after.email, after.name, after.role)
    most = ROLES[after.role]
    await tokens.lower(tx, after.team_id, after.id, beyond(most), most)


def _demand_another(locked: Mapping[UUID, User], id_: UUID) -> None:
    if not any(user.role == "admin" and user.id != id_ for user in locked.values()):
        raise Conflict("This is the team's last admin: make somebody else an admin first")


def _settable(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in _READ_ONLY}


def _taken(email: str) -> Conflict:
    return Conflict(f"Somebody in this team has the address {email} already")


def _shown(id_: UUID) -> str:
    return ids.show("usr", id_)
