"""Configuration as code through the API: all or nothing, again without effect, each thing by its key."""

import asyncio
from typing import Any

import pytest

from collector.platform.access import Permission
from shared.kinds import TYPES
from tests.http.client import Api
from tests.monitors.declared import CHANNELS, CONFIGS, SECRET, everything

pytestmark = pytest.mark.shares_server

SHOP: dict[str, Any] = {
    "name": "Shop",
    "key": "shop",
    "type": "http",
    "config": {"url": "https://shop.example.com/"},
}
DATABASE: dict[str, Any] = {
    "name": "Database",
    "key": "db",
    "type": "tcp",
    "config": {"host": "db.example.com", "port": 5432},
}
HOOK: dict[str, Any] = {
    "name": "Ops",
    "type": "webhook",
    "config": {"url": "https://hooks.example.com/", "signingSecret": SECRET},
}


async def applied(api: Api, **body: Any) -> dict[str, Any]:
    answer = await api.post("/v1/apply", body)
    assert answer.status == 200, answer.body
    assert SECRET.encode() not in answer.body
    found: dict[str, Any] = answer.json
    return found


async def refused(api: Api, **body: Any) -> dict[str, str]:
    answer = await api.post("/v1/apply", body)
    assert answer.status == 400, answer.body
    found: dict[str, str] = answer.json["details"]
    return found


async def there(api: Api, path: str = "monitors") -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in (await api.get(f"/v1/{path}?limit=100")).json["data"]}


async def entries(api: Api) -> int:
    total: int = (await api.get("/v1/audit-log")).json["meta"]["total"]
    return total


def deeds(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["action"], change["key"]) for change in answer["changes"]]


def test_there_is_one_of_every_type() -> None:
    assert CONFIGS.keys() == set(TYPES)


async def test_everything_is_made_and_a_second_time_nothing_is_written(api: Api) -> None:
    whole = everything()
    first = await applied(api, **whole)
    noted = await entries(api)

    second = await applied(api, **whole)

    count = len(TYPES) + len(CHANNELS) + 7
    assert [change["action"] for change in first["changes"]] == ["create"] * count
    assert noted == count
    assert (second["changes"], second["unchanged"]) == ([], count)
    assert await entries(api) == noted
    rule = (await there(api, "alert-rules"))["Anything"]
    monitors = await there(api)
    assert rule["monitors"] == [monitors["Of type http"]["id"], monitors["Of type tcp"]["id"]]


@pytest.mark.oldest
async def test_what_a_team_has_is_said_without_secrets_and_applied_without_effect(api: Api) -> None:
    await applied(api, **everything())
    answer = await (await api.allowed(Permission.READ_ONLY)).get("/v1/export")

    assert answer.status == 200
    assert SECRET.encode() not in answer.body
    assert SECRET.replace(" ", "-").encode() not in answer.body
    assert b"mon_" not in answer.body
    said = kept(answer.json)
    again = await applied(api, **said)
    assert (again["changes"], again["takenOver"]) == ([], [])


def kept(value: Any) -> Any:
    """As the command sends what stands in an exported file, no variable being set."""
    if isinstance(value, dict):
        return {name: kept(one) for name, one in value.items()}
    if isinstance(value, list):
        return [kept(item) for item in value]
    if isinstance(value, str) and value.startswith("${"):
        return {"$kept": value}
    return value.replace("$${", "${") if isinstance(value, str) else value


async def test_a_rule_whose_monitors_are_all_gone_is_not_exported_as_one_for_all(api: Api) -> None:
    rule = {"name": "Page us", "monitors": ["shop"]}
    await applied(api, monitors=[SHOP, DATABASE], rules=[rule])
    assert [one["name"] for one in (await api.get("/v1/export")).json["rules"]] == ["Page us"]

    await api.delete(f"/v1/monitors/{(await there(api))['Shop']['id']}")

    assert "rules" not in (await api.get("/v1/export")).json


async def test_what_was_made_by_hand_is_taken_over_by_its_name_and_not_changed(api: Api) -> None:
    for name in ("one", "two", "two"):
        await api.post("/v1/monitors", {"name": name, "type": "icmp", "config": {"host": "a.example.com"}})
    before = (await api.get("/v1/monitors")).json["data"]

    said = (await api.get("/v1/export")).json
    planned = await applied(api, **said, plan=True)
    done = await applied(api, **said)
    again = await applied(api, **said)

    assert [monitor.get("key", monitor["name"]) for monitor in said["monitors"]] == ["one", "two", "two (2)"]
    assert planned["changes"] == done["changes"] == again["changes"] == []
    assert len(planned["takenOver"]) == len(done["takenOver"]) == 3
    assert again["takenOver"] == []
    assert (await api.get("/v1/monitors")).json["data"] == before


