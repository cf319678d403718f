"""What is answered fast is answered as it is now: totals, configurations and tokens, whoever changed them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from collector.platform.storage.db import Db
from collector.server import make, serve
from shared import ids
from tests.http.client import Api
from tests.monitors.monitors import change, shown
from tests.monitors.monitors import make as made
from tests.monitors.monitors import number as monitor_number


@pytest.fixture
async def replica(api: Api, database_url: str) -> AsyncIterator[Api]:
    """Another collector over the same database."""
    db = await Db.open(database_url, size=4, name="replica")
    context = replace(api.context, db=db)
    runner = await serve(make(context, api.features), "127.0.0.1:0")
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}", context=context)
    await runner.cleanup()
    await db.close()


async def total(api: Api, query: str = "") -> int:
    return int((await api.get(f"/v1/monitors?{query}")).json["meta"]["total"])


async def test_a_total_counts_what_another_replica_made_changed_and_deleted(api: Api, replica: Api) -> None:
    assert await total(api) == 0
    id_ = await made(replica, tags={"env": "test"}, group="shop")
    assert (await total(api), await total(api, "tag=env:test"), await total(api, "group=shop")) == (1, 1, 1)
    await replica.put(f"/v1/monitors/{id_}", {"tags": {"env": "live"}, "group": "till"})
    assert (await total(api), await total(api, "tag=env:test"), await total(api, "group=shop")) == (1, 0, 0)
    await replica.delete(f"/v1/monitors/{id_}")
    assert (await total(api), await total(api, "group=till")) == (0, 0)


async def test_totals_by_status_add_up(api: Api) -> None:
    first, _, _ = [await made(api) for _ in range(3)]
    await api.post(f"/v1/monitors/{first}/pause")
    assert [await total(api, f"status={one}") for one in ("up", "down", "paused")] == [2, 0, 1]
    assert await total(api, "status=up&page=9") == 2


async def test_no_total_is_another_teams(api: Api) -> None:
    await made(api)
    assert (await total(api), await total(await api.other_team())) == (1, 0)


async def test_a_change_by_another_replica_is_read_at_once(api: Api, replica: Api) -> None:
    id_ = await made(api)
    assert (await shown(api, id_))["name"] == "shop"
    await replica.put(f"/v1/monitors/{id_}", {"name": "till"})
    assert (await shown(api, id_))["name"] == "till"
    await change(api, "monitors", "id", ids.read("mon", id_), down=True)
    assert (await api.get("/v1/monitors")).json["data"][0]["name"] == "till"


IN_LISTS = "id name type status interval locations tags severity group revision lastCheckedAt silencedUntil \
pausedAt createdAt updatedAt"


async def listed(api: Api, id_: str) -> dict[str, Any]:
    """What lists say of it, for the second time, when it is what GET says too."""
    await api.get("/v1/monitors")
    found = {item["id"]: item for item in (await api.get("/v1/monitors")).json["data"]}[id_]
    alone = await shown(api, id_)
    assert {name: found[name] for name in IN_LISTS.split()} == {
        name: alone[name] for name in IN_LISTS.split()
    }
    return dict(found)


async def test_a_list_shows_every_change_by_another_replica_at_once(api: Api, replica: Api) -> None:
    id_ = await made(api)
    before, at = await listed(api, id_), f"/v1/monitors/{id_}"
    fields = {
        "name": "till",
        "tags": {"env": "live"},
        "group": "shop",
        "severity": "low",
        "interval": 300,
        "config": {"url": "https://till.example.com/", "timeout": 7},
    }
    for name, value in fields.items():
        assert (await replica.put(at, {name: value})).status == 200
        after = await listed(api, id_)
        assert after != before
        before = after
    assert (before["url"], before["timeout"]) == ("https://till.example.com/", 7)
    for deed in ("pause", "resume"):
        await replica.post(f"{at}/{deed}")
        assert ((await listed(api, id_))["status"] == "paused") == (deed == "pause")


async def test_a_list_shows_each_result_and_verdict_at_once(api: Api) -> None:
    id_ = await made(api)
    assert (await listed(api, id_))["lastCheckedAt"] is None
    number = await monitor_number(api, id_)
    await change(api, "states", "monitor", number, last_at=api.clock())
    first = (await listed(api, id_))["lastCheckedAt"]
    await change(api, "states", "monitor", number, last_at=api.clock() + timedelta(milliseconds=1))
    assert (await listed(api, id_))["lastCheckedAt"] > first
    for down, status in ((True, "down"), (False, "up")):
        await change(api, "monitors", "monitor", number, down=down)
        assert (await listed(api, id_))["status"] == status


async def test_a_silence_in_a_list_ends_by_the_clock_alone(api: Api) -> None:
    id_ = await made(api)
    until = api.clock() + timedelta(minutes=5)
    await change(api, "monitors", "id", ids.read("mon", id_), silenced_until=until)
    assert (await listed(api, id_))["silencedUntil"] is not None
    later = replace(api.context, now=lambda: until)
    runner = await serve(make(later, api.features), "127.0.0.1:0")
    late = replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    over = (await late.get("/v1/monitors")).json["data"][0]["silencedUntil"]
    await runner.cleanup()
    assert over is None


@pytest.mark.parametrize("text", ['"],[null', "back\\slash \\u0041", "<é> 漢字 😀 \u2028", "{'$1'} %s"])
async def test_a_list_shows_any_text_as_it_was_given(api: Api, text: str) -> None:
    id_ = await made(api, name=text, group=text, tags={"note": text})
    found = await listed(api, id_)
    assert (found["name"], found["group"], found["tags"]) == (text, text, {"note": text})


async def test_a_read_only_caller_never_gets_what_was_made_for_a_writer(api: Api) -> None:
    reader = await api.reader()
    id_ = await made(api, config={"url": "https://shop.example.com/", "headers": {"X-Key": "a long secret"}})
    assert "a long secret" in str(await shown(api, id_))
    assert "a long secret" not in str(await shown(reader, id_))


async def test_another_team_is_told_of_no_monitor_that_was_just_read(api: Api) -> None:
    id_ = await made(api)
    await shown(api, id_)
    assert (await (await api.other_team()).get(f"/v1/monitors/{id_}")).status == 404


async def test_a_token_revoked_by_one_replica_is_refused_by_the_next_request_to_another(
    api: Api, replica: Api
) -> None:
    gone = await replica.writer()
    assert (await gone.get("/v1/me")).status == 200
    await change(api, "tokens", "permission", "read-write", revoked_at=api.clock())
    assert (await gone.get("/v1/me")).status == 401


async def test_lookups_go_on_when_their_connection_was_lost(api: Api) -> None:
    assert (await api.get("/v1/me")).status == 200
    async with api.context.db.transaction() as tx:
        await tx.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    answers = [(await api.get("/v1/me")).status for _ in range(3)]
    assert set(answers) <= {200, 503}
    assert answers[-1] == 200
