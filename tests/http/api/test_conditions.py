"""Entity tags: reads that answer "unchanged", changes that are meant for one revision only."""

import asyncio
from typing import Any

import pytest

from shared.ids import show, uuid7
from tests.http.client import Answer, Api
from tests.monitors.monitors import HTTP, details, make, rows

pytestmark = pytest.mark.shares_server

HOOK = {"name": "ops", "type": "webhook", "config": {"url": "https://hooks.example.com/"}}
MALFORMED = 'must be * or entity tags in quotes, as "3"'
WHERE = pytest.mark.parametrize(
    ("path", "body"), [("/v1/monitors", HTTP), ("/v1/alert-channels", HOOK)], ids=["monitor", "channel"]
)


async def made(api: Api, path: str, body: dict[str, Any]) -> str:
    answer = await api.post(path, body)
    assert (answer.status, answer.headers["ETag"]) == (201, '"1"'), answer.body
    return f"{path}/{answer.json['id']}"


def refused(answer: Answer) -> None:
    assert (answer.status, answer.json["error"]) == (412, "Precondition Failed"), answer.body


@WHERE
async def test_the_entity_tag_is_the_revision(team: Api, path: str, body: dict[str, Any]) -> None:
    thing = await made(team, path, body)

    first = await team.get(thing)
    same = await team.put(thing, {"name": body["name"]})
    changed = await team.patch(thing, {"name": "other"})
    after = await team.get(thing)

    assert [answer.headers["ETag"] for answer in (first, same, changed, after)] == [
        '"1"',
        '"1"',
        '"2"',
        '"2"',
    ]
    assert (first.json["revision"], after.json["revision"]) == (1, 2)


@WHERE
async def test_what_is_read_is_kept_by_no_cache(team: Api, path: str, body: dict[str, Any]) -> None:
    """A browser would ask with the tag by itself, and show the state of long ago on a 304."""
    answer = await team.get(await made(team, path, body))

    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("sent", ['"1"', 'W/"1"', "*", '"7", W/"1"', ' ,"a,b" ,"1",'])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@WHERE
async def test_a_read_of_a_revision_that_the_caller_knows_is_304(
    team: Api, path: str, body: dict[str, Any], method: str, sent: str
) -> None:
    thing = await made(team, path, body)

    answer = await team.call(method, thing, headers={"If-None-Match": sent})

    assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", '"1"')


@pytest.mark.parametrize("sent", ['"2"', 'W/"2"', '"01"', '""', '"7", "8"'])
@WHERE
async def test_a_read_of_another_revision_is_whole(
    team: Api, path: str, body: dict[str, Any], sent: str
) -> None:
    thing = await made(team, path, body)

    answer = await team.get(thing, headers={"If-None-Match": sent})

    assert (answer.status, answer.json["name"]) == (200, body["name"])


@pytest.mark.parametrize("sent", ['"1"', "*", '"7","1"'])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@WHERE
async def test_a_change_meant_for_this_revision_is_done(
    team: Api, path: str, body: dict[str, Any], method: str, sent: str
) -> None:
    thing = await made(team, path, body)

    answer = await team.call(method, thing, {"name": "other"}, headers={"If-Match": sent})

    assert answer.status == (204 if method == "DELETE" else 200)


@pytest.mark.parametrize("sent", ['"2"', 'W/"1"', '"01"', '"one"', '"2", "3"'])
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@WHERE
async def test_a_change_meant_for_another_revision_is_412_and_changes_nothing(
    team: Api, path: str, body: dict[str, Any], method: str, sent: str
) -> None:
    thing = await made(team, path, body)
    before = await team.get(thing)

    refused(await team.call(method, thing, {"name": "other"}, headers={"If-Match": sent}))

    assert (await team.get(thing)).body == before.body


