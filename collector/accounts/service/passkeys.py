"""Passkeys: registered by users who are signed in, and used as a second step or instead of a password."""

import base64
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import orjson

from collector.accounts.core import webauthn
from collector.accounts.core.webauthn import (
    KnownCredential,
    NewCredential,
    PasskeyAssertion,
    PasskeyFault,
    RelyingParty,
)
from collector.accounts.service import two_factor
from collector.accounts.storage import console_sessions, users
from collector.accounts.storage import passkeys as table
from collector.accounts.storage import two_factor as second_factors
from collector.accounts.storage.passkeys import Passkey
from collector.accounts.storage.users import User
from collector.console.visitor import Browser
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.seal import Keyring, SealScope, Unsealable
from collector.platform.secret_hash import secret_hash
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.errors import Conflict, Invalid, NotFound
from shared.ids import uuid7

WHAT: Final = "Passkey"
PREFIX: Final = "pky"
LONGEST_NAME: Final = 60
MOST: Final = 20
# How long a challenge may be answered.
PATIENCE: Final = timedelta(minutes=5)
_ATTEMPT: Final = SealScope(0, "passkeys", "attempt", "challenge")
_TEAM_BYTES: Final = 4
_UUID_BYTES: Final = 16


class Purpose(StrEnum):
    """What a challenge may be answered for."""

    REGISTRATION = "registration"
    SECOND_STEP = "second step"
    SIGN_IN = "sign-in"


@dataclass(frozen=True, slots=True)
class PasskeyAttempt:
    """A challenge for one purpose.

    *bound*: the session, or in hex the handle of the user, that it is for; empty for a sign-in.
    """

    purpose: Purpose
    bound: str
    challenge: bytes
    ends_at: datetime

    def sealed(self, keyring: Keyring) -> str:
        """Return the attempt for the browser to keep, unreadable and unchangeable there."""
        content = [self.purpose, self.bound, webauthn.encoded(self.challenge), int(self.ends_at.timestamp())]
        return base64.urlsafe_b64encode(keyring.seal(orjson.dumps(content), _ATTEMPT)).decode()


@dataclass(frozen=True, slots=True)
class Registration:
    """What a browser brings of a new passkey."""

    name: str
    client_data: bytes
    authenticator_data: bytes
    public_key: bytes


@dataclass(frozen=True, slots=True)
class PasskeyRefusal:
    """A refused answer; *user*: whose passkey gave it, if any."""

    fault: PasskeyFault
    user: User | None = None


def begin(purpose: Purpose, bound: str, now: datetime) -> PasskeyAttempt:
    """Return an attempt with a new challenge."""
    return PasskeyAttempt(purpose, bound, secrets.token_bytes(webauthn.CHALLENGE_BYTES), now + PATIENCE)


def resume(keyring: Keyring, kept: str, purpose: Purpose, bound: str, now: datetime) -> PasskeyAttempt | None:
    """Return the attempt that the browser kept, if it was made here, for this purpose, and is not over."""
    try:
        content = keyring.open(base64.urlsafe_b64decode(kept), _ATTEMPT)
    except (Unsealable, ValueError):
        return None
    made_for, made_bound, challenge, until = orjson.loads(content)
    ends_at = datetime.fromtimestamp(until, UTC)
    if (made_for, made_bound) != (purpose, bound) or now >= ends_at:
        return None
    return PasskeyAttempt(purpose, bound, webauthn.decoded(challenge), ends_at)


def user_handle(team_id: int, user_id: UUID) -> bytes:
    """Return the bytes by which authenticators know the user; they name nobody."""
    return team_id.to_bytes(_TEAM_BYTES, "big") + user_id.bytes


async def of_user(db: Db, team_id: int, user_id: UUID) -> list[Passkey]:
    """Return the user's passkeys, oldest first."""
    async with db.connection() as tx:
        return await table.of_user(tx, team_id, user_id)


async def add(
    db: Db,
    site: RelyingParty,
    who: Actor,
    user_id: UUID,
    attempt: PasskeyAttempt,
    sent: Registration,
    now: datetime,
    *,
    session_id: UUID,
) -> list[str]:
    """Register a passkey; return recovery codes, stored nowhere, if it is the user's first second factor.

    Then every session of the user but *session_id* ends, too: it began with the password alone.
    Raises Invalid for a bad name or answer, Conflict for a passkey that is known or one too many.
    """
    name = sent.name.strip()
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Invalid({"name": f"must have 1 to {LONGEST_NAME} printable characters"})
    async with db.transaction() as tx:
        is_fresh = await _use_up(tx, who.team_id, attempt, now)
    if not is_fresh:
        raise Invalid({"passkey": PasskeyFault.OTHER_CHALLENGE})
    read = webauthn.register(
        site, attempt.challenge, sent.client_data, sent.authenticator_data, sent.public_key
    )
    if not isinstance(read, NewCredential):
        raise Invalid({"passkey": read})
    async with db.transaction() as tx:
        await second_factors.lock_user(tx, who.team_id, user_id)
        return await _keep(tx, who, user_id, name, read, now, session_id)


