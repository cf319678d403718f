"""One-time links that set a password: the first admin's set-up and requested resets."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from collector.accounts.service import password_hashes, users
from collector.accounts.storage import console_sessions, teams
from collector.accounts.storage import password_links as table
from collector.accounts.storage import users as people
from collector.accounts.storage.password_links import LinkKind, PasswordLinkUser
from collector.accounts.storage.users import User
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.secret_hash import secret_hash
from collector.platform.storage import teams as team_rows
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import check
from shared import ids
from shared.errors import Conflict, Invalid, NotFound

LIFE: Final = timedelta(hours=24)
FIRST_LIFE: Final = timedelta(days=7)
# A request that is repeated sooner gets no second mail.
ASKED_EVERY: Final = timedelta(minutes=5)
# Mailed links of a user that may be open at once: requests in another's name expire none on its way.
_OPEN: Final = 12
_MOST: Final = 16
_OVER: Final = "This link was used already, or is over: ask for another one"


@dataclass(frozen=True, slots=True)
class LinkRecipient:
    """A user who gets a link by mail."""

    user: User
    team: str
    secret: str


async def first(db: Db, team_id: int, user_id: UUID, now: datetime) -> str:
    """Make the secret of a link that lets an admin without a password set up the console; older ones expire.

    Raises Conflict for a user who has a password, or has not joined; NotFound.
    """
    secret = secrets.token_urlsafe(32)
    async with db.transaction() as tx:
        user = (await people.lock(tx, team_id, user_id)).get(user_id)
        if user is None:
            raise NotFound(f"{users.WHAT} not found")
        if await people.password(tx, team_id, user_id) is not None:
            raise Conflict(f"{user.email} has a password: sign in, or set another one by tocsin user passwd")
        if user.invited_until is not None:
            raise Conflict(f"{user.email} has not joined yet: send the invitation again")
        await table.drop(tx, team_id, user_id)
        await table.put(tx, LinkKind.FIRST, team_id, user_id, secret_hash(secret), now, now + FIRST_LIFE)
    return secret


async def first_unless_open(db: Db, user: User, secret: str, now: datetime) -> bool:
    """Make *secret* such a link of *user*, unless one is open, the user has a password, or has signed in."""
    async with db.transaction() as tx:
        await people.lock(tx, user.team_id, user.id)
        newcomer = await people.newcomer(tx)
        if (
            newcomer is None
            or newcomer.id != user.id
            or await table.has_first(tx, user.team_id, user.id, now)
        ):
            return False
        await table.drop(tx, user.team_id, user.id)
        await table.put(tx, LinkKind.FIRST, user.team_id, user.id, secret_hash(secret), now, now + FIRST_LIFE)
    return True


async def first_by_operator(db: Db, team_id: int | None, email: str | None, now: datetime) -> str:
    """Make the secret of a new link of that kind, by default for the oldest admin of the oldest team.

    Raises NotFound, and what `first` raises.
    """
    async with db.connection() as tx:
        if email is not None:
            users = [user for user in await people.with_email(tx, email) if team_id in {None, user.team_id}]
        else:
            team_id = team_id if team_id is not None else await _oldest_team(tx)
            admin = await people.first_admin(tx, team_id)
            users = [admin] if admin else []
    if len(users) != 1:
        raise NotFound(f"{'several users have' if users else 'no user has'} the address {email}")
    return await first(db, users[0].team_id, users[0].id, now)


async def _oldest_team(tx: Tx) -> int:
    listed = await teams.all_(tx)
    if not listed:
        raise NotFound("there is no team yet: start a collector first")
    return listed[0].team_id


async def make(db: Db, who: Actor, user_id: UUID, now: datetime) -> tuple[User, str]:
    """Make a link for an admin to hand to the user. Raises NotFound; Conflict if they have not joined."""
    secret = secrets.token_urlsafe(32)
    async with db.transaction() as tx:
        user = await people.hold(tx, who.team_id, user_id)
        if user is None:
            raise NotFound(f"{users.WHAT} not found")
        if user.invited_until is not None:
            raise Conflict("This user has not joined yet: send the invitation again")
        await table.drop(tx, who.team_id, user_id)
        await table.put(tx, LinkKind.RESET, who.team_id, user_id, secret_hash(secret), now, now + LIFE)
        await audit.record(tx, who, "reset-link", "user", ids.show("usr", user_id), name=user.email)
    return user, secret


async def ask(db: Db, email: str, now: datetime) -> list[LinkRecipient]:
    """Make links for the joined users with the address, except for those who got one a moment ago."""
    asked: list[LinkRecipient] = []
    async with db.transaction() as tx:
        joined = [user for user in await people.with_email(tx, email) if user.invited_until is None]
        for user in joined[:_MOST]:
            last = await table.sent_at(tx, user.team_id, user.id)
            if last is not None and now - last < ASKED_EVERY:
                continue
            secret, team = secrets.token_urlsafe(32), await team_rows.get(tx, user.team_id)
            await table.put(tx, LinkKind.RESET, user.team_id, user.id, secret_hash(secret), now, now + LIFE)
            await table.keep_newest(tx, user.team_id, user.id, _OPEN)
            asked.append(LinkRecipient(user, team.name if team else "", secret))
    return asked


async def find(db: Db, kind: LinkKind, secret: str, now: datetime) -> PasswordLinkUser:
    """Return the link's user. Raises NotFound if it was used, has expired, or is of another kind."""
    async with db.transaction() as tx:
        return await _found(tx, kind, secret, now)


