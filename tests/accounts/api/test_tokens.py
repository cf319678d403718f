"""/v1/tokens: made, shown without their values, and over everywhere at once when they are revoked."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from collector.server import make, serve
from shared import ids
from shared.ids import uuid7
from shared.tokens import checksum_ok, new_token
from tests.http.client import Api

pytestmark = pytest.mark.shares_server

ROBOT = {"name": "robot", "permission": "read-write"}


@pytest_asyncio.fixture(loop_scope="module")
async def replica(api: Api) -> AsyncIterator[Api]:
    """Another server over the same database."""
    runner = await serve(make(api.context, api.features), "127.0.0.1:0")
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    await runner.cleanup()


async def create(api: Api, **fields: Any) -> dict[str, Any]:
    answer = await api.post("/v1/tokens", {**ROBOT, **fields})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


async def test_a_token_is_told_once_and_works(api: Api) -> None:
    made = await create(api)

    assert checksum_ok(made["token"])
    assert (made["name"], made["permission"], made["expiresAt"]) == ("robot", "read-write", None)
    assert made["user"] == {"id": ids.show("usr", api.user_id), "name": "Admin"}
    robot = api.with_token(made["token"])
    assert (await robot.get("/v1/me")).json["permission"] == "read-write"
    listed = await api.get("/v1/tokens")
    assert made["token"].encode() not in listed.body
    assert listed.json["data"][0] == {name: value for name, value in made.items() if name != "token"}
    assert made["token"].startswith(made["hint"])
    assert len(made["hint"]) == len("tocsin_") + 4


@pytest.mark.parametrize(("text", "days"), [("never", None), ("30d", 30), ("90d", 90), ("1y", 365)])
async def test_it_ends_when_it_was_said_to(api: Api, text: str, days: int | None) -> None:
    made = await create(api, expiresIn=text)

    if days is None:
        assert made["expiresAt"] is None
        return
    life = datetime.fromisoformat(made["expiresAt"]) - datetime.fromisoformat(made["createdAt"])
    assert life == timedelta(days=days)
    robot = api.with_token(made["token"])
    api.clock.ahead = timedelta(days=days, seconds=-30)
    assert (await robot.get("/v1/me")).status == 200
    api.clock.ahead = timedelta(days=days, seconds=30)
    assert (await robot.get("/v1/me")).status == 401


async def test_the_words_of_the_settings_page_are_read_too(api: Api) -> None:
    made = await create(api, permission="Read-only", expiresIn="Never")

    assert (made["permission"], made["expiresAt"]) == ("read-only", None)


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"permission": "root"}, "permission"),
        ({"permission": None}, "permission"),
        ({"expiresIn": "10d"}, "expiresIn"),
        ({"expiresIn": 30}, "expiresIn"),
        ({"userId": "usr_nobody"}, "userId"),
        ({"userId": ids.show("usr", uuid7())}, "userId"),
    ],
)
async def test_what_cannot_be_a_token_is_refused(api: Api, fields: dict[str, Any], bad: str) -> None:
    answer = await api.post("/v1/tokens", {**ROBOT, **fields})

    assert (answer.status, list(answer.json["details"])) == (400, [bad])


async def test_a_token_grants_no_more_than_its_users_role(api: Api) -> None:
    viewer = (await api.post("/v1/users", {"email": "viewer@example.com", "role": "viewer"})).json["id"]

    answer = await api.post("/v1/tokens", {**ROBOT, "userId": viewer})

    assert (answer.status, list(answer.json["details"])) == (400, ["permission"])
    made = await create(api, permission="read-only", userId=viewer)
    assert (await api.with_token(made["token"]).get("/v1/me")).json["email"] == "viewer@example.com"


async def test_another_teams_user_gets_no_token_of_ours(api: Api) -> None:
    other = await api.other_team()

    answer = await api.post("/v1/tokens", {**ROBOT, "userId": ids.show("usr", other.user_id)})

    assert (answer.status, list(answer.json["details"])) == (400, ["userId"])


async def test_a_revoked_token_is_refused_by_another_replica_on_the_next_request(
    api: Api, replica: Api
) -> None:
    for _ in range(20):
        made = await create(api)
        robot = replica.with_token(made["token"])
        assert (await robot.get("/v1/me")).status == 200

        assert (await api.delete(f"/v1/tokens/{made['id']}")).status == 204

        assert (await robot.get("/v1/me")).status == 401


async def test_under_load_no_request_that_began_after_the_revocation_is_answered(
    api: Api, replica: Api
) -> None:
    made = await create(api)
    robot = replica.with_token(made["token"])
    revoked = False
    late: list[int] = []

    async def ask() -> None:
        for _ in range(40):
            began_late = revoked
            status = (await robot.get("/v1/me")).status
            if began_late:
                late.append(status)

    asking = asyncio.gather(*[ask() for _ in range(8)])
    assert (await robot.get("/v1/me")).status == 200
    await api.delete(f"/v1/tokens/{made['id']}")
    revoked = True
    await asking

    assert late
    assert set(late) == {401}


async def test_a_revoked_token_is_in_no_list_and_cannot_be_revoked_again(api: Api) -> None:
    made = await create(api)
    await api.delete(f"/v1/tokens/{made['id']}")

    assert made["id"] not in [item["id"] for item in (await api.get("/v1/tokens")).json["data"]]
    assert (await api.delete(f"/v1/tokens/{made['id']}")).status == 404


async def test_an_admin_may_revoke_the_token_that_it_uses(api: Api) -> None:
    made = await create(api, permission="admin")
    robot = api.with_token(made["token"])

    assert (await robot.delete(f"/v1/tokens/{made['id']}")).status == 204
    assert (await robot.delete(f"/v1/tokens/{made['id']}")).status == 401


async def test_a_token_in_the_address_is_none(api: Api) -> None:
    nobody = api.with_token(None)

    for name in ("token", "access_token", "api_key", "authorization"):
        assert (await nobody.get(f"/v1/me?{name}={api.token}")).status == 401


async def test_a_token_in_other_letters_is_none(api: Api) -> None:
    assert api.token is not None

    assert (await api.with_token(api.token.swapcase()).get("/v1/me")).status == 401


async def test_no_token_is_ever_logged(
    api: Api, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made, stranger = await create(api), new_token()
    for token in (made["token"], stranger, stranger[:-1] + "!"):
        robot = api.with_token(token)
        await robot.get("/v1/me")
        await robot.get("/v1/nothing/here")
        await robot.post("/v1/tokens", b"{ no JSON")

    out, words = capfd.readouterr()
    for text in (out, words, caplog.text):
        assert made["token"] not in text
        assert stranger[:-1] not in text
