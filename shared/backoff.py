"""Exponential backoff."""

import random
from collections.abc import Iterator


def full_jitter(first: float, most: float) -> Iterator[float]:
    """Seconds to wait: each a random part of a bound that doubles from *first* up to *most*, for ever."""
    bound = first
    while True:
        yield random.uniform(bound / 4, bound)  # noqa: S311 - spreads load, guards nothing
        bound = min(bound * 2, most)
