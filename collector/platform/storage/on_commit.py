"""What a transaction leaves to announce after its commit: kinds of events, queued deliveries."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final


@dataclass(slots=True)
class Aftermath:
    """*events*: the kind of each that was appended; *queued*: did it queue deliveries?"""

    events: list[str] = field(default_factory=list)
    queued: bool = False

    def __bool__(self) -> bool:
        return self.queued or bool(self.events)


# By the connections of the transactions that are under way.
_OPEN: Final[dict[object, Aftermath]] = {}


def appended(tx: object, kinds: Iterable[str]) -> None:
    """Events of these kinds were appended in *tx*."""
    if (left := _OPEN.get(tx)) is not None:
        left.events.extend(kinds)


def queued(tx: object) -> None:
    """Deliveries were queued in *tx*."""
    if (left := _OPEN.get(tx)) is not None:
        left.queued = True


@contextmanager
def collected(tx: object) -> Iterator[Aftermath]:
    """What is noted of *tx* meanwhile; of a part of a transaction that is under way its whole takes it over.

    What fails leaves nothing.
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
