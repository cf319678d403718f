"""What is counted of requests: each by its route, and how long it took, unless it is a stream."""

import asyncio
import re
from dataclasses import replace

import pytest
import structlog
from aiohttp import web

from collector.http.auth import NEEDS
from collector.http.request_data import ok
from collector.server import make, serve
from tests.events.sse import listening
from tests.http.client import Api

pytestmark = [pytest.mark.races, pytest.mark.shares_server]


async def numbers(api: Api) -> dict[str, float]:
    """Requests answered on each route, and those whose time was taken."""
    text = (await api.get("/metrics")).body.decode()
    found = dict(
        re.findall(r'^tocsin_http_requests_total\{route="([^"]*)",status="200"\} (\S+)$', text, re.MULTILINE)
    )
    [timed] = re.findall(r"^tocsin_http_request_seconds_count (\S+)$", text, re.MULTILINE)
    return {"timed": float(timed), **{route: float(count) for route, count in found.items()}}


async def said(request: web.Request) -> web.Response:
    """What a line in the log would bear just now."""
    del request
    return ok(structlog.contextvars.get_contextvars())


async def test_what_is_logged_meanwhile_bears_the_id_of_the_request(api: Api) -> None:
    app = make(api.context, api.features)
    app.router.add_get("/v1/said", said)
    app[NEEDS][("GET", "/v1/said")] = None
    runner = await serve(app, "127.0.0.1:0")
    here = replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        answers = await asyncio.gather(*[here.get("/v1/said") for _ in range(20)])
        own = await here.get("/v1/said", headers={"X-Request-Id": "of-the-caller"})
    finally:
        await runner.cleanup()

    for answer in (*answers, own):
        assert answer.json == {"request_id": answer.headers["X-Request-Id"]}
    assert own.json == {"request_id": "of-the-caller"}
    assert len({answer.body for answer in answers}) == 20


async def test_a_stream_is_counted_and_its_time_is_not_taken(api: Api) -> None:
    before = await numbers(api)
    async with listening(api):
        pass
    await api.get("/v1/me")
    after = await numbers(api)
    async with asyncio.timeout(20):
        while after.get("/v1/events", 0) == before.get("/v1/events", 0):
            await asyncio.sleep(0.05)
            after = await numbers(api)

    assert after["/v1/events"] - before.get("/v1/events", 0) == 1
    assert after["/v1/me"] - before.get("/v1/me", 0) == 1
    # The numbers themselves are a stream, too.
    assert after["timed"] - before["timed"] == 1