async def remove(db: Db, who: Actor, user_id: UUID, id_: UUID) -> str:
    """Remove a passkey of the user; return its name. Raises NotFound; Conflict if the team requires it."""
    async with db.transaction() as tx:
        await second_factors.lock_user(tx, who.team_id, user_id)
        name = await table.delete(tx, who.team_id, user_id, id_)
        if name is None:
            raise NotFound(f"{WHAT} not found")
        await two_factor.settle(tx, who.team_id, user_id)
        await audit.record(tx, who, "delete", "passkey", ids.show(PREFIX, id_), name=name)
    return name


async def prove(
    db: Db,
    site: RelyingParty,
    attempt: PasskeyAttempt,
    answer: PasskeyAssertion,
    browser: Browser,
    now: datetime,
) -> User | PasskeyRefusal:
    """Return the user whose passkey answers the attempt, which is used up; audit a refusal of a known one.

    Without a password the authenticator must have verified its user.
    """
    second_step = attempt.purpose is Purpose.SECOND_STEP
    at = _owner(bytes.fromhex(attempt.bound) if second_step else answer.user_handle)
    if at is None:
        return PasskeyRefusal(PasskeyFault.UNKNOWN)
    team_id, user_id = at
    async with db.transaction() as tx:
        user = await users.hold(tx, team_id, user_id)
        if user is None:
            return PasskeyRefusal(PasskeyFault.UNKNOWN)
        if not await _use_up(tx, team_id, attempt, now):
            return PasskeyRefusal(PasskeyFault.OTHER_CHALLENGE)
        passkey = await table.lock(tx, team_id, user_id, answer.credential_id)
        if passkey is None:
            return PasskeyRefusal(PasskeyFault.UNKNOWN)
        fault = webauthn.assertion_fault(
            site,
            attempt.challenge,
            answer,
            KnownCredential(passkey.public_key, passkey.sign_count),
            verified=not second_step,
        )
        if fault is not None:
            await _record_refusal(tx, user, passkey, fault, browser)
            return PasskeyRefusal(fault, user)
        await table.use(tx, passkey, webauthn.sign_count(answer.authenticator_data), now)
        return user


async def _keep(
    tx: Tx, who: Actor, user_id: UUID, name: str, new: NewCredential, now: datetime, session_id: UUID
) -> list[str]:
    """Store a passkey; the user is locked."""
    if len(await table.of_user(tx, who.team_id, user_id)) >= MOST:
        raise Conflict(f"An account has at most {MOST} passkeys")
    is_first = not await second_factors.has_any(tx, who.team_id, user_id)
    id_ = uuid7()
    passkey = Passkey(who.team_id, id_, user_id, name, new.credential_id, new.public_key, new.sign_count, now)
    if not await table.insert(tx, passkey):
        raise Conflict("This passkey is registered already")
    await audit.record(tx, who, "create", "passkey", ids.show(PREFIX, id_), name=name)
    if not is_first:
        return []
    await console_sessions.end_all(tx, who.team_id, user_id, session_id)
    return await two_factor.new_codes(tx, who.team_id, user_id)


async def _use_up(tx: Tx, team_id: int, attempt: PasskeyAttempt, now: datetime) -> bool:
    return await table.use_challenge(
        tx, team_id, secret_hash(webauthn.encoded(attempt.challenge)), attempt.ends_at, now
    )


async def _record_refusal(
    tx: Tx, user: User, passkey: Passkey, fault: PasskeyFault, browser: Browser
) -> None:
    who = Actor(
        user.team_id,
        ids.show("usr", user.id),
        user.name,
        address=browser.address,
        request_id=browser.request_id,
    )
    action = "refuse-copy" if fault is PasskeyFault.OLD_COUNTER else "refuse-sign-in"
    await audit.record(tx, who, action, "passkey", ids.show(PREFIX, passkey.id), name=passkey.name)


def _owner(handle: bytes) -> tuple[int, UUID] | None:
    """Return the team and user of a handle; None if it is none of ours."""
    if len(handle) != _TEAM_BYTES + _UUID_BYTES:
        return None
    return int.from_bytes(handle[:_TEAM_BYTES], "big", signed=True), UUID(bytes=handle[_TEAM_BYTES:])
