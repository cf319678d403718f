"""Verifies a password or token for the console, with a limit on rate and cost."""

import hashlib
import secrets
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.accounts.core import passwords
from collector.accounts.service import console_sessions, password_hashes, tokens
from collector.accounts.service.console_sessions import Browser
from collector.accounts.service.users import LONGEST_PASSWORD, PEOPLE
from collector.accounts.storage import teams
from collector.accounts.storage import users as table
from collector.accounts.storage.users import User
from collector.console import session
from collector.platform.bucket import BucketState, TeamPlan
from collector.platform.limits import Limits
from collector.platform.storage.db import Db
from shared.errors import Limited

# Buckets of tries. An account has one at each address; one for all addresses together, which only very many
# of them empty; and one at each browser that signed in to it before, whom no stranger's tries concern.
BY_ADDRESS: Final = TeamPlan(per_minute=6, burst=20)
BY_ACCOUNT_THERE: Final = TeamPlan(per_minute=3, burst=10)
BY_ACCOUNT: Final = TeamPlan(per_minute=6, burst=100)
BY_OWNER: Final = TeamPlan(per_minute=3, burst=15)
# In so many teams an address signs in by a password.
_MOST_ACCOUNTS: Final = 16


async def is_set_up(db: Db) -> bool:
    """Has anybody a password, so that there is a way in for people?"""
    async with db.connection() as tx:
        return await table.anybody_has_password(tx)


class Door:
    """What all sign-ins of one collector share. The tries are counted over all collectors together."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._addresses = Limits(db, {"free": BY_ADDRESS})
        self._accounts_there = Limits(db, {"free": BY_ACCOUNT_THERE})
        self._accounts = Limits(db, {"free": BY_ACCOUNT})
        self._owners = Limits(db, {"free": BY_OWNER})
        # What a password is compared with when nobody has the address: it takes as long.
        self._decoy = passwords.nobodys(
            secrets.token_bytes(passwords.SALT_BYTES), secrets.token_bytes(passwords.HASH_BYTES)
        )

    async def turn(self) -> bool:
        """Tell the shared buckets what was spent."""
        return any([await one.turn() for one in self._limits])

    async def close(self) -> None:
        for one in self._limits:
            await one.close()

    async def knock(self, address: str, account: str | None = None, mark: str = "") -> None:
        """Count a try; *mark*: what the browser shows, see `mark`.

        Raises Limited, in the same way whether there is such an account or not.
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
        """Count a try of somebody who is signed in. Raises Limited."""
        _demand(await self._owners.address(_key("inside", str(user_id))))

    async def with_password(self, email: str, password: str) -> list[User]:
        """Everybody who has this address and password, in whichever teams. Raises Limited, Unavailable."""
        found = await self._accounts_of(email)
        if len(password) > LONGEST_PASSWORD:
            return []
        right = await password_hashes.all_match(
            [(password, kept) for _, kept in found] or [(password, self._decoy)], PEOPLE
        )
        return [user for (user, _), is_right in zip(found, right, strict=False) if is_right]

    @property
    def _limits(self) -> tuple[Limits, ...]:
        return self._addresses, self._accounts_there, self._accounts, self._owners

    async def _knows(self, email: str, mark: str) -> bool:
        """Did the browser that shows *mark* sign in to an account of this address?"""
        return any(session.marked(kept, user.id, mark) for user, kept in await self._accounts_of(email))

    async def _accounts_of(self, email: str) -> list[tuple[User, str]]:
        if "\0" in email:
            return []
        async with self._db.connection() as tx:
            return await table.with_passwords(tx, email, _MOST_ACCOUNTS)


async def mark(db: Db, team_id: int, user_id: UUID) -> str:
    """What a browser keeps that signed in as this user; nothing where there is no password to guess."""
    async with db.connection() as tx:
        kept = await table.password(tx, team_id, user_id)
    return session.browser_mark(kept, user_id, secrets.token_bytes(session.NONCE_BYTES)) if kept else ""


async def enter(db: Db, user: User, browser: Browser, now: datetime, *, by: str) -> str:
    """The cookie of a new session of *user*, who has proved who they are."""
    async with db.transaction() as tx:
        return await console_sessions.open_(tx, user.team_id, user.id, browser, now, name=user.name, by=by)


async def enter_by_token(db: Db, value: str, browser: Browser, now: datetime) -> str | None:
    """The cookie of a new session that ends with the token *value*; None if it is no good token."""
    found = await tokens.find(db, value, now)
    if found is None:
        return None
    async with db.transaction() as tx:
        return await console_sessions.open_(
            tx,
            found.team_id,
            found.user_id,
            browser,
            now,
            name=found.user_name,
            by="token",
            token_id=found.id,
        )


async def team_names(db: Db, users: list[User]) -> dict[str, str]:
    """The names of the users' teams, by the ids of the users."""
    async with db.connection() as tx:
        people = [await teams.person(tx, user.team_id, user.id) for user in users]
    return {str(person.id): person.team_name for person in people if person is not None}


def _demand(standing: BucketState) -> None:
    if not standing.admitted:
        raise Limited("Too many tries", retry_after=standing.retry_after_s)


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"sign-in {kind} {text}".encode("utf-8", "surrogatepass")).digest()
