"""Nothing slow while a connection is held: on every route, with and without a key, and in what waits."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import pytest

from collector.platform.group_commit import FirstCome, GroupCommit
from collector.platform.storage.db import Db
from shared.held import STRICTNESS, demand_none
from tests.http.api.test_idempotency import keyed, rough
from tests.http.client import Api
from tests.http.route_table import BODIES, CHANGES, NEED_A_PROBE, READS, prepared

pytestmark = pytest.mark.races

_PRIVATE = {"name": "Inside", "visibility": "private", "password": "a long password"}
_KEYED = [path for method, path in CHANGES if method == "POST" and path not in NEED_A_PROBE]


@pytest.fixture(autouse=True)
def _nothing_told() -> None:
    STRICTNESS.told.clear()


async def test_a_post_with_a_key_does_nothing_slow_in_its_transaction(api: Api) -> None:
    for path in _KEYED:
        whole, body = await prepared(api, "POST", path), BODIES.get(("POST", path))
        STRICTNESS.told.clear()

        answer = await api.post(whole, body, **keyed(path))

        assert (path, answer.status == 500, STRICTNESS.told) == (path, False, set()), answer.body


@pytest.mark.oldest
async def test_no_route_does_anything_slow_with_a_connection_in_hand(api: Api) -> None:
    for method, path in [*CHANGES, *READS]:
        if path == "/v1/events" or path in NEED_A_PROBE:
            continue  # one is a stream without an end, the others wait for a probe
        whole = await prepared(api, method, path)
        STRICTNESS.told.clear()

        answer = await api.call(method, whole, BODIES.get((method, path)))

        assert (path, answer.status == 500, STRICTNESS.told) == (path, False, set()), answer.body


@pytest.mark.parametrize("headers", [{}, keyed("a")])
async def test_a_status_pages_password_is_hashed_outside_of_any_transaction(
    api: Api, headers: dict[str, Any]
) -> None:
    first = await api.post("/v1/status-pages", _PRIVATE, **headers)
    page = f"/v1/status-pages/{first.json['id']}"
    second = await api.call("PUT", page, {"password": "another password"})
    third = await api.post("/v1/apply", {"statusPages": [_PRIVATE | {"name": "Other"}]}, **keyed("b"))
    again = await api.post("/v1/apply", {"statusPages": [_PRIVATE | {"name": "Other"}]}, **keyed("c"))

    assert [answer.status for answer in (first, second, third, again)] == [201, 200, 200, 200]
    assert (third.json["unchanged"], again.json["unchanged"]) == (0, 1)
    assert STRICTNESS.told == set()


async def _hashes(_: Db) -> None:
    # There is no lacking of this: the key of a request would have it done beforehand.
    demand_none("hashing")


async def _waits(_: Db) -> None:
    async def nothing(_: Sequence[int]) -> list[None]:
        return []

    group: GroupCommit[int, None] = GroupCommit(nothing, FirstCome(1))
    await group.add(1)


async def _asks_for_another(db: Db) -> None:
    async with db.connection():
        pass


@pytest.mark.parametrize("slow", [_hashes, _waits, _asks_for_another])
async def test_a_handler_that_is_slow_in_a_transaction_fails(
    api: Api, slow: Callable[[Db], Awaitable[None]]
) -> None:
    """The guard itself, on which the tests above rely."""
    async with rough(api) as (served, handler):
        handler.goes_on.set()
        handler.before = partial(slow, api.context.db)
        assert (await served.post("/v1/rough", **keyed("a"))).status == 500
        assert len(STRICTNESS.told) == 1


async def test_pings_with_a_key_wait_without_a_connection(api: Api) -> None:
    whole = await prepared(api, "POST", "/v1/monitors/{id}/ping")

    # Many more than there are connections, and the loop that commits them needs one.
    answers = await asyncio.gather(*(api.post(whole, None, **keyed(f"k{n}")) for n in range(30)))

    assert {answer.status for answer in answers} == {200}


async def test_many_new_passwords_keep_no_connection_from_others(api: Api) -> None:
    page = f"/v1/status-pages/{(await api.post('/v1/status-pages', _PRIVATE)).json['id']}"
    changes = [
        asyncio.create_task(api.call("PUT", page, {"password": f"a new password {n}"})) for n in range(16)
    ]
    await asyncio.sleep(0.05)

    assert (await api.get("/v1/incidents")).status == 200

    assert sum(not task.done() for task in changes) > 8
    assert {answer.status for answer in await asyncio.gather(*changes)} == {200}
