"""Fixtures in the event loop of the session, where the driver of Chromium runs."""

from typing import Final

import pytest_asyncio

in_session_loop: Final = pytest_asyncio.fixture(loop_scope="session")
