"""The retry schedule of failed deliveries, as the contract has it."""

from dataclasses import dataclass
from datetime import timedelta

# A delivery whose sender died is sent again without using up a retry, but not for ever.
MAX_EXPIRIES = 2

_SCHEDULE = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30))
_DOUBLED = timedelta(seconds=30)
LONGEST = timedelta(hours=1)

# Through these tries, the first and three retries, newer events of its monitor wait behind a delivery.
TRIES_IN_ORDER = 1 + len(_SCHEDULE)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a channel wants to be tried again; *obliging*: no sooner than it asks, from the first."""

    retry: bool = True
    max_retries: int = 3
    obliging: bool = False


def next_try(policy: RetryPolicy, tries: int, retry_after: timedelta | None = None) -> timedelta | None:
    """How long to wait after *tries* failed ones, the first included; None: there is no other.

    *retry_after* is what the receiver asked for. A webhook's first retries keep to the contract all the same.
    """
    if not policy.retry or tries > policy.max_retries:
        return None
    exact = tries <= len(_SCHEDULE)
    wait: timedelta = _SCHEDULE[tries - 1] if exact else _DOUBLED * (1 << tries - len(_SCHEDULE))
    if exact and not policy.obliging:
        return wait
    return min(max(wait, retry_after or wait), LONGEST)
