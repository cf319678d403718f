"""A certificate near expiry: degraded, not down."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from shared.clock import EPOCH
from shared.kinds.tls import Expiry

_LATEST_S: Final = 253_402_300_799  # no date is later

# The types of monitors that keep what they saw of a certificate, and nothing else; a list in SQL.
OF_TYPES: Final = (
    "('tls', 'http', 'tcp', 'grpc', 'websocket', 'smtp', 'imap', 'pop3', 'postgres', 'mysql', 'redis')"
)
# How grave an incident is of which nothing else is the cause.
SEVERITY: Final = "medium"
# What a probe says of such a certificate; PostgreSQL reads it in the same way.
NEARS: Final = r"^tls: certificate expires in [0-9]+ days?, [0-9]+ are wanted$"

_NEARS: Final = re.compile(NEARS)


def only_nears(complaints: Sequence[str]) -> bool:
    """Is the coming end all that these checks complain of?"""
    return bool(complaints) and all(_NEARS.match(text) for text in complaints)


def expiry(checkpoint: bytes | None) -> Expiry | None:
    """What is kept of a certificate; None for what is no such thing, or tells of no moment."""
    try:
        found = Expiry.unpack(checkpoint or b"")
    except ValueError:
        return None
    return found if 0 < found.ends < _LATEST_S else None


def ends_at(found: Expiry) -> datetime:
    return EPOCH + timedelta(seconds=found.ends)


def days_left(ends_at: datetime, now: datetime) -> int:
    """Whole days; negative once it is over."""
    return (ends_at - now) // timedelta(days=1)
