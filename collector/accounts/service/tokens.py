"""API tokens: create, list, revoke, and look up by value."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from annotated_types import Predicate

from collector.accounts.service.users import Name
from collector.accounts.storage import tokens as table
from collector.accounts.storage import users
from collector.accounts.storage.tokens import ListedToken, Token
from collector.accounts.storage.users import User
from collector.platform import audit, references
from collector.platform.access import MAX_TOKEN, MIN_TOKEN, ROLES, Actor, Permission, counts, permits
from collector.platform.batched_reads import Lookups
from collector.platform.secret_hash import secret_hash
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import read
from shared import ids
from shared.errors import Forbidden, Invalid, NotFound
from shared.ids import uuid7
from shared.kinds.fields import ErrorText
from shared.tokens import PREFIX, checksum_ok, new_token

WHAT = "Token"
LIVES: Mapping[str, timedelta | None] = {
    "never": None,
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
    "1y": timedelta(days=365),
}
# How much of a token of ours may be shown: the prefix, and too little of the rest to guess by.
_NOBODY = {"userId": "there is no such user"}
_HINT = len(PREFIX) + 4


def _is_user_id(text: str) -> bool:
    return ids.read("usr", text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A request for a token; without *user_id* it is the caller's own."""

    name: Name
    """Name of the token, 1 to 255 characters."""
    permission: Literal["read-only", "read-write", "admin"]
    """What the token permits."""
    expires_in: Literal["never", "30d", "90d", "1y"] = "never"
    """How long the token is valid."""
    user_id: Annotated[str, Predicate(_is_user_id), ErrorText("must be the id of a user")] | None = None
    """Id of the user that the token belongs to; without it the caller."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token; its *value* is stored nowhere."""

    token: ListedToken
    value: str
    unknown: list[str]


class StoredTokenFinder:
    """Finds tokens for requests. None is cached, so that a revoked one is refused at once, everywhere."""

    def __init__(self, db: Db) -> None:
        self._lookups = Lookups(db, table.with_hashes)

    async def find(self, value: str, now: datetime) -> Token | None:
        """Return the token with *value*, if it is valid. Raises Unavailable."""
        if not plausible(value):
            return None
        hash_ = secret_hash(value)
        return _counting(await self._lookups.find(hash_), hash_, now)

    async def close(self) -> None:
        await self._lookups.close()


def plausible(value: str) -> bool:
    """Whether *value* may be a token: a bad checksum is refused without a query of the database."""
    if value.startswith(PREFIX):
        return checksum_ok(value)
    return MIN_TOKEN <= len(value) <= MAX_TOKEN


async def find(db: Db, value: str, now: datetime) -> Token | None:
    """Return the token with *value*, if it is valid; for a single look-up."""
    if not plausible(value):
        return None
    hash_ = secret_hash(value)
    async with db.connection() as tx:
        found = await table.with_hashes(tx, [hash_])
    return _counting(found.get(hash_), hash_, now)


async def issue(
    tx: Tx,
    *,
    team_id: int,
    user_id: UUID,
    name: str,
    permission: Permission,
    now: datetime,
    expires_at: datetime | None = None,
    value: str | None = None,
) -> str:
    """Make a token and return its value, which is stored nowhere; *value*: instead of a random one."""
    value = value or new_token()
    await _insert(tx, team_id, uuid7(), user_id, name, permission, value, now, expires_at)
    return value


async def page(db: Db, team_id: int, limit: int | None, offset: int) -> tuple[list[ListedToken], int]:
    """Return a page of tokens that were not revoked, newest first, and their number; without values."""
    async with db.connection() as tx:
        return await table.page(tx, team_id, limit, offset)


async def create(db: Db, who: Actor, user_id: UUID, body: Mapping[str, Any], now: datetime) -> NewToken:
    """Create a token of the user *user_id*, or of the one that the body names.

    Raises Invalid; Forbidden if the caller is no longer an admin.
    """
    found = read(TokenRequest, body)
    named = references.one("usr", "userId", body.get("userId")).get("userId")
    if found.value is None:
        raise Invalid({**await _beside(db, who.team_id, named, body), **found.faults})
    asked, unknown = found.value, found.unknown
    async with db.transaction() as tx:
        user = await users.hold(tx, who.team_id, named or user_id)
        if user is None:
            raise Invalid(_NOBODY)
        wanted = Permission(asked.permission)
        _demand_role(user, wanted, named_by_caller=named is not None)
        made = await make(tx, who, user, asked.name, wanted, LIVES[asked.expires_in], now)
    return NewToken(made.token, made.value, unknown)


async def _beside(db: Db, team_id: int, named: UUID | None, body: Mapping[str, Any]) -> dict[str, str]:
    """Return the faults of the user that a body names, to report beside its other faults."""
    if named is None:
        return {}
    async with db.connection() as tx:
        user = await users.get(tx, team_id, named)
    if user is None:
        return _NOBODY
    wanted = body.get("permission")
    return _beyond(user, Permission(wanted)) if wanted in [each.value for each in Permission] else {}


async def make(
    tx: Tx,
    who: Actor,
    user: User,
    name: str,
    permission: Permission,
    life: timedelta | None,
    now: datetime,
) -> NewToken:
    """Make a token of *user*, whose role is locked; *life* None: until it is revoked."""
    value, id_ = new_token(), uuid7()
    expires_at = now + life if life else None
    await _insert(tx, user.team_id, id_, user.id, name, permission, value, now, expires_at)
    await audit.record(tx, who, "create", "token", ids.show("tok", id_), name=name)
    return NewToken(
        ListedToken(id_, name, permission, value[:_HINT], now, expires_at, user.id, user.name), value, []
    )


async def revoke(db: Db, who: Actor, id_: UUID, now: datetime) -> None:
    """Revoke a token, from the next request on. Raises NotFound, also for a revoked one."""
    async with db.transaction() as tx:
        name = await table.revoke(tx, who.team_id, id_, now)
        if name is None:
            raise NotFound(f"{WHAT} not found")
        await audit.record(tx, who, "revoke", "token", ids.show("tok", id_), name=name)


async def _insert(
    tx: Tx,
    team_id: int,
    id_: UUID,
    user_id: UUID,
    name: str,
    permission: Permission,
    value: str,
    now: datetime,
    expires_at: datetime | None,
) -> None:
    # A token that a user chose may be short: no part of it is shown.
    hint = value[:_HINT] if value.startswith(PREFIX) else ""
    await table.insert(tx, team_id, id_, user_id, name, permission, secret_hash(value), now, expires_at, hint)


def _demand_role(user: User, wanted: Permission, *, named_by_caller: bool) -> None:
    if permits(ROLES[user.role], wanted):
        return
    if not named_by_caller:
        raise Forbidden("You are no admin any more")
    raise Invalid(_beyond(user, wanted))


def _beyond(user: User, wanted: Permission) -> dict[str, str]:
    if permits(ROLES[user.role], wanted):
        return {}
    return {"permission": f"must not grant more than the user's role: {user.role}"}


def _counting(token: Token | None, hash_: bytes, now: datetime) -> Token | None:
    if token is None or not hmac.compare_digest(token.hash, hash_):
        return None
    return token if counts(token.expires_at, token.revoked_at, now) else None
