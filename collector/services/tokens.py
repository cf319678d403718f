"""API tokens: made, and found again by their value."""

import hashlib
import hmac
from datetime import datetime
from uuid import UUID

from collector.core.access import MAX_TOKEN, MIN_TOKEN, Permission, counts
from collector.services.lookups import Lookups
from collector.storage import tokens as table
from collector.storage.db import Db, Tx
from collector.storage.tokens import Token
from shared.ids import uuid7
from shared.tokens import PREFIX, checksum_ok, new_token


class Finder:
    """Finds tokens for requests. None is remembered, so that a revoked one is refused at once, everywhere."""

    def __init__(self, db: Db) -> None:
        self._lookups = Lookups(db, table.with_hashes)

    async def find(self, value: str, now: datetime) -> Token | None:
        """The token that *value* is, if it still counts. Raises Unavailable."""
        if not plausible(value):
            return None
        hash_ = _hash(value)
        return _counting(await self._lookups.find(hash_), hash_, now)

    async def close(self) -> None:
        await self._lookups.close()


def plausible(value: str) -> bool:
    """Could *value* be a token? A bad checksum says no without asking the database."""
    if value.startswith(PREFIX):
        return checksum_ok(value)
    return MIN_TOKEN <= len(value) <= MAX_TOKEN


async def find(db: Db, value: str, now: datetime) -> Token | None:
    """The token that *value* is, if it still counts, for who asks once."""
    if not plausible(value):
        return None
    hash_ = _hash(value)
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
    """Make a token and return its value, which is nowhere else; *value* instead of a random one if given."""
    value = value or new_token()
    await table.insert(tx, team_id, uuid7(), user_id, name, permission, _hash(value), now, expires_at)
    return value


def _counting(found: Token | None, hash_: bytes, now: datetime) -> Token | None:
    if found is None or not hmac.compare_digest(found.hash, hash_):
        return None
    return found if counts(found.expires_at, found.revoked_at, now) else None


def _hash(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).digest()
