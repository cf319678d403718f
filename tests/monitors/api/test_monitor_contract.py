"""Lines of the decisions about monitors that are no answer's own: names, times, heads, races."""

import asyncio
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from shared import ids
from shared.kinds import TYPES
from tests.http.client import Api
from tests.monitors.monitors import HTTP, TCP, URL, details, make, probe, rows, shown
from tests.waiting import WAITING

pytestmark = pytest.mark.races

ID = re.compile(r"mon_[0-9a-hjkmnp-tv-z]{26}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


async def test_ids_have_a_prefix_and_sort_by_time(api: Api) -> None:
    made = []
    for _ in range(3):
        made.append(await make(api))
        await asyncio.sleep(0.002)  # an id's time is in milliseconds

    assert all(ID.fullmatch(id_) for id_ in made)
    assert made == sorted(made)


async def test_times_are_utc_with_milliseconds(api: Api) -> None:
    id_ = await make(api)
    paused = (await api.post(f"/v1/monitors/{id_}/pause")).json
    silenced = (await api.post(f"/v1/monitors/{id_}/silence", {"duration": 60})).json
    found = await shown(api, id_)
    resumed = (await api.post(f"/v1/monitors/{id_}/resume")).json

    times = [found[name] for name in ("createdAt", "updatedAt", "pausedAt", "silencedUntil")]
    assert all(MOMENT.fullmatch(text) for text in (*times, resumed["resumedAt"]))
    assert (paused["pausedAt"], silenced["silencedUntil"]) == (found["pausedAt"], found["silencedUntil"])


@pytest.mark.parametrize("path", ["/v1/monitors", "/v1/monitors/{id}"])
async def test_a_head_is_a_get_without_its_body(api: Api, path: str) -> None:
    where = path.format(id=await make(api))

    got, head = await api.get(where), await api.call("HEAD", where)

    for name in ("Content-Length", "Content-Type", "ETag", "Cache-Control"):
        assert head.headers.get(name) == got.headers.get(name)
    assert (head.status, head.body) == (200, b"")
    assert (await api.call("HEAD", "/v1/monitors/mon_x")).status == 404


@pytest.mark.parametrize("type_", TYPES)
async def test_a_list_may_be_asked_for_any_type_that_there_is(api: Api, type_: str) -> None:
    await make(api)

    answer = await api.get("/v1/monitors", params={"type": type_})

    assert (answer.status, answer.json["meta"]["total"]) == (200, 1 if type_ == "http" else 0)


@pytest.mark.parametrize("body", [HTTP, TCP], ids=["http", "tcp"])
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
async def test_what_a_get_and_a_list_show_may_be_sent_back(
    api: Api, method: str, body: dict[str, Any]
) -> None:
    await probe(api, "local")
    parent = await make(api)
    id_ = (await api.post("/v1/monitors", {**body, "dependsOn": [parent], "quorum": 1})).json["id"]
    await api.post(f"/v1/monitors/{id_}/silence", {"duration": 60, "reason": "a move"})
    found = await shown(api, id_)
    item = (await api.get("/v1/monitors")).json["data"][0]

    for sent in (found, item, {}):
        answer = await api.call(method, f"/v1/monitors/{id_}", sent)
        assert (answer.status, answer.json["revision"]) == (200, 1)
        assert "warnings" not in answer.json
    assert await shown(api, id_) == found


async def test_what_a_get_shows_makes_another_of_it(api: Api) -> None:
    await probe(api, "local")
    found = await shown(api, await make(api, tags={"env": "prod"}, interval=30, timeout=7, quorum="all"))

    answer = await api.post("/v1/monitors", found)

    assert "warnings" not in answer.json
    own = {"id", "createdAt", "updatedAt"}
    copy = await shown(api, answer.json["id"])
    assert {name: copy[name] for name in copy if name not in own} == {
        name: found[name] for name in found if name not in own
    }
    assert copy["id"] != found["id"]


@pytest.mark.parametrize(
    ("name", "value", "default"),
    [
        ("tags", {"env": "prod"}, {}),
        ("severity", "low", "critical"),
        ("group", "shop", None),
        ("runbookUrl", URL, None),
        ("description", "what it sells", ""),
        ("failureThreshold", 5, 3),
        ("recoveryThreshold", 5, 1),
        ("quorum", 3, "majority"),
        ("interval", 30, 60),
        ("timeout", 5, 10),
    ],
)
async def test_a_field_is_replaced_whole_and_a_null_brings_its_default_back(
    api: Api, name: str, value: Any, default: Any
) -> None:
    path = f"/v1/monitors/{(id_ := await make(api))}"

    assert (await api.put(path, {name: value})).json["revision"] == 2
    assert (await shown(api, id_))[name] == value
    assert (await api.put(path, {name: None})).json["revision"] == 3
    assert (await shown(api, id_))[name] == default


async def test_an_unknown_field_of_an_update_is_named_too(api: Api) -> None:
    await probe(api, "local")
    id_ = await make(api)

    sent = {"nmae": "x", "config": {"urll": "x"}, "timeout": 30, "interval": 20}
    answer = await api.put(f"/v1/monitors/{id_}", sent)

    assert answer.json["warnings"] == [
        "unknown field nmae was ignored",
        "unknown field config.urll was ignored",
        "timeout (30 s) is longer than interval (20 s): a check takes 20 s at most",
    ]


async def test_the_type_may_be_said_again_and_read_from_the_top(api: Api) -> None:
    id_ = await make(api)

    answer = await api.put(f"/v1/monitors/{id_}", {"type": "http", "url": URL + "a", "method": "head"})

    assert answer.status == 200
    config = (await shown(api, id_))["config"]
    assert (config["url"], config["method"]) == (URL + "a", "HEAD")


async def test_a_silence_of_thirty_days_is_taken(api: Api) -> None:
    id_ = await make(api)

    answer = await api.post(f"/v1/monitors/{id_}/silence", {"duration": 2_592_000})

    until = datetime.fromisoformat(answer.json["silencedUntil"])
    assert answer.json["reason"] is None
    assert 29 <= (until - datetime.now(UTC)).days <= 30


async def test_what_is_deleted_is_not_deleted_again(api: Api) -> None:
    path = f"/v1/monitors/{await make(api)}"

    first, second = await asyncio.gather(api.delete(path), api.delete(path))

    assert {first.status, second.status} == {204, 404}
    assert (await api.post(f"{path}/pause")).status == 404


async def test_updates_at_once_close_no_larger_circle(api: Api) -> None:
    made = [await make(api) for _ in range(4)]

    answers = await asyncio.gather(
        *(
            api.put(f"/v1/monitors/{child}", {"dependsOn": [parent]})
            for child, parent in zip(made, [*made[1:], made[0]], strict=True)
        )
    )

    assert sorted(answer.status for answer in answers) == [200, 200, 200, 400]


@pytest.mark.parametrize("method", ["PUT", "POST"])
async def test_nobody_comes_to_depend_on_what_is_being_deleted(api: Api, method: str) -> None:
    parent, child = await make(api), await make(api)
    path = f"/v1/monitors/{child}" if method == "PUT" else "/v1/monitors"
    wanted = {**HTTP, "dependsOn": [parent]}

    async with api.context.db.transaction() as tx:
        await tx.execute("DELETE FROM monitors WHERE id = $1", ids.read("mon", parent))
        change = asyncio.create_task(api.call(method, path, wanted))
        while not change.done() and not await rows(api, WAITING):
            await asyncio.sleep(0.01)

    assert details(await change) == {"dependsOn[0]": "no such monitor"}


@pytest.mark.parametrize("tried", range(3))
async def test_a_dependency_and_a_deletion_at_once_leave_no_dead_parent(api: Api, tried: int) -> None:
    parent, child = await make(api), await make(api)

    changed, deleted = await asyncio.gather(
        api.put(f"/v1/monitors/{child}", {"dependsOn": [parent]}), api.delete(f"/v1/monitors/{parent}")
    )

    assert (changed.status, deleted.status) in {(200, 204), (400, 204)}
    assert (await shown(api, child))["dependsOn"] == []
