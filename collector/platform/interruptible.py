"""Runs a command that SIGTERM and SIGINT end in order: an unfinished transaction is rolled back."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from shared.errors import TocsinError

Result = TypeVar("Result")

UNCHANGED: Final = "; nothing was changed"


class Interrupted(TocsinError):
    """The user interrupted it."""


def run(work: Coroutine[Any, Any, Result], *, left: str = "") -> Result:
    """Run *work* in its own loop. Raises Stopped, which describes what was *left* behind."""
    return asyncio.run(_stoppable(work, left))


async def _stoppable(work: Coroutine[Any, Any, Result], left: str) -> Result:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        loop.set_exception_handler(lambda *_: None)  # an error during cancellation does not matter
        task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        raise Interrupted(f"stopped before it was done{left}") from None
