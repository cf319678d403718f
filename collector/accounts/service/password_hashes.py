"""Hashes all passwords: two at a time on their own threads, with a short queue."""

import asyncio
import secrets
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from collector.accounts.core import passwords
from collector.platform.prepared import SlowWork, results
from shared.errors import Limited, Unavailable
from shared.fair_gate import Crowded, FairGate

T = TypeVar("T")

# Each takes a tenth of a second of a core and 32 MiB.
_AT_ONCE: Final = 2
# More waiting requests than this would wait for too long.
_WAITING: Final = 120
_WAITING_EACH: Final = 24
_GATE: Final = FairGate(_AT_ONCE, _AT_ONCE, waiting=_WAITING, waiting_each=_WAITING_EACH)
_THREADS: Final = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="hashing")


async def stored(password: str, asker: Hashable) -> str:
    """Return the hash of *password*; *asker* selects the queue to wait in. Raises Limited, Unavailable."""
    return (await all_stored([password], asker))[0]


async def all_stored(plain: Sequence[str], asker: Hashable) -> list[str]:
    """The same for several passwords."""
    return await results([_storing(password, asker) for password in plain])


async def matches(password: str, kept: str, asker: Hashable) -> bool:
    """Whether *kept* was made of *password*. Raises Limited, Unavailable."""
    return (await all_match([(password, kept)], asker))[0]


async def all_match(pairs: Sequence[tuple[str, str]], asker: Hashable) -> list[bool]:
    """The same for pairs of a password and a hash."""
    return await results([_matching(password, kept, asker) for password, kept in pairs])


def _storing(password: str, asker: Hashable) -> SlowWork:
    async def hashed() -> str:
        salt = secrets.token_bytes(passwords.SALT_BYTES)
        return await _in_turn(lambda: passwords.stored(password, salt), asker)

    return SlowWork("hashing a password", ("stored", password), hashed)


def _matching(password: str, kept: str, asker: Hashable) -> SlowWork:
    async def compared() -> bool:
        return await _in_turn(lambda: passwords.matches(password, kept), asker)

    return SlowWork("comparing a password", ("matches", password, kept), compared)


async def _in_turn(hash_: Callable[[], T], asker: Hashable) -> T:
    try:
        async with _GATE.inside(asker):
            return await asyncio.get_running_loop().run_in_executor(_THREADS, hash_)
    except Crowded as crowded:
        if crowded.own:
            raise Limited("Too many passwords wait to be hashed; try again in a moment", 2) from None
        raise Unavailable("Too many passwords are being hashed; try again in a moment", 5) from None
