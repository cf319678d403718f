"""Signed links in mails to subscribers: a holder may do what the link says, and nothing else."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from shared import ids

CONFIRM_FOR: Final = timedelta(hours=48)
# Minimum time between two confirmation mails to an unconfirmed address.
ASK_AGAIN: Final = timedelta(hours=1)
_FORM: Final = re.compile(r"(sub_[0-9a-z]{26})(?:\.([1-9][0-9]{0,10}))?\.([0-9a-f]{40})")


@dataclass(frozen=True, slots=True)
class SubscriberLink:
    """The content of a link; *until* (Unix time) is set in confirmation links, and 0 in management links."""

    subscriber_id: UUID
    until: int
    signature: str


def confirming(secret: bytes, subscriber_id: UUID, asked_at: datetime) -> str:
    """``sub_....1795000000.<hex>``: confirms the address, for a limited time."""
    until = int((asked_at + CONFIRM_FOR).timestamp())
    return f"{ids.show('sub', subscriber_id)}.{until}.{_sign(secret, subscriber_id, until)}"


def managing(secret: bytes, subscriber_id: UUID) -> str:
    """``sub_....<hex>``: shows and ends the subscription, as long as it exists."""
    return f"{ids.show('sub', subscriber_id)}.{_sign(secret, subscriber_id, 0)}"


def read(text: str) -> SubscriberLink | None:
    """Parse *text* without verifying it; use `holds` for that."""
    match = _FORM.fullmatch(text)
    subscriber_id = ids.read("sub", match[1]) if match else None
    if match is None or subscriber_id is None:
        return None
    return SubscriberLink(subscriber_id, int(match[2] or 0), match[3])


def holds(link: SubscriberLink, secret: bytes) -> bool:
    """Whether the signature is valid for this subscriber; the link may have expired."""
    return hmac.compare_digest(link.signature, _sign(secret, link.subscriber_id, link.until))


def is_over(link: SubscriberLink, now: datetime) -> bool:
    return link.until != 0 and link.until <= now.timestamp()


def _sign(secret: bytes, subscriber_id: UUID, until: int) -> str:
    return hmac.new(secret, subscriber_id.bytes + str(until).encode(), hashlib.sha256).hexdigest()[:40]
