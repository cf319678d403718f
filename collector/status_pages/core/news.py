"""How an update of a page incident notifies subscribers, and how maintenance changes by itself."""

from datetime import datetime, timedelta
from typing import Final, Literal

from collector.status_pages.core.status_page import MAINTENANCE, RESOLVED, Phase, Severity

Occasion = Literal["published", "updated", "resolved", "planned", "reminder", "begun", "done"]
Topic = Literal["incidents", "maintenance"]

# Updates that could not be delivered within this time are dropped.
STALE: Final = timedelta(days=1)
# For this many attempts, newer updates wait behind a letter to the same subscriber.
TRIES_IN_ORDER: Final = 4
_WAITS: Final = (
    timedelta(seconds=30),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=15),
    timedelta(minutes=30),
)
_LONGEST: Final = timedelta(hours=1)
_BEGUN: Final = "The maintenance has begun."
_DONE: Final = "The maintenance is over."


def topic(severity: Severity) -> Topic:
    return "maintenance" if severity == MAINTENANCE else "incidents"


def published(severity: Severity, start: datetime | None, now: datetime) -> Occasion:
    """The occasion of an incident's first update."""
    if severity != MAINTENANCE:
        return "published"
    return "planned" if start is not None and start > now else "begun"


def updated(severity: Severity, before: Phase, after: Phase) -> Occasion:
    """The occasion of a later update."""
    planned = severity == MAINTENANCE
    if after == RESOLVED and before != RESOLVED:
        return "done" if planned else "resolved"
    if planned and before == "investigating" and after in {"identified", "monitoring"}:
        return "begun"
    return "updated"


def by_itself(
    status: Phase, start: datetime | None, end: datetime | None, now: datetime
) -> tuple[Phase, str] | None:
    """The phase that maintenance enters on schedule, and its text; None without a change."""
    if status == RESOLVED:
        return None
    if end is not None and end <= now:
        return RESOLVED, _DONE
    if status == "investigating" and start is not None and start <= now:
        return "identified", _BEGUN
    return None


def reminds(
    status: Phase,
    start: datetime | None,
    minutes: int | None,
    *,
    reminded_at: datetime | None,
    updated_at: datetime,
    now: datetime,
) -> bool:
    """Whether subscribers are reminded now of maintenance that starts at *start*, *minutes* ahead.

    Those who got an update after that time need no reminder.
    """
    if status != "investigating" or start is None or minutes is None or reminded_at is not None:
        return False
    return updated_at <= start - timedelta(minutes=minutes) <= now < start


def next_mail(tries: int) -> timedelta:
    """How long to wait after *tries* failed attempts at a mail, the first included."""
    return _WAITS[tries - 1] if tries <= len(_WAITS) else _LONGEST
