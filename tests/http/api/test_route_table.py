"""What holds for every route, tried on every route: permission, ownership, and what no one may learn."""

import re

import pytest

from tests.http.client import Answer, Api
from tests.http.route_table import (
    BODIES,
    CHANGES,
    FOR_ADMINS,
    MAKERS,
    READS,
    WITH_ID,
    collection,
    made,
    unknown,
)


def bare(answer: Answer) -> tuple[int, bytes]:
    return answer.status, answer.body


@pytest.mark.parametrize("path", sorted({collection(path) for _, path in WITH_ID}))
def test_these_tests_know_how_to_make_one_of_each_resource(path: str) -> None:
    assert path in MAKERS


@pytest.mark.parametrize(("method", "path"), WITH_ID)
async def test_another_teams_id_looks_like_one_of_nothing(team: Api, method: str, path: str) -> None:
    foreign = await made(await team.other_team(), path)
    body = BODIES.get((method, path))

    answer = await team.call(method, foreign, body)

    assert answer.status == 404
    assert bare(answer) == bare(await team.call(method, unknown(path), body))


@pytest.mark.parametrize(
    "query",
    ["/v1/incidents?monitor_id={id}", "/v1/monitors/uptime?ids={id}", "/v1/audit-log?resource={id}"],
)
async def test_another_teams_id_in_a_query_finds_what_one_of_nothing_does(team: Api, query: str) -> None:
    other = await team.other_team()
    foreign = (await made(other, "/v1/monitors/{id}")).split("/")[3]
    await other.post("/v1/incidents", {"title": "smoke", "monitorId": foreign})
    stranger = unknown("/v1/monitors/{id}").split("/")[3]

    answers = [await team.get(query.replace("{id}", id_)) for id_ in (foreign, stranger)]

    assert answers[0].status == answers[1].status
    assert answers[0].body.replace(foreign.encode(), stranger.encode()) == answers[1].body


@pytest.mark.parametrize(("method", "path"), WITH_ID)
async def test_an_id_of_nothing_is_404_whatever_was_sent(team: Api, method: str, path: str) -> None:
    missing = await team.call(method, unknown(path), b"{ no JSON")
    nonsense = await team.call(method, re.sub(r"\{\w+\}", "nonsense", path), b"{ no JSON")

    assert (missing.status, nonsense.status) == (404, 404)


@pytest.mark.parametrize(("method", "path"), WITH_ID)
async def test_a_change_by_another_team_changes_nothing(team: Api, method: str, path: str) -> None:
    owner = await team.other_team()
    foreign = await made(owner, path)
    text = "/".join(foreign.split("/")[:4])
    before = await owner.get(text)

    await team.call(method, foreign, BODIES.get((method, path)))

    assert bare(await owner.get(text)) == bare(before)


@pytest.mark.parametrize(("method", "path"), CHANGES)
async def test_a_read_only_token_is_refused_every_change(team: Api, method: str, path: str) -> None:
    reader = await team.reader()

    answer = await reader.call(method, unknown(path), BODIES.get((method, path)))

    assert (answer.status, answer.json["error"]) == (403, "Forbidden")


@pytest.mark.parametrize(("method", "path"), FOR_ADMINS)
async def test_a_read_write_token_is_refused_what_is_for_admins(team: Api, method: str, path: str) -> None:
    writer = await team.writer()

    answer = await writer.call(method, unknown(path), BODIES.get((method, path)))

    assert (answer.status, answer.json["error"]) == (403, "Forbidden")


@pytest.mark.parametrize("path", ["/v1/team", "/v1/users", "/v1/tokens", "/v1/audit-log"])
def test_what_is_about_access_is_for_admins(path: str) -> None:
    assert ("GET", path) in FOR_ADMINS


# Fields that belong to the service, as an attacker would set them.
_STOLEN = {
    "id": "mon_00000000000000000000000000",
    "teamId": 2,
    "team_id": 2,
    "createdAt": "2001-01-01T00:00:00.000Z",
    "revision": 99,
    "plan": "enterprise",
    "status": "revoked",
    "permissions": ["admin"],
}


@pytest.mark.parametrize(
    ("method", "path"), [route for route in BODIES if not route[1].endswith(("/test", "/bulk", "/apply"))]
)
async def test_nobody_sets_what_is_the_services_own(team: Api, method: str, path: str) -> None:
    whole = await made(team, path)

    answer = await team.call(method, whole, {**_STOLEN, **BODIES[method, path]})

    assert answer.status < 300, answer.body
    shown = answer.json
    assert shown.get("id") != _STOLEN["id"]
    assert shown.get("createdAt") != _STOLEN["createdAt"]
    assert shown.get("revision") != _STOLEN["revision"]
    assert shown.get("plan") in (None, "pro")
    assert shown.get("status") != _STOLEN["status"]


# But for the one that puts parts in order.
PUTS = [
    path
    for method, path in CHANGES
    if method == "PUT" and ("GET", path) in READS and not path.endswith("/components")
]


@pytest.mark.parametrize("path", PUTS)
async def test_what_is_read_may_be_sent_back(team: Api, path: str) -> None:
    whole = await made(team, path)
    read = (await team.get(whole)).json

    answer = await team.put(whole, read)

    assert answer.status == 200, answer.body
    assert not [text for text in answer.json.get("warnings", []) if "unknown field" in text]


# What no two of them may share.
ANOTHER = {
    "/v1/users": {"email": "another@example.com"},
    "/v1/status-pages": {"slug": "another"},
    "/v1/incident-templates": {"name": "another"},
}
COLLECTIONS = [path for method, path in CHANGES if method == "POST" and ("GET", f"{path}/{{id}}") in READS]


@pytest.mark.parametrize("path", COLLECTIONS)
async def test_what_is_read_may_be_sent_again_for_another_one(team: Api, path: str) -> None:
    read = (await team.get(await made(team, f"{path}/{{id}}"))).json

    answer = await team.post(path, {**read, **ANOTHER.get(path, {})})

    assert answer.status == 201, answer.body
    assert not [text for text in answer.json.get("warnings", []) if "unknown field" in text]
