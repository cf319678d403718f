"""A real server over a real database, and a client that holds an admin's token."""

from collections.abc import AsyncIterator

import aiohttp
import pytest

from collector.api.app import make, serve
from collector.api.deps import Deps
from collector.channels.transport import Transport
from collector.core.seal import Keyring
from collector.services.bootstrap import Made, bootstrap
from collector.services.following import Following
from collector.services.signals import Signals
from collector.storage.db import Db
from shared.clock import utc_now
from shared.tokens import new_key
from tests.api.client import Api, Clock

PUBLIC_URL = "https://tocsin.example.com"


@pytest.fixture
def keyring() -> Keyring:
    return Keyring.parse(new_key())


@pytest.fixture
async def made(db: Db) -> Made:
    """What the first start makes."""
    first = await bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
    assert first is not None
    return first


@pytest.fixture
async def api(db: Db, keyring: Keyring, made: Made) -> AsyncIterator[Api]:
    clock, transport = Clock(), Transport(allow_private=True)
    deps = Deps(
        db=db,
        keyring=keyring,
        signals=Signals(db),
        following=Following(db, public_url=PUBLIC_URL, now=clock),
        transport=transport,
        public_url=PUBLIC_URL,
        min_interval=1,
        now=clock,
    )
    runner = await serve(make(deps), "127.0.0.1:0")
    try:
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield Api(url, session, deps, clock, made.team_id, made.user_id, made.token)
    finally:
        await runner.cleanup()
        await transport.close()
