"""What a transaction leaves to announce after its commit: kinds of events, queued deliveries."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final


@dataclass(slots=True)
class Aftermath:
    """*events*: the kinds of the appended events; *queued*: whether deliveries were queued."""

    events: list[str] = field(default_factory=list)
    queued: bool = False

    def __bool__(self) -> bool:
        return self.queued or bool(self.events)


# By the connections of the open transactions.
_OPEN: Final[dict[object, Aftermath]] = {}


def appended(tx: object, kinds: Iterable[str]) -> None:
    """Record that events of these kinds were appended in *tx*."""
    if (left := _OPEN.get(tx)) is not None:
        left.events.extend(kinds)


def queued(tx: object) -> None:
    """Record that deliveries were queued in *tx*."""
    if (left := _OPEN.get(tx)) is not None:
        left.queued = True


@contextmanager
def collected(tx: object) -> Iterator[Aftermath]:
    """What is recorded for *tx* within the block; an enclosing transaction inherits it.

    A failed block records nothing.
    """
    whole, mine = _OPEN.get(tx), Aftermath()
    _OPEN[tx] = mine
    try:
        yield mine
    finally:
        if whole is None:
            del _OPEN[tx]
        else:
            _OPEN[tx] = whole
    if whole is not None:
        whole.events += mine.events
        whole.queued |= mine.queued
        mine.events, mine.queued = [], False
