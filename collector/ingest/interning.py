"""Error texts to their numbers, remembered; texts that differ only in long numbers are one."""

import re
from collections import OrderedDict
from collections.abc import Collection, Mapping

from collector.storage import errors
from collector.storage.db import Db, Tx

MAX_TEXT = 512
_REMEMBERED = 20_000
# Request ids, addresses in memory, nonces: they would make every text a new one. Ports and statuses stay.
_VARIABLE = re.compile(r"[0-9a-fA-F]{16,}|\d{6,}")


def clean(text: str) -> str:
    """The text as PostgreSQL takes it: no NUL, no half of a pair, 512 characters at the most."""
    return text[:MAX_TEXT].replace("\0", "").encode("utf-8", "replace").decode()


def normal(text: str) -> str:
    """The text under which an error is kept: clean, and with long numbers cut out."""
    return _VARIABLE.sub("…", clean(text))


class Interner:
    """Remembers the numbers of texts; one per collector."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._known: OrderedDict[str, int] = OrderedDict()

    async def numbers(self, texts: Collection[str]) -> dict[str, int]:
        """The number of each of *texts*, new ones added to the table first."""
        wanted = {text: normal(text) for text in texts}
        missing = {kept for kept in wanted.values() if kept not in self._known}
        if missing:
            async with self._db.connection() as connection:
                self._known.update(await errors.intern(connection, sorted(missing)))
        found = {text: self._known[kept] for text, kept in wanted.items()}
        self._shorten()
        return found

    async def within(self, tx: Tx, texts: Collection[str]) -> dict[str, int]:
        """The same in a transaction of the caller's, who calls `remember` with the answer after it."""
        wanted = {text: normal(text) for text in texts}
        missing = {kept for kept in wanted.values() if kept not in self._known}
        new = await errors.intern(tx, sorted(missing)) if missing else {}
        return {text: new.get(kept) or self._known[kept] for text, kept in wanted.items()}

    def remember(self, numbers: Mapping[str, int]) -> None:
        """What `within` answered is committed."""
        self._known.update({normal(text): number for text, number in numbers.items()})
        self._shorten()

    def forget(self) -> None:
        """After a lost connection: the database may have gone back behind what is remembered."""
        self._known.clear()

    def _shorten(self) -> None:
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
