"""From the first version that was given away to this one, while a probe of that version goes on.

``TOCSIN_TEST_RESULTS`` is how many results the old version leaves.
"""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from tests.e2e import older
from tests.e2e.fleet import Part
from tests.e2e.older import NoHistory, Older
from tests.e2e.product import Caller, Product, eventually
from tests.receiver import Receiver, answer, receiving

FIRST_WAVE: Final = "14dd4f9"
RESULTS: Final = int(os.environ.get("TOCSIN_TEST_RESULTS", "20000"))
# Building the old version takes minutes on a busy machine, and so does a million results.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.races,
    pytest.mark.shares_setup,
    pytest.mark.timeout(900 + RESULTS / 1_000),
]

PATIENCE_S: Final = 90.0
PAGE: Final = "/v1/status-pages/{page}"
MADE: Final[list[tuple[str, dict[str, Any]]]] = [
    ("/v1/monitors", {"name": "job", "type": "heartbeat", "config": {"expectedInterval": 3600}}),
    ("/v1/monitors", {"name": "node", "type": "prometheus"}),
    ("/v1/incidents", {"title": "It smells of smoke", "severity": "low"}),
    ("/v1/alert-rules", {"name": "Slow", "conditions": {"consecutiveFailures": 30}}),
    (
        "/v1/maintenance-windows",
        {
            "name": "Works",
            "start": "2031-01-01T00:00:00Z",
            "duration": 3600,
            "rrule": "FREQ=DAILY",
            "all": True,
        },
    ),
    ("/v1/users", {"email": "new@example.com", "name": "New", "role": "editor"}),
    ("/v1/tokens", {"name": "robot", "permission": "read-only"}),
    (f"{PAGE}/components", {"name": "API", "status": "operational"}),
    (f"{PAGE}/incidents", {"title": "Slow", "status": "investigating", "message": "We **look** into it"}),
    (f"{PAGE}/subscribers", {"email": "name@example.com"}),
]
LISTS: Final = (
    "/v1/monitors", "/v1/incidents", "/v1/alert-channels", "/v1/alert-rules", "/v1/maintenance-windows",
    "/v1/users", "/v1/tokens", "/v1/probes", "/v1/status-pages", f"{PAGE}/components", f"{PAGE}/incidents",
    f"{PAGE}/subscribers",
)  # fmt: skip
# What an upgrade must leave as it is.
LASTING: Final = (
    "id", "name", "title", "type", "severity", "email", "role", "permission", "rrule", "start", "duration",
    "conditions", "slug", "startedAt", "createdAt", "location", "interval", "locations",
)  # fmt: skip


@pytest.fixture(scope="module")
def first_wave() -> Older:
    try:
        return older.build(FIRST_WAVE)
    except NoHistory:
        pytest.skip(f"the history of this clone has no {FIRST_WAVE}: git fetch --unshallow")


@dataclass(slots=True)
class World:
    """A deployment with *old*, a probe of the old version; *broken* is a target that fails."""

    product: Product
    old: Part
    steady: Receiver
    broken: Receiver
    hook: Receiver
    session: aiohttp.ClientSession
    ids: dict[str, str]

    @property
    def caller(self) -> Caller:
        return Caller(self.product, self.session, self.product.token)

    async def value(self, sql: str, *values: Any) -> Any:
        connection = await self.product.connect()
        try:
            return await connection.fetchval(sql, *values)
        finally:
            await connection.close()

    async def lists(self) -> dict[str, list[dict[str, Any]]]:
        """What the API shows of each collection, as far as it lasts, in the order of ids."""
        shown = {}
        for path in LISTS:
            got = (await self.caller.got(f"{path.format_map(self.ids)}?limit=100"))["data"]
            kept = [{name: item[name] for name in LASTING if name in item} for item in got]
            shown[path] = sorted(kept, key=lambda item: item["id"])
        return shown

    def events(self) -> Counter[tuple[str, str]]:
        """What the receiver was sent: the kinds of events, by monitor."""
        bodies = [request.json for request in self.hook.received]
        return Counter((body["event"], (body.get("monitor") or {}).get("name", "")) for body in bodies)

    async def upgrade(self) -> None:
        """Stop the old version, and start this one on the same directory."""
        assert self.product.stop() == 0
        now = Product(self.product.data_dir, self.product.settings)
        now.http, now.grpc, now.otlp = self.product.http, self.product.grpc, self.product.otlp
        self.product = now
        now.start()
        await now.ready(timeout_s=PATIENCE_S + RESULTS / 5_000)


@asynccontextmanager
async def deployment(directory: Path, version: Older) -> AsyncIterator[World]:
    """The old version with one probe beside its own, two monitors, and a channel."""
    settings = {"LOG_LEVEL": "info", "LOCATION": "local"}
    product = Product(directory / "var", settings, source=version.source, python=version.python)
    async with (
        receiving() as steady,
        receiving(always=answer(500)) as broken,
        receiving() as hook,
        aiohttp.ClientSession() as session,
    ):
        product.start()
        world: World | None = None
        try:
            await product.ready(timeout_s=PATIENCE_S)
            token = (
                await Caller(product, session, product.token).made("/v1/probe-tokens", {"location": "old"})
            )["token"]
            settings = {"COLLECTOR": f"127.0.0.1:{product.grpc}", "JOIN_TOKEN": token, "CANARIES": "none"}
            old = Part("probe", directory / "probe", settings, source=version.source, python=version.python)
            old.start()
            world = World(product, old, steady, broken, hook, session, {})
            yield world
        finally:
            for part in (old, world.product) if world else (product,):
                if part.process is not None and part.process.poll() is None:
                    part.stop()


