"""Idempotency-Key: the same POST again does nothing again, and answers the same bytes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from aiohttp import web

from collector.accounts.storage import teams
from collector.http import idempotency
from collector.http import storage as table
from collector.http.auth import NEEDS
from collector.http.context import context_of
from collector.http.openapi.models import Named
from collector.http.request_data import ok
from collector.openapi import OPERATIONS
from collector.ops.jobs.retention import Retention
from collector.platform.access import Permission
from collector.platform.storage.db import Db
from collector.platform.storage.sealed import keys
from collector.server import make, serve
from shared.clock import utc_now
from shared.errors import Unavailable
from shared.ids import uuid7
from tests.http.client import Answer, Api
from tests.http.route_table import BODIES, CHANGES, NEED_A_PROBE, prepared

MONITOR = {"name": "shop", "type": "tcp", "config": {"host": "shop.example.com", "port": 443}}
INCIDENT = {"title": "Checkout is slow"}


def keyed(key: str, **more: str) -> dict[str, Any]:
    return {"headers": {"Idempotency-Key": key, **more}}


async def count(api: Api, what: str) -> int:
    return int((await api.get(f"/v1/{what}")).json["meta"]["total"])


def same(answer: Answer, other: Answer) -> bool:
    told = ("Content-Type", "Location", "ETag")
    return (answer.status, answer.body, [answer.headers.get(name) for name in told]) == (
        other.status,
        other.body,
        [other.headers.get(name) for name in told],
    )


@pytest.mark.parametrize(("path", "body"), [("monitors", MONITOR), ("incidents", INCIDENT)])
async def test_what_was_made_is_not_made_again(api: Api, path: str, body: Any) -> None:
    first = await api.post(f"/v1/{path}", body, **keyed("a"))
    again = await api.post(f"/v1/{path}", body, **keyed("a"))
    other = await api.post(f"/v1/{path}", body, **keyed("b"))

    assert (first.status, other.status) == (201, 201)
    assert same(first, again)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first.headers
    assert first.headers["X-Request-Id"] != again.headers["X-Request-Id"]
    assert int(again.headers["X-RateLimit-Remaining"]) > 0
    assert first.json["id"] != other.json["id"]
    assert await count(api, path) == 2


async def test_a_deed_is_not_done_again_though_it_would_fail_now(api: Api) -> None:
    made = (await api.post("/v1/incidents", INCIDENT)).json
    path = f"/v1/incidents/{made['id']}/acknowledge"

    first, again = await api.post(path, **keyed("a")), await api.post(path, **keyed("a"))

    assert first.status == 200
    assert same(first, again)
    assert (await api.post(path)).status == 409


async def test_a_refusal_is_repeated_too(api: Api) -> None:
    first = await api.post("/v1/monitors", {"name": ""}, **keyed("a"))
    again = await api.post("/v1/monitors", {"name": ""}, **keyed("a"))

    assert first.status == 400
    assert same(first, again)
    assert (await api.post("/v1/monitors", MONITOR, **keyed("b"))).status == 201


async def test_the_same_key_with_another_body_is_409(api: Api) -> None:
    await api.post("/v1/monitors", MONITOR, **keyed("a"))

    answer = await api.post("/v1/monitors", {**MONITOR, "name": "other"}, **keyed("a"))

    assert (answer.status, answer.json["error"]) == (409, "Conflict")
    assert "another body" in answer.json["message"]
    assert await count(api, "monitors") == 1


async def test_a_key_belongs_to_its_token_its_path_and_its_method(api: Api) -> None:
    other_token, other_team = await api.writer(), await api.other_team()

    answers = [
        await each.post("/v1/monitors", MONITOR, **keyed("a")) for each in (api, other_token, other_team)
    ]
    incident = await api.post("/v1/incidents", INCIDENT, **keyed("a"))
    path = f"/v1/monitors/{answers[0].json['id']}"

    assert len({answer.json["id"] for answer in answers}) == 3
    assert incident.status == 201
    assert (await api.put(path, {"name": "new"}, **keyed("a"))).status == 200
    assert (await api.get(path, **keyed("a"))).json["name"] == "new"


async def test_many_at_once_do_it_once(api: Api) -> None:
    answers = await asyncio.gather(*(api.post("/v1/monitors", MONITOR, **keyed("a")) for _ in range(20)))

    made = {answer.body for answer in answers if answer.status == 201}
    assert len(made) == 1
    assert {answer.status for answer in answers} <= {201, 409}
    assert all("under way" in answer.json["message"] for answer in answers if answer.status == 409)
    assert await count(api, "monitors") == 1


async def clean(db: Db, now: Callable[[], datetime]) -> None:
    """One round of what is kept no longer."""
    year = timedelta(days=365)
    work = Retention(db, keep=year, keep_rollups=year, now=now)
    while await work.turn():
        pass


async def test_after_a_day_a_key_is_new_again_and_its_answer_is_gone(api: Api, db: Db) -> None:
    await api.post("/v1/monitors", MONITOR, **keyed("a"))
    api.clock.ahead = timedelta(hours=23, minutes=59)
    assert "Idempotent-Replayed" in (await api.post("/v1/monitors", MONITOR, **keyed("a"))).headers
    assert await kept(db) == 1

    api.clock.ahead = timedelta(hours=24, minutes=1)
    await clean(db, api.clock)
    assert await kept(db) == 0
    assert "Idempotent-Replayed" not in (await api.post("/v1/monitors", MONITOR, **keyed("a"))).headers


async def kept(db: Db) -> int:
    async with db.connection() as tx:
        return int(await tx.fetchval("SELECT count(*) FROM idempotency_keys"))


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "\xe9"])
async def test_a_key_that_is_none_is_400(api: Api, key: str) -> None:
    answer = await api.post("/v1/monitors", MONITOR, **keyed(key))

    assert answer.status == 400
    assert list(answer.json["details"]) == ["Idempotency-Key"]


async def test_what_is_refused_before_its_turn_is_not_kept(api: Api, db: Db) -> None:
    reader = await api.reader()

    assert (await reader.post("/v1/monitors", MONITOR, **keyed("a"))).status == 403
    assert (await api.with_token(None).post("/v1/monitors", MONITOR, **keyed("a"))).status == 401
    assert (await api.post("/v1/nothing", MONITOR, **keyed("a"))).status == 404
    assert await kept(db) == 0


async def test_an_answer_that_tells_a_secret_is_kept_nowhere(api: Api, db: Db) -> None:
    body = {"name": "deploy", "permission": "read-only"}
    answer, two = [await api.post("/v1/tokens", body, **keyed("a")) for _ in range(2)]

    assert (answer.status, two.status) == (201, 201)
    assert answer.json["token"] != two.json["token"]
    assert await kept(db) == 0


@pytest.mark.oldest
async def test_an_answer_that_repeats_a_secret_is_kept_sealed(api: Api, db: Db) -> None:
    page = await api.post("/v1/status-pages", {"name": "Shop", "slug": "shop"})
    path = f"/v1/status-pages/{page.json['id']}/subscribers"
    secret = "https://hooks.example.com/of-one-room-only"
    first = await api.post(path, {"webhookUrl": secret}, **keyed("a"))
    sealed = await answered(db)
    again = await api.post(path, {"webhookUrl": secret}, **keyed("a"))

    assert secret in first.body.decode()
    assert secret.encode() not in sealed
    assert same(first, again)


async def test_an_answer_that_an_older_collector_kept_unsealed_is_given_again(api: Api, db: Db) -> None:
    first = await api.post("/v1/monitors", MONITOR, **keyed("a"))
    async with db.transaction() as tx:
        await tx.execute("UPDATE idempotency_keys SET answer = $1", first.body)

    assert same(first, await api.post("/v1/monitors", MONITOR, **keyed("a")))
    async with db.connection() as tx:
        assert await keys(tx) == set()


async def answered(db: Db) -> bytes:
    async with db.connection() as tx:
        return bytes(await tx.fetchval("SELECT answer FROM idempotency_keys"))


def fields_of(schema: dict[str, Any] | Named | None) -> set[str]:
    made = schema.make() if isinstance(schema, Named) else schema or {}
    return set(made.get("properties", {}))


def test_every_answer_that_tells_a_secret_is_on_the_list() -> None:
    telling = {
        key.partition(" ")[2]
        for key, (_, operation) in OPERATIONS.items()
        if key.startswith("POST ") and {"token", "invitationUrl", "pingUrl"} & fields_of(operation.answer)
    }

    assert telling == idempotency.TELLS_SECRETS


async def test_a_bulk_deed_and_a_test_are_answered_again(api: Api) -> None:
    await api.post("/v1/monitors", MONITOR)
    order = {"action": "pause", "filter": {"all": True}}

    first, again = [await api.post("/v1/monitors/bulk", order, **keyed("a")) for _ in range(2)]

    assert (first.status, first.json["changed"]) == (200, 1)
    assert same(first, again)


@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for method, path in CHANGES
        if method == "POST" and path not in {*idempotency.TELLS_SECRETS, *NEED_A_PROBE}
    ),
)
async def test_every_post_is_done_once_for_a_key(api: Api, path: str) -> None:
    whole, body = await prepared(api, "POST", path), BODIES.get(("POST", path))

    first, again = [await api.post(whole, body, **keyed("a")) for _ in range(2)]

    assert first.status in {200, 201, 202}
    assert same(first, again)
    assert again.headers["Idempotent-Replayed"] == "true"


class Rough:
    """A team that is renamed, by a handler whose end the test sets."""

    def __init__(self) -> None:
        self.done = 0
        self.fails: Exception | None = None
        self.goes_on = asyncio.Event()
        self.entered = asyncio.Event()
        self.before: Callable[[], Awaitable[None]] | None = None

    async def handle(self, request: web.Request) -> web.Response:
        if self.before is not None:
            await self.before()
        async with context_of(request).db.transaction() as tx:
            await teams.insert(tx, uuid7(), f"Team {self.done}", "free", utc_now())
        self.done += 1
        self.entered.set()
        await self.goes_on.wait()
        if self.fails:
            raise self.fails
        return ok({"done": self.done})


@asynccontextmanager
async def rough(api: Api, path: str = "/v1/rough") -> AsyncIterator[tuple[Api, Rough]]:
    app, handler = make(api.context, api.features), Rough()
    app.router.add_post(path, handler.handle)
    app[NEEDS][("POST", path)] = Permission.READ_WRITE
    runner = await serve(app, "127.0.0.1:0")
    try:
        yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}"), handler
    finally:
        handler.goes_on.set()
        await runner.cleanup()


async def made_teams(db: Db) -> int:
    async with db.connection() as tx:
        return int(await tx.fetchval("SELECT count(*) FROM teams WHERE name LIKE 'Team %'"))


@pytest.mark.parametrize("error", [Unavailable("away"), RuntimeError("bug")])
async def test_what_fails_for_now_leaves_nothing_and_may_come_again(
    api: Api, db: Db, error: Exception
) -> None:
    async with rough(api) as (served, handler):
        handler.goes_on.set()
        handler.fails = error
        assert (await served.post("/v1/rough", **keyed("a"))).status >= 500
        assert (await made_teams(db), await kept(db)) == (0, 0)

        handler.fails = None
        assert (await served.post("/v1/rough", **keyed("a"))).status == 200
        assert (await made_teams(db), await kept(db)) == (1, 1)


async def test_while_the_first_is_under_way_another_replica_says_409(api: Api, db: Db) -> None:
    async with rough(api) as (one, handler), rough(api) as (two, other):
        other.goes_on.set()
        first = asyncio.create_task(one.post("/v1/rough", **keyed("a")))
        await handler.entered.wait()

        answer = await two.post("/v1/rough", **keyed("a"))
        assert (answer.status, other.done) == (409, 0)

        handler.goes_on.set()
        assert same(await first, await two.post("/v1/rough", **keyed("a")))
        assert await made_teams(db) == 1


async def test_a_collector_that_dies_between_deed_and_answer_leaves_neither(api: Api, db: Db) -> None:
    async with rough(api) as (one, handler), rough(api) as (two, other):
        first = asyncio.create_task(one.post("/v1/rough", **keyed("a")))
        await handler.entered.wait()
        async with db.connection() as tx:
            await tx.execute(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND state = 'idle in transaction'
                """
            )
        handler.goes_on.set()
        assert (await first).status == 503
        assert await made_teams(db) == 0

        other.goes_on.set()
        assert (await two.post("/v1/rough", **keyed("a"))).status == 200
        assert await made_teams(db) == 1


@pytest.mark.oldest
async def test_a_claim_whose_collector_died_is_free_again_after_a_while(
    api: Api, db: Db, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "BY_CLAIM", frozenset({"/v1/rough"}))
    async with rough(api) as (served, handler):
        handler.goes_on.set()
        handler.fails = Unavailable("away")
        assert (await served.post("/v1/rough", **keyed("a"))).status == 503
        assert await kept(db) == 0
        handler.fails = None
        assert (await served.post("/v1/rough", **keyed("a"))).status == 200
        async with db.connection() as tx:
            await tx.execute("UPDATE idempotency_keys SET status = NULL, answer = NULL")

        assert (await served.post("/v1/rough", **keyed("a"))).status == 409
        api.clock.ahead = timedelta(minutes=6)
        assert (await served.post("/v1/rough", **keyed("a"))).json == {"done": 3}


async def test_sweeping_goes_on_while_there_is_more(
    db: Db, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector.ops.jobs.retention._ROWS", 2)
    for number in range(3):
        await api.post("/v1/incidents", INCIDENT, **keyed(str(number)))

    await clean(db, lambda: utc_now() + table.KEPT_FOR)

    assert await kept(db) == 0