async def test_which_of_two_is_meant_is_not_guessed(api: Api) -> None:
    for _ in range(2):
        await api.post("/v1/monitors", {**DATABASE, "key": None})

    faults = await refused(api, monitors=[DATABASE])

    assert "which one is meant" in faults["monitors[0].name"]


async def test_a_plan_tells_what_would_change_and_changes_nothing(api: Api) -> None:
    await applied(api, monitors=[SHOP, DATABASE], channels=[HOOK])
    before = (await api.get("/v1/export")).json
    noted = await entries(api)
    shop = {**SHOP, "name": "The shop", "config": {"url": "https://shop.example.com/", "method": "HEAD"}}
    hook = {**HOOK, "config": {**HOOK["config"], "signingSecret": "another secret"}}

    planned = await applied(
        api, monitors=[shop], channels=[hook], rules=[{"name": "R"}], plan=True, prune=True
    )

    assert deeds(planned) == [("update", "shop"), ("update", "Ops"), ("create", "R"), ("delete", "db")]
    assert planned["changes"][0]["fields"] == [
        {"name": "name", "old": "Shop", "new": "The shop"},
        {"name": "config.method", "old": "GET", "new": "HEAD"},
    ]
    assert planned["changes"][1]["fields"] == [
        {"name": "config.signingSecret", "old": "(secret)", "new": "(secret)"}
    ]
    assert (await api.get("/v1/export")).json == before
    assert await entries(api) == noted


async def test_what_a_file_leaves_out_is_as_it_would_be_by_itself_again(api: Api) -> None:
    rich = {
        **SHOP,
        "interval": 30,
        "tags": {"team": "shop"},
        "locations": ["eu"],
        "config": {**SHOP["config"], "headers": {"A": "1", "B": "2"}, "body": "x"},
    }
    await applied(api, monitors=[rich])
    poor = {**SHOP, "config": {**SHOP["config"], "headers": {"B": "2"}}}
    await applied(api, monitors=[poor])

    [shop] = (await there(api)).values()
    config = (await api.get(f"/v1/monitors/{shop['id']}")).json["config"]
    assert (shop["interval"], shop["tags"], shop["locations"]) == (60, {}, ["eu"])
    assert (config["headers"], config["body"]) == ({"B": "2"}, None)


async def test_a_key_outlives_every_name(api: Api) -> None:
    await applied(api, monitors=[SHOP])
    before = (await there(api))["Shop"]["id"]

    answer = await applied(api, monitors=[{**SHOP, "name": "Boutique"}], prune=True)

    assert deeds(answer) == [("update", "shop")]
    assert {name: one["id"] for name, one in (await there(api)).items()} == {"Boutique": before}


@pytest.mark.oldest
async def test_only_what_files_made_is_pruned_and_only_when_asked(api: Api) -> None:
    await api.post("/v1/monitors", {**DATABASE, "name": "By hand"})
    await applied(api, monitors=[SHOP, DATABASE], rules=[{"name": "R", "monitors": ["db"]}])

    left = await applied(api, monitors=[SHOP])
    pruned = await applied(api, monitors=[SHOP], prune=True)

    assert [item["key"] for item in left["left"]] == ["db", "R"]
    assert left["changes"] == []
    assert sorted(deeds(pruned)) == [("delete", "R"), ("delete", "db")]
    assert sorted(await there(api)) == ["By hand", "Shop"]
    assert "nothing is declared" in (await refused(api, prune=True))["prune"]
    assert deeds(await applied(api, monitors=[], prune=True)) == [("delete", "shop")]


async def test_all_faults_are_told_at_once_each_at_its_place(api: Api) -> None:
    faults = await refused(
        api,
        monitors=[
            {**SHOP, "interval": "soon", "colour": "red", "config": {"url": "ftp://x"}},
            {**DATABASE, "key": "shop", "status": "paused"},
            "text",
            {"type": "icmp", "dependsOn": ["nobody"]},
            {**SHOP, "key": 5},
        ],
        channels=[{"name": "C", "type": "slack", "config": {"webhookUrl": {"$kept": "X"}}}],
        rules=[{"name": "R", "channels": ["C", "D"]}],
        statusPages=[{"name": "P", "components": [{"name": "A", "monitorId": "b", "status": "operational"}]}],
        maintenanceWindows={},
        people=[],
        plan="yes",
    )

    assert faults["monitors[0].interval"] == "must be a whole number"
    assert faults["monitors[0].colour"] == "there is no such field"
    assert faults["monitors[0].url"] == "must be an http or https URL"
    assert "key of its own" in faults["monitors[1].key"]
    assert faults["monitors[2]"] == "must be an object"
    assert faults["channels[0].webhookUrl"] == "the variable X is not set, and there is nothing to keep"
    assert faults["rules[0].channels[1]"] == "there is no alert channel D"
    assert faults.keys() >= {
        "monitors[1].status",
        "monitors[3].name",
        "monitors[3].host",
        "monitors[3].dependsOn[0]",
        "monitors[4].key",
        "statusPages[0].components[0].monitorId",
        "statusPages[0].components[0].status",
        "maintenanceWindows",
        "people",
        "plan",
    }
    assert "rules[0].channels[0]" not in faults
    assert await there(api) == {}


