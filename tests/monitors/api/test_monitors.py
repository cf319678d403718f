"""Monitors are made and changed as the interface and the decisions say."""

import asyncio
from typing import Any, get_args

import pytest

from shared import ids
from shared.assertions import Op, Source
from shared.ids import show, uuid7
from shared.kinds import TYPES
from tests.http.client import Api
from tests.monitors.monitors import HTTP, TCP, URL, details, make, probe, rows, shown

pytestmark = pytest.mark.shares_server

SLUG = "must be 1 to 63 of a-z, 0-9 and -, and start with a letter or digit"
STATUS = 'must be a status (200), a range ("200-299"), or a list of those'


@pytest.mark.parametrize("type_", ["http", "websocket"])
async def test_headers_that_frame_a_request_are_dropped_with_a_warning(api: Api, type_: str) -> None:
    url = URL if type_ == "http" else "wss://shop.example.com/"
    headers = {"Connection": "close", "X-Any": "1", "content-length": "7", "Host": "other.example.com"}
    body = {"name": "shop", "type": type_, "config": {"url": url, "headers": headers}}

    made = await api.post("/v1/monitors", body)

    assert made.status == 201, made.body
    assert [text for text in made.json["warnings"] if text.startswith("headers")] == [
        "headers: Connection was dropped: the probe frames the request itself",
        "headers: content-length was dropped: the probe frames the request itself",
    ]
    left = {"X-Any": "1", "Host": "other.example.com"}
    assert (await shown(api, made.json["id"]))["config"]["headers"] == left
    changed = await api.put(f"/v1/monitors/{made.json['id']}", {"config": {"headers": {"TE": "trailers"}}})
    assert changed.json["warnings"] == ["headers: TE was dropped: the probe frames the request itself"]
    assert (await shown(api, made.json["id"]))["config"]["headers"] == left


async def test_a_new_monitor_is_answered_as_the_interface_shows(api: Api) -> None:
    await probe(api, "local")

    answer = await api.post("/v1/monitors", {**HTTP, "interval": 60, "locations": ["local"]})

    assert answer.status == 201
    body = answer.json
    assert body == {
        "id": body["id"],
        "name": "shop",
        "type": "http",
        "status": "up",
        "createdAt": body["createdAt"],
    }
    assert ids.read("mon", body["id"]) is not None
    assert body["createdAt"].endswith("Z")
    assert answer.headers["Location"].endswith(f"/v1/monitors/{body['id']}")


UNMEASURED = {
    "uptime": 100.0,
    "avgLatency": 0.0,
    "checksToday": 0,
    "p50": 0.0,
    "p95": 0.0,
    "p99": 0.0,
    "uptime24h": 100.0,
    "uptime7d": 100.0,
    "uptime90d": 100.0,
    "checkSuccess": 100.0,
    "measured": False,
}
CONFIG: dict[str, Any] = {
    "url": URL,
    "method": "GET",
    "headers": {},
    "body": None,
    "expectedStatus": None,
    "timeout": 10,
    "followRedirects": True,
    "verifyTls": True,
    "ipVersion": "any",
    "auth": None,
    "clientCert": None,
    "clientKey": None,
    "assertions": [],
    "maxBodyBytes": 1_048_576,
    "httpVersion": "1.1",
    "proxy": None,
}


async def test_every_default_is_filled_in(api: Api) -> None:
    found = await shown(api, await make(api))

    assert {name: found[name] for name in found if name not in {"id", "createdAt", "updatedAt"}} == {
        "name": "shop",
        "type": "http",
        "status": "up",
        "config": CONFIG,
        "interval": 60,
        "timeout": 10,
        "locations": ["local"],
        "tags": {},
        "description": "",
        "severity": "critical",
        "failureThreshold": 3,
        "recoveryThreshold": 1,
        "quorum": "majority",
        "group": None,
        "dependsOn": [],
        "runbookUrl": None,
        "stats": UNMEASURED,
        "revision": 1,
        "lastCheckedAt": None,
        "silencedUntil": None,
        "pausedAt": None,
        "locationStates": [
            {
                "location": "local",
                "status": "unknown",
                "consecutiveFailures": 0,
                **dict.fromkeys(("failingSince", "lastCheckedAt", "responseTime", "error")),
            }
        ],
    }


