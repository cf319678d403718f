"""Alert channels over the API."""

from typing import Any

import pytest

from collector.notifications.jobs.router import Router
from collector.notifications.service.channels import MOST
from shared import ids
from shared.clock import utc_now
from tests.http import rows
from tests.http.client import Answer, Api
from tests.notifications.ground import happen, make_due
from tests.receiver import answer, receiving, reset

URL = "https://hooks.example.com/services/abcdef"
SECRET = "a secret of the channel"
PATH = "/v1/alert-channels"
TYPES = "email, slack, discord, telegram, pagerduty, opsgenie, webhook, apprise"


async def make(api: Api, **body: Any) -> str:
    sent = {"name": "Ops", "type": "webhook", "config": {"url": URL}, **body}
    made = await api.post(PATH, sent)
    assert made.status == 201, made.json
    id_: str = made.json["id"]
    return id_


async def make_monitor(api: Api) -> str:
    id_ = ids.uuid7()
    now = utc_now()
    row = {
        "team_id": api.team_id,
        "id": id_,
        "name": "api",
        "type": "tcp",
        "config": {"host": "example.com", "port": 1},
        "interval_s": 60,
        "timeout_s": 10,
        "locations": ["local"],
        "severity": "critical",
        "failure_threshold": 3,
        "recovery_threshold": 1,
        "changed_at": now,
        "created_at": now,
        "updated_at": now,
    }
    await rows.insert(api.context.db, "monitors", row)
    return ids.show("mon", id_)


def refused(answer: Answer) -> dict[str, str]:
    """The details of a 400."""
    assert (answer.status, answer.json["error"]) == (400, "Bad Request")
    details: dict[str, str] = answer.json["details"]
    return details


async def test_a_made_channel_answers_what_the_interface_shows(api: Api) -> None:
    made = await api.post(PATH, {"name": "Ops", "type": "webhook", "config": {"url": URL}})

    assert made.status == 201
    assert made.json == {"id": made.json["id"], "name": "Ops", "type": "webhook", "enabled": True}
    assert ids.read("chan", made.json["id"]) is not None


async def test_a_channel_is_read_alone_and_in_the_list(api: Api) -> None:
    first = await make(api, config={"url": URL, "headers": {"X-API-Key": SECRET}, "signingSecret": SECRET})
    second = await make(api, name="Second", enabled=False)

    listed = (await api.get(PATH)).json
    assert list(listed) == ["data"]
    assert [channel["id"] for channel in listed["data"]] == [second, first]
    one = (await api.get(f"{PATH}/{first}")).json
    assert one == listed["data"][1]
    assert one["config"]["headers"] == {"X-API-Key": SECRET}
    assert (one["config"]["url"], one["config"]["method"], one["config"]["timeout"]) == (URL, "POST", 30)
    assert (one["enabled"], one["revision"], "warnings" in one) == (True, 1, False)


async def test_the_list_is_narrowed_by_type_and_paged_on_demand(api: Api) -> None:
    made = [await make(api, name=f"Ops {number}") for number in range(3)]

    assert (await api.get(f"{PATH}?type=slack")).json == {"data": []}
    page = (await api.get(f"{PATH}?type=webhook&limit=2&page=2")).json
    assert [channel["id"] for channel in page["data"]] == made[:1]
    assert page["meta"] == {"page": 2, "limit": 2, "total": 3}
    assert "type" in refused(await api.get(f"{PATH}?type=pigeon"))


async def test_delivery_settings_are_also_read_beside_the_config(api: Api) -> None:
    made = await make(
        api,
        config={"url": URL, "timeout": 7},
        timeout=9,
        retryOnFailure=False,
        maxRetries=1,
        signatureHeader="X-Sig",
        signingSecret=SECRET,
    )

    config = (await api.get(f"{PATH}/{made}")).json["config"]
    assert config["timeout"] == 7, "what the config says goes first"
    assert (config["retryOnFailure"], config["maxRetries"]) == (False, 1)
    assert (config["signatureHeader"], config["signingSecret"]) == ("X-Sig", SECRET)


