"""The door of a private status page: the cookie of who knew the password, and how often one may try."""

import hashlib
import hmac
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

OPEN_FOR: Final = timedelta(days=7)
TRIES: Final = 5
_WITHIN: Final = timedelta(minutes=5)
_MOST: Final = 10_000


def ticket(page_id: UUID, kept: str, now: datetime) -> str:
    """``1795000000.<hex>``: good until then, and for as long as the password stays as it is.

    *kept* is the stored password, which no one outside knows.
    """
    until = int((now + OPEN_FOR).timestamp())
    return f"{until}.{_sign(page_id, kept, str(until))}"


def admits(shown: str, page_id: UUID, kept: str, now: datetime) -> bool:
    """Is it a ticket of this page that is still good?"""
    until, _, signature = shown.partition(".")
    if not (shown.isascii() and until.isdigit() and len(until) <= len("1795000000") + 1):
        return False
    return hmac.compare_digest(signature, _sign(page_id, kept, until)) and int(until) > now.timestamp()


class Tries:
    """Who tried how often lately, by page and address; the oldest are forgotten when there are very many."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[UUID, str], list[datetime]] = OrderedDict()

    def wait_s(self, page_id: UUID, address: str, now: datetime) -> int:
        """How many seconds until the next try is let through; 0: now, and it counts."""
        key = (page_id, address)
        tries = [at for at in self._known.pop(key, []) if at > now - _WITHIN]
        self._known[key] = tries
        if len(tries) >= TRIES:
            return max(1, int((tries[0] + _WITHIN - now).total_seconds()) + 1)
        tries.append(now)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return 0


def _sign(page_id: UUID, kept: str, until: str) -> str:
    return hmac.new(kept.encode(), page_id.bytes + until.encode(), hashlib.sha256).hexdigest()
