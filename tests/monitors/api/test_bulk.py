"""One request for many monitors."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared import ids
from shared.ids import show, uuid7
from tests.http.client import Answer, Api
from tests.monitors.monitors import TCP, change, details, make, number, probe, rows, shown

PATH = "/v1/monitors/bulk"
EMPTY = {"filter": "must name monitors, or say all: true"}


async def bulk(api: Api, action: str, filter_: Any = None, **more: Any) -> dict[str, Any]:
    """The answer to *action* on all monitors, or on those of *filter_*."""
    answer = await api.post(PATH, {"action": action, "filter": filter_ or {"all": True}, **more})
    assert answer.status == 200, answer.body
    return dict(answer.json)


async def statuses(api: Api) -> dict[str, str]:
    answer = await api.get("/v1/monitors?limit=100")
    return {item["id"]: item["status"] for item in answer.json["data"]}


async def test_every_monitor_is_paused_and_resumed_and_the_second_time_changes_nothing(api: Api) -> None:
    await probe(api, "local")
    made = [await make(api) for _ in range(7)]

    paused = await bulk(api, "pause")
    assert paused == {"action": "pause", "matched": 7, "changed": 7, "ids": paused["ids"], "failed": []}
    assert set(paused["ids"]) == set(made)
    assert await statuses(api) == dict.fromkeys(made, "paused")
    assert await rows(api, "SELECT FROM states WHERE probe_id IS NOT NULL") == []

    again = await bulk(api, "pause")
    assert again == {"action": "pause", "matched": 7, "changed": 0, "ids": [], "failed": []}

    assert (await bulk(api, "resume"))["changed"] == 7
    assert (await bulk(api, "resume"))["changed"] == 0
    assert await statuses(api) == dict.fromkeys(made, "up")
    assert {item["revision"] for item in (await api.get("/v1/monitors")).json["data"]} == {3}


async def test_silences_are_set_and_ended(api: Api) -> None:
    first, second = await make(api), await make(api)
    await api.post(f"/v1/monitors/{second}/silence", {"duration": 5})
    api.clock.ahead = timedelta(seconds=6)

    only = await bulk(api, "silence", {"ids": [first]}, duration=600, reason="a move")
    ended = await bulk(api, "unsilence")

    assert only["ids"] == [first]
    assert (ended["matched"], ended["ids"]) == (2, [first])
    assert (await shown(api, first))["silencedUntil"] is None
    await bulk(api, "silence", duration=60)
    assert (await shown(api, second))["silencedUntil"] is not None


async def test_tags_are_given_beside_others_and_taken_away(api: Api) -> None:
    text = await make(api, tags={"env": "prod", "team": "web"})
    other = await make(api, tags={"env": "test"})

    given = await bulk(api, "tag", tags={"env": "test", "tier": "1"})
    assert set(given["ids"]) == {text, other}
    assert (await shown(api, text))["tags"] == {"env": "test", "team": "web", "tier": "1"}
    assert (await bulk(api, "tag", tags={"env": "test"}))["changed"] == 0

    taken = await bulk(api, "untag", tags=["team", "nothing"])
    assert (taken["matched"], taken["ids"]) == (2, [text])
    assert (await shown(api, text))["tags"] == {"env": "test", "tier": "1"}


async def test_one_that_takes_no_more_stops_no_other(api: Api) -> None:
    full = await make(api, tags={f"t{n}": "" for n in range(100)})
    free = await make(api)

    answer = await bulk(api, "tag", tags={"one": "more"})

    assert answer["ids"] == [free]
    assert answer["failed"] == [{"id": full, "message": "tags must have at most 100 entries"}]


async def test_deleted_ones_are_gone_and_the_rest_stays(api: Api) -> None:
    kept = await make(api, group="b", dependsOn=[parent := await make(api, group="a")])
    gone = [parent, *[await make(api, group="a") for _ in range(5)]]

    answer = await bulk(api, "delete", {"group": "a"})

    assert set(answer["ids"]) == set(gone)
    assert await statuses(api) == {kept: "up"}
    assert (await shown(api, kept))["dependsOn"] == []


async def test_a_filter_takes_what_is_all_that_it_says(api: Api) -> None:
    web = await make(api, group="a", tags={"env": "prod"})
    other = await make(api, group="a", tags={"env": "test"})
    tcp = (await api.post("/v1/monitors", {**TCP, "tags": {"env": "prod"}})).json["id"]
    await api.post(f"/v1/monitors/{other}/pause")
    tag = {"tags": {"seen": "1"}}

    for wanted, found in (
        ({"group": "a"}, {web, other}),
        ({"tag": "env"}, {web, other, tcp}),
        ({"tag": "env:prod"}, {web, tcp}),
        ({"type": "tcp"}, {tcp}),
        ({"status": "paused"}, {other}),
        ({"status": "paused", "tag": "env:prod"}, set()),
        ({"all": True, "group": "a"}, {web, other}),
        ({"ids": [tcp, web, tcp], "type": "http"}, {web}),
        ({"ids": []}, set()),
        ({"type": "icmp"}, set()),
    ):
        answer = await bulk(api, "tag", wanted, **tag)
        assert (answer["matched"], set(answer["ids"]), answer["failed"]) == (len(found), found, []), wanted
        await bulk(api, "untag", tags=["seen"])


async def test_ids_that_are_no_monitors_of_the_team_are_told(api: Api) -> None:
    mine, nothing = await make(api), show("mon", uuid7())
    other = await api.other_team()
    theirs = await make(other)

    answer = await bulk(api, "delete", {"ids": [theirs, mine, nothing]})

    missing = [{"id": id_, "message": "Monitor not found"} for id_ in (theirs, nothing)]
    assert answer == {"action": "delete", "matched": 1, "changed": 1, "ids": [mine], "failed": missing}
    assert (await bulk(api, "delete"))["matched"] == 0
    assert (await other.get(f"/v1/monitors/{theirs}")).status == 200


ALL = {"all": True}
ACTIONS = "must be one of pause, resume, silence, unsilence, tag, untag, delete"


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        pytest.param({}, {"action": "Action is required", "filter": "Filter is required"}, id="nothing"),
        pytest.param({"action": "pause", "filter": {}}, EMPTY, id="an empty filter"),
        pytest.param({"action": "pause", "filter": {"all": False}}, EMPTY, id="all that is none"),
        pytest.param({"action": "pause", "filter": {"group": None}}, EMPTY, id="nulls only"),
        pytest.param({"action": "pause", "filter": "all"}, {"filter": "must be an object"}, id="no object"),
        pytest.param(
            {"action": "delete", "filter": {**ALL, "stauts": "down", "name": "x"}},
            {"filter.stauts": "is no filter", "filter.name": "is no filter"},
            id="a filter that would be ignored",
        ),
        pytest.param(
            {"action": "stop", "filter": ALL},
            {"action": ACTIONS},
            id="another action",
        ),
        pytest.param({"action": ["pause"], "filter": ALL}, {"action": ACTIONS}, id="a list"),
        pytest.param(
            {"action": "silence", "filter": {"ids": ["x"]}, "reason": 7},
            {
                "filter.ids[0]": "must be the id of a monitor",
                "duration": "Duration is required",
                "reason": "must be a string",
            },
            id="a silence",
        ),
        pytest.param({"action": "tag", "filter": ALL}, {"tags": "Tags is required"}, id="no tags"),
        pytest.param({"action": "tag", "filter": ALL, "tags": {}}, {"tags": "must not be empty"}, id="none"),
        pytest.param(
            {"action": "tag", "filter": ALL, "tags": ["a"]}, {"tags": "must be an object"}, id="names only"
        ),
        pytest.param(
            {"action": "untag", "filter": ALL, "tags": {"a": "b"}},
            {"tags": "must be a list"},
            id="values too",
        ),
        pytest.param(
            {"action": "pause", "filter": {"type": "ping", "status": "off", "tag": ""}},
            {
                "filter.type": "must be a type of monitor",
                "filter.status": "must be one of up, down, paused",
                "filter.tag": "must not be empty",
            },
            id="each filter",
        ),
    ],
)
async def test_every_bad_field_is_named_and_nothing_is_done(api: Api, body: Any, bad: dict[str, str]) -> None:
    id_ = await make(api)

    assert details(await api.post(PATH, body)) == bad
    assert (await shown(api, id_))["revision"] == 1


async def test_a_field_that_the_action_does_not_take_is_ignored_and_named(api: Api) -> None:
    answer = await bulk(api, "pause", duration=5, colour="red")

    assert answer["warnings"] == ["unknown field duration was ignored", "unknown field colour was ignored"]


async def test_an_action_is_read_in_any_case_with_what_it_takes(api: Api) -> None:
    await make(api)

    assert (await bulk(api, "Silence", duration=60))["changed"] == 1
    assert (await bulk(api, "TAG", tags={"a": "b"}))["changed"] == 1
    assert (await bulk(api, "unTag", tags=["a"]))["changed"] == 1


async def test_a_reader_may_not(api: Api) -> None:
    id_ = await make(api)

    assert (await (await api.reader()).post(PATH, {"action": "delete", "filter": ALL})).status == 403
    assert (await shown(api, id_))["id"] == id_


async def test_who_is_held_by_another_fails_and_the_others_are_done(api: Api) -> None:
    held, *free = [await make(api) for _ in range(3)]

    async with api.context.db.transaction() as tx:
        await tx.execute("SELECT FROM monitors WHERE id = $1 FOR UPDATE", ids.read("mon", held))
        answer = await bulk(api, "pause")

    assert set(answer["ids"]) == set(free)
    assert answer["failed"] == [{"id": held, "message": "The monitor is busy; try again"}]
    assert (await bulk(api, "pause"))["ids"] == [held]


async def test_requests_at_once_do_each_thing_once(api: Api) -> None:
    made = [await make(api, dependsOn=[]) for _ in range(12)]
    for id_ in made[1:]:
        await api.put(f"/v1/monitors/{id_}", {"dependsOn": [made[0]]})

    async def told(action: str) -> Answer:
        return await api.post(PATH, {"action": action, "filter": ALL})

    paused = await asyncio.gather(*(told("pause") for _ in range(4)))
    deleted = await asyncio.gather(*(told("delete") for _ in range(3)))

    assert sorted(item for answer in paused for item in answer.json["ids"]) == sorted(made)
    assert sorted(item for answer in deleted for item in answer.json["ids"]) == sorted(made)
    assert await statuses(api) == {}


async def test_what_was_not_reached_in_time_is_told(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = await make(api)
    monkeypatch.setattr("collector.monitors.service.bulk._WITHIN_S", 0.0)

    answer = await bulk(api, "pause")

    told = {"id": id_, "message": "There was no time left for it; send the request again"}
    assert (answer["changed"], answer["failed"]) == (0, [told])
    monkeypatch.undo()
    assert (await bulk(api, "pause"))["changed"] == 1


async def test_those_that_are_down_are_found(api: Api) -> None:
    await probe(api, "local")
    down, _ = await make(api), await make(api)
    await change(api, "monitors", "id", ids.read("mon", down), down=True)
    await change(api, "states", "monitor", await number(api, down), last_at=api.clock())

    assert (await bulk(api, "silence", {"status": "down"}, duration=60))["ids"] == [down]
