"""Detects monitors that change too often to announce, and when they are steady again."""

from collections.abc import Sequence
from datetime import datetime, timedelta

# More changes than these in this time are flapping, until one state has held for so long.
CHANGES = 6
WITHIN = timedelta(minutes=30)
HELD = timedelta(minutes=10)


def add(changes: Sequence[datetime], at: datetime) -> tuple[datetime, ...]:
    """The newest changes with one more; those that count no longer are left out."""
    at = max([at, *changes[-1:]])
    recent = [change for change in changes if at - change < WITHIN]
    return (*recent[-CHANGES:], at)


def flaps(changes: Sequence[datetime]) -> bool:
    """Are these, as `add` keeps them, too many?"""
    return len(changes) > CHANGES


def calm(changes: Sequence[datetime], now: datetime) -> bool:
    """Has the present state held? A change in the future means that a clock was set back since."""
    return not changes or abs(now - changes[-1]) >= HELD
