"""What follows the commit of events: they are counted, and those who pass them on are woken."""

from collections.abc import Callable, Collection

from collector import metrics


def count(kinds: Collection[str]) -> None:
    """*kinds*: of each event that was appended, as often as it was."""
    for kind in kinds:
        metrics.events.labels(kind).inc()


def told(kinds: Collection[str], tell: Callable[[], None]) -> None:
    """*tell* wakes who passes events on; of no events it is not called."""
    count(kinds)
    if kinds:
        tell()
