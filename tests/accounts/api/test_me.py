"""GET /v1/me says whose token it is."""

from shared import ids
from tests.http.client import Api


async def test_me_is_the_person_who_made_the_token(api: Api) -> None:
    answer = await api.get("/v1/me")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    team = answer.json["team"]
    assert ids.read("team", team["id"]) is not None
    assert answer.json == {
        "id": ids.show("usr", api.user_id),
        "email": "admin@example.com",
        "name": "Admin",
        "role": "admin",
        "permission": "admin",
        "team": {"id": team["id"], "name": "Default", "plan": "pro"},
    }


async def test_the_permission_is_the_tokens(api: Api) -> None:
    me = (await (await api.reader()).get("/v1/me")).json

    assert (me["role"], me["permission"]) == ("admin", "read-only")


async def test_another_team_is_another_me(api: Api) -> None:
    me = (await (await api.other_team()).get("/v1/me")).json

    assert (me["email"], me["team"]["name"]) == ("other@example.com", "Other")
