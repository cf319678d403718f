"""Alert channels of every type over the API."""

from datetime import timedelta
from typing import Any

import pytest

from collector.notifications.channels import CHANNELS
from collector.notifications.storage import faults
from collector.notifications.storage.faults import FailedChannel
from collector.platform.mailer import Mailer
from shared import ids
from tests.http.client import Api
from tests.mailbox import mailbox
from tests.notifications.api.test_channels import PATH, refused
from tests.notifications.channels.every import HTTP, SEED, config
from tests.receiver import answer, receiving

pytestmark = pytest.mark.shares_server

BASE = "http://127.0.0.1:9"


async def make(api: Api, type_: str, base: str = BASE, **more: Any) -> str:
    made = await api.post(
        PATH, {"name": f"Ops {type_}", "type": type_, "config": {**config(type_, base), **more}}
    )
    assert made.status == 201, made.json
    id_: str = made.json["id"]
    return id_


@pytest.mark.parametrize("type_", CHANNELS)
async def test_it_is_made_and_read_back_with_its_defaults(api: Api, type_: str) -> None:
    made = await api.post(PATH, {"name": "Ops", "type": type_, "config": config(type_, BASE)})

    silent = {} if type_ == "webhook" else {"warnings": ["no rule sends here"]}
    assert made.json == {"id": made.json["id"], "name": "Ops", "type": type_, "enabled": True, **silent}
    shown = (await api.get(f"{PATH}/{made.json['id']}")).json
    assert config(type_, BASE).items() <= shown["config"].items()
    assert shown.get("warnings") == silent.get("warnings")
    assert (shown["flagged"], shown["failingSince"], shown["lastError"]) == (False, None, None)
    assert (await api.get(f"{PATH}?type={type_}")).json["data"] == [shown]


@pytest.mark.parametrize("type_", CHANNELS)
async def test_its_fields_are_also_read_beside_the_config(api: Api, type_: str) -> None:
    made = await api.post(PATH, {"name": "Ops", "type": type_, **config(type_, BASE)})

    shown = (await api.get(f"{PATH}/{made.json['id']}")).json
    assert config(type_, BASE).items() <= shown["config"].items()


@pytest.mark.parametrize("type_", CHANNELS)
async def test_no_secret_is_shown_to_who_may_only_read_or_lies_open_in_the_database(
    api: Api, type_: str
) -> None:
    made = await make(api, type_)
    reader = await api.reader()

    for path in (PATH, f"{PATH}/{made}", f"{PATH}/{made}/deliveries"):
        assert SEED not in (await reader.get(path)).body.decode()
    async with api.context.db.connection() as tx:
        assert SEED not in await tx.fetchval("SELECT channels.*::text FROM channels")


@pytest.mark.parametrize("type_", CHANNELS)
async def test_what_a_reader_sees_can_be_sent_back_and_changes_nothing(api: Api, type_: str) -> None:
    made = await make(api, type_)
    before = (await api.get(f"{PATH}/{made}")).json
    masked = (await (await api.reader()).get(f"{PATH}/{made}")).json

    after = await api.put(f"{PATH}/{made}", masked)

    assert after.json == before


async def test_templates_merge_and_are_taken_away(api: Api) -> None:
    made = await make(api, "slack", templates={"title": "T", "body": "B"})

    async def put(templates: Any) -> Any:
        return (await api.put(f"{PATH}/{made}", {"config": {"templates": templates}})).json["config"][
            "templates"
        ]

    assert await put({"title": "T2"}) == {"title": "T2", "body": "B"}
    assert await put({"body": None}) == {"title": "T2", "body": None}
    assert await put(None) is None
    details = refused(await api.put(f"{PATH}/{made}", {"config": {"templates": {"body": "{{ 'x' * 9 }}"}}}))
    assert details == {"templates.body": "must not hold a multiplication"}


@pytest.mark.parametrize("type_", HTTP)
async def test_a_test_is_a_real_send_that_says_what_it_is(api: Api, type_: str) -> None:
    async with receiving(always=answer(200, body=b"ok")) as receiver:
        made = await make(api, type_, receiver.url(""))
        tested = await api.post(f"{PATH}/{made}/test")

    assert tested.json["success"] is True, tested.json
    assert tested.json["deliveredAt"].endswith("Z")
    [request] = receiver.received
    assert "test" in request.body.decode().lower()


