"""Verifies a password or token for the console, with a limit on rate and cost."""

import hashlib
import secrets
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.accounts.core import passwords
from collector.accounts.service import console_sessions, password_hashes, tokens
from collector.accounts.service.users import LONGEST_PASSWORD, PEOPLE
from collector.accounts.storage import teams
from collector.accounts.storage import users as table
from collector.accounts.storage.users import User
from collector.console import session
from collector.console.visitor import Browser
from collector.platform.bucket import BucketState, TeamPlan
from collector.platform.limits import Limits
from collector.platform.storage.db import Db
from shared.errors import Limited

# Buckets of tries. An account has one per address; one for all addresses together, which only very many
# of them empty; and one per browser that signed in to it before, which tries of strangers do not charge.
BY_ADDRESS: Final = TeamPlan(per_minute=6, burst=20)
BY_ACCOUNT_THERE: Final = TeamPlan(per_minute=3, burst=10)
BY_ACCOUNT: Final = TeamPlan(per_minute=6, burst=100)
BY_OWNER: Final = TeamPlan(per_minute=3, burst=15)
# Three of a million codes count at a time: a day of tries with the right password succeeds for one in 230.
BY_CODE: Final = TeamPlan(per_minute=1, burst=10)
# The number of teams in which one address can sign in by a password.
_MOST_ACCOUNTS: Final = 16


async def is_set_up(db: Db) -> bool:
    """Whether any user has a password and so can sign in."""
    async with db.connection() as tx:
        return await table.anybody_has_password(tx)


class SignInService:
    """The sign-in state of one collector. Tries are counted over all collectors together."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._addresses = Limits(db, {"free": BY_ADDRESS})
        self._accounts_there = Limits(db, {"free": BY_ACCOUNT_THERE})
        self._accounts = Limits(db, {"free": BY_ACCOUNT})
        self._owners = Limits(db, {"free": BY_OWNER})
        self._codes = Limits(db, {"free": BY_CODE})
        # Compared with a password if nobody has the address, so that it takes as long.
        self._decoy = passwords.nobodys(
            secrets.token_bytes(passwords.SALT_BYTES), secrets.token_bytes(passwords.HASH_BYTES)
        )

    async def turn(self) -> bool:
        """Report the tries to the shared buckets."""
        return any([await limit.turn() for limit in self._limits])

    async def close(self) -> None:
        for limit in self._limits:
            await limit.close()

    async def knock(self, address: str, account: str | None = None, mark: str = "") -> None:
        """Count a try; *mark*: what the browser sent, see `mark`.

        Raises Limited, in the same way whether the account exists or not.
        """
        if account is not None and mark and await self._knows(account, mark):
            _demand(await self._owners.address(_key("browser", mark.partition(".")[2])))
            return
        there = session.network(address)
        _demand(await self._addresses.address(_key("address", there)))
        if account is not None:
            name = account.lower()
            _demand(await self._accounts_there.address(_key("account there", f"{name}\0{there}")))
            _demand(await self._accounts.address(_key("account", name)))

    async def knock_inside(self, user_id: UUID) -> None:
        """Count a try of a user who is signed in. Raises Limited."""
        _demand(await self._owners.address(_key("inside", str(user_id))))

    async def knock_with_code(self, user_id: UUID) -> None:
        """Count a try of a second step; only who knows the password can make it. Raises Limited."""
        _demand(await self._codes.address(_key("code", str(user_id))))

    async def with_password(self, email: str, password: str) -> list[User]:
        """Return all users with this address and password, in any team. Raises Limited, Unavailable."""
        found = await self._accounts_of(email)
        if len(password) > LONGEST_PASSWORD:
            return []
        right = await password_hashes.all_match(
            [(password, kept) for _, kept in found] or [(password, self._decoy)], PEOPLE
        )
        return [user for (user, _), is_right in zip(found, right, strict=False) if is_right]

    @property
    def _limits(self) -> tuple[Limits, ...]:
        return self._addresses, self._accounts_there, self._accounts, self._owners, self._codes

    async def _knows(self, email: str, mark: str) -> bool:
        """Whether the browser with *mark* has signed in to an account of this address."""
        return any(session.marked(kept, user.id, mark) for user, kept in await self._accounts_of(email))

    async def _accounts_of(self, email: str) -> list[tuple[User, str]]:
        if "\0" in email:
            return []
        async with self._db.connection() as tx:
            return await table.with_passwords(tx, email, _MOST_ACCOUNTS)


async def mark(db: Db, team_id: int, user_id: UUID) -> str:
    """Return the mark of a browser that signed in as this user; empty without a password to guess."""
    async with db.connection() as tx:
        kept = await table.password(tx, team_id, user_id)
    return session.browser_mark(kept, user_id, secrets.token_bytes(session.NONCE_BYTES)) if kept else ""


async def enter(db: Db, user: User, browser: Browser, now: datetime, *, by: str) -> str:
    """Open a session of *user*, who has proved their identity; return its cookie."""
    async with db.transaction() as tx:
        return await console_sessions.open_(tx, user.team_id, user.id, browser, now, name=user.name, by=by)


async def enter_by_token(db: Db, value: str, browser: Browser, now: datetime) -> str | None:
    """Open a session that ends with the token *value* and return its cookie; None for an invalid token."""
    token = await tokens.find(db, value, now)
    if token is None:
        return None
    async with db.transaction() as tx:
        return await console_sessions.open_(
            tx,
            token.team_id,
            token.user_id,
            browser,
            now,
            name=token.user_name,
            by="token",
            token_id=token.id,
        )


async def team_names(db: Db, users: list[User]) -> dict[str, str]:
    """Return the names of the users' teams, by the ids of the users."""
    async with db.connection() as tx:
        people = [await teams.person(tx, user.team_id, user.id) for user in users]
    return {str(person.id): person.team_name for person in people if person is not None}


def _demand(standing: BucketState) -> None:
    if not standing.admitted:
        raise Limited("Too many tries", retry_after=standing.retry_after_s)


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"sign-in {kind} {text}".encode("utf-8", "surrogatepass")).digest()
