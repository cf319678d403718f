"""The second factor of a sign-in by password: an authenticator app or passkeys, and recovery codes."""

import base64
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import orjson

from collector.accounts.core import totp
from collector.accounts.service.users import WHAT
from collector.accounts.storage import console_sessions, passkeys, users
from collector.accounts.storage import two_factor as table
from collector.accounts.storage.passkeys import Passkey
from collector.accounts.storage.two_factor import SecondFactor
from collector.accounts.storage.users import User
from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.seal import Keyring, SealScope, Unsealable
from collector.platform.secret_hash import secret_hash
from collector.platform.storage import teams
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.errors import Conflict, Invalid, NotFound, demand_found

ISSUER: Final = "Tocsin"
RECOVERY_CODES: Final = 10
# How long after the password the code may come.
TICKET_LIFE: Final = timedelta(minutes=10)
_RECOVERY_BYTES: Final = 10
_TICKET: Final = SealScope(0, "two_factor", "ticket", "sign-in")
_WRONG: Final = "is wrong, or was used already"


class SecondStep(StrEnum):
    """How a user passed the second step."""

    APP = "password and code"
    RECOVERY_CODE = "password and recovery code"
    PASSKEY = "password and passkey"


@dataclass(frozen=True, slots=True)
class TwoFactorState:
    """*app_since*: when the app was confirmed, or None; *recovery_codes*: the number of unused ones."""

    app_since: datetime | None
    passkeys: tuple[Passkey, ...]
    recovery_codes: int

    @property
    def is_on(self) -> bool:
        return self.app_since is not None or bool(self.passkeys)


@dataclass(frozen=True, slots=True)
class PendingSecret:
    """What an app needs, shown until the first code: *text* to type, *uri* for a QR code."""

    text: str
    uri: str


@dataclass(frozen=True, slots=True)
class SignInTicket:
    """A sign-in whose first step is done: the user, and where to go afterwards."""

    team_id: int
    user_id: UUID
    after: str


async def state(db: Db, team_id: int, user_id: UUID) -> TwoFactorState:
    async with db.connection() as tx:
        since = await table.confirmed_at(tx, team_id, user_id)
        keys = await passkeys.of_user(tx, team_id, user_id)
        left = await table.recovery_codes_left(tx, team_id, user_id) if since or keys else 0
    return TwoFactorState(since, tuple(keys), left)


async def is_on(db: Db, team_id: int, user_id: UUID) -> bool:
    """Whether the user signs in with a second factor."""
    async with db.connection() as tx:
        return await table.has_any(tx, team_id, user_id)


async def users_with(db: Db, team_id: int) -> set[UUID]:
    """Return the users of the team who sign in with a second factor."""
    async with db.connection() as tx:
        return await table.users_with_any(tx, team_id)


async def begin(db: Db, keyring: Keyring, who: Actor, user_id: UUID, now: datetime) -> None:
    """Make a secret for the user's app, which counts once it is confirmed. Raises Conflict if it is on."""
    sealed = keyring.seal(secrets.token_bytes(totp.SECRET_BYTES), _place(who.team_id, user_id))
    async with db.transaction() as tx:
        if not await table.begin(tx, who.team_id, user_id, sealed, now):
            raise Conflict("An authenticator app is set up already")


async def pending(db: Db, keyring: Keyring, user: User) -> PendingSecret | None:
    """Return the secret that is not confirmed yet, if there is one. Raises Unsealable."""
    async with db.transaction() as tx:
        factor = await table.lock(tx, user.team_id, user.id)
    if factor is None or factor.confirmed_at is not None:
        return None
    secret = keyring.open(factor.sealed_secret, _place(user.team_id, user.id))
    return PendingSecret(totp.as_text(secret), totp.key_uri(secret, ISSUER, user.email))


async def confirm(
    db: Db, keyring: Keyring, who: Actor, user_id: UUID, typed: str, now: datetime, *, session_id: UUID
) -> list[str]:
    """Turn the app on by a first code; return the recovery codes, which are stored nowhere.

    Every session of the user but *session_id* ends: it began with the password alone.
    Raises Invalid for a wrong code, Conflict if nothing waits for one.
    """
    async with db.transaction() as tx:
        await table.lock_user(tx, who.team_id, user_id)
        factor = await table.lock(tx, who.team_id, user_id)
        if factor is None or factor.confirmed_at is not None:
            raise Conflict("Nothing waits for a code: start again")
        if not await _accept_code(tx, keyring, who.team_id, user_id, factor, typed, now):
            raise Invalid({"code": _WRONG})
        await table.confirm(tx, who.team_id, user_id, now)
        await console_sessions.end_all(tx, who.team_id, user_id, session_id)
        codes = await new_codes(tx, who.team_id, user_id)
        await _record(tx, who, "enable-two-factor", user_id, who.name)
    return codes


async def renew_codes(
    db: Db, keyring: Keyring, who: Actor, user_id: UUID, typed: str, now: datetime
) -> list[str]:
    """Replace the recovery codes. Raises Invalid for a wrong code, Conflict if it is off."""
    async with db.transaction() as tx:
        await _demand_proof(tx, keyring, who.team_id, user_id, typed, now)
        codes = await new_codes(tx, who.team_id, user_id)
        await _record(tx, who, "renew-recovery-codes", user_id, who.name)
    return codes


