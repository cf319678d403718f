"""The highest or lowest value within a time window, in a few points."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from shared.kinds.web3.fields import amount, is_amount

# Unix time in seconds, and the value seen then.
Point = tuple[int, Decimal]
# Limit of stored points, which determines the precision of the window's end.
MOST_POINTS: Final = 120


def remember(
    points: Sequence[Point], new: Point, window_s: int, beats: Callable[[Decimal, Decimal], bool]
) -> list[Point]:
    """Add *new* to *points*; drop those that are too old or that *new* beats.

    So the first one is the extreme of the window; each later one is beaten by it, but newer.
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
    """The points as JSON."""
    return [[at, str(value)] for at, value in points]


def of(said: Any) -> list[Point]:
    """The inverse of `plain`; empty for invalid data."""
    return [
        (point[0], amount(point[1]))
        for point in (said if isinstance(said, list) else ())
        if isinstance(point, list) and len(point) == 2 and _is_point(*point)
    ][-MOST_POINTS - 1 :]


def _is_point(at: Any, value: Any) -> bool:
    return isinstance(at, int) and isinstance(value, str) and is_amount(value)