async def test_unknown_fields_are_ignored_and_named(api: Api) -> None:
    made = await api.post(
        PATH, {"name": "Ops", "type": "webhook", "colour": "red", "config": {"url": URL, "channel": "#ops"}}
    )

    assert made.status == 201
    assert sorted(made.json["warnings"]) == [
        "unknown field colour was ignored",
        "unknown field config.channel was ignored",
    ]


@pytest.mark.parametrize(
    ("body", "details"),
    [
        pytest.param({}, {"name": "Name is required", "type": "Type is required"}, id="nothing"),
        pytest.param(
            {"name": "", "type": "webhook", "config": {"timeout": 0}, "enabled": "yes"},
            {
                "name": "must not be empty",
                "url": "URL is required",
                "timeout": "must be between 1 and 60",
                "enabled": "must be true or false",
            },
            id="every bad field at once",
        ),
        pytest.param(
            {"name": "Ops", "type": "pigeon"},
            {"type": f"must be one of {TYPES}"},
            id="a type that nobody knows",
        ),
        pytest.param(
            {"name": "Ops", "type": "webhook", "config": URL},
            {"config": "must be an object", "url": "URL is required"},
            id="a config that is none",
        ),
        pytest.param(
            {"name": "Ops", "type": ["webhook"], "config": {}},
            {"type": f"must be one of {TYPES}"},
            id="a type that is no text",
        ),
    ],
)
async def test_bad_bodies(api: Api, body: dict[str, Any], details: dict[str, str]) -> None:
    assert refused(await api.post(PATH, body)) == details
    assert (await api.get(PATH)).json == {"data": []}


async def test_monitors_that_the_team_does_not_have_are_refused(api: Api) -> None:
    monitor = await make_monitor(api)
    strange = ids.show("mon", ids.uuid7())
    config = {"url": URL, "monitors": [monitor, strange, "mon_x"], "timeout": 99}

    details = refused(await api.post(PATH, {"name": "Ops", "type": "webhook", "config": config}))
    assert details == {
        "monitors[1]": "there is no such monitor",
        "monitors[2]": "must be the id of a monitor",
        "timeout": "must be between 1 and 60",
    }
    config = {"url": URL, "monitors": [monitor, strange]}
    details = refused(await api.post(PATH, {"name": "Ops", "type": "webhook", "config": config}))
    assert details == {"monitors[1]": "there is no such monitor"}
    other = await api.other_team()
    config = {"url": URL, "monitors": [monitor]}
    details = refused(await other.post(PATH, {"name": "Ops", "type": "webhook", "config": config}))
    assert details == {"monitors[0]": "there is no such monitor"}


async def test_a_monitor_that_has_gone_since_does_not_stand_in_the_way_of_a_change(api: Api) -> None:
    monitor = await make_monitor(api)
    made = await make(api, config={"url": URL, "monitors": [monitor]})
    async with api.context.db.connection() as tx:
        await tx.execute("DELETE FROM monitors")

    assert (await api.put(f"{PATH}/{made}", {"name": "New"})).status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_a_change_merges_and_answers_the_channel(api: Api, method: str) -> None:
    made = await make(api, config={"url": URL, "headers": {"A": "1", "B": "2"}, "timeout": 9})

    changed = await api.call(
        method,
        f"{PATH}/{made}",
        {"enabled": False, "maxRetries": 2, "config": {"headers": {"A": None, "C": "3"}, "timeout": None}},
    )

    assert changed.status == 200
    assert changed.json == (await api.get(f"{PATH}/{made}")).json
    config = changed.json["config"]
    assert (changed.json["name"], changed.json["enabled"], changed.json["revision"]) == ("Ops", False, 2)
    assert config["headers"] == {"B": "2", "C": "3"}
    assert (config["timeout"], config["maxRetries"], config["url"]) == (30, 2, URL)


