"""Runs long work in slices, so that other checks run in between."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

_SLICE_S: Final = 0.01


async def fairly(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield *items*, letting other tasks run after every few milliseconds of work."""
    began = time.monotonic()
    for item in items:
        yield item
        if time.monotonic() - began > _SLICE_S:
            await asyncio.sleep(0)
            began = time.monotonic()
