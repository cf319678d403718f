"""What the tests of all channels share: a way out to the receivers on this machine."""

from collections.abc import AsyncIterator

import pytest

from collector.platform.transport import Transport


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    opened = Transport(allow_private=True)
    yield opened
    await opened.close()
