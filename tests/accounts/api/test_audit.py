"""The audit log: every route that changes something writes one entry, which nobody can change."""

from typing import Any

import asyncpg
import pytest

from collector.platform import audit
from collector.platform.access import system
from collector.probes.service.probes import rename
from shared import ids
from shared.errors import NotFound
from shared.ids import uuid7
from tests.http.client import Api
from tests.http.route_table import BODIES, CHANGES, prepared

# Routes that change nothing that lasts.
SILENT = {
    ("POST", "/v1/monitors/test"): "runs a check once and keeps nothing",
    ("POST", "/v1/monitors/{id}/check"): "runs a check once and keeps nothing",
    ("POST", "/v1/alert-rules/preview"): "looks at the past and keeps nothing",
    ("POST", "/v1/alert-channels/{id}/test"): "sends a message once and keeps nothing",
    ("POST", "/v1/status-pages/{id}/verify-domain"): "looks for a proof, and here there is none",
    ("POST", "/v1/monitors/{id}/ping"): "brings a result, as a probe does, and changes nothing",
    ("PUT", "/v1/status-pages/{id}/components"): "here, an order that is the present one",
}


async def log(api: Api, query: str = "") -> list[dict[str, Any]]:
    answer = await api.get(f"/v1/audit-log?limit=100{query}")
    assert answer.status == 200, answer.body
    entries: list[dict[str, Any]] = answer.json["data"]
    return entries


def nameless(entries: list[dict[str, Any]], id_: str | None) -> list[dict[str, Any]]:
    """The entries without the name of the resource *id_*."""
    return [
        {**entry, "resource": {**entry["resource"], "name": None}}
        if entry["resource"]["id"] == id_
        else entry
        for entry in entries
    ]


@pytest.mark.parametrize(("method", "path"), [route for route in CHANGES if route not in SILENT])
async def test_each_change_writes_one_entry_of_who_did_what(team: Api, method: str, path: str) -> None:
    whole = await prepared(team, method, path)
    before = await log(team)

    answer = await team.call(method, whole, BODIES.get((method, path)), headers={"X-Request-Id": "request-7"})

    assert answer.status < 300, answer.body
    after = await log(team)
    # Entries about a removed user lose the name, and nothing else: see test_removed_users.py.
    removed = whole.split("/")[3] if (method, path) == ("DELETE", "/v1/users/{id}") else None
    assert nameless(after[1:], removed) == nameless(before, removed)
    entry = after[0]
    assert entry["actor"]["type"] == "user"
    assert (entry["actor"]["id"], entry["actor"]["name"]) == (ids.show("usr", team.user_id), "Admin")
    assert (entry["address"], entry["requestId"]) == ("127.0.0.1", "request-7")
    if "{" in path:
        assert entry["resource"]["id"] == whole.split("/")[3]


@pytest.mark.parametrize(("method", "path"), SILENT)
async def test_what_changes_nothing_writes_nothing(team: Api, method: str, path: str) -> None:
    whole = await prepared(team, method, path)
    before = await log(team)

    await team.call(method, whole, BODIES.get((method, path)))

    assert await log(team) == before


@pytest.mark.parametrize(("method", "path"), CHANGES)
async def test_a_change_that_is_refused_writes_nothing(team: Api, method: str, path: str) -> None:
    whole = await prepared(team, method, path)
    before = await log(team)

    assert (await (await team.reader()).call(method, whole, BODIES.get((method, path)))).status == 403

    assert await log(team) == before


async def test_an_entry_names_the_fields_that_changed_and_no_value(api: Api) -> None:
    config = {"url": "https://shop.example.com/", "headers": {"X-Key": "a secret of the shop"}}
    made = (await api.post("/v1/monitors", {"name": "shop", "type": "http", "config": config})).json["id"]
    change = {"interval": 30, "config": {"headers": {"X-Key": "another secret"}}}
    await api.put(f"/v1/monitors/{made}", change)

    update, create = await log(api, f"&resource={made}")

    assert (create["action"], create["fields"]) == ("create", [])
    assert (update["action"], update["fields"]) == ("update", ["config.headers", "interval"])
    assert update["resource"] == {"type": "monitor", "id": made, "name": "shop"}
    assert update["timestamp"] >= create["timestamp"]


async def test_a_repeat_that_changes_nothing_writes_nothing(api: Api) -> None:
    path = await prepared(api, "POST", "/v1/monitors/{id}/resume")
    await api.post(path)
    before = await log(api)

    await api.post(path)
    await api.delete(path.replace("resume", "silence"))
    await api.put(path.removesuffix("/resume"), {})

    assert await log(api) == before


