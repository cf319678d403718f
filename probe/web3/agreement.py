"""Chooses the reading on which enough nodes agree."""

from collections.abc import Sequence
from typing import TypeVar

from probe.web3.reader import Placed, Step

T = TypeVar("T", bound=Placed)


def agreed(seen: Sequence[Step[T]], quorum: int) -> Step[T] | None:
    """The progress that at least *quorum* of them share, though some may be ahead; None if there is none."""
    for one in sorted(seen, key=lambda step: step.at, reverse=True):
        if sum(_goes_with(other, one) for other in seen) >= quorum:
            return one
    return None


def _goes_with(other: Step[T], step: Step[T]) -> bool:
    count = len(step.logs)
    farther = all((log.block, log.index) >= step.at for log in other.logs[count:])
    settled = step.gone is None or other.gone == step.gone
    settled = settled and (step.again is None or step.again.begins(other.again))
    return other.at >= step.at and other.logs[:count] == step.logs and farther and settled