@pytest.mark.parametrize("type_", ["slack", "discord", "telegram", "pagerduty", "opsgenie", "webhook"])
async def test_a_test_that_fails_says_why_and_no_secret(api: Api, type_: str) -> None:
    async with receiving(always=answer(403, body=b'{"message": "SEEDED"}')) as receiver:
        made = await make(api, type_, receiver.url(""))
        tested = await api.post(f"{PATH}/{made}/test")

    assert (tested.status, tested.json["success"], tested.json["deliveredAt"]) == (200, False, None)
    assert tested.json["message"].startswith("The test message was not delivered: answered 403")
    assert len(receiver.received) == 1, "one try"


async def test_a_test_mail(api: Api) -> None:
    made = await make(api, "email")
    without = (await api.post(f"{PATH}/{made}/test")).json
    assert (without["success"], "TOCSIN_SMTP_URL" in without["message"]) == (False, True)

    async with mailbox() as box:
        api.context.transport.mailer = Mailer(box.url(), "alerts@example.com")
        tested = (await api.post(f"{PATH}/{made}/test")).json

    assert tested["success"] is True
    assert box.mails[0].message["Subject"] == "Test: alert channel Ops email"
    assert "Nothing is wrong" in box.mails[0].part("plain")


async def test_every_bad_field_is_named(api: Api) -> None:
    body = {
        "name": "",
        "type": "pagerduty",
        "config": {"severity": "awful", "apiUrl": "x", "templates": {"title": "{{ a b }}"}},
    }

    details = refused(await api.post(PATH, body))

    assert set(details) == {"name", "integrationKey", "severity", "apiUrl", "templates.title"}


async def test_apprise_where_it_is_not_installed_says_how_to_get_it(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await make(api, "apprise")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    details = refused(
        await api.post(PATH, {"name": "Ops", "type": "apprise", "config": config("apprise", BASE)})
    )
    assert details == {"type": "apprise needs Apprise beside Tocsin: pip install 'tocsin[apprise]'"}
    tested = (await api.post(f"{PATH}/{made}/test")).json
    assert "pip install 'tocsin[apprise]'" in tested["message"]


async def test_a_channel_that_fails_shows_since_when_and_why_and_in_time_that_it_is_flagged(api: Api) -> None:
    made = await make(api, "slack")
    id_ = ids.read("chan", made)
    assert id_ is not None
    async with api.context.db.transaction() as tx:
        await faults.fail(tx, [FailedChannel(api.team_id, id_, "answered 404: no_service")])

    for path in (f"{PATH}/{made}", PATH):
        shown = (await api.get(path)).json
        shown = shown["data"][0] if "data" in shown else shown
        assert (shown["flagged"], shown["lastError"]) == (False, "answered 404: no_service")
        assert shown["failingSince"].endswith("Z")
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE channel_faults SET failing_since = now() - interval '1 hour'")
        await faults.news(tx, timedelta(hours=1), 10)
    assert (await api.get(f"{PATH}/{made}")).json["flagged"] is True
    assert (await api.put(f"{PATH}/{made}", {"name": "New"})).json["flagged"] is True
    other = await api.other_team()
    assert (await other.get(PATH)).json == {"data": []}


async def test_a_test_that_arrives_shows_that_the_channel_works_again(api: Api) -> None:
    async with receiving(answer(500), always=answer(200)) as receiver:
        made = await make(api, "slack", receiver.url(""))
        id_ = ids.read("chan", made)
        assert id_ is not None
        async with api.context.db.transaction() as tx:
            await faults.fail(tx, [FailedChannel(api.team_id, id_, "answered 404: no_service")])
        shown = []
        for _ in range(2):
            await api.post(f"{PATH}/{made}/test")
            shown.append((await api.get(f"{PATH}/{made}")).json["lastError"])

    assert shown == ["answered 404: no_service", None]