async def test_a_tcp_monitor_has_its_timeout_at_the_top_only(api: Api) -> None:
    answer = await api.post("/v1/monitors", {**TCP, "timeout": 4})

    found = await shown(api, answer.json["id"])
    assert "timeout" not in found["config"]
    assert found["timeout"] == 4


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        pytest.param({}, {"name": "Name is required", "type": "Type is required"}, id="nothing at all"),
        pytest.param(
            {"type": "http"}, {"name": "Name is required", "url": "URL is required"}, id="no url for http"
        ),
        pytest.param(
            {**HTTP, "config": "x"}, {"config": "must be an object", "url": "URL is required"}, id="config"
        ),
        pytest.param({**HTTP, "name": ""}, {"name": "must not be empty"}, id="an empty name"),
        pytest.param({**HTTP, "name": "  "}, {"name": "must not be blank"}, id="a blank name"),
        pytest.param({**HTTP, "name": "n" * 256}, {"name": "must be at most 255 characters long"}, id="long"),
        pytest.param({**HTTP, "name": 7}, {"name": "must be a string"}, id="no text"),
        pytest.param(
            {**HTTP, "type": "agent_metrics"}, {"type": "is made by the platform only"}, id="agent metrics"
        ),
        pytest.param(
            {**HTTP, "type": "htp"}, {"type": f"must be one of {', '.join(TYPES)}"}, id="no such type"
        ),
        pytest.param(
            {**HTTP, "type": ["http"]}, {"type": f"must be one of {', '.join(TYPES)}"}, id="type is no text"
        ),
        pytest.param({**HTTP, "interval": 0}, {"interval": "must be between 1 and 86400"}, id="interval 0"),
        pytest.param(
            {**HTTP, "interval": 86_401}, {"interval": "must be between 1 and 86400"}, id="too long"
        ),
        pytest.param(
            {**HTTP, "interval": "60"}, {"interval": "must be a whole number"}, id="interval as text"
        ),
        pytest.param({**HTTP, "timeout": 121}, {"timeout": "must be between 1 and 120"}, id="timeout"),
        pytest.param(
            {**HTTP, "config": {"url": URL, "timeout": 0}},
            {"timeout": "must be between 1 and 120"},
            id="timeout in config",
        ),
        pytest.param({**HTTP, "locations": []}, {"locations": "must not be empty"}, id="no locations"),
        pytest.param({**HTTP, "locations": "eu"}, {"locations": "must be a list"}, id="locations as text"),
        pytest.param({**HTTP, "locations": ["eu", "E U"]}, {"locations[1]": SLUG}, id="no slug"),
        pytest.param({**HTTP, "tags": {"env": []}}, {"tags.env": "must be a string"}, id="a tag's value"),
        pytest.param({**HTTP, "tags": ["prod"]}, {"tags": "must be an object"}, id="tags as a list"),
        pytest.param(
            {**HTTP, "severity": "bad"},
            {"severity": "must be one of critical, high, medium, low"},
            id="severity",
        ),
        pytest.param(
            {**HTTP, "failureThreshold": 0, "recoveryThreshold": 101},
            {
                "failureThreshold": "must be between 1 and 100",
                "recoveryThreshold": "must be between 1 and 100",
            },
            id="thresholds",
        ),
        pytest.param(
            {**HTTP, "quorum": "most"},
            {"quorum": "must be majority, any, all or a number of locations"},
            id="quorum",
        ),
        pytest.param(
            {**HTTP, "quorum": 0}, {"quorum": "must be majority, any, all or a number of locations"}, id="0"
        ),
        pytest.param(
            {**HTTP, "runbookUrl": "wiki"}, {"runbookUrl": "must be an http or https URL"}, id="runbook"
        ),
        pytest.param(
            {**HTTP, "dependsOn": ["mon_x", show("mon", uuid7(1))]},
            {"dependsOn[0]": "must be the id of a monitor", "dependsOn[1]": "no such monitor"},
            id="parents",
        ),
        pytest.param(
            {**TCP, "config": {"host": "x", "port": 1, "expect": "=~("}},
            {"expect": "must be text, or =~ and a regular expression that RE2 takes"},
            id="no pattern",
        ),
        pytest.param(
            {
                **HTTP,
                "config": {
                    "url": URL,
                    "assertions": [
                        {"source": "json", "path": "$..[", "value": 1},
                        {"source": "header", "op": "exists"},
                        {"source": "status", "op": "lt", "value": "x"},
                        {"source": "body", "op": "matches", "value": "(?=a)"},
                        {"source": "json", "path": "a", "op": "exists", "value": "yes"},
                        {"source": "body", "op": "eq", "value": "fine"},
                    ],
                },
            },
            {
                "assertions[0].path": "must be a JSONPath",
                "assertions[1].path": "is required: the name of a header",
                "assertions[2].value": "must be a number",
                "assertions[3].value": "must be a regular expression that RE2 takes",
                "assertions[4].value": "must be true or false",
            },
            id="assertions that make no sense",
        ),
        pytest.param(
            {**HTTP, "config": {"url": URL, "assertions": [{"source": "moon", "op": "is"}]}},
            {
                "assertions[0].source": "must be one of " + ", ".join(get_args(Source)),
                "assertions[0].op": "must be one of " + ", ".join(get_args(Op)),
            },
            id="an assertion of nothing",
        ),
        pytest.param(
            {**TCP, "config": {"port": "x"}},
            {"host": "Host is required", "port": "must be a whole number"},
            id="a port that is no number",
        ),
        pytest.param(
            {**HTTP, "config": {"url": URL, "expectedStatus": [200, "2xx"], "auth": {"type": "digest"}}},
            {"expectedStatus[1]": STATUS, "auth.type": "must be one of basic, bearer"},
            id="deeper fields by their path",
        ),
        pytest.param(
            {
                "name": "",
                "type": "http",
                "interval": -1,
                "locations": ["-"],
                "config": {"url": "x", "method": "GO", "timeout": 300, "proxy": 1},
            },
            {
                "url": "must be an http or https URL",
                "method": "must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
                "name": "must not be empty",
                "interval": "must be between 1 and 86400",
                "timeout": "must be between 1 and 120",
                "locations[0]": SLUG,
                "proxy": "must be a string",
            },
            id="all of it at once",
        ),
    ],
)
async def test_every_bad_field_of_a_new_monitor_is_named(api: Api, body: Any, bad: dict[str, str]) -> None:
    answer = await api.post("/v1/monitors", body)

    assert details(answer) == bad
    assert (await api.get("/v1/monitors")).json["meta"]["total"] == 0


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        pytest.param({"interval": 1}, "interval", 1, id="the shortest interval"),
        pytest.param({"interval": 86_400}, "interval", 86_400, id="the longest"),
        pytest.param({"interval": 30.0}, "interval", 30, id="with a point"),
        pytest.param({"interval": None}, "interval", 60, id="null is the default"),
        pytest.param({"locations": ["b", "a", "b"]}, "locations", ["b", "a"], id="a location twice"),
        pytest.param({"quorum": 2}, "quorum", 2, id="a number of locations"),
        pytest.param({"quorum": "any"}, "quorum", "any", id="any"),
        pytest.param({"tags": {"env": "prod", "tier": 1}}, "tags", {"env": "prod", "tier": "1"}, id="tags"),
        pytest.param({"group": "Shop"}, "group", "Shop", id="a group"),
        pytest.param({"timeout": 7}, "timeout", 7, id="timeout at the top"),
        pytest.param({"config": {"url": URL, "timeout": 7}, "timeout": 9}, "timeout", 7, id="config wins"),
    ],
)
async def test_fields_are_taken(api: Api, fields: dict[str, Any], name: str, value: Any) -> None:
    found = await shown(api, await make(api, **fields))

    assert found[name] == value
    assert found["config"]["timeout"] == found["timeout"]


