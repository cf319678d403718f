"""A certificate near expiry: degraded, not down."""

import re
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Final

from shared.clock import EPOCH
from shared.kinds import KINDS
from shared.kinds.tls import Expiry

_LATEST_S: Final = 253_402_300_799  # no date is later

# Fields of the kinds that may connect over TLS, besides these two.
_OF_TLS: Final = frozenset({"tls", "verify_tls", "security"})
_ALWAYS: Final = frozenset({"tls", "http"})
# The types of monitors whose checkpoint is a certificate's expiry; a list in SQL.
OF_TYPES: Final = "({})".format(
    ", ".join(
        f"'{type_}'"
        for type_, kind in KINDS.items()
        if type_ in _ALWAYS or not _OF_TLS.isdisjoint(field.name for field in fields(kind))
    )
)
# The severity of an incident without any other cause.
SEVERITY: Final = "medium"
# A probe's error about such a certificate; PostgreSQL matches it too.
NEARS: Final = r"^tls: certificate expires in [0-9]+ days?, [0-9]+ are wanted$"

_NEARS: Final = re.compile(NEARS)


def only_nears(complaints: Sequence[str]) -> bool:
    """Whether the near expiry is the only fault in these errors."""
    return bool(complaints) and all(_NEARS.match(text) for text in complaints)


def expiry(checkpoint: bytes | None) -> Expiry | None:
    """Return the expiry in a checkpoint; None if it is no such thing, or has no time."""
    try:
        unpacked = Expiry.unpack(checkpoint or b"")
    except ValueError:
        return None
    return unpacked if 0 < unpacked.ends < _LATEST_S else None


def ends_at(expiry: Expiry) -> datetime:
    return EPOCH + timedelta(seconds=expiry.ends)


def days_left(ends_at: datetime, now: datetime) -> int:
    """Return whole days; negative after the expiry."""
    return (ends_at - now) // timedelta(days=1)