async def test_what_was_read_can_be_sent_back_and_changes_nothing(api: Api) -> None:
    made = await make(api, config={"url": URL, "signingSecret": SECRET})
    read = (await api.get(f"{PATH}/{made}")).json

    again = await api.put(f"{PATH}/{made}", read)

    assert again.json == read


async def test_a_bad_change_changes_nothing(api: Api) -> None:
    made = await make(api)
    before = (await api.get(f"{PATH}/{made}")).json

    details = refused(
        await api.put(
            f"{PATH}/{made}", {"type": "slack", "name": None, "config": {"url": None, "timeout": 0}}
        )
    )

    assert details == {
        "type": "cannot be changed; it is webhook",
        "name": "Name is required",
        "url": "URL is required",
        "timeout": "must be between 1 and 60",
    }
    assert (await api.get(f"{PATH}/{made}")).json == before


async def test_secrets_are_masked_for_who_may_only_read(api: Api) -> None:
    made = await make(api, config={"url": URL, "headers": {"X-API-Key": SECRET}, "signingSecret": SECRET})
    reader = await api.reader()

    for shown in ((await reader.get(f"{PATH}/{made}")), (await reader.get(PATH))):
        assert SECRET not in shown.body.decode()
        assert URL not in shown.body.decode()
    config = (await reader.get(f"{PATH}/{made}")).json["config"]
    assert config["signingSecret"].endswith(SECRET[-4:])
    assert config["headers"]["X-API-Key"].endswith(SECRET[-4:])
    assert (await (await api.writer()).get(f"{PATH}/{made}")).json["config"]["signingSecret"] == SECRET


async def test_a_masked_value_that_is_sent_back_keeps_the_old_one(api: Api) -> None:
    made = await make(api, config={"url": URL, "headers": {"X-API-Key": SECRET}, "signingSecret": SECRET})
    masked = (await (await api.reader()).get(f"{PATH}/{made}")).json

    changed = await api.put(f"{PATH}/{made}", {**masked, "name": "New"})

    assert changed.json["name"] == "New"
    assert changed.json["config"] == (await api.get(f"{PATH}/{made}")).json["config"]
    assert changed.json["config"]["url"] == URL
    assert changed.json["config"]["signingSecret"] == SECRET
    assert changed.json["config"]["headers"] == {"X-API-Key": SECRET}


async def test_secrets_lie_sealed_in_the_database(api: Api) -> None:
    await make(api, config={"url": URL, "headers": {"X-API-Key": SECRET}, "signingSecret": SECRET})

    async with api.context.db.connection() as tx:
        [row] = await tx.fetch("SELECT channels.*::text AS all FROM channels")
    assert SECRET not in row["all"]
    assert URL not in row["all"]
    assert SECRET.encode().hex() not in row["all"]


async def test_a_deleted_channel_is_gone(api: Api) -> None:
    made = await make(api)

    gone = await api.delete(f"{PATH}/{made}")

    assert (gone.status, gone.body) == (204, b"")
    for again in (await api.get(f"{PATH}/{made}"), await api.delete(f"{PATH}/{made}")):
        assert again.status == 404


async def test_another_teams_channel_is_like_none(api: Api) -> None:
    made = await make(api)
    other = await api.other_team()
    for id_ in (made, ids.show("chan", ids.uuid7()), "chan_x", "1"):
        answers = [
            await other.get(f"{PATH}/{id_}"),
            await other.put(f"{PATH}/{id_}", {"name": "Mine"}),
            await other.delete(f"{PATH}/{id_}"),
            await other.post(f"{PATH}/{id_}/test"),
            await other.get(f"{PATH}/{id_}/deliveries"),
        ]
        assert {answer.status for answer in answers} == {404}
        assert len({answer.body for answer in answers}) == 1
    assert (await other.get(PATH)).json == {"data": []}
    assert (await api.get(f"{PATH}/{made}")).json["name"] == "Ops"


