"""Rate limits as callers see them: headers on every response, 429 with when to come back."""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest

from collector.http.ratelimit import _key
from collector.platform.bucket import PLANS, plans
from collector.server import make, serve
from shared.tokens import new_token
from tests.events.sse import listening
from tests.http.client import Answer, Api

pytestmark = pytest.mark.races

LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Burst")


@asynccontextmanager
async def limited(api: Api, **changes: Any) -> AsyncIterator[Api]:
    """The same service, as it is with the plans of the interface."""
    runner = await serve(make(replace(api.context, plans=PLANS, **changes), api.features), "127.0.0.1:0")
    try:
        yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()


def standing(answer: Answer) -> tuple[int, int, int, int]:
    """Limit, remaining, reset, burst."""
    limit, remaining, reset, burst = (int(answer.headers[name]) for name in LIMITS)
    return limit, remaining, reset, burst


async def until_limited(call: Callable[[], Any], most: int) -> tuple[int, Answer]:
    for number in range(most):
        answer = await call()
        if answer.status == 429:
            return number, answer
    raise AssertionError("never limited")


@pytest.mark.parametrize(
    ("method", "path", "status", "options"),
    [
        ("GET", "/v1/me", 200, {}),
        ("HEAD", "/v1/me", 200, {}),
        ("POST", "/v1/monitors", 400, {"body": b"{"}),
        ("GET", "/v1/monitors?page=0", 400, {}),
        ("GET", "/v1/nothing", 404, {}),
        ("GET", "/v1/monitors/nonsense", 404, {}),
        ("DELETE", "/v1/me", 405, {}),
        ("POST", "/v1/monitors", 413, {"body": io.BytesIO(b" " * 1_048_577)}),
        ("GET", "/v1/me", 417, {"headers": {"Expect": "tea"}}),
    ],
)
async def test_every_response_with_a_token_tells_how_it_stands(
    api: Api, method: str, path: str, status: int, options: dict[str, Any]
) -> None:
    async with limited(api) as served:
        answer = await served.call(method, path, options.get("body"), headers=options.get("headers", {}))

    assert answer.status == status
    limit, remaining, reset, burst = standing(answer)
    assert abs(reset - time.time()) < 300
    if status == 417:  # refused before anybody asked who it is: the address's
        assert (limit, remaining, burst) == (100, 200, 200)
    else:
        assert (limit, remaining, burst) == (1000, 1999, 2000)


async def test_what_is_read_unchanged_and_what_is_forbidden_tell_it_too(api: Api) -> None:
    made = await api.post("/v1/monitors", {"name": "a", "type": "tcp", "config": {"host": "a", "port": 1}})
    path = f"/v1/monitors/{made.json['id']}"
    reader, writer = await api.reader(), await api.writer()
    async with limited(writer) as served:
        tag = (await served.get(path)).headers["ETag"]
        same = await served.get(path, headers={"If-None-Match": tag})
        forbidden = await served.with_token(reader.token).delete(path)

    # It refills meanwhile.
    assert (same.status, standing(same)[1] in range(1998, 2001)) == (304, True)
    assert (forbidden.status, standing(forbidden)[1]) == (403, 1999)


async def test_a_stream_of_events_tells_it(api: Api) -> None:
    async with limited(api) as served, listening(served) as stream:
        assert stream.headers["x-ratelimit-limit"] == "1000"


@pytest.mark.parametrize("token", [None, "nonsense", new_token()])
async def test_without_a_good_token_the_address_is_counted_by_the_free_plan(
    api: Api, token: str | None
) -> None:
    async with limited(api) as served:
        stranger = served.with_token(token)
        first = await stranger.get("/v1/me")
        let_through, refused = await until_limited(lambda: stranger.get("/v1/me"), 250)
        good = await served.get("/v1/me")

    assert (first.status, standing(first)[0], standing(first)[1], standing(first)[3]) == (401, 100, 199, 200)
    assert 199 <= let_through <= 205
    assert refused.json == {
        "error": "Too Many Requests",
        "message": "Rate limit exceeded",
        "status": 429,
        "retryAfter": 1,
    }
    assert refused.headers["Retry-After"] == "1"
    assert standing(refused)[1] == 0
    assert good.status == 200


async def test_a_spent_token_is_429_whatever_else_is_bad(api: Api) -> None:
    reader = await api.reader()
    async with limited(api) as served:
        app_plans = {**PLANS, "pro": plans(60, 5)["enterprise"]}
        async with limited_to(api, app_plans) as small:
            poor = small.with_token(reader.token)
            let_through, _ = await until_limited(lambda: poor.get("/v1/me"), 10)
            answers = [
                await poor.call(method, path)
                for method, path in (
                    ("DELETE", "/v1/monitors/nonsense"),
                    ("GET", "/v1/nothing"),
                    ("POST", "/v1/me"),
                )
            ]
        assert (await served.get("/v1/me")).status == 200

    assert let_through == 5
    assert [answer.status for answer in answers] == [429, 429, 429]


