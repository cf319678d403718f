"""Background loops: a turn follows at once while there is more to do, else after a rest."""

import asyncio
import resource
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any

import structlog
import uvloop

from shared.errors import TocsinError

log = structlog.get_logger()


class Bell:
    """Wakes a resting loop: only a hint, safe to ring at any time and repeatedly.

    It supports one waiter. Each session has several, so it is small.
    """

    __slots__ = ("_rung", "_waiter")

    def __init__(self) -> None:
        self._rung = False
        self._waiter: asyncio.Future[None] | None = None

    def ring(self) -> None:
        self._rung = True
        if self._waiter is not None:
            _wake(self._waiter)

    async def wait(self, seconds: float) -> None:
        """Return when rung, or after *seconds*."""
        if not self._rung:
            loop = asyncio.get_running_loop()
            waiter = self._waiter = loop.create_future()
            timer = loop.call_later(seconds, _wake, waiter)
            try:
                await waiter
            finally:
                timer.cancel()
                self._waiter = None
        self._rung = False


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


async def forever(
    name: str, turn: Callable[[], Awaitable[bool]], idle: timedelta, bell: Bell | None = None
) -> None:
    """Run *turn* at once while it reports more work, else rest for *idle* or until the bell rings."""
    bell = bell or Bell()
    complaint = ""
    while True:
        more = False
        try:
            more = await turn()
            complaint = ""
        except TocsinError as error:
            # A temporary error, such as an unavailable database: logged once, not at every turn.
            if str(error) != complaint:
                log.warning("turn failed", loop=name, reason=str(error))
            complaint = str(error)
        except Exception:
            log.exception("turn failed", loop=name)
        if not more:
            await bell.wait(idle.total_seconds())


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run *main* on uvloop and return its exit status; raises the limit of open files to the maximum."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return uvloop.run(main)
