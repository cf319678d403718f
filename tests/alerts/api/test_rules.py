"""Alert rules, as a caller makes, reads, changes and deletes them."""

from datetime import timedelta
from typing import Any

import pytest

from shared import ids
from shared.clock import iso, utc_now
from shared.ids import uuid7
from tests.http.client import Api
from tests.http.rows import incident
from tests.monitors.monitors import change, details, make

pytestmark = pytest.mark.shares_server

RULES = "/v1/alert-rules"
WHOLE = {
    "name": "Shop",
    "enabled": True,
    "conditions": {
        "consecutiveFailures": 2,
        "latencyThresholdMs": 800,
        "match": "all",
        "errorRatePercent": 12.5,
    },
    "notifyOnRecovery": False,
    "repeatMinutes": 30,
    "tags": {"env": "prod"},
}


async def channel(api: Api, **fields: Any) -> str:
    body = {"name": "Ops", "type": "webhook", "config": {"url": "http://127.0.0.1:9/"}, **fields}
    answer = await api.post("/v1/alert-channels", body)
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


async def make_rule(api: Api, **fields: Any) -> str:
    answer = await api.post(RULES, {"name": "Shop", **fields})
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


async def test_a_rule_comes_back_as_it_was_made(api: Api) -> None:
    chan, other, monitor = await channel(api), await channel(api), await make(api, tags={"env": "prod"})
    policy = {"delayMinutes": 5, "escalateToChannels": [other], "maxEscalations": 3}
    sent = {**WHOLE, "channels": [chan], "monitors": [monitor], "escalationPolicy": policy}

    made = await api.post(RULES, sent)
    shown = await api.get(f"{RULES}/{made.json['id']}")

    assert made.status == 201
    assert set(made.json) == {"id", "name", "enabled", "createdAt"}
    assert {name: shown.json[name] for name in sent} == sent
    assert shown.headers["ETag"] == '"1"'


async def test_a_name_is_enough_and_what_is_odd_is_said(api: Api) -> None:
    answer = await api.post(RULES, {"name": "all", "colour": "red"})

    assert answer.status == 201
    assert answer.json["enabled"] is True
    assert answer.json["warnings"] == [
        "unknown field colour was ignored",
        "channels is empty: nobody is told",
        "no monitor is selected as things are",
    ]


async def test_a_rule_for_what_was_resolved_by_hand_says_what_it_waits_for(api: Api) -> None:
    text, other = await make(api, name="shop"), await make(api, name="bank")
    since = utc_now().replace(microsecond=0) - timedelta(minutes=5)
    for id_, by in ((text, {"id": "usr_1", "name": "Operator"}), (other, {"name": "System"})):
        uuid = ids.read("mon", id_)
        await change(api, "monitors", "id", uuid, down=True, changed_at=since)
        resolved = {"status": "resolved", "resolved_at": since + timedelta(minutes=1), "resolved_by": by}
        await incident(api.context.db, api.team_id, monitor_id=uuid, started_at=since, **resolved)

    made = await api.post(RULES, {"name": "Shop", "channels": [await channel(api)]})
    kept = await api.put(f"{RULES}/{made.json['id']}", {"enabled": False})

    [said] = made.json["warnings"]
    assert said.startswith("shop is down, and its incident was resolved by hand: the rule fires")
    assert iso(since + timedelta(minutes=11)) in said
    assert "warnings" not in kept.json
    uuid = ids.read("mon", text)
    await incident(api.context.db, api.team_id, monitor_id=uuid, started_at=since + timedelta(minutes=2))
    assert "warnings" not in (await api.put(f"{RULES}/{made.json['id']}", {"enabled": True})).json


async def test_every_bad_field_is_named_at_once(api: Api) -> None:
    unknown = ids.show("chan", uuid7())
    answer = await api.post(
        RULES,
        {
            "name": " ",
            "conditions": {"errorRatePercent": 120, "match": "some"},
            "monitors": [ids.show("mon", uuid7())],
            "channels": [await channel(api), unknown],
            "escalationPolicy": {"delayMinutes": 0, "escalateToChannels": [unknown], "maxEscalations": 11},
        },
    )

    assert set(details(answer)) == {
        "name",
        "conditions.errorRatePercent",
        "conditions.match",
        "monitors[0]",
        "channels[1]",
        "escalationPolicy.delayMinutes",
        "escalationPolicy.escalateToChannels[0]",
        "escalationPolicy.maxEscalations",
    }


@pytest.mark.parametrize("field", ["channels", "monitors"])
async def test_another_teams_things_are_unknown(api: Api, field: str) -> None:
    other = await api.other_team()
    foreign = await (channel(other) if field == "channels" else make(other))

    answer = await api.post(RULES, {"name": "Shop", field: [foreign]})

    assert set(details(answer)) == {f"{field}[0]"}


