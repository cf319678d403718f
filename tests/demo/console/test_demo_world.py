"""The demonstration: what it fills a team with, and that the console and the public pages show it."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID

import pytest
import pytest_asyncio

from collector.bootstrap import bootstrap
from collector.demo.core import fleet
from collector.demo.fill import SEED, fill
from collector.demo.live import LiveWorld
from collector.demo.team import DemoTarget, DemoTeam
from collector.platform.access import Actor
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from shared import ids
from shared.clock import utc_now
from shared.tokens import new_key
from tests.console.client import Console, served, visiting
from tests.console.console.test_every_page import faults
from tests.console.fixtures import PUBLIC_URL
from tests.http.client import Api

# A day's worth of results and rollups is written: on a machine under load that takes minutes.
pytestmark = [pytest.mark.slow, pytest.mark.shares_setup, pytest.mark.timeout(900)]

STATES: Final = """
    SELECT name, type, group_name, down, degraded_told, paused_at IS NOT NULL AS paused,
        silenced_until IS NOT NULL AS silenced, EXISTS (
            SELECT FROM states s WHERE s.monitor = m.monitor AND s.last_at IS NOT NULL
        ) AS known, (
            SELECT count(*) FROM incidents i WHERE i.team_id = m.team_id AND i.monitor_id = m.id
        ) AS incidents
    FROM monitors m ORDER BY name
