"""A real server over a real database, and a client that holds an admin's token."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import aiohttp
import pytest
import pytest_asyncio

from collector.bootstrap import FirstStart, bootstrap
from collector.evaluation.ingest.pushes import Pushes
from collector.events.stream import EventStreamHub
from collector.heartbeats.ingest import PingReceiver
from collector.http.context import Context
from collector.platform.bucket import PLANS, TeamPlan
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from collector.server import Features, make, serve
from shared.clock import utc_now
from shared.loop import forever
from shared.tokens import new_key
from tests.clocks import GivenClock
from tests.http.client import Api, Clock
from tests.shared_server import shares_server

PUBLIC_URL = "https://tocsin.example.com"
# More than any test asks for.
UNLIMITED = TeamPlan(per_minute=60_000_000, burst=1_000_000)


@pytest.fixture
def keyring() -> Keyring:
    return Keyring.parse(new_key())


async def first_start(db: Db) -> FirstStart:
    """Make the first team and its admin."""
    first = await bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
    assert first is not None
    return first


@asynccontextmanager
async def serving(db: Db, keyring: Keyring, made: FirstStart) -> AsyncIterator[Api]:
    """Run a server over *db*, for the block; yield the client of its first admin."""
    clock, transport = Clock(), Transport(allow_private=True)
    pushes = Pushes(db, clock=GivenClock(clock, clock))
    heartbeats = PingReceiver(db, pushes, clock=GivenClock(clock))
    context = Context(
        db=db,
        keyring=keyring,
        signals=Signals(db),
        transport=transport,
        public_url=PUBLIC_URL,
        min_interval=1,
        now=clock,
        plans=dict.fromkeys(PLANS, UNLIMITED),
    )
    features = Features(following=EventStreamHub(db, public_url=PUBLIC_URL, now=clock), pings=heartbeats.take)
    pings = asyncio.create_task(forever("pings", heartbeats.turn, timedelta(milliseconds=10)))
    runner = await serve(make(context, features), "127.0.0.1:0")
    try:
        async with aiohttp.ClientSession() as session:
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield Api(url, session, context, features, clock, made.team_id, made.user_id, made.token)
    finally:
        await runner.cleanup()
        pings.cancel()
        await asyncio.gather(pings, return_exceptions=True)
        await transport.close()


@pytest.fixture
async def made(db: Db) -> FirstStart:
    """What the first start makes."""
    return await first_start(db)


@pytest.fixture
async def own_api(db: Db, keyring: Keyring, made: FirstStart) -> AsyncIterator[Api]:
    """A server and a database of the test's own."""
    async with serving(db, keyring, made) as served:
        yield served


@pytest.fixture
def api(request: pytest.FixtureRequest, server_url: str) -> Api:
    """The test's own server; with the marker `shares_server`, a team of its own on that of the module."""
    served: Api = request.getfixturevalue("team" if shares_server(request.node) else "own_api")
    return served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_api(module_database_url: str) -> AsyncIterator[Api]:
    """One server and one database for the cases of a module that ask for `team`."""
    db = await Db.open(module_database_url, size=4, name="test")
    async with serving(db, Keyring.parse(new_key()), await first_start(db)) as served:
        yield served
    await db.close()


@pytest_asyncio.fixture(loop_scope="module")
async def team(module_api: Api) -> Api:
    """The admin of a new team, on the server that the module shares: for cases that act in a team alone."""
    module_api.clock.ahead = timedelta()
    return await module_api.other_team("Admin")
