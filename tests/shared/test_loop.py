"""Background work: it goes on after any failure, and says once what lasts."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
import structlog

from shared.errors import Unavailable
from shared.loop import Bell, forever

pytestmark = pytest.mark.races

NO_REST = timedelta(milliseconds=1)


async def turns(*outcomes: bool | Exception, bell: Bell | None = None, idle: timedelta = NO_REST) -> int:
    """Run a loop whose turns come out like this, one after the other; how many were taken."""
    taken = 0
    over = asyncio.Event()

    def script() -> Callable[[], Awaitable[bool]]:
        async def turn() -> bool:
            nonlocal taken
            taken += 1
            if taken >= len(outcomes):
                over.set()
            outcome = outcomes[min(taken, len(outcomes)) - 1]
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        return turn

    task = asyncio.create_task(forever("test", script(), idle, bell))
    async with asyncio.timeout(10):
        await over.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return taken


async def test_turns_follow_at_once_while_there_is_more() -> None:
    assert await turns(True, True, True, False, idle=timedelta(hours=1)) == 4


async def test_the_bell_ends_a_rest() -> None:
    bell = Bell()
    bell.ring()
    assert await turns(False, False, bell=bell, idle=timedelta(hours=1)) == 2


async def test_a_failure_stops_nothing() -> None:
    assert await turns(ValueError("broken"), RuntimeError("again"), False) >= 3


async def test_a_database_that_is_away_is_told_once() -> None:
    away = Unavailable("The database is away")
    with structlog.testing.capture_logs() as mappings:
        await turns(away, away, away, False, away, False)
    assert [line["reason"] for line in mappings] == ["The database is away"] * 2
