"""Key rotation: seals all secrets with the first key until no older one is needed.

Values that earlier versions stored in plain text are sealed first.
"""

from enum import Enum

from collector.platform.seal import Keyring
from collector.platform.storage import sealed, secret_keys
from collector.platform.storage.db import Db
from collector.platform.storage.sealed import COLUMNS, SealedValue
from collector.status_pages.service.subscribers import seal_link_keys

_AT_ONCE = 200


class ResealProgress(Enum):
    """Progress: nothing to do (a single key, or another collector has a newer one), more to do, or done."""

    NOTHING = 0
    MORE = 1
    DONE = 2


async def some(db: Db, keyring: Keyring) -> ResealProgress:
    """Reseal a few values. Raises Unsealable if one cannot be opened."""
    if await _unsealed(db, keyring):
        return ResealProgress.MORE
    older = [kid for kid in keyring.keys if kid != keyring.first]
    if not older:
        return ResealProgress.NOTHING
    async with db.transaction() as tx:
        # During a rolling restart, collectors have different first keys: the newest one wins.
        if await secret_keys.newest(tx) != keyring.first.hex():
            return ResealProgress.NOTHING
        for column in COLUMNS:
            values = await sealed.under(tx, column, older, _AT_ONCE)
            if values:
                await sealed.replace(tx, column, {value.sealed: _anew(keyring, value) for value in values})
                return ResealProgress.MORE
    await _let_go(db, keyring)
    return ResealProgress.DONE


async def _unsealed(db: Db, keyring: Keyring) -> bool:
    """Seal a few values stored in plain text. Return whether there were any."""
    async with db.transaction() as tx:
        if await secret_keys.newest(tx) != keyring.first.hex():
            return False
        return await seal_link_keys(tx, keyring, _AT_ONCE) > 0


async def _let_go(db: Db, keyring: Keyring) -> None:
    """Delete keys that seal nothing, so that the next start does not need them."""
    async with db.transaction() as tx:
        await secret_keys.lock(tx)
        needed = await sealed.keys(tx) | {keyring.first.hex()}
        await secret_keys.keep(tx, sorted(needed))


def _anew(keyring: Keyring, value: SealedValue) -> bytes:
    return keyring.seal(keyring.open(value.sealed, value.place), value.place)
