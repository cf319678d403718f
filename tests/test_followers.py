"""Whichever way a monitor is deleted or an incident acknowledged, alerting takes part."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from collector.declarative.cli import connection
from shared import ids
from shared.clock import utc_now
from shared.settings import DeclaredSettings
from shared.tokens import new_key
from tests.console.client import Console
from tests.console.fixtures import (
    api,
    console,
    keyring,
    made,
    module_api,
    module_console_url,
    own_api,
    own_console,
    team,
    team_console,
)
from tests.http.client import Api
from tests.http.rows import incident
from tests.monitors.api.test_monitor_ends import ARRIVED, DOWN, UP, happened, hook
from tests.monitors.monitors import change, rows

__all__ = [
    "api",
    "console",
    "keyring",
    "made",
    "module_api",
    "module_console_url",
    "own_api",
    "own_console",
    "team",
    "team_console",
]

ProxyRoute = Callable[[Console, str, str], Awaitable[object]]


async def by_the_api(console: Console, id_: str, _: str) -> None:
    assert (await console.api.delete(f"/v1/monitors/{id_}")).status == 204


async def by_the_api_in_bulk(console: Console, id_: str, _: str) -> None:
    body = {"action": "delete", "filter": {"ids": [id_]}}
    assert (await console.api.post("/v1/monitors/bulk", body)).json["changed"] == 1


async def by_the_console(console: Console, id_: str, _: str) -> None:
    await console.sign_in()
    assert (await console.post(f"/monitors/{id_}/delete")).path == "/monitors"


async def by_the_console_in_bulk(console: Console, id_: str, _: str) -> None:
    await console.sign_in()
    assert "1 of 1 changed" in (await console.post("/monitors/bulk", {"id": [id_], "action": "delete"})).words


async def by_files_through_the_api(console: Console, _: str, __: str) -> None:
    assert (await console.api.post("/v1/apply", {"monitors": [], "prune": True})).json["changes"]


async def by_files_in_the_database(_: Console, __: str, database_url: str) -> None:
    settings = DeclaredSettings(
        data_dir=Path("/nonexistent"), database_url=database_url, secret_key=new_key(),
        http_listen="127.0.0.1:0", public_url="http://tocsin.example.com", hosts=None, min_interval=1,
        max_monitors=None, max_channels=None, rpc_urls=None, url=None, token=None,
        log_format="json", log_level="info",
    )  # fmt: skip
    assert (await connection.apply(settings, None, {"monitors": [], "prune": True}))["changes"]


@pytest.mark.parametrize(
    "delete",
    [
        by_the_api,
        by_the_api_in_bulk,
        by_the_console,
        by_the_console_in_bulk,
        by_files_through_the_api,
        by_files_in_the_database,
    ],
)
async def test_a_monitor_deleted_by_any_way_ends_its_alerts_and_sends_its_end(
    console: Console, database_url: str, delete: ProxyRoute
) -> None:
    api = console.api
    shop = {"name": "Shop", "type": "http", "config": {"url": "https://shop.example.com/"}}
    assert (await api.post("/v1/apply", {"monitors": [shop]})).status == 200
    id_: str = (await api.get("/v1/monitors")).json["data"][0]["id"]
    body = {"name": "Rule", "monitors": [id_], "conditions": {"consecutiveFailures": 3}}
    rule: str = (await api.post("/v1/alert-rules", body)).json["id"]
    open_incident = await goes_down(api, id_)
    await fires(api, rule, id_, open_incident)
    await happened(api, id_, DOWN, await hook(api), **ARRIVED)

    await delete(console, id_, database_url)

    assert (await api.get(f"/v1/monitors/{id_}")).status == 404
    assert (await api.get(f"/v1/alert-rules/{rule}")).json["monitors"] == []
    assert [alert["status"] for alert in await rows(api, "SELECT status FROM alerts")] == ["recovered"]
    queued = await rows(api, "SELECT event_kind FROM deliveries WHERE status = 0")
    assert [row["event_kind"] for row in queued] == [UP]


async def acknowledged_by_the_api(console: Console, id_: str, _: str) -> None:
    assert (await console.api.post(f"/v1/incidents/{id_}/acknowledge")).status == 200


async def acknowledged_by_the_console(console: Console, id_: str, _: str) -> None:
    await console.sign_in()
    assert (await console.post(f"/incidents/{id_}/acknowledge")).status == 200


@pytest.mark.parametrize("acknowledge", [acknowledged_by_the_api, acknowledged_by_the_console])
async def test_an_incident_acknowledged_by_any_way_acknowledges_its_alerts(
    console: Console, database_url: str, acknowledge: ProxyRoute
) -> None:
    api = console.api
    body: dict[str, Any] = {"name": "Shop", "type": "http", "config": {"url": "https://shop.example.com/"}}
    id_: str = (await api.post("/v1/monitors", body)).json["id"]
    rule: str = (await api.post("/v1/alert-rules", {"name": "Rule", "monitors": [id_]})).json["id"]
    open_incident = await goes_down(api, id_)
    await fires(api, rule, id_, open_incident)

    await acknowledge(console, open_incident, database_url)

    assert [alert["status"] for alert in await rows(api, "SELECT status FROM alerts")] == ["acknowledged"]


async def goes_down(api: Api, id_: str) -> str:
    """Its incident's public id; its outage was announced."""
    monitor_id = ids.read("mon", id_)
    await change(api, "monitors", "id", monitor_id, down=True, told=True)
    made = await incident(api.context.db, api.team_id, monitor_id=monitor_id, started_at=utc_now())
    return ids.show("inc", made)


async def fires(api: Api, rule: str, monitor: str, incident: str) -> None:
    """An alert of the rule for the monitor, within the incident."""
    async with api.context.db.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO alerts (team_id, id, rule_id, rule_name, monitor_id, monitor_name, status, reason,
                                incident_id, fired_at)
            VALUES ($1, $2, $3, 'Rule', $4, 'Shop', 'firing', 'down', $5, now())
            """,
            api.team_id, ids.uuid7(), ids.read("rule", rule), ids.read("mon", monitor),
            ids.read("inc", incident),
        )  # fmt: skip