"""
# Each finds what cannot be in a team that lived through its history.
WRONG: Final = {
    "an incident is open of a monitor that is up": """
        SELECT m.name FROM incidents i JOIN monitors m ON m.team_id = i.team_id AND m.id = i.monitor_id
        WHERE i.automatic AND i.status <> 'resolved' AND NOT m.down AND m.flapping_since IS NULL
    """,
    "a monitor is down without an open incident": """
        SELECT name FROM monitors m WHERE down AND NOT EXISTS (
            SELECT FROM incidents i
            WHERE i.team_id = m.team_id AND i.monitor_id = m.id AND i.status <> 'resolved'
        )
    """,
    "a monitor is down without an open outage, or up with one": """
        SELECT name FROM monitors m WHERE down <> EXISTS (
            SELECT FROM outages o WHERE o.monitor = m.monitor AND o.location = 0 AND o.ended_at IS NULL
        )
    """,
    "an alert fires for a monitor that is up": """
        SELECT m.name FROM alerts a JOIN monitors m ON m.team_id = a.team_id AND m.id = a.monitor_id
            JOIN rules r ON r.team_id = a.team_id AND r.id = a.rule_id
        WHERE a.status <> 'recovered' AND r.conditions = '{}' AND NOT m.down
            AND a.reason NOT LIKE 'web3%' AND m.type <> 'gas_price' AND m.flapping_since IS NULL
    """,
    "an incident was resolved before it began": "SELECT title FROM incidents WHERE resolved_at < started_at",
    "something is from the future": """
        SELECT 'event' FROM events WHERE created_at > now() + interval '1 second'
        UNION ALL SELECT 'result' FROM results WHERE ts > now()
        UNION ALL SELECT 'delivery' FROM deliveries WHERE created_at > now()
    """,
    "a result lies in no day": "SELECT ts FROM results_default",
    "an hour is to be rolled up again": "SELECT at FROM rollups_dirty",
    "a delivery waits": "SELECT id FROM deliveries WHERE status = 0",
    "a delivery is older than its event, or much younger": """
        SELECT d.id FROM deliveries d JOIN events e USING (team_id, stream_id, sequence)
        WHERE d.created_at <> e.created_at
    """,
    "a day is not the sum of its hours": """
        SELECT d.at FROM rollups_day d JOIN (
            SELECT monitor, location, date_trunc('day', at) AS at, sum(checks) AS checks,
                sum(down_ms) AS down_ms, count(*) AS hours
            FROM rollups_hour GROUP BY 1, 2, 3
        ) h USING (monitor, location, at)
        WHERE h.hours = 24 AND (d.checks, d.down_ms) <> (h.checks, h.down_ms)
    """,
}


@dataclass(frozen=True, slots=True)
class FilledWorld:
    """A server whose first team was filled. *states*: those of its monitors right after that."""

    api: Api
    team: DemoTeam
    states: list[dict[str, Any]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(module_api: Api) -> FilledWorld:
    """Filled once for all tests of the module: it takes the longest."""
    context = module_api.context
    made = await filled(context.db, context.keyring, context.signals, module_api.team_id, module_api.user_id)
    return FilledWorld(module_api, made, await rows(context.db, STATES))


async def filled(db: Db, keyring: Keyring, signals: Signals, team_id: int, user_id: UUID) -> DemoTeam:
    admin = Actor(team_id, ids.show("usr", user_id), "Admin")
    return await fill(DemoTarget(db, keyring, signals, team_id, admin, "http://127.0.0.1:8080"), utc_now())


async def rows(db: Db, sql: str) -> list[dict[str, Any]]:
    async with db.connection() as tx:
        return [dict(row) for row in await tx.fetch(sql)]


async def counts(db: Db) -> dict[str, dict[str, int]]:
    """How many there are of each, by status."""
    found = {
        name: await rows(db, f"SELECT {status}::text AS status, count(*)::int FROM {name} GROUP BY 1")
        for name, status in {
            "monitors": "''", "incidents": "status", "alerts": "status", "deliveries": "status",
            "status_pages": "visibility", "users": "role",
        }.items()
    }  # fmt: skip
    return {name: {row["status"]: row["count"] for row in of_one} for name, of_one in found.items()}


async def test_the_world_is_filled_consistent_and_shown(world: FilledWorld) -> None:
    api, made = world.api, world.team
    db = api.context.db

    found = await counts(db)
    assert sum(found["monitors"].values()) == len(made.monitors) == fleet.MONITORS
    assert set(found["incidents"]) == {"open", "acknowledged", "resolved"}
    assert found["incidents"]["resolved"] > 50
    assert {"firing", "acknowledged", "recovered"} <= set(found["alerts"])
    assert found["deliveries"]["1"] > found["deliveries"]["2"] > 10
    assert set(found["status_pages"]) == {"public", "unlisted", "private"}
    assert set(found["users"]) == {"admin", "editor", "viewer"}
    assert [*await rows(db, "SELECT 1 FROM rollups_day HAVING count(*) > 60 * 90")]
    wrong = {what: await rows(db, sql) for what, sql in WRONG.items()}
    assert not {what: some[:5] for what, some in wrong.items() if some}

    async with served(api, public_url=PUBLIC_URL) as url, visiting(url, api) as console:
        await console.sign_in()
        assert not [fault async for fault in pages(console, api, made)]

    await LiveWorld(db, now=api.clock).turn()
    assert not await rows(db, WRONG["an incident is open of a monitor that is up"])
    [living] = await rows(db, "SELECT count(*) FROM probes WHERE seen_at > now() - interval '1 minute'")
    assert living["count"] == len(fleet.LOCATIONS)


async def pages(console: Console, api: Api, made: DemoTeam) -> AsyncIterator[str]:
    """What is wrong with the pages that show the world."""
    for path in [*paths(made), *[path async for path in more_paths(api)]]:
        page = await console.get(path)
        for fault in faults(path, path, page, 200):
            yield fault


def paths(made: DemoTeam) -> Iterator[str]:
    """The lists, and a monitor of each type."""
    yield from ("/", "/monitors", "/monitors?status=down", f"/monitors?group={quote('Internal tools')}")
    yield from ("/incidents", "/incidents?status=resolved", "/incidents/stats?by=week", "/alerting/rules")
    yield from ("/alerting/channels", "/alerting/alerts", "/alerting/maintenance", "/status-pages")
    yield from ("/settings/users", "/settings/tokens", "/settings/probes", "/settings/audit-log")
    yield from ("/status/shop", "/status/shop/history", "/status/developers", "/status/shop/feed.atom")
    by_type = {monitor.type: monitor.name for monitor in fleet.monitors(Random(SEED))}
    for name in (*by_type.values(), *fleet.NEW, "Refunds API", "Checkout API"):
        yield from (f"/monitors/{made.monitor(name)}{query}" for query in ("", "?range=90d"))


async def more_paths(api: Api) -> AsyncIterator[str]:
    for kind, start in (("incidents", "/incidents"), ("alert-channels", "/alerting/channels")):
        for item in (await api.get(f"/v1/{kind}?limit=25")).json["data"]:
            yield f"{start}/{item['id']}"


async def test_it_is_the_same_each_time(world: FilledWorld, empty_database_url: str) -> None:
    assert world.states == await states_of_new(empty_database_url)


async def states_of_new(url: str) -> list[dict[str, Any]]:
    """The monitors of a database that is filled now."""
    await migrate(url, utc_now())
    db = await Db.open(url, size=4, name="test")
    try:
        first = await bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
        assert first is not None
        await filled(db, Keyring.parse(new_key()), Signals(db), first.team_id, first.user_id)
        return await rows(db, STATES)
    finally:
        await db.close()
