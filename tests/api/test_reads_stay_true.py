"""What is answered fast is answered as it is now: totals, configurations and tokens, whoever changed them."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from collector.api.app import make, serve
from collector.storage.db import Db
from shared import ids
from tests.api.client import Api
from tests.api.monitors import change, shown
from tests.api.monitors import make as made


@pytest.fixture
async def replica(api: Api, database_url: str) -> AsyncIterator[Api]:
    """Another collector over the same database."""
    db = await Db.open(database_url, size=4, name="replica")
    deps = replace(api.deps, db=db)
    runner = await serve(make(deps), "127.0.0.1:0")
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}", deps=deps)
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
    async with api.deps.db.transaction() as tx:
        await tx.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    answers = [(await api.get("/v1/me")).status for _ in range(3)]
    assert set(answers) <= {200, 503}
    assert answers[-1] == 200