async def test_a_failure_half_way_leaves_nothing(api: Api) -> None:
    await api.post("/v1/status-pages", {"name": "Mine", "slug": "taken"})

    faults = await refused(
        api, monitors=[SHOP], channels=[HOOK], statusPages=[{"name": "Other", "slug": "taken"}]
    )

    assert faults == {"statusPages[0]": "Another status page has this slug"}
    assert await there(api) == {}
    assert await there(api, "alert-channels") == {}
    assert (await api.get("/v1/export")).json.keys() == {"statusPages"}


async def test_of_two_who_apply_the_same_at_once_one_makes_it(api: Api) -> None:
    answers = await asyncio.gather(
        *(applied(api, monitors=[SHOP, DATABASE], rules=[{"name": "R"}]) for _ in "ab")
    )

    assert sorted(len(answer["changes"]) for answer in answers) == [0, 3]
    assert len(await there(api)) == 2


async def test_the_same_key_again_is_answered_and_not_applied_again(api: Api) -> None:
    headers = {"Idempotency-Key": "pipeline-7"}
    first = await api.post("/v1/apply", {"monitors": [SHOP]}, headers=headers)
    second = await api.post("/v1/apply", {"monitors": [SHOP]}, headers=headers)

    assert (first.status, second.body) == (200, first.body)
    assert len(await there(api)) == 1


@pytest.mark.oldest
async def test_monitors_may_change_who_depends_on_whom_but_not_in_a_circle(api: Api) -> None:
    await applied(api, monitors=[{**SHOP, "dependsOn": ["db"]}, DATABASE])
    answer = await applied(api, monitors=[SHOP, {**DATABASE, "dependsOn": ["shop"]}])
    faults = await refused(
        api, monitors=[{**SHOP, "dependsOn": ["db"]}, {**DATABASE, "dependsOn": ["shop"]}], plan=True
    )

    assert answer["changes"][0]["fields"] == [{"name": "dependsOn", "old": ["db"], "new": []}]
    assert faults.keys() == {"monitors[0].dependsOn", "monitors[1].dependsOn"}


async def test_what_is_not_declared_can_be_named_unless_it_is_about_to_go(api: Api) -> None:
    await api.post("/v1/alert-channels", {**HOOK, "name": "By hand"})
    await applied(api, monitors=[SHOP], rules=[{"name": "R", "channels": ["By hand"], "monitors": ["shop"]}])
    rule = {"name": "R", "channels": ["By hand"], "monitors": ["shop"]}

    again = await applied(api, rules=[rule])
    faults = await refused(api, rules=[rule], prune=True)

    assert (again["changes"], [item["key"] for item in again["left"]]) == ([], ["shop"])
    assert faults == {"rules[0].monitors[0]": "shop is not declared any more and would be deleted"}


@pytest.mark.oldest
async def test_a_component_that_keeps_its_name_stays_the_same_one(api: Api) -> None:
    page = {"name": "P", "components": [{"name": "A"}, {"name": "B"}, {"name": "C"}]}
    await applied(api, statusPages=[page])
    [made] = (await there(api, "status-pages")).values()
    path = f"/v1/status-pages/{made['id']}"
    before = {component["name"]: component["id"] for component in (await api.get(path)).json["components"]}
    await api.put(f"{path}/components/{before['B']}", {"status": "major_outage"})

    wanted = [{"name": "C", "group": "new"}, {"name": "B", "description": "b"}, {"name": "D"}]
    answer = await applied(api, statusPages=[{**page, "components": wanted}])

    after = (await api.get(path)).json["components"]
    assert [item["name"] for item in after] == ["C", "B", "D"]
    assert [item["id"] for item in after[:2]] == [before["C"], before["B"]]
    assert after[1]["status"] == "major_outage"
    assert {field["name"] for field in answer["changes"][0]["fields"]} == {
        "components.C.group",
        "components.B.description",
        "components.A",
        "components.D",
    }
    assert (await applied(api, statusPages=[{**page, "components": wanted}]))["changes"] == []


async def test_a_password_that_is_the_same_is_no_change(api: Api) -> None:
    page = {"name": "P", "visibility": "private", "password": SECRET}
    await applied(api, statusPages=[page])

    assert (await applied(api, statusPages=[page]))["changes"] == []
    [change] = (await applied(api, statusPages=[{**page, "password": "new"}]))["changes"]
    assert change["fields"] == [{"name": "password", "old": "(secret)", "new": "(secret)"}]
    assert deeds(await applied(api, statusPages=[{"name": "P", "visibility": "private"}])) == [
        ("update", "P")
    ]