async def test_one_deed_on_many_monitors_is_an_entry_for_each_under_one_request(api: Api) -> None:
    made = {(await api.post("/v1/monitors", BODIES["POST", "/v1/monitors"])).json["id"] for _ in range(3)}
    body = {"action": "silence", "filter": {"all": True}, "duration": 60}

    answer = await api.post("/v1/monitors/bulk", body, headers={"X-Request-Id": "request-8"})

    assert answer.json["changed"] == 3, answer.json
    entries = await log(api, "&action=silence")
    assert {entry["resource"]["id"] for entry in entries} == made
    assert [entry["requestId"] for entry in entries] == ["request-8"] * 3


async def test_it_is_filtered(api: Api) -> None:
    monitor = (await prepared(api, "POST", "/v1/monitors/{id}/pause")).split("/")[3]
    await api.post(f"/v1/monitors/{monitor}/pause")
    await api.post("/v1/incidents", {"title": "smoke"})

    async def actions(query: str) -> list[str]:
        return [f"{entry['action']} {entry['resource']['type']}" for entry in await log(api, query)]

    assert await actions("&resource=monitor") == ["pause monitor", "create monitor"]
    assert await actions(f"&resource={monitor}&action=pause") == ["pause monitor"]
    assert await actions("&action=create") == ["create incident", "create monitor"]
    assert len(await actions(f"&actor={ids.show('usr', api.user_id)}")) == 3
    assert await actions(f"&actor={ids.show('usr', uuid7())}") == []
    assert await actions("&actor=operator") == []
    assert len(await actions("&from=2020-01-01")) == 3
    assert await actions("&to=2020-01-01") == []


async def test_it_is_paged(api: Api) -> None:
    for number in range(3):
        await api.post("/v1/incidents", {"title": f"smoke {number}"})

    answer = await api.get("/v1/audit-log?limit=2&page=2&resource=incident")

    assert [entry["resource"]["name"] for entry in answer.json["data"]] == ["smoke 0"]
    assert answer.json["meta"] == {"page": 2, "limit": 2, "total": 3}
    assert 'rel="prev"' in answer.headers["Link"]


@pytest.mark.parametrize("query", ["from=yesterday", "page=0", "limit=x", "from=2026-02-01&to=2026-01-01"])
async def test_a_bad_query_is_refused(team: Api, query: str) -> None:
    assert (await team.get(f"/v1/audit-log?{query}")).status == 400


async def test_a_team_sees_its_own_alone(api: Api) -> None:
    await api.post("/v1/incidents", {"title": "smoke"})
    other = await api.other_team()

    assert await log(other) == []


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_log SET action = 'none'", "DELETE FROM audit_log", "TRUNCATE audit_log"]
)
async def test_the_database_refuses_to_change_it(api: Api, statement: str) -> None:
    await api.post("/v1/incidents", {"title": "smoke"})

    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="append-only"):
        async with api.context.db.transaction() as tx:
            await tx.execute(statement)


async def test_only_what_is_older_than_three_years_can_be_deleted(api: Api) -> None:
    for age in (1096, 1094):
        async with api.context.db.transaction() as tx:
            await tx.execute(
                """
                INSERT INTO audit_log SELECT $1, $2, now() - $3 * interval '1 day', 'system', NULL, 'System',
                    NULL, NULL, NULL, 'renew', 'probe', 'prb_1', 'probe-1', '{}'
                """,
                api.team_id, uuid7(), age,
            )  # fmt: skip

    async with api.context.db.transaction() as tx:
        assert await tx.execute("DELETE FROM audit_log WHERE at < now() - interval '1095 days'") == "DELETE 1"
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="append-only"):
        async with api.context.db.transaction() as tx:
            await tx.execute("DELETE FROM audit_log WHERE at < now() - interval '1090 days'")


async def test_no_deed_without_its_entry_and_no_entry_without_its_deed(api: Api) -> None:
    """Both are of one transaction: where the log cannot be written, nothing is done."""
    async with api.context.db.transaction() as tx:
        await tx.execute("ALTER TABLE audit_log ADD CONSTRAINT full_up CHECK (action <> 'create') NOT VALID")

    assert (await api.post("/v1/incidents", {"title": "smoke"})).status == 500
    assert (await api.get("/v1/incidents")).json["meta"]["total"] == 0

    with pytest.raises(NotFound):
        await rename(api.context.db, system(api.team_id), uuid7(), {"name": "x"})
    assert await log(api) == []


async def test_the_service_itself_is_named_where_nobody_asked(api: Api) -> None:
    async with api.context.db.transaction() as tx:
        await audit.record(tx, system(api.team_id), "renew", "probe", "prb_1", name="probe-1")

    [entry] = await log(api, "&actor=system")

    assert entry["actor"] == {"type": "system", "id": None, "name": "System", "tokenId": None}
    assert (entry["address"], entry["requestId"], entry["fields"]) == (None, None, [])