async def test_type_fields_are_read_from_the_top_where_config_lacks_them(api: Api) -> None:
    answer = await api.post(
        "/v1/monitors",
        {"name": "x", "type": "http", "url": URL, "method": "post", "config": {"method": "PUT"}},
    )

    found = await shown(api, answer.json["id"])
    assert (found["config"]["url"], found["config"]["method"]) == (URL, "PUT")


async def test_a_numeric_string_is_read_for_a_port(api: Api) -> None:
    body = {"name": "x", "type": "tcp", "host": "db.example.com", "port": "5432"}

    answer = await api.post("/v1/monitors", body)

    assert (await shown(api, answer.json["id"]))["config"]["port"] == 5432


async def test_what_asks_nothing_of_fields_to_come_is_taken(api: Api) -> None:
    await probe(api, "local")
    config: dict[str, Any] = {"url": URL, "assertions": [], "httpVersion": "1.1", "proxy": None}

    answer = await api.post("/v1/monitors", {**HTTP, "config": config})

    assert answer.status == 201
    assert "warnings" not in answer.json


async def test_the_callers_mistakes_that_break_nothing_are_warnings(api: Api) -> None:
    await probe(api, "eu")
    config = {"url": URL, "expectStatus": 200, "auth": {"type": "bearer", "token": "t", "user": "x"}}

    sent = {**HTTP, "config": config, "locations": ["eu", "us"], "interval": 5, "intervall": 5, "stats": {}}
    answer = await api.post("/v1/monitors", sent)

    assert answer.json["warnings"] == [
        "unknown field intervall was ignored",
        "unknown field config.expectStatus was ignored",
        "unknown field config.auth.user was ignored",
        "timeout (10 s) is longer than interval (5 s): a check takes 5 s at most",
        "location us has no probe: nothing checks from there yet",
    ]