@pytest.mark.parametrize(
    ("section", "before", "after"),
    [("monitors", SHOP, {**DATABASE, "key": "shop"}), ("channels", HOOK, {"name": "Ops", "type": "email"})],
)
async def test_a_type_does_not_change_behind_a_key(api: Api, section: str, before: Any, after: Any) -> None:
    await applied(api, **{section: [before]})

    faults = await refused(api, **{section: [after]})

    assert faults[f"{section}[0].type"].startswith("cannot be changed")


async def test_what_was_deleted_by_hand_is_made_again(api: Api) -> None:
    await applied(api, monitors=[SHOP, DATABASE])
    await api.delete(f"/v1/monitors/{(await there(api))['Shop']['id']}")

    assert deeds(await applied(api, monitors=[SHOP, DATABASE])) == [("create", "shop")]


async def test_who_may_only_read_applies_nothing(api: Api) -> None:
    reader = await api.allowed(Permission.READ_ONLY)

    assert (await reader.post("/v1/apply", {"monitors": [SHOP], "plan": True})).status == 403
    writer = await api.allowed(Permission.READ_WRITE)
    assert (await writer.post("/v1/apply", {"monitors": [SHOP]})).status == 200


async def test_what_files_made_can_be_changed_by_hand_and_is_set_right_again(api: Api) -> None:
    await applied(api, monitors=[SHOP])
    id_ = (await there(api))["Shop"]["id"]
    await api.put(f"/v1/monitors/{id_}", {"interval": 5})
    await api.post(f"/v1/monitors/{id_}/pause")

    [change] = (await applied(api, monitors=[SHOP]))["changes"]

    assert change["fields"] == [{"name": "interval", "old": 5, "new": 60}]
    assert (await there(api))["Shop"]["status"] == "paused"


async def test_files_of_two_sets_prune_only_what_is_their_own(api: Api) -> None:
    await applied(api, monitors=[SHOP], set="shop", prune=True)
    second = await applied(api, monitors=[DATABASE], set="db", prune=True)
    third = await applied(api, monitors=[SHOP], set="shop", prune=True)

    assert deeds(second) == [("create", "db")]
    assert (deeds(third), third["left"]) == ([], [])
    assert set(await there(api)) == {"Shop", "Database"}
    gone = await applied(api, monitors=[{**SHOP, "key": "other", "name": "Other"}], set="shop", prune=True)
    assert sorted(deeds(gone)) == [("create", "other"), ("delete", "shop")]


async def test_a_key_of_another_set_is_taken_over_only_when_that_is_said(api: Api) -> None:
    await applied(api, monitors=[SHOP], set="shop")

    faults = await refused(api, monitors=[{**SHOP, "name": "Mine"}], set="mine")
    taken = await applied(api, monitors=[{**SHOP, "name": "Mine"}], set="mine", takeOver=True)
    pruned = await applied(api, set="shop", monitors=[], prune=True)

    text = "the files of the set shop keep what has this key; --take-over (takeOver) takes it over"
    assert faults == {"monitors[0].key": text}
    assert [item["key"] for item in taken["takenOver"]] == ["shop"]
    assert deeds(taken) == [("update", "shop")]
    assert deeds(pruned) == []
    assert set(await there(api)) == {"Mine"}


async def test_what_another_set_keeps_is_referred_to_by_its_key_and_not_made_twice(api: Api) -> None:
    await applied(api, monitors=[SHOP], set="shop")
    await applied(api, rules=[{"name": "Page us", "monitors": ["shop"]}], set="rules", prune=True)

    again = await applied(api, rules=[{"name": "Page us", "monitors": ["shop"]}], set="rules", prune=True)

    assert (again["changes"], again["unchanged"]) == ([], 1)


@pytest.mark.parametrize("name", ["", " ", 7, None, "a b", "x" * 101])
async def test_a_set_has_a_name(api: Api, name: object) -> None:
    assert list(await refused(api, monitors=[SHOP], set=name)) == ["set"]


@pytest.mark.oldest
async def test_a_location_that_no_probe_serves_is_warned_about_when_planned_made_and_changed(
    api: Api,
) -> None:
    def warned(name: str) -> list[str]:
        return [f"monitor shop: location {name} has no probe: nothing checks from there yet"]

    planned = await applied(api, plan=True, monitors=[{**SHOP, "locations": ["mars"]}])
    made = await applied(api, monitors=[{**SHOP, "locations": ["mars"]}])
    changed = await applied(api, monitors=[{**SHOP, "locations": ["moon"]}])

    assert [planned["warnings"], made["warnings"], changed["warnings"]] == [
        warned("mars"),
        warned("mars"),
        warned("moon"),
    ]
