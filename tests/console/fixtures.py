"""The console on a real server over a real database, and a browser without a screen in front of it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.console.client import Console, served, visiting
from tests.http.client import Api
from tests.http.fixtures import api, keyring, made, module_api, own_api, team
from tests.shared_server import shares_server

__all__ = ["api", "keyring", "made", "module_api", "own_api", "team"]

PUBLIC_URL = "http://tocsin.example.com"


@pytest.fixture
async def own_console(api: Api) -> AsyncIterator[Console]:
    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_console_url(module_api: Api) -> AsyncIterator[str]:
    async with served(module_api, public_url=PUBLIC_URL) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="module")
async def team_console(module_console_url: str, api: Api) -> AsyncIterator[Console]:
    async with visiting(module_console_url, api) as browser:
        yield browser


@pytest.fixture
def console(request: pytest.FixtureRequest, api: Api) -> Console:
    """Nobody is signed in yet. The server is the test's own, or as with `api` that of the module."""
    shared = shares_server(request.node)
    browser: Console = request.getfixturevalue("team_console" if shared else "own_console")
    return browser