async def filled(world: World) -> None:
    """Make one of each thing by the API, an outage that was told, and the results."""
    caller = world.caller
    await eventually(lambda: _serves(world, "old"), PATIENCE_S)
    channel = {"name": "Ops", "type": "webhook", "config": {"url": world.hook.url()}}
    world.ids["channel"] = (await caller.made("/v1/alert-channels", channel))["id"]
    for name, target in (("steady", world.steady), ("broken", world.broken)):
        body = {"name": name, "type": "http", "interval": 1, "timeout": 1, "locations": ["old"]}
        world.ids[name] = (await caller.made("/v1/monitors", {**body, "config": {"url": target.url()}}))["id"]
    world.ids["page"] = (await caller.made("/v1/status-pages", {"name": "Example"}))["id"]
    for path, body in MADE:
        await caller.made(path.format_map(world.ids), body)
    await eventually(lambda: _told(world, "monitor.down", "broken"), PATIENCE_S)
    await eventually(lambda: _status(world, "steady", "up"), PATIENCE_S)
    await world.value(
        """
        INSERT INTO results (ts, monitor, ms, error, location, n, run, status, code, phases)
        SELECT r.ts - make_interval(secs => 2 * i), monitor, r.ms, r.error, r.location, r.n, r.run,
            r.status, r.code, r.phases
        FROM (SELECT r.* FROM results r JOIN monitors m USING (monitor) WHERE m.name = 'steady'
              ORDER BY r.ts LIMIT 1) r, generate_series(1, $1::int) i
        """,
        RESULTS,
    )


async def _serves(world: World, location: str) -> bool:
    probes = (await world.caller.got("/v1/probes"))["data"]
    return any(probe["location"] == location for probe in probes)


async def _told(world: World, kind: str, name: str) -> bool:
    return world.events()[kind, name] > 0


async def _status(world: World, name: str, status: str) -> bool:
    return bool((await world.caller.got(f"/v1/monitors/{world.ids[name]}"))["status"] == status)


async def _measured(world: World, since: datetime, until: datetime) -> bool:
    """Whether the old probe's results of a span are stored."""
    number = await world.value(
        """
        SELECT count(*) FROM results r JOIN monitors m USING (monitor)
        WHERE m.name = 'steady' AND r.ts > $1 AND r.ts < $2
        """,
        since,
        until,
    )
    return bool(number)


async def test_all_is_there_and_nobody_is_alarmed(tmp_path: Path, first_wave: Older) -> None:
    async with deployment(tmp_path, first_wave) as world:
        await filled(world)
        before, sent = await world.lists(), world.events()
        stopped = datetime.now(UTC)
        count = await world.value("SELECT count(*) FROM results WHERE ts < $1", stopped)
        assert count > RESULTS

        await world.upgrade()
        started = datetime.now(UTC)

        assert await world.lists() == before
        assert await world.value("SELECT count(*) FROM results WHERE ts < $1", stopped) >= count
        # The old probe checked meanwhile, kept what it measured, and goes on.
        await eventually(lambda: _measured(world, stopped, started), PATIENCE_S)
        await eventually(lambda: _measured(world, started, datetime.now(UTC)), PATIENCE_S)
        assert world.old.process is not None
        assert world.old.process.poll() is None

        world.broken.always = answer(200)
        await eventually(lambda: _told(world, "monitor.up", "broken"), PATIENCE_S)
        await eventually(lambda: _status(world, "broken", "up"), PATIENCE_S)
        assert world.events() - sent == Counter({("monitor.up", "broken"): 1})
        page = await world.caller.got(PAGE.format_map(world.ids))
        async with world.session.get(f"{world.product.url}/status/{page['slug']}") as response:
            assert response.status == 200
            assert "<strong>look</strong>" in await response.text()


async def test_a_version_that_is_too_old_refuses_the_database_in_one_line(tmp_path: Path) -> None:
    product = Product(tmp_path / "var", {})
    product.start()
    await product.ready(timeout_s=PATIENCE_S)
    connection = await product.connect()
    await connection.execute("INSERT INTO schema_migrations VALUES (9999, 'of_the_future', now())")
    await connection.close()
    assert product.stop() == 0

    assert await refused(product) == (True, 1)


async def test_the_first_wave_refuses_this_version_s_database_and_harms_nothing(
    tmp_path: Path, first_wave: Older
) -> None:
    now = Product(tmp_path / "var", {})
    now.start()
    await now.ready(timeout_s=PATIENCE_S)
    assert now.stop() == 0

    before = Product(now.data_dir, {}, source=first_wave.source, python=first_wave.python)
    ended, lines = await refused(before)
    assert (ended, lines > 0) == (True, True)

    now.start()
    await now.ready(timeout_s=PATIENCE_S)
    assert now.stop() == 0


async def refused(product: Product) -> tuple[bool, int]:
    """Whether it ends by itself with a failure, and in how many lines it names the database's version."""
    begins = len(product.log.read_text())
    product.start()
    assert product.process is not None
    status = await asyncio.to_thread(product.process.wait, PATIENCE_S)
    said = product.log.read_text()[begins:].splitlines()
    return status != 0, sum("the database is at version" in line for line in said)
