"""The highest or lowest value within a time window, in a few points."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from shared.kinds.web3.fields import amount, is_amount

# Unix time in seconds, and what was seen then.
Point = tuple[int, Decimal]
# A window is looked back on at so many points at most: so exact, in shares of it, is its end.
MOST_POINTS: Final = 120


def remember(
    points: Sequence[Point], new: Point, window_s: int, beats: Callable[[Decimal, Decimal], bool]
) -> list[Point]:
    """*points* with *new*, less those that are too old and those that *new* beats.

    So the first one is the extreme of the window: each that follows is beaten, but outlasts it.
    """
    at, value = new
    left = [point for point in points if point[0] >= at - window_s]
    while left and beats(value, left[-1][1]):
        left.pop()
    if not left or at - left[-1][0] >= window_s / MOST_POINTS:
        if left and left[-1][1] == value:
            left.pop()
        left.append(new)
    return left


def plain(points: Sequence[Point]) -> list[list[Any]]:
    """As JSON takes it."""
    return [[at, str(value)] for at, value in points]


def of(said: Any) -> list[Point]:
    """What `plain` made; nothing of anything else."""
    return [
        (point[0], amount(point[1]))
        for point in (said if isinstance(said, list) else ())
        if isinstance(point, list) and len(point) == 2 and _is_point(*point)
    ][-MOST_POINTS - 1 :]


def _is_point(at: Any, value: Any) -> bool:
    return isinstance(at, int) and isinstance(value, str) and is_amount(value)