async def invited(db: Db, secret: str, now: datetime) -> User:
    """Return the user of an invitation without using it. Raises NotFound."""
    async with db.transaction() as tx:
        user = await people.invited(tx, secret_hash(secret))
    if user is None or user.invited_until is None or now >= user.invited_until:
        raise NotFound("This invitation was used already, or is over: ask for another one")
    return user


async def change(db: Db, who: Actor, user_id: UUID, old: str, new: str, but: UUID) -> None:
    """Change a user's own password and end their sessions, except for *but*. Raises Invalid."""
    async with db.connection() as tx:
        kept = await people.password(tx, who.team_id, user_id)
    if kept is not None and not await password_hashes.matches(
        old[: users.LONGEST_PASSWORD], kept, users.PEOPLE
    ):
        raise Invalid({"old": "is wrong"})
    made = await users.stored(new)
    async with db.transaction() as tx:
        await people.set_password(tx, who.team_id, user_id, made)
        await console_sessions.end_all(tx, who.team_id, user_id, but)
        await audit.record(tx, who, "set-password", "user", ids.show("usr", user_id), name=who.name)


async def use(
    db: Db,
    kind: LinkKind,
    secret: str,
    password: str,
    now: datetime,
    named: Mapping[str, Any] | None = None,
) -> User:
    """Set the password, once; all sessions of the user end. *named*: the first admin's name and address.

    Raises Invalid, NotFound.
    """
    await find(db, kind, secret, now)
    # Hashing is slow on purpose, and is only done for a valid link.
    kept = await users.stored(password)
    async with db.transaction() as tx:
        linked = await _found(tx, kind, secret, now)
        user = await people.hold(tx, linked.team_id, linked.user_id)
        if user is None:
            raise NotFound(f"{users.WHAT} not found")
        if named is not None:
            user = await _named(tx, user, named)
        await people.set_password(tx, user.team_id, user.id, kept)
        await console_sessions.end_all(tx, user.team_id, user.id)
        shown = ids.show("usr", user.id)
        who = Actor(user.team_id, shown, user.name)
        await audit.record(tx, who, "set-password", "user", shown, name=user.email)
    return user


async def _named(tx: Tx, user: User, named: Mapping[str, Any]) -> User:
    settings, _ = check(users.UserSettings, {"role": user.role, **named})
    await people.save(tx, user.team_id, user.id, settings.email, settings.name, user.role)
    return replace(user, email=settings.email, name=settings.name)


async def _found(tx: Tx, kind: LinkKind, secret: str, now: datetime) -> PasswordLinkUser:
    linked = await table.with_hash(tx, kind, secret_hash(secret))
    if linked is None or now >= linked.until:
        raise NotFound(_OVER)
    return linked