async def test_a_partial_rule_changes_what_it_names(api: Api) -> None:
    chan = await channel(api)
    policy = {"delayMinutes": 5, "escalateToChannels": [chan], "maxEscalations": 2}
    id_ = await make_rule(api, **WHOLE, channels=[chan], escalationPolicy=policy)

    answer = await api.put(
        f"{RULES}/{id_}",
        {
            "enabled": False,
            "conditions": {"latencyThresholdMs": None},
            "escalationPolicy": {"delayMinutes": 7},
        },
    )

    assert answer.status == 200
    assert answer.json["enabled"] is False
    assert answer.json["conditions"] == {"consecutiveFailures": 2, "match": "all", "errorRatePercent": 12.5}
    assert answer.json["escalationPolicy"] == {**policy, "delayMinutes": 7}
    assert answer.json["channels"] == [chan]
    assert answer.headers["ETag"] == '"2"'


async def test_what_a_get_shows_can_be_put_back_and_changes_nothing(api: Api) -> None:
    id_ = await make_rule(api, **WHOLE, channels=[await channel(api)])
    shown = (await api.get(f"{RULES}/{id_}")).json

    answer = await api.put(f"{RULES}/{id_}", shown)

    assert answer.status == 200
    assert answer.json == shown


async def test_a_policy_is_taken_away_by_null(api: Api) -> None:
    chan = await channel(api)
    id_ = await make_rule(api, escalationPolicy={"delayMinutes": 5, "escalateToChannels": [chan]})

    answer = await api.put(f"{RULES}/{id_}", {"escalationPolicy": None, "repeatMinutes": 5})
    again = await api.put(f"{RULES}/{id_}", {"repeatMinutes": None})

    assert (answer.json["escalationPolicy"], answer.json["repeatMinutes"]) == (None, 5)
    assert again.json["repeatMinutes"] is None


async def test_lists_are_narrowed(api: Api) -> None:
    monitor = await make(api, tags={"env": "prod"})
    other = await make(api)
    by_id = await make_rule(api, monitors=[other])
    by_tag = await make_rule(api, tags=["env:prod"], enabled=False)
    every = await make_rule(api)

    async def listed(query: str) -> list[str]:
        answer = await api.get(RULES + query)
        assert "meta" not in answer.json
        return [item["id"] for item in answer.json["data"]]

    assert await listed("") == [every, by_tag, by_id]
    assert await listed("?enabled=true") == [every, by_id]
    assert await listed(f"?monitor_id={monitor}") == [every, by_tag]
    assert await listed(f"?monitor_id={other}&enabled=false") == []
    assert (await api.get(f"{RULES}?limit=2")).json["meta"]["total"] == 3
    assert details(await api.get(f"{RULES}?enabled=maybe&monitor_id=x")).keys() == {"enabled", "monitor_id"}


async def test_an_old_revision_changes_and_deletes_nothing(api: Api) -> None:
    id_ = await make_rule(api)
    await api.put(f"{RULES}/{id_}", {"name": "Other"})
    old = {"If-Match": '"1"'}

    assert (await api.put(f"{RULES}/{id_}", {"name": "Third"}, headers=old)).status == 412
    assert (await api.delete(f"{RULES}/{id_}", headers=old)).status == 412
    assert (await api.delete(f"{RULES}/{id_}", headers={"If-Match": '"2"'})).status == 204
    assert (await api.get(f"{RULES}/{id_}")).status == 404


async def test_a_channel_that_goes_is_taken_out_of_the_rules_that_named_it(api: Api) -> None:
    chan, other = await channel(api), await channel(api)
    policy = {"delayMinutes": 5, "escalateToChannels": [chan, other], "maxEscalations": 1}
    id_ = await make_rule(api, channels=[chan, other], escalationPolicy=policy)

    await api.delete(f"/v1/alert-channels/{chan}")

    shown = (await api.get(f"{RULES}/{id_}")).json
    assert shown["channels"] == [other]
    assert shown["escalationPolicy"]["escalateToChannels"] == [other]


async def test_a_rule_whose_only_monitor_goes_is_not_for_all_the_others_then(api: Api) -> None:
    monitor, other = await make(api), await make(api)
    id_ = await make_rule(api, monitors=[monitor])

    await api.delete(f"/v1/monitors/{monitor}")

    shown = (await api.get(f"{RULES}/{id_}")).json
    assert shown["monitors"] == []
    assert "no monitor is selected as things are" in shown["warnings"]
    assert (await api.get(f"{RULES}?monitor_id={other}")).json["data"] == []
    assert (await api.put(f"{RULES}/{id_}", shown)).json["monitors"] == []
    assert (await api.get(f"{RULES}?monitor_id={other}")).json["data"] == []


async def test_only_a_channel_that_no_rule_sends_to_says_so(api: Api) -> None:
    mail = await channel(api, type="slack", config={"webhookUrl": "https://hooks.example.com/x"})
    alone = await channel(api, type="slack", config={"webhookUrl": "https://hooks.example.com/x"})
    await make_rule(api, channels=[mail])

    shown = {item["id"]: item.get("warnings") for item in (await api.get("/v1/alert-channels")).json["data"]}

    assert shown == {mail: None, alone: ["no rule sends here"]}
