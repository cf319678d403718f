"""A collector's clock, made of functions."""

from collections.abc import Callable
from datetime import datetime, timedelta


class GivenClock:
    """Reads *now*; without *since* it has been trusted for an hour, without *agreed* no clock disagrees."""

    def __init__(
        self,
        now: Callable[[], datetime],
        since: Callable[[], datetime | None] | None = None,
        agreed: Callable[[], datetime] | None = None,
    ) -> None:
        self._now = now
        self._since = since
        self._agreed = agreed

    def now(self) -> datetime:
        return self._now()

    def trusted_since(self) -> datetime | None:
        return self._now() - timedelta(hours=1) if self._since is None else self._since()

    def agreed(self) -> datetime:
        return self._now() if self._agreed is None else self._agreed()
