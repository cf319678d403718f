"""Detects monitors that change too often to announce, and when they are steady again."""

from collections.abc import Sequence
from datetime import datetime, timedelta

# More changes than these within this time are flapping, until one state has held for HELD.
CHANGES = 6
WITHIN = timedelta(minutes=30)
HELD = timedelta(minutes=10)


def add(changes: Sequence[datetime], at: datetime) -> tuple[datetime, ...]:
    """Add a change to the newest ones and drop those that no longer count."""
    at = max([at, *changes[-1:]])
    recent = [change for change in changes if at - change < WITHIN]
    return (*recent[-CHANGES:], at)


def flaps(changes: Sequence[datetime]) -> bool:
    """Whether these changes, as `add` keeps them, are too many."""
    return len(changes) > CHANGES


def calm(changes: Sequence[datetime], now: datetime) -> bool:
    """Whether the present state has held. A change in the future means that a clock was set back since."""
    return not changes or abs(now - changes[-1]) >= HELD
