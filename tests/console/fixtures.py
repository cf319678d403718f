"""The console on a real server over a real database, and a browser without a screen in front of it."""

from collections.abc import AsyncIterator

import pytest

from tests.console.client import Console, served, visiting
from tests.http.client import Api
from tests.http.fixtures import api, keyring, made

__all__ = ["api", "keyring", "made"]

PUBLIC_URL = "http://tocsin.example.com"


@pytest.fixture
async def console(api: Api) -> AsyncIterator[Console]:
    """Nobody is signed in yet."""
    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as browser:
        yield browser
