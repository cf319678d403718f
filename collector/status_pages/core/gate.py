"""The signed cookie that opens a private status page."""

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

OPEN_FOR: Final = timedelta(days=7)


def ticket(page_id: UUID, kept: str, now: datetime) -> str:
    """The cookie's value ``1795000000.<hex>``: valid until then, or until the password changes.

    *kept* is the stored password hash, which is secret.
    """
    until = int((now + OPEN_FOR).timestamp())
    return f"{until}.{_sign(page_id, kept, str(until))}"


def admits(shown: str, page_id: UUID, kept: str, now: datetime) -> bool:
    """Whether *shown* is a valid ticket of this page."""
    until, _, signature = shown.partition(".")
    if not (shown.isascii() and until.isdigit() and len(until) <= len("1795000000") + 1):
        return False
    return hmac.compare_digest(signature, _sign(page_id, kept, until)) and int(until) > now.timestamp()


def _sign(page_id: UUID, kept: str, until: str) -> str:
    return hmac.new(kept.encode(), page_id.bytes + until.encode(), hashlib.sha256).hexdigest()