@pytest.mark.own_server
async def test_without_locations_a_monitor_is_checked_from_everywhere(api: Api) -> None:
    await probe(api, "eu", "us")
    other = await api.other_team()
    await probe(api, "secret", team_id=other.team_id)

    assert (await shown(api, await make(api)))["locations"] == ["eu", "us"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_an_update_is_answered_as_the_interface_shows(api: Api, method: str) -> None:
    await probe(api, "local")
    id_ = await make(api)

    answer = await api.call(method, f"/v1/monitors/{id_}", {"name": "till", "interval": 30})

    assert answer.status == 200
    assert answer.json == {
        "id": id_,
        "name": "till",
        "interval": 30,
        "updatedAt": answer.json["updatedAt"],
        "revision": 2,
    }
    found = await shown(api, id_)
    assert (found["name"], found["interval"], found["config"]["url"]) == ("till", 30, URL)
    assert found["updatedAt"] > found["createdAt"]


@pytest.mark.parametrize(
    ("patch", "after"),
    [
        pytest.param({"method": "POST"}, {"method": "POST", "body": "hello"}, id="other fields stay"),
        pytest.param({"headers": {"B": "2"}}, {"headers": {"A": "1", "B": "2"}}, id="objects merge"),
        pytest.param({"headers": {"A": None}}, {"headers": {}}, id="null removes from an object"),
        pytest.param({"headers": None}, {"headers": {}}, id="null removes an object"),
        pytest.param({"expectedStatus": [204]}, {"expectedStatus": [204]}, id="lists are replaced"),
        pytest.param({"expectedStatus": None}, {"expectedStatus": None}, id="null brings the default back"),
        pytest.param({"timeout": 3}, {"timeout": 3}, id="timeout"),
        pytest.param({"timeout": None}, {"timeout": 10}, id="null timeout is the default"),
    ],
)
async def test_config_merges(api: Api, patch: dict[str, Any], after: dict[str, Any]) -> None:
    config = {"url": URL, "headers": {"A": "1"}, "body": "hello", "expectedStatus": [200, 201], "timeout": 5}
    id_ = await make(api, config=config)

    answer = await api.put(f"/v1/monitors/{id_}", {"config": patch})

    assert answer.status == 200
    found = (await shown(api, id_))["config"]
    assert {name: found[name] for name in after} == after


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        pytest.param({"type": "tcp"}, {"type": "cannot be changed; it is http"}, id="type"),
        pytest.param({"name": None}, {"name": "Name is required"}, id="a required field removed"),
        pytest.param({"config": {"url": None}}, {"url": "URL is required"}, id="one of config"),
        pytest.param(
            {"config": 1, "interval": 0},
            {"config": "must be an object", "interval": "must be between 1 and 86400"},
            id="two",
        ),
        pytest.param(
            {"config": {"auth": {"type": "bearer"}}},
            {"auth.token": "Token is required"},
            id="the whole is checked",
        ),
        pytest.param({"locations": []}, {"locations": "must not be empty"}, id="no locations"),
    ],
)
async def test_a_bad_update_changes_nothing(api: Api, body: Any, bad: dict[str, str]) -> None:
    id_ = await make(api)
    before = await shown(api, id_)

    answer = await api.put(f"/v1/monitors/{id_}", body)

    assert details(answer) == bad
    assert await shown(api, id_) == before