async def turn_off(
    db: Db, keyring: Keyring, who: Actor, user_id: UUID, typed: str, now: datetime
) -> list[str]:
    """Turn the user's own app off; no recovery code is new. Raises Invalid, Conflict."""
    async with db.transaction() as tx:
        await table.lock_user(tx, who.team_id, user_id)
        if await table.confirmed_at(tx, who.team_id, user_id) is None:
            raise Conflict("No authenticator app is set up")
        await _demand_proof(tx, keyring, who.team_id, user_id, typed, now)
        await table.delete(tx, who.team_id, user_id)
        await settle(tx, who.team_id, user_id)
        await _record(tx, who, "disable-two-factor", user_id, who.name)
    return []


async def settle(tx: Tx, team_id: int, user_id: UUID) -> None:
    """Delete the recovery codes with the last second factor. Raises Conflict if the team requires one."""
    if await table.has_any(tx, team_id, user_id):
        return
    team = await teams.get(tx, team_id)
    if team is not None and team.two_factor_required:
        raise Conflict("Your team requires two-factor authentication")
    await table.replace_recovery_codes(tx, team_id, user_id, [])


async def reset(db: Db, who: Actor, user_id: UUID) -> None:
    """Turn off all second factors of a user who lost them, as an admin or the operator. Raises NotFound."""
    async with db.transaction() as tx:
        user = demand_found(await users.hold(tx, who.team_id, user_id), WHAT)
        had_app = await table.delete(tx, who.team_id, user_id)
        had_passkeys = await passkeys.delete_all(tx, who.team_id, user_id)
        if not had_app and not had_passkeys:
            raise NotFound(f"{user.email} signs in without a second factor")
        await table.replace_recovery_codes(tx, who.team_id, user_id, [])
        await _record(tx, who, "disable-two-factor", user_id, user.email)


async def prove(
    db: Db, keyring: Keyring, user: User, who: Actor, typed: str, now: datetime
) -> SecondStep | None:
    """Return how *typed* passes the second step, which uses it up; None if it is wrong, which is audited."""
    async with db.transaction() as tx:
        proof = await _proof(tx, keyring, user.team_id, user.id, typed, now)
        if proof is None:
            await _record(tx, who, "refuse-sign-in", user.id, user.email)
    return proof


def ticket(keyring: Keyring, user: User, after: str, now: datetime) -> str:
    """Return a ticket for the second step, for a user whose password was right."""
    until = int((now + TICKET_LIFE).timestamp())
    content = orjson.dumps([user.team_id, str(user.id), after, until])
    return base64.urlsafe_b64encode(keyring.seal(content, _TICKET)).decode()


def read_ticket(keyring: Keyring, text: str, now: datetime) -> SignInTicket | None:
    """Return the ticket if it was made here and is not over."""
    try:
        content = keyring.open(base64.urlsafe_b64decode(text), _TICKET)
    except (Unsealable, ValueError):
        return None
    team_id, user_id, after, until = orjson.loads(content)
    return SignInTicket(team_id, UUID(user_id), after) if now.timestamp() < until else None


async def _demand_proof(
    tx: Tx, keyring: Keyring, team_id: int, user_id: UUID, typed: str, now: datetime
) -> None:
    if not await table.has_any(tx, team_id, user_id):
        raise Conflict("Two-factor authentication is off")
    if await _proof(tx, keyring, team_id, user_id, typed, now) is None:
        raise Invalid({"code": _WRONG})


async def _proof(
    tx: Tx, keyring: Keyring, team_id: int, user_id: UUID, typed: str, now: datetime
) -> SecondStep | None:
    factor = await table.lock(tx, team_id, user_id)
    confirmed = factor is not None and factor.confirmed_at is not None
    if factor and confirmed and await _accept_code(tx, keyring, team_id, user_id, factor, typed, now):
        return SecondStep.APP
    if await table.use_recovery_code(tx, team_id, user_id, _recovery_hash(typed)):
        return SecondStep.RECOVERY_CODE
    return None


async def _accept_code(
    tx: Tx, keyring: Keyring, team_id: int, user_id: UUID, factor: SecondFactor, typed: str, now: datetime
) -> bool:
    """Whether *typed* is a code of the app that was not used before; uses it up. Raises Unsealable."""
    secret = keyring.open(factor.sealed_secret, _place(team_id, user_id))
    step = totp.accepted_step(secret, typed, now, factor.last_step)
    if step is not None:
        await table.accept(tx, team_id, user_id, step)
    return step is not None


async def new_codes(tx: Tx, team_id: int, user_id: UUID) -> list[str]:
    """Replace the recovery codes of the user; return the new ones."""
    codes = [_recovery_code() for _ in range(RECOVERY_CODES)]
    await table.replace_recovery_codes(tx, team_id, user_id, [_recovery_hash(code) for code in codes])
    return codes


async def _record(tx: Tx, who: Actor, action: str, user_id: UUID, name: str) -> None:
    await audit.record(tx, who, action, "user", ids.show("usr", user_id), name=name)


def _recovery_code() -> str:
    """Return 80 random bits as ``abcd-efgh-ijkl-mnop``."""
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def _recovery_hash(typed: str) -> bytes:
    return secret_hash("".join(letter for letter in typed.lower() if letter.isalnum()))


def _place(team_id: int, user_id: UUID) -> SealScope:
    return SealScope(team_id, "two_factor", user_id, "sealed_secret")
