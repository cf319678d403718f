"""The clocks of a collector, as its parts see them."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Says what time it is."""

    def now(self) -> datetime: ...


class TrustedClock(Clock, Protocol):
    """A clock that knows whether it was set."""

    def trusted_since(self) -> datetime | None:
        """When this collector started or its clock was last set; None for a while after it was set."""


class AgreedClock(Clock, Protocol):
    """A clock that is compared with another."""

    def agreed(self) -> datetime:
        """As `now`, for irreversible actions. Raises Unavailable while the clocks disagree."""
