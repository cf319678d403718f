"""Secrets of monitors: sealed where they lie, masked for who may only read, kept when a mask comes back."""

import pytest

from tests.http.client import Api
from tests.monitors.monitors import URL, make, rows, shown

TOKEN = "Bearer abcdefghijkl-1234"


async def test_secrets_are_sealed_and_masked_for_readers(api: Api) -> None:
    config = {
        "url": URL,
        "headers": {"Authorization": TOKEN},
        "body": "password=abcdefgh",
        "auth": {"type": "basic", "username": "monitoring", "password": "correct horse"},
    }
    id_ = await make(api, config=config)

    stored = (await rows(api, "SELECT * FROM monitors"))[0]
    assert not {"headers", "body", "auth"} & stored["config"].keys()
    assert b"correct horse" not in stored["secrets"]
    assert (await shown(await api.writer(), id_))["config"]["headers"] == {"Authorization": TOKEN}
    masked = (await shown(await api.reader(), id_))["config"]
    assert masked["headers"] == {"Authorization": "********1234"}
    assert masked["body"] == "********efgh"
    assert masked["auth"] == {
        "type": "basic",
        "username": "********ring",
        "password": "********orse",
        "token": "",
    }
    assert masked["url"] == URL


async def test_a_password_in_a_url_is_sealed_and_shown_to_writers_alone(api: Api) -> None:
    url = "http://robot:correct-horse@shop.example.com/?a=1"
    hidden = url.replace("correct-horse", "********")
    id_ = await make(api, config={"url": url})

    stored = (await rows(api, "SELECT * FROM monitors"))[0]
    assert stored["config"]["url"] == hidden
    assert b"correct-horse" not in stored["secrets"]
    assert (await shown(api, id_))["config"]["url"] == url
    assert (await shown(await api.reader(), id_))["config"]["url"] == hidden
    [item] = (await api.get("/v1/monitors")).json["data"]
    assert item["url"] == hidden

    await api.put(f"/v1/monitors/{id_}", item)
    assert (await shown(api, id_))["revision"] == 1
    await api.put(f"/v1/monitors/{id_}", {"config": {"url": hidden.replace("a=1", "a=2")}})
    assert (await shown(api, id_))["config"]["url"] == url.replace("a=1", "a=2")


@pytest.mark.parametrize(("type_", "scheme"), [("http", "https"), ("websocket", "wss")])
async def test_secrets_in_the_query_of_a_url_are_sealed_and_shown_to_writers_alone(
    api: Api, type_: str, scheme: str
) -> None:
    url = f"{scheme}://shop.example.com/?api_key=correct-horse&a=1"
    hidden = url.replace("correct-horse", "********")
    id_ = await make(api, type=type_, config={"url": url})

    stored = (await rows(api, "SELECT * FROM monitors"))[0]
    assert stored["config"]["url"] == hidden
    assert b"correct-horse" not in stored["secrets"]
    assert (await shown(api, id_))["config"]["url"] == url
    reader = await api.reader()
    assert (await shown(reader, id_))["config"]["url"] == hidden
    for path in ("/v1/monitors", "/v1/export"):
        assert b"correct-horse" not in (await reader.get(path)).body
    made = await rows(api, "SELECT payload::text AS payload FROM events")
    assert made
    assert not any("correct-horse" in row["payload"] for row in made)

    await api.put(f"/v1/monitors/{id_}", {"config": {"url": hidden.replace("a=1", "a=2")}})
    assert (await shown(api, id_))["config"]["url"] == url.replace("a=1", "a=2")


async def test_a_masked_secret_that_comes_back_keeps_the_old_one(api: Api) -> None:
    id_ = await make(api, config={"url": URL, "headers": {"Authorization": TOKEN}})

    sent = (await shown(await api.reader(), id_))["config"]
    answer = await api.put(f"/v1/monitors/{id_}", {"config": sent, "name": "other"})

    assert answer.status == 200
    assert (await shown(api, id_))["config"]["headers"] == {"Authorization": TOKEN}
