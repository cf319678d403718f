"""Refusals at the door: the same as further in, and good for the connection that they came on."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import product
from urllib.parse import urlsplit

import pytest

from collector.platform.storage.db import Db
from collector.server import make, serve
from shared.tokens import new_token
from tests.http.client import Api

pytestmark = pytest.mark.races

METHODS = ("GET", "POST", "DELETE", "OPTIONS")
PATHS = ("/v1/monitors", "/v1/monitors/mon_1?limit=1", "/v1", "/v1/", "/v1/no/where")
# Of one answer alone; how the bucket stands changes with each request.
OWN = {"date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset"}


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer as it came."""

    line: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def lasting(self) -> dict[str, str]:
        return {name: value for name, value in self.headers.items() if name not in OWN | {"connection"}}


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection to the server, which stays open."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, path: str, *headers: str, method: str = "GET") -> None:
        lines = [f"{method} {path} HTTP/1.1", "Host: x", *headers]
        self.writer.write("\r\n".join([*lines, "", ""]).encode())

    async def hear(self) -> Heard:
        async with asyncio.timeout(20):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            line, *rest = head.strip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (text.partition(": ") for text in rest)}
            return Heard(line, headers, await self.reader.readexactly(int(headers["content-length"])))

    async def ask(self, path: str, *headers: str, method: str = "GET") -> Heard:
        self.send(path, *headers, method=method)
        return await self.hear()


@asynccontextmanager
async def wire(api: Api) -> AsyncIterator[Wire]:
    parts = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("X-Nothing: 1", id="no token"),
        pytest.param("Authorization: Bearer tocsin_x", id="a malformed token"),
        pytest.param("Authorization: Basic dTpw", id="another scheme"),
        pytest.param("Authorization: Bearer " + new_token(), id="an unknown token"),
    ],
)
async def test_the_door_says_what_the_guard_would(api: Api, said: str) -> None:
    for method, path in product(METHODS, PATHS):
        async with wire(api) as door, wire(api) as guard:
            at_once = await door.ask(path, said, method=method)
            # Whose connection ends is let through to the guard.
            further_in = await guard.ask(path, said, "Connection: close", method=method)

        assert at_once.line == further_in.line == "HTTP/1.1 401 Unauthorized", (method, path)
        assert at_once.body == further_in.body
        assert at_once.lasting == further_in.lasting
        assert set(at_once.headers) >= OWN


async def test_who_is_refused_can_ask_again_on_the_same_connection(api: Api) -> None:
    async with wire(api) as line:
        for _ in range(3):
            line.send("/v1/me")
        line.send("/v1/me", f"Authorization: Bearer {api.token}")
        heard = [await line.hear() for _ in range(4)]

    assert [one.line.split()[1] for one in heard] == ["401", "401", "401", "200"]
    assert len({one.headers["x-request-id"] for one in heard}) == 4


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        pytest.param("of-the-caller", True, id="fit"),
        pytest.param("x" * 129, False, id="too long"),
        pytest.param("caf\u00e9", False, id="not ASCII"),
        pytest.param("a b", False, id="a blank"),
    ],
)
async def test_the_caller_s_own_id_is_told_if_it_is_fit(api: Api, sent: str, kept: bool) -> None:
    async with wire(api) as line:
        heard = await line.ask("/v1/me", f"X-Request-Id: {sent}")

    assert heard.line.split()[1] == "401"
    assert (heard.headers["x-request-id"] == sent) is kept


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/v1/openapi.json", "200", id="the description"),
        pytest.param("/v1/docs", "200", id="its page"),
        pytest.param("/v1/ping/nobody-s-key", "404", id="a ping"),
        pytest.param("/v1/%70ing/nobody-s-key", "404", id="a ping in other letters"),
        pytest.param("/healthz", "200", id="not of the API"),
    ],
)
async def test_what_asks_for_no_token_passes(api: Api, path: str, status: str) -> None:
    async with wire(api) as line:
        assert (await line.ask(path)).line.split()[1] == status


async def test_an_expectation_nobody_knows_is_still_refused_as_such(api: Api) -> None:
    async with wire(api) as line:
        assert (await line.ask("/v1/me", "Expect: a-miracle")).line.split()[1] == "417"


async def test_refusals_are_counted_by_route(api: Api) -> None:
    async def counted(route: str) -> float:
        text = (await api.get("/metrics")).body.decode()
        label = f'tocsin_http_requests_total{{route="{route}",status="401"}} '
        return sum(float(line.removeprefix(label)) for line in text.splitlines() if line.startswith(label))

    routes = ("/v1/incidents/{id}", "/v1/monitors/test", "/v1/monitors/{id}/results", "")
    before = [await counted(route) for route in routes]
    async with wire(api) as line:
        for path in (
            "/v1/incidents/inc_1",
            "/v1/monitors/test",
            "/v1/monitors/a/results",
            "/v1/x",
            "/v1/me//",
        ):
            await line.ask(path)
    after = [await counted(route) for route in routes]

    assert [late - early for late, early in zip(after, before, strict=True)] == [1, 1, 1, 2]


async def test_a_token_that_cannot_be_looked_up_is_not_called_bad(api: Api, database_url: str) -> None:
    db = await Db.open(database_url)
    runner = await serve(make(replace(api.context, db=db), api.features), "127.0.0.1:0")
    other = replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    await db.close()
    try:
        async with wire(other) as line:
            heard = await line.ask("/v1/me", f"Authorization: Bearer {new_token()}")
    finally:
        await runner.cleanup()

    assert heard.line.split()[1] == "503"
    assert heard.headers["retry-after"] == "1"
