"""The retry schedule of failed deliveries, as the contract has it."""

from dataclasses import dataclass
from datetime import timedelta

# A delivery whose sender died is sent again without using up a retry, but only a limited number of times.
MAX_EXPIRIES = 2

_SCHEDULE = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30))
_DOUBLED = timedelta(seconds=30)
LONGEST = timedelta(hours=1)

# Until these attempts (the first and three retries) are used up, newer events of the monitor wait.
TRIES_IN_ORDER = 1 + len(_SCHEDULE)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A channel's retry settings; *obliging*: honour Retry-After from the first retry on."""

    retry: bool = True
    max_retries: int = 3
    obliging: bool = False


def next_try(policy: RetryPolicy, tries: int, retry_after: timedelta | None = None) -> timedelta | None:
    """How long to wait after *tries* failed attempts, the first included; None: do not retry.

    *retry_after* is the receiver's request; a webhook's first retries follow the fixed schedule.
    """
    if not policy.retry or tries > policy.max_retries:
        return None
    exact = tries <= len(_SCHEDULE)
    wait: timedelta = _SCHEDULE[tries - 1] if exact else _DOUBLED * (1 << tries - len(_SCHEDULE))
    if exact and not policy.obliging:
        return wait
    return min(max(wait, retry_after or wait), LONGEST)
