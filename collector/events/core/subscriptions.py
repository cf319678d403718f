"""The events that channels subscribe to, and which of them a channel's filters select."""

from collections.abc import Collection, Sequence

from collector.events.core.kinds import CHANGES

DEFAULT_EVENTS = ("monitor.down", "monitor.up", "web3.*")
# Events that belong to no monitor are sent regardless of a channel's monitor filter.
_OF_NO_MONITOR = ("probe.", "maintenance.", "status_page.")


def matches(pattern: str, kind: str) -> bool:
    return pattern in ("*", kind) or (pattern.endswith(".*") and kind.startswith(pattern[:-1]))


def is_subscribed(events: Sequence[str], monitors: Collection[str], kind: str, monitor_id: str) -> bool:
    """Whether a webhook channel with these filters receives this event of this monitor without a rule."""
    of_monitor = not kind.startswith(_OF_NO_MONITOR)
    if kind in CHANGES or (of_monitor and monitors and monitor_id not in monitors):
        return False
    return any(matches(pattern, kind) for pattern in events or DEFAULT_EVENTS)