@asynccontextmanager
async def limited_to(api: Api, plans_: Any) -> AsyncIterator[Api]:
    runner = await serve(make(replace(api.context, plans=plans_), api.features), "127.0.0.1:0")
    try:
        yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()


async def test_two_replicas_share_one_bucket(api: Api) -> None:
    small = {**PLANS, "pro": plans(60, 100)["enterprise"]}
    async with limited_to(api, small) as one, limited_to(api, small) as two:
        through = 0
        for _ in range(80):
            for replica in (one, two):
                through += (await replica.get("/v1/me")).status == 200

    assert 90 <= through <= 110


async def test_the_client_s_address_is_the_proxy_s_word_only_where_the_proxy_is_trusted(api: Api) -> None:
    forwarded = {"headers": {"X-Forwarded-For": "203.0.113.9"}}
    async with limited(api) as open_:
        stranger = open_.with_token(None)
        for _ in range(20):
            await stranger.get("/v1/me")
        assert standing(await stranger.get("/v1/me", **forwarded))[1] < 199
    trusted = (ip_network("127.0.0.0/8"),)
    async with limited(api, trusted_proxies=trusted) as behind:
        stranger = behind.with_token(None)
        for _ in range(20):
            await stranger.get("/v1/me")
        assert standing(await stranger.get("/v1/me", **forwarded))[1] == 199


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/nothing"])
async def test_what_is_not_the_api_has_no_limit(api: Api, path: str) -> None:
    answer = await api.with_token(None).get(path)

    assert not [name for name in answer.headers if name.startswith("X-RateLimit")]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("", "unix", False),
    ],
)
def test_who_has_one_address_of_a_network_has_them_all(one: str, other: str, *, same: bool) -> None:
    assert (_key(one) == _key(other)) is same


UNREADABLE = [
    pytest.param(b"FOO /v1/me HTTP/1.1\r\nHost: x\r\n\r\n", id="a method that HTTP lacks"),
    pytest.param(b"GET /v1/me?" + b"x" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", id="a line too long"),
    pytest.param(
        b"POST /v1/monitors HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", id="a length that is none"
    ),
    pytest.param(b"GET /v1/me HTTP/1.1\r\nHost x\r\n\r\n", id="a header without a colon"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", id="TLS"),
]


async def raw(api: Api, sent: bytes) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body of what is answered to these bytes."""
    parts = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(sent)
    async with asyncio.timeout(20):
        head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    first, *lines = head.split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, orjson.loads(body)


@pytest.mark.parametrize("sent", UNREADABLE)
async def test_what_cannot_be_read_is_counted_on_its_address_and_says_so(api: Api, sent: bytes) -> None:
    async with limited(api) as here:
        first, second = await raw(here, sent), await raw(here, sent)

    assert (first[0], second[0]) == (400, 400)
    assert [int(first[1][name]) for name in LIMITS[:2]] == [100, 199]
    assert int(second[1]["X-RateLimit-Remaining"]) <= 199  # one may have come back meanwhile
    assert first[1]["X-RateLimit-Burst"] == "200"
    assert first[1]["Strict-Transport-Security"]


async def test_a_flood_of_what_cannot_be_read_is_limited_and_then_told_nothing_else(api: Api) -> None:
    async with limited(api) as here:
        for _ in range(2_000):
            status, headers, told = await raw(here, b"FOO / HTTP/1.1\r\n\r\n")
            if status == 429:
                break
        guess = await replace(here, token=new_token()).get("/v1/me")

    assert (status, told["error"]) == (429, "Too Many Requests")
    assert int(headers["Retry-After"]) == told["retryAfter"] >= 1
    assert headers["X-RateLimit-Remaining"] == "0"
    assert "details" not in told
    assert (
        int(guess.headers["X-RateLimit-Remaining"]) < 100
    )  # the same bucket, which takes a minute for these


async def test_what_cannot_be_read_is_counted_on_the_client_of_a_trusted_proxy(api: Api) -> None:
    def odd(client: str) -> bytes:
        return f"FOO /v1/me HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\n\r\n".encode()

    async with limited(api, trusted_proxies=(ip_network("127.0.0.0/8"),)) as here:
        for _ in range(20):
            await raw(here, odd("192.0.2.1"))
        first, other = await raw(here, odd("192.0.2.1")), await raw(here, odd("192.0.2.1, 192.0.2.2"))
        bare = await raw(here, b"FOO /v1/me HTTP/1.1\r\n\r\n")

    left = [int(headers["X-RateLimit-Remaining"]) for _, headers, _ in (first, other, bare)]
    assert left[0] < 199
    assert left[1:] == [199, 199]
