"""The console's door: a password or a token is proved, at a bounded rate and at a bounded cost."""

import hashlib
import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from collector.core import console, passwords
from collector.core.bucket import Plan
from collector.services import console_sessions, hashing, tokens
from collector.services.console_sessions import Browser
from collector.services.limits import Limits
from collector.services.users import LONGEST_PASSWORD, PEOPLE
from collector.storage import teams
from collector.storage import users as table
from collector.storage.db import Db
from collector.storage.users import User
from shared.errors import Limited

# A bucket of tries: for each address, and for each account from wherever it is tried.
BY_ADDRESS: Final = Plan(per_minute=6, burst=20)
BY_ACCOUNT: Final = Plan(per_minute=3, burst=15)
_MOST_ACCOUNTS: Final = 4


class Door:
    """What all sign-ins of one collector share. The tries are counted over all collectors together."""

    def __init__(self, db: Db, *, by_address: Plan = BY_ADDRESS, by_account: Plan = BY_ACCOUNT) -> None:
        self._db = db
        self._addresses = Limits(db, {"free": by_address})
        self._accounts = Limits(db, {"free": by_account})
        # What a password is compared with when nobody has the address: it takes as long.
        self._decoy = passwords.nobodys(
            secrets.token_bytes(passwords.SALT_BYTES), secrets.token_bytes(passwords.HASH_BYTES)
        )

    async def turn(self) -> bool:
        """Tell the shared buckets what was spent."""
        more = await self._addresses.turn()
        return await self._accounts.turn() or more

    async def close(self) -> None:
        await self._addresses.close()
        await self._accounts.close()

    async def knock(self, address: str, account: str | None = None) -> None:
        """Count a try. Raises Limited, in the same way whether there is such an account or not."""
        standing = await self._addresses.address(_key("address", console.network(address)))
        if standing.admitted and account is not None:
            standing = await self._accounts.address(_key("account", account.lower()))
        if not standing.admitted:
            raise Limited("Too many tries", retry_after=standing.retry_after_s)

    async def with_password(self, email: str, password: str) -> list[User]:
        """Everybody who has this address and password, in whichever teams. Raises Limited, Unavailable."""
        async with self._db.connection() as tx:
            found = (await table.with_email(tx, email))[:_MOST_ACCOUNTS] if "\0" not in email else []
            kept = {user.id: await table.password(tx, user.team_id, user.id) for user in found}
        stored: Mapping[object, str] = {id_: text for id_, text in kept.items() if text is not None}
        if len(password) > LONGEST_PASSWORD:
            return []
        right = {
            id_
            for id_, text in (stored or {None: self._decoy}).items()
            if await hashing.matches(password, text, PEOPLE)
        }
        return [user for user in found if user.id in right]


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


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"sign-in {kind} {text}".encode("utf-8", "surrogatepass")).digest()