@pytest.mark.parametrize("sent", ["1", "", '"1', 'w/"1"', '"1" "2"', '"a b"', '*, "1"', ",", "W/1"])
@WHERE
async def test_a_header_that_is_no_list_of_tags_is_a_400(
    team: Api, path: str, body: dict[str, Any], sent: str
) -> None:
    thing = await made(team, path, body)

    read = await team.get(thing, headers={"If-None-Match": sent})
    changed = await team.put(thing, {"name": "other"}, headers={"If-Match": sent})
    deleted = await team.delete(thing, headers={"If-Match": sent})

    assert details(read) == {"If-None-Match": MALFORMED}
    assert details(changed) == details(deleted) == {"If-Match": MALFORMED}
    assert (await team.get(thing)).json["revision"] == 1


@pytest.mark.parametrize("sent", ['"1"', "nonsense"])
@pytest.mark.parametrize(("path", "prefix"), [("/v1/monitors", "mon"), ("/v1/alert-channels", "chan")])
async def test_what_is_not_there_is_404_whatever_the_condition(
    team: Api, path: str, prefix: str, sent: str
) -> None:
    nothing = f"{path}/{show(prefix, uuid7())}"
    plain = await team.get(nothing)

    for method in ("PUT", "DELETE"):
        answer = await team.call(method, nothing, {"name": ""}, headers={"If-Match": sent})
        assert (answer.status, answer.body) == (404, plain.body)
    assert (await team.get(nothing, headers={"If-None-Match": sent})).body == plain.body


@WHERE
async def test_the_revision_is_judged_before_what_the_change_would_be(
    team: Api, path: str, body: dict[str, Any]
) -> None:
    thing = await made(team, path, body)
    bad = {"name": ""}

    refused(await team.put(thing, bad, headers={"If-Match": '"2"'}))
    assert details(await team.put(thing, bad, headers={"If-Match": '"1"'})) == {"name": "must not be empty"}
    no_json = await team.put(thing, b"{", headers={"If-Match": '"2"'})
    assert no_json.status == 400


@WHERE
async def test_of_twenty_changes_of_one_revision_one_wins(team: Api, path: str, body: dict[str, Any]) -> None:
    thing = await made(team, path, body)

    answers = await asyncio.gather(
        *(team.put(thing, {"name": f"n{n}"}, headers={"If-Match": '"1"'}) for n in range(20))
    )

    assert sorted(answer.status for answer in answers) == [200] + [412] * 19
    [won] = [n for n, answer in enumerate(answers) if answer.status == 200]
    after = (await team.get(thing)).json
    assert (after["name"], after["revision"]) == (f"n{won}", 2)


@WHERE
async def test_a_change_and_a_deletion_of_one_revision_do_not_both_win(
    team: Api, path: str, body: dict[str, Any]
) -> None:
    thing = await made(team, path, body)

    changed, deleted = await asyncio.gather(
        team.put(thing, {"name": "other"}, headers={"If-Match": '"1"'}),
        team.delete(thing, headers={"If-Match": '"1"'}),
    )

    assert (changed.status, deleted.status) in {(200, 412), (404, 204)}


async def test_a_pause_and_a_resume_are_revisions_and_a_silence_is_none(team: Api) -> None:
    path = f"/v1/monitors/{await make(team)}"

    for deed, body, tag in (
        ("/silence", {"duration": 60}, '"1"'),
        ("/pause", None, '"2"'),
        ("/pause", None, '"2"'),
        ("/resume", None, '"3"'),
    ):
        assert (await team.post(path + deed, body)).status == 200
        assert (await team.get(path)).headers["ETag"] == tag


@pytest.mark.own_server
async def test_a_condition_opens_no_other_teams_door(api: Api) -> None:
    path = f"/v1/monitors/{await make(api)}"
    other = await api.other_team()

    for method, name in (("GET", "If-None-Match"), ("PUT", "If-Match"), ("DELETE", "If-Match")):
        assert (await other.call(method, path, headers={name: "*"})).status == 404
    assert (await (await api.reader()).put(path, {}, headers={"If-Match": '"9"'})).status == 403
    assert len(await rows(api, "SELECT FROM monitors")) == 1