async def test_who_may_only_read_changes_nothing(api: Api) -> None:
    made = await make(api)
    reader = await api.reader()

    answers = [
        await reader.post(PATH, {"name": "Ops", "type": "webhook", "config": {"url": URL}}),
        await reader.put(f"{PATH}/{made}", {"name": "Mine"}),
        await reader.delete(f"{PATH}/{made}"),
        await reader.post(f"{PATH}/{made}/test"),
    ]

    assert {answer.status for answer in answers} == {403}


async def test_a_test_is_a_real_signed_send_that_says_what_it_is(api: Api) -> None:
    async with receiving() as receiver:
        made = await make(api, config={"url": receiver.url(), "signingSecret": SECRET}, enabled=False)
        tested = await api.post(f"{PATH}/{made}/test")

    assert tested.status == 200
    assert tested.json["success"] is True
    assert tested.json["deliveredAt"].endswith("Z")
    [request] = receiver.received
    assert request.json["event"] == "test"
    assert ids.read("evt", request.json["id"]) is not None
    assert request.headers["x-service-event"] == "test"
    assert "x-service-signature" in request.headers


async def test_a_test_that_fails_is_an_answer_that_says_why_after_one_try(api: Api) -> None:
    async with receiving(answer(503), reset) as receiver:
        made = await make(api, config={"url": receiver.url("/SEEDED")})
        refusal = await api.post(f"{PATH}/{made}/test")
        broken = await api.post(f"{PATH}/{made}/test")

    assert len(receiver.received) == 2
    assert refusal.json == {
        "success": False,
        "message": "The test message was not delivered: answered 503",
        "deliveredAt": None,
    }
    assert (broken.status, broken.json["success"]) == (200, False)
    assert broken.json["message"].endswith("connection reset")


async def test_deliveries_show_each_try(api: Api) -> None:
    made = await make(api)
    await happen(api.context.db, api.team_id, ids.uuid7(), "monitor.down", "monitor.up")
    await Router(api.context.db).turn()
    async with api.context.db.connection() as tx:
        await tx.execute(
            """
            INSERT INTO delivery_attempts SELECT team_id, id, 1, now(), 500, 12, 'answered 500'
            FROM deliveries WHERE event_kind = 'monitor.down'
            """
        )
        await tx.execute("UPDATE deliveries SET status = 2 WHERE event_kind = 'monitor.down'")
    await make_due(api.context.db)

    shown = (await api.get(f"{PATH}/{made}/deliveries")).json

    assert shown["meta"] == {"page": 1, "limit": 20, "total": 2}
    by_event = {item["event"]: item for item in shown["data"]}
    down, up = by_event["monitor.down"], by_event["monitor.up"]
    assert ids.read("dlv", down["id"]) is not None
    assert ids.read("evt", down["eventId"]) is not None
    assert (down["status"], down["nextAttemptAt"]) == ("failed", None)
    [attempt] = down["attempts"]
    assert attempt == {"at": attempt["at"], "statusCode": 500, "latencyMs": 12, "error": "answered 500"}
    assert attempt["at"].endswith("Z")
    assert (up["status"], up["attempts"]) == ("pending", [])
    assert up["nextAttemptAt"].endswith("Z")


async def test_a_team_has_so_many_channels_and_no_more(api: Api) -> None:
    made = await make(api)
    async with api.context.db.connection() as tx:
        await tx.execute(
            """
            INSERT INTO channels SELECT (c).* FROM (
                SELECT jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid())) AS c
                FROM channels c, generate_series(2, $1::int)
            ) copies
            """,
            MOST,
        )
    refused = await api.post(PATH, {"name": "Ops", "type": "webhook", "config": {"url": URL}})
    assert (refused.status, refused.json["message"]) == (
        409,
        "The team's plan allows 1000 alert channels at most",
    )
    assert (await api.delete(f"{PATH}/{made}")).status == 204
    await make(api)