async def test_get_edit_put_works_and_an_unchanged_put_is_no_new_revision(api: Api) -> None:
    await probe(api, "local")
    id_ = await make(api, tags={"env": "prod"}, quorum=2, config={"url": URL, "headers": {"A": "1"}})
    found = await shown(api, id_)

    same = await api.put(f"/v1/monitors/{id_}", found)
    assert same.json == {
        "id": id_,
        "name": "shop",
        "interval": 60,
        "updatedAt": found["updatedAt"],
        "revision": 1,
    }

    found["tags"]["env"] = "test"
    changed = await api.put(f"/v1/monitors/{id_}", found)
    assert changed.json["revision"] == 2
    assert "warnings" not in changed.json
    item = (await api.get("/v1/monitors")).json["data"][0]
    assert item["tags"] == {"env": "test"}
    assert (await api.put(f"/v1/monitors/{id_}", item)).json["revision"] == 2


@pytest.mark.parametrize(
    ("body", "handed"),
    [
        pytest.param({"name": "other"}, False, id="a name is nothing to a probe"),
        pytest.param({"severity": "low"}, False, id="nor is the severity"),
        pytest.param({"interval": 30}, True, id="the interval is"),
        pytest.param({"config": {"method": "HEAD"}}, True, id="the configuration is"),
        pytest.param({"config": {"headers": {"A": "2"}}}, True, id="its secrets too"),
        pytest.param({"failureThreshold": 2}, True, id="so is the threshold"),
    ],
)
@pytest.mark.own_server
async def test_probes_hear_of_what_concerns_them(api: Api, body: Any, handed: bool) -> None:
    await probe(api, "local")
    id_ = await make(api, config={"url": URL, "headers": {"A": "1"}})

    answer = await api.put(f"/v1/monitors/{id_}", body)

    [state] = await rows(api, "SELECT revision, assignment FROM states")
    assert answer.json["revision"] == 2
    assert state["revision"] == (2 if handed else 1)
    assert len(await rows(api, "SELECT FROM signals WHERE kind = 'plan'")) == (2 if handed else 1)


async def test_locations_come_and_go(api: Api) -> None:
    await probe(api, "a", "b", "c")
    id_ = await make(api, locations=["a", "b"])

    await api.put(f"/v1/monitors/{id_}", {"locations": ["c", "a", "c"]})

    found = await shown(api, id_)
    assert found["locations"] == ["c", "a"]
    assert [state["location"] for state in found["locationStates"]] == ["c", "a"]


async def test_dependencies_make_no_circle(api: Api) -> None:
    first = await make(api)
    second = await make(api, dependsOn=[first, first])
    third = await make(api, dependsOn=[second])
    circle = {"dependsOn": "would make a circle: a monitor must not depend on itself"}

    assert (await shown(api, second))["dependsOn"] == [first]
    assert details(await api.put(f"/v1/monitors/{first}", {"dependsOn": [third]})) == circle
    assert details(await api.put(f"/v1/monitors/{first}", {"dependsOn": [first]})) == circle
    assert (await api.put(f"/v1/monitors/{third}", {"dependsOn": [first]})).status == 200
    other = await api.other_team()
    foreign = await other.post("/v1/monitors", {**HTTP, "dependsOn": [first]})
    assert details(foreign) == {"dependsOn[0]": "no such monitor"}


