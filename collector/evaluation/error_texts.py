"""Maps error texts to their row numbers; texts that differ only in ids and long numbers share one."""

import re
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping

from collector.evaluation.storage import error_texts
from collector.platform.storage.db import Db, Tx
from shared.clock import SecondClock

MAX_TEXT = 512
_REMEMBERED = 20_000
# Request ids, addresses in memory, nonces would make every text a new one. Ports and statuses stay.
_VARIABLE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|[0-9a-f]{16,}"
    r"|(?<![0-9a-z])(?=[a-z]*\d[a-z]*\d)(?=\d*[a-z])[0-9a-z]{16,}"
    r"|\d{6,}",
    re.IGNORECASE | re.ASCII,
)


def clean(text: str) -> str:
    """Return the text as PostgreSQL accepts it: no NUL, no lone surrogates, at most 512 characters."""
    return text[:MAX_TEXT].replace("\0", "").encode("utf-8", "replace").decode()


def normal(text: str) -> str:
    """Return the text under which an error is stored: clean, with ids and long numbers cut out."""
    return _VARIABLE.sub("…", clean(text))


class Interner:
    """Remembers the numbers of texts; one per collector."""

    def __init__(self, db: Db, clock: SecondClock = time.monotonic) -> None:
        """*clock*: monotonic, in seconds."""
        self._db = db
        self._clock = clock
        # The number of each text, and until when no collector can have deleted it.
        self._known: OrderedDict[str, tuple[int, float]] = OrderedDict()

    async def numbers(self, texts: Collection[str]) -> dict[str, int]:
        """Return the number of each of *texts*; new ones are added to the table first."""
        wanted = {text: normal(text) for text in texts}
        new: dict[str, int] = {}
        if missing := self._missing(wanted.values()):
            async with self._db.connection() as connection:
                new = await error_texts.intern(connection, missing)
        found = {text: new.get(kept) or self._known[kept][0] for text, kept in wanted.items()}
        if new:
            self.remember(new)
        return found

    async def within(self, tx: Tx, texts: Collection[str]) -> dict[str, int]:
        """The same in the caller's transaction, which passes the result to `remember` after its commit."""
        wanted = {text: normal(text) for text in texts}
        missing = self._missing(wanted.values())
        new = await error_texts.intern(tx, missing) if missing else {}
        return {text: new.get(kept) or self._known[kept][0] for text, kept in wanted.items()}

    def remember(self, numbers: Mapping[str, int]) -> None:
        """Remember numbers that `within` returned, now that they are committed."""
        until = self._clock() + error_texts.NOTED_EVERY.total_seconds()
        found = {normal(text): number for text, number in numbers.items()}
        self._known.update({text: (found[text], until) for text in self._missing(found)})
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)

    def forget(self) -> None:
        """Forget all numbers. After a lost connection the database may be older than what is remembered."""
        self._known.clear()

    def _missing(self, kept: Iterable[str]) -> list[str]:
        """Texts whose number is unknown, or was noted too long ago."""
        now = self._clock()
        return sorted({text for text in kept if self._known.get(text, (0, now))[1] <= now})
