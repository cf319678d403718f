"""What is counted of requests: each by its route, and how long it took, unless it is a stream."""

import asyncio
import re

from tests.api.client import Api
from tests.api.sse import listening


async def numbers(api: Api) -> dict[str, float]:
    """Requests answered on each route, and those whose time was taken."""
    text = (await api.get("/metrics")).body.decode()
    found = dict(
        re.findall(r'^tocsin_http_requests_total\{route="([^"]*)",status="200"\} (\S+)$', text, re.MULTILINE)
    )
    [timed] = re.findall(r"^tocsin_http_request_seconds_count (\S+)$", text, re.MULTILINE)
    return {"timed": float(timed), **{route: float(count) for route, count in found.items()}}


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
    # One who asks for the numbers is counted when they are written.
    asked = after["/metrics"] - before.get("/metrics", 0)
    assert after["timed"] - before["timed"] == 1 + asked