async def test_two_updates_at_once_close_no_circle(api: Api) -> None:
    first, second = await make(api), await make(api)

    answers = await asyncio.gather(
        api.put(f"/v1/monitors/{first}", {"dependsOn": [second]}),
        api.put(f"/v1/monitors/{second}", {"dependsOn": [first]}),
    )

    assert sorted(answer.status for answer in answers) == [200, 400]


async def test_concurrent_updates_lose_nothing(api: Api) -> None:
    id_ = await make(api)

    answers = await asyncio.gather(
        *(api.put(f"/v1/monitors/{id_}", {"config": {"headers": {f"H{n}": "x"}}}) for n in range(6))
    )

    assert {answer.status for answer in answers} == {200}
    assert sorted(answer.json["revision"] for answer in answers) == [2, 3, 4, 5, 6, 7]
    assert len((await shown(api, id_))["config"]["headers"]) == 6


async def test_an_update_waits_a_while_for_whoever_holds_the_row_then_says_try_again(api: Api) -> None:
    id_ = await make(api)

    async with api.context.db.transaction() as tx:
        await tx.execute("SELECT FROM monitors FOR NO KEY UPDATE")
        answer = await api.put(f"/v1/monitors/{id_}", {"name": "other"})

    assert (answer.status, answer.json["retryAfter"]) == (503, 1)
    assert (await api.put(f"/v1/monitors/{id_}", {"name": "other"})).status == 200


@pytest.mark.own_server
async def test_a_paused_monitor_changes_without_being_checked(api: Api) -> None:
    await probe(api, "local")
    id_ = await make(api)
    await api.post(f"/v1/monitors/{id_}/pause")

    answer = await api.put(f"/v1/monitors/{id_}", {"interval": 30})

    assert answer.status == 200
    assert (await rows(api, "SELECT assignment, probe_id FROM states")) == [
        {"assignment": None, "probe_id": None}
    ]


async def test_another_teams_monitor_is_not_there(api: Api) -> None:
    id_ = await make(api)
    other = await api.other_team()
    unknown = show("mon", uuid7(1))

    for method, path, body in (
        ("GET", "", None),
        ("PUT", "", {"name": "mine"}),
        ("DELETE", "", None),
        ("GET", "/results", None),
        ("POST", "/pause", None),
        ("POST", "/resume", None),
        ("POST", "/silence", {"duration": 1}),
        ("DELETE", "/silence", None),
    ):
        theirs = await other.call(method, f"/v1/monitors/{id_}{path}", body)
        none = await other.call(method, f"/v1/monitors/{unknown}{path}", body)
        bad = await other.call(method, f"/v1/monitors/nothing{path}", body)
        assert (theirs.status, theirs.body) == (none.status, none.body) == (bad.status, bad.body)
        assert theirs.status == 404
    assert (await shown(api, id_))["name"] == "shop"


async def test_a_reader_changes_nothing(api: Api) -> None:
    id_ = await make(api)
    reader = await api.reader()

    for method, path in (
        ("POST", "/v1/monitors"),
        ("POST", "/v1/monitors/test"),
        ("PUT", f"/v1/monitors/{id_}"),
        ("DELETE", f"/v1/monitors/{id_}"),
        ("POST", f"/v1/monitors/{id_}/pause"),
        ("POST", f"/v1/monitors/{id_}/resume"),
        ("POST", f"/v1/monitors/{id_}/silence"),
        ("DELETE", f"/v1/monitors/{id_}/silence"),
    ):
        assert (await reader.call(method, path, {})).status == 403
    assert (await reader.get(f"/v1/monitors/{id_}/results")).status == 200


@pytest.mark.own_server
async def test_a_stand_in_checks_but_the_location_is_named(api: Api) -> None:
    stand_in = await probe(api, "local", stands_in=True)

    answer = await api.post("/v1/monitors", {**HTTP, "locations": ["local", "moon"]})

    assert answer.json["warnings"] == ["location moon has no probe: the built-in probe stands in"]
    assert await rows(api, "SELECT probe_id FROM states") == [{"probe_id": stand_in}] * 2
