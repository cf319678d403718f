"""Exponential backoff."""

import random
from collections.abc import Iterator


def full_jitter(first: float, most: float) -> Iterator[float]:
    """Endless delays in seconds: each random below a bound that doubles from *first* up to *most*."""
    bound = first
    while True:
        yield random.uniform(bound / 4, bound)  # noqa: S311 - spreads load, no security
        bound = min(bound * 2, most)
