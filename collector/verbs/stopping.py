"""Long work of a command that SIGTERM and SIGINT end in order: what was begun is taken back."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from shared.errors import TocsinError

Result = TypeVar("Result")


class Stopped(TocsinError):
    """Somebody ended it before it was done."""


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of *work*, in a loop of its own. Raises Stopped."""
    return asyncio.run(_stoppable(work))


async def _stoppable(work: Coroutine[Any, Any, Result]) -> Result:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        raise Stopped("stopped before it was done; nothing was changed") from None
