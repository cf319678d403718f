"""A real Chromium with its driver, one for the run, and in it a fresh visitor for each visit of a test.

A driver takes half a second of CPU time to start, and belongs to the event loop that started it. So these
tests and all that they ask for run in the loop of the session.
"""

import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from collector.bootstrap import FirstStart
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from tests.browser.session import in_session_loop
from tests.browser.visits import Visitors
from tests.http.client import Api
from tests.http.fixtures import first_start, keyring, serving

__all__ = ["keyring"]

FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
# The shell is the same engine without windows and profiles, and takes a quarter of the CPU time for a visit.
_PROGRAMS: Final = ("chromium-headless-shell", "chromium")
_STARTS_WITHIN_S: Final = 30.0


@pytest.fixture(scope="session")
def chromium_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the run's Chromium is steered; it outlives every test's event loop."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed: apt-get install chromium-headless-shell")
    profile = tmp_path_factory.mktemp("chromium")
    process = subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{_port(process, profile / 'DevToolsActivePort')}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def _port(process: "subprocess.Popen[bytes]", path: Path) -> int:
    """What Chromium writes down once it listens."""
    deadline = time.monotonic() + _STARTS_WITHIN_S
    while True:
        if path.exists() and (lines := path.read_text().splitlines()):
            return int(lines[0])
        assert process.poll() is None, "Chromium ended"
        assert time.monotonic() < deadline, "Chromium does not start"
        time.sleep(0.02)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium_url: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        yield await playwright.chromium.connect_over_cdp(chromium_url)


@in_session_loop
async def db(database_url: str) -> AsyncIterator[Db]:
    opened = await Db.open(database_url, size=4, name="test")
    yield opened
    await opened.close()


@in_session_loop
async def made(db: Db) -> FirstStart:
    return await first_start(db)


@in_session_loop
async def api(db: Db, keyring: Keyring, made: FirstStart) -> AsyncIterator[Api]:
    async with serving(db, keyring, made) as served:
        yield served


@in_session_loop
async def visitors(browser: Browser) -> AsyncIterator[Visitors]:
    """Who opens pages as people do; all that they had open is closed in the end."""
    async with AsyncExitStack() as stack:
        yield Visitors(browser, stack)
