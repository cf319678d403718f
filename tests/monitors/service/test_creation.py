"""Monitors that are created together are as those created alone, at the cost of one."""

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
import pytest

from collector.monitors.service import creation
from collector.monitors.service.fields import for_create
from collector.monitors.service.monitors import SavedMonitor
from collector.platform.context import ServiceContext
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.ids import uuid7
from shared.tokens import new_key
from tests.probes.ground import connect, fetch, make_team

NOW = utc_now()
BODIES: Sequence[Mapping[str, Any]] = (
    {
        "name": "shop",
        "type": "http",
        "config": {"url": "https://shop.example.com/", "headers": {"X-Key": "secret-of-the-shop"}},
        "locations": ["eu", "local"],
        "tags": {"team": "web"},
        "timeout": 90,
    },
    {"name": "database", "type": "tcp", "config": {"host": "db.example.com", "port": 5432}, "group": "core"},
    {"name": "backup", "type": "heartbeat", "config": {"expectedInterval": 3600}},
    {
        "name": "gas",
        "type": "web3",
        "config": {"subType": "gas_price", "chain": "ethereum", "thresholds": {"high": 50}},
    },
)
# All that a creation writes, without ids, keys and times.
WRITTEN = {
    "monitors": """
        SELECT name, type, config, secrets IS NULL AS open, interval_s, timeout_s, locations, tags, severity,
            description, failure_threshold, recovery_threshold, quorum, group_name, depends_on, runbook_url,
            revision
        FROM monitors WHERE team_id = $1 ORDER BY monitor
    """,
    "states": """
        SELECT m.name, l.name AS location, s.turn, s.revision, s.probe_id, s.assignment IS NULL AS unassigned
        FROM states s JOIN monitors m USING (monitor) JOIN locations l USING (location)
        WHERE m.team_id = $1 ORDER BY monitor, turn
    """,
    "cadences": """
        SELECT m.name, c.since, c.cover_s FROM cadences c JOIN monitors m USING (monitor)
        WHERE m.team_id = $1 ORDER BY monitor
    """,
    "heartbeats": """
        SELECT m.name, h.wait_s, h.cron, h.grace_s, h.cover_s, h.base_at, h.due_at
        FROM heartbeats h JOIN monitors m USING (team_id, id) WHERE team_id = $1 ORDER BY m.monitor
    """,
    "audit": """
        SELECT actor_kind, action, resource, resource_name, fields FROM audit_log
        WHERE team_id = $1 ORDER BY resource_name
    """,
    "events": """
        SELECT kind, payload -> 'monitor' ->> 'name' AS name, sequence FROM events
        WHERE team_id = $1 ORDER BY name
    """,
}


def context(db: Db) -> ServiceContext:
    return ServiceContext(db, Keyring.parse(new_key()), Signals(db), 10)


async def together(db: Db, team_id: int, bodies: Sequence[Mapping[str, Any]]) -> list[SavedMonitor]:
    here = context(db)
    requests = {uuid7(): for_create(body, here.min_interval) for body in bodies}
    async with db.transaction() as tx:
        return await creation.create_all(tx, here, team_id, requests, NOW)


async def written(db: Db, team_id: int) -> dict[str, list[dict[str, Any]]]:
    return {name: [dict(row) for row in await fetch(db, sql, team_id)] for name, sql in WRITTEN.items()}


async def test_monitors_created_together_are_as_those_created_alone(db: Db) -> None:
    await connect(db, "eu", now=NOW)
    alone, joint = await make_team(db, NOW), await make_team(db, NOW)

    one_by_one = [await creation.create(context(db), alone, body, NOW) for body in BODIES]
    at_once = await together(db, joint, BODIES)

    expected = await written(db, alone)
    assert await written(db, joint) == expected
    assert [len(rows) for rows in expected.values()] == [4, 5, 4, 1, 4, 4]
    assert [saved.warnings for saved in at_once] == [saved.warnings for saved in one_by_one]
    assert any("longer than interval" in text for text in at_once[0].warnings)
    assert any("location local has no probe" in text for text in at_once[0].warnings)


async def test_monitors_are_returned_in_the_order_of_their_requests(db: Db) -> None:
    team_id = await make_team(db, NOW)

    saved = await together(db, team_id, BODIES)

    assert [each.monitor.name for each in saved] == [body["name"] for body in BODIES]


@pytest.mark.parametrize("body", BODIES[1:3], ids=["tcp", "heartbeat"])
async def test_many_monitors_take_no_more_statements_than_one(db: Db, body: Mapping[str, Any]) -> None:
    team_id, here = await make_team(db, NOW), context(db)

    async def statements(count: int) -> int:
        logged: list[asyncpg.connection.LoggedQuery] = []
        requests = {uuid7(): for_create({**body, "name": f"monitor {n}"}, 10) for n in range(count)}
        async with db.transaction() as tx:
            tx.add_query_logger(logged.append)
            try:
                await creation.create_all(tx, here, team_id, requests, NOW)
            finally:
                tx.remove_query_logger(logged.append)
        return len(logged)

    await statements(1)
    assert await statements(1) == await statements(100)
