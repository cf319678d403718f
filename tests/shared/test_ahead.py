"""A program that is loaded before its settings are known begins when they come, and only then."""

import os
import signal
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from shared import children


@asynccontextmanager
async def loading() -> AsyncIterator[Process]:
    """A probe; not as a fixture, whose stderr would not be the test's."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    child = await children.load(bare, "probe")
    try:
        yield child
    finally:
        await children.end(child, 5.0)


async def test_it_begins_with_the_variables_that_it_is_given(capfd: pytest.CaptureFixture[str]) -> None:
    async with loading() as child:
        children.begin(child, {"TOCSIN_LOG_LEVEL": "shouting"})

        assert await child.wait() == 2

    assert "TOCSIN_LOG_LEVEL" in capfd.readouterr().err


async def test_it_ends_without_a_word_when_it_is_not_wanted(capfd: pytest.CaptureFixture[str]) -> None:
    async with loading() as child:
        assert child.stdin is not None
        child.stdin.close()

        assert await child.wait() == 0

    assert capfd.readouterr().err == ""


async def test_it_can_be_stopped_while_it_waits() -> None:
    async with loading() as child:
        await children.end(child, 5.0)

        assert child.returncode == -signal.SIGTERM


async def test_one_that_has_died_is_begun_in_vain() -> None:
    async with loading() as child:
        child.kill()
        await child.wait()

        children.begin(child, {"TOCSIN_LOG_LEVEL": "shouting"})

        assert await child.wait() == -signal.SIGKILL
