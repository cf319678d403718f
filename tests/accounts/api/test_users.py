"""/v1/users and /v1/team: who is in a team, and that somebody can always let others in."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from collector.accounts.core import passwords
from collector.accounts.service import users
from collector.accounts.storage import users as table
from collector.platform.access import Permission
from shared import ids
from shared.errors import Invalid, NotFound
from tests.http.client import Api

pytestmark = [pytest.mark.races, pytest.mark.shares_server]

NEW = {"email": "new@example.com", "name": "New", "role": "editor"}


async def invite(api: Api, **fields: Any) -> dict[str, Any]:
    answer = await api.post("/v1/users", {**NEW, **fields})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


async def token_of(api: Api, user_id: str, permission: str) -> Api:
    """A client with a token of that user."""
    made = await api.post("/v1/tokens", {"name": "robot", "permission": permission, "userId": user_id})
    assert made.status == 201, made.body
    return api.with_token(made.json["token"])


def me(api: Api) -> str:
    return ids.show("usr", api.user_id)


async def test_an_invited_user_is_shown_with_a_link_that_is_told_once(api: Api) -> None:
    answer = await api.post("/v1/users", NEW)

    made = answer.json
    assert answer.status == 201
    assert answer.headers["Location"].endswith(f"/v1/users/{made['id']}")
    assert made["invitationUrl"].startswith("https://tocsin.example.com/invitations/")
    assert {name: made[name] for name in NEW} == NEW
    assert made["status"] == "invited"
    shown = (await api.get(f"/v1/users/{made['id']}")).json
    assert shown == {name: value for name, value in made.items() if name != "invitationUrl"}
    listed = (await api.get("/v1/users")).json
    assert list(listed) == ["data"]
    assert [item["id"] for item in listed["data"]] == [made["id"], me(api)]


async def test_the_list_is_paged_when_asked(api: Api) -> None:
    await invite(api)

    answer = (await api.get("/v1/users?limit=1")).json

    assert ([item["email"] for item in answer["data"]], answer["meta"]["total"]) == (["new@example.com"], 2)


async def test_the_least_that_is_needed_is_an_address(api: Api) -> None:
    made = (await api.post("/v1/users", {"email": "oncall@example.com", "nonsense": 1})).json

    assert (made["name"], made["role"]) == ("oncall", "viewer")
    assert made["warnings"] == ["unknown field nonsense was ignored"]


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"email": None}, "email"),
        ({"email": "nobody"}, "email"),
        ({"email": "a@b@c"}, "email"),
        ({"email": "a b@example.com"}, "email"),
        ({"email": "a@example.com\r\nBcc: all@example.com"}, "email"),
        ({"email": "a@example.com\x85x"}, "email"),
        ({"email": "<a@example.com>"}, "email"),
        ({"email": "a@example.com,b@example.com"}, "email"),
        ({"email": "a" * 250 + "@example.com"}, "email"),
        ({"email": 7}, "email"),
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "a\r\nb"}, "name"),
        ({"name": "a\u2028b"}, "name"),
        ({"name": "n" * 101}, "name"),
        ({"role": "owner"}, "role"),
        ({"role": ["admin"]}, "role"),
    ],
)
async def test_what_cannot_be_a_user_is_refused(api: Api, fields: dict[str, Any], bad: str) -> None:
    made = await invite(api)

    for answer in (
        await api.post("/v1/users", {**NEW, "email": "other@example.com", **fields}),
        await api.put(f"/v1/users/{made['id']}", fields if fields[bad] is not None else {bad: ""}),
    ):
        assert answer.status == 400, answer.body
        assert list(answer.json["details"]) == [bad]


async def test_an_address_is_somebodys_alone_whatever_its_case(api: Api) -> None:
    made = await invite(api)

    assert (await api.post("/v1/users", {**NEW, "email": "NEW@example.com"})).status == 409
    assert (await api.put(f"/v1/users/{made['id']}", {"email": "Admin@Example.com"})).status == 409
    assert (await (await api.other_team()).post("/v1/users", NEW)).status == 201


async def test_a_user_is_changed_and_what_is_not_sent_stays(api: Api) -> None:
    made = await invite(api)

    answer = await api.put(f"/v1/users/{made['id']}", {"name": "Newer"})
    whole = await api.put(f"/v1/users/{made['id']}", answer.json)

    assert (answer.status, whole.status) == (200, 200)
    assert whole.json == answer.json
    assert (answer.json["name"], answer.json["email"], answer.json["role"]) == (
        "Newer", "new@example.com", "editor",
    )  # fmt: skip


async def test_a_null_demotes_nobody(api: Api) -> None:
    made = await invite(api, role="admin")

    answer = await api.put(f"/v1/users/{made['id']}", {"role": None})

    assert (answer.status, list(answer.json["details"])) == (400, ["role"])


async def test_the_last_admin_is_neither_removed_nor_demoted(api: Api) -> None:
    await invite(api)

    removed = await api.delete(f"/v1/users/{me(api)}")
    demoted = await api.put(f"/v1/users/{me(api)}", {"role": "editor", "name": "Renamed"})

    assert (removed.status, demoted.status) == (409, 409)
    assert (await api.get("/v1/me")).json["name"] == "Admin"


@pytest.mark.parametrize("body", [None, {"role": "viewer"}])
@pytest.mark.own_server
async def test_of_admins_who_remove_each_other_at_the_same_time_one_stays(api: Api, body: Any) -> None:
    names = [me(api)] + [(await invite(api, email=f"{n}@example.com", role="admin"))["id"] for n in range(3)]
    method = "PUT" if body else "DELETE"
    clients = [api] + [await token_of(api, name, "admin") for name in names[1:]]

    async with asyncio.timeout(30):
        answers = await asyncio.gather(
            *[
                client.call(method, f"/v1/users/{names[(at + 1) % 4]}", body)
                for at, client in enumerate(clients)
            ]
        )

    async with api.context.db.connection() as tx:
        left = await tx.fetchval("SELECT count(*) FROM users WHERE role = 'admin'")
    assert left == 4 - sum(answer.status in (200, 204) for answer in answers)
    assert left >= 1


async def test_a_removed_users_tokens_are_refused_at_once(api: Api) -> None:
    made = await invite(api)
    robot = await token_of(api, made["id"], "read-write")
    assert (await robot.get("/v1/me")).json["email"] == "new@example.com"

    assert (await api.delete(f"/v1/users/{made['id']}")).status == 204

    assert (await robot.get("/v1/me")).status == 401
    assert (await api.get(f"/v1/users/{made['id']}")).status == 404
    assert (await api.delete(f"/v1/users/{made['id']}")).status == 404


@pytest.mark.parametrize(
    ("role", "lowered"),
    [
        ("viewer", ["read-only", "read-only", "read-only"]),
        ("editor", ["read-only", "read-write", "read-write"]),
    ],
)
async def test_a_demoted_users_tokens_grant_no_more_than_the_role(
    api: Api, role: str, lowered: list[str]
) -> None:
    made = await invite(api, role="admin")
    robots = [await token_of(api, made["id"], each.value) for each in Permission]

    await api.put(f"/v1/users/{made['id']}", {"role": role})

    async def permissions() -> list[str]:
        return [(await robot.get("/v1/me")).json["permission"] for robot in robots]

    assert await permissions() == lowered
    await api.put(f"/v1/users/{made['id']}", {"role": "admin"})
    assert await permissions() == lowered


async def test_an_invitation_is_taken_up_once_within_its_time(api: Api) -> None:
    made = await invite(api)
    secret = made["invitationUrl"].rpartition("/")[2]
    db = api.context.db
    with pytest.raises(Invalid):
        await users.accept(db, secret, "short", api.clock())
    with pytest.raises(NotFound):
        await users.accept(db, secret, "a long password", api.clock() + timedelta(days=7))

    joined = await users.accept(db, secret, "a long password", api.clock())

    async with db.connection() as tx:
        kept = await table.password(tx, joined.team_id, joined.id)
    assert kept is not None
    assert passwords.matches("a long password", kept)
    assert not passwords.matches("another password", kept)
    assert (await api.get(f"/v1/users/{made['id']}")).json["status"] == "active"
    with pytest.raises(NotFound):
        await users.accept(db, secret, "a long password", api.clock())
    assert (await api.post(f"/v1/users/{made['id']}/invite")).status == 409


async def test_a_second_invitation_ends_the_first(api: Api) -> None:
    made = await invite(api)
    again = (await api.post(f"/v1/users/{made['id']}/invite")).json
    first, second = (one["invitationUrl"].rpartition("/")[2] for one in (made, again))

    with pytest.raises(NotFound):
        await users.accept(api.context.db, first, "a long password", api.clock())
    assert await users.accept(api.context.db, second, "a long password", api.clock())


async def test_only_a_hash_of_an_invitation_is_kept(api: Api) -> None:
    secret = (await invite(api))["invitationUrl"].rpartition("/")[2]

    async with api.context.db.connection() as tx:
        row = await tx.fetchval("SELECT u::text FROM users u WHERE email = 'new@example.com'")
    assert secret not in row
    assert secret.encode().hex() not in row


@pytest.mark.own_server
async def test_the_team_is_shown_and_renamed_and_its_plan_stays(api: Api) -> None:
    shown = (await api.get("/v1/team")).json
    assert (shown["name"], shown["plan"]) == ("Default", "pro")
    assert ids.read("team", shown["id"]) is not None

    answer = await api.put("/v1/team", {**shown, "name": "Operations"})
    greedy = await api.put("/v1/team", {"plan": "enterprise"})

    assert answer.json == {**shown, "name": "Operations"}
    assert greedy.json == {**answer.json, "warnings": ["plan was ignored: only the operator changes it"]}


@pytest.mark.parametrize("name", ["", " ", 7, "n" * 101, "a\nb"])
async def test_a_bad_name_of_a_team_is_refused(api: Api, name: Any) -> None:
    answer = await api.put("/v1/team", {"name": name})

    assert (answer.status, list(answer.json["details"])) == (400, ["name"])
