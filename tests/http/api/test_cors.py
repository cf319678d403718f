"""Scripts of other origins: they may call the API if the operator says so, and read what it answers."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from collector.server import make, serve
from tests.http.client import Answer, Api

pytestmark = pytest.mark.shares_server

OURS, THEIRS = "https://app.example.com", "https://evil.example.com"
PATHS = ("/v1/monitors", "/v1/monitors/mon_unknown", "/v1/nothing", "/v1/ping/key", "/v1/monitors/")


@pytest_asyncio.fixture(loop_scope="module")
async def open_(api: Api) -> AsyncIterator[Api]:
    """The same service, which one other origin may call."""
    runner = await serve(
        make(replace(api.context, cors_origins=frozenset({OURS})), api.features), "127.0.0.1:0"
    )
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    await runner.cleanup()


def granted(answer: Answer) -> set[str]:
    return {name for name in answer.headers if name.startswith("Access-Control-")}


async def preflight(api: Api, path: str, origin: str) -> Answer:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    return await api.with_token(None).call("OPTIONS", path, headers=headers)


@pytest.mark.parametrize("path", PATHS)
async def test_a_preflight_needs_no_token(open_: Api, path: str) -> None:
    answer = await preflight(open_, path, OURS)

    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == OURS
    assert "PUT" in answer.headers["Access-Control-Allow-Methods"]
    assert {"Authorization", "Content-Type", "If-Match", "Idempotency-Key"} <= set(
        answer.headers["Access-Control-Allow-Headers"].split(", ")
    )
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize("path", PATHS)
async def test_who_is_not_named_is_granted_nothing(api: Api, open_: Api, path: str) -> None:
    for answer in (
        await preflight(open_, path, THEIRS),
        await preflight(api, path, OURS),
        await open_.get(path, headers={"Origin": THEIRS}),
        await open_.with_token(None).get(path, headers={"Origin": "null"}),
        await api.get(path, headers={"Origin": OURS}),
    ):
        assert not granted(answer)
        assert answer.status != 204


@pytest.mark.parametrize("token", [True, False])
@pytest.mark.parametrize("path", [*PATHS, "/v1/events"])
async def test_whatever_is_answered_may_be_read(open_: Api, path: str, *, token: bool) -> None:
    caller = open_ if token else open_.with_token(None)
    headers = {"Origin": OURS, **({"Authorization": f"Bearer {caller.token}"} if token else {})}

    async with open_.session.get(open_.url + path, headers=headers) as answer:
        assert answer.headers["Access-Control-Allow-Origin"] == OURS
        exposed = set(answer.headers["Access-Control-Expose-Headers"].split(", "))
        assert {"ETag", "Retry-After", "X-RateLimit-Remaining", "X-RateLimit-Limit"} <= exposed
        assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize("path", ["/sign-in", "/healthz", "/metrics", "/"])
async def test_what_is_not_the_api_is_not_opened(open_: Api, path: str) -> None:
    assert not granted(await open_.get(path, headers={"Origin": OURS}))
    assert not granted(await preflight(open_, path, OURS))
