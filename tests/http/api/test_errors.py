"""Whatever goes wrong, the caller gets the error shape, and nothing internal."""

import asyncio
import gzip
import io
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import orjson
import pytest
from aiohttp import web

from collector.http import request_data
from collector.http.auth import NEEDS
from collector.http.request_data import MAX_BODY, body, ok
from collector.platform.storage.db import Db
from collector.server import make, serve
from shared import ids
from shared.errors import CannotStart, Conflict, NotFound, PreconditionFailed, TocsinError, Unavailable
from tests.http.client import Answer, Api
from tests.streams import stream_server

pytestmark = pytest.mark.races

SECRET = "postgresql://somebody:hunter2@db/"
ERRORS: dict[str, Exception] = {
    "missing": NotFound("Thing not found"),
    "conflict": Conflict("Already so"),
    "precondition": PreconditionFailed("It has another revision"),
    "unavailable": Unavailable("No probe answers", retry_after=5),
    "unique": asyncpg.UniqueViolationError(SECRET),
    "gone": asyncpg.ForeignKeyViolationError(SECRET),
    "lock": asyncpg.LockNotAvailableError(SECRET),
    "deadlock": asyncpg.DeadlockDetectedError(SECRET),
    "readonly": asyncpg.ReadOnlySQLTransactionError(SECRET),
    "shutdown": asyncpg.AdminShutdownError(SECRET),
    "full": asyncpg.TooManyConnectionsError(SECRET),
    "refused": ConnectionRefusedError(SECRET),
    "slow": TimeoutError(SECRET),
    "bug": RuntimeError(SECRET),
    "ours": TocsinError(SECRET),
    "broken sql": asyncpg.UndefinedColumnError(SECRET),
    "http": web.HTTPBadGateway(text=SECRET),
}


async def echo(request: web.Request) -> web.Response:
    return ok(await body(request))


async def fail(request: web.Request) -> web.Response:
    raise ERRORS[request.match_info["name"]]


@pytest.fixture
async def rough(api: Api) -> AsyncIterator[Api]:
    """The same service with a path that repeats the body and a path that fails as requested."""
    app = make(api.context, api.features)
    app.router.add_post("/v1/echo", echo)
    app.router.add_get("/v1/fail/{name}", fail)
    app[NEEDS] |= {("POST", "/v1/echo"): None, ("GET", "/v1/fail/{name}"): None}
    runner = await serve(app, "127.0.0.1:0")
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    await runner.cleanup()


def told(answer: Answer, status: int, error: str, **more: Any) -> None:
    assert answer.status == status
    assert answer.json == {"error": error, "message": answer.json["message"], "status": status, **more}
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert answer.json["message"]
    assert b"hunter2" not in answer.body


@pytest.mark.parametrize("path", ["/v1/nothing", "/nothing", "/v1", "/v1/status-page", "/v1/me//", "/v1//me"])
async def test_an_unknown_path_is_404(api: Api, path: str) -> None:
    told(await api.get(path), 404, "Not Found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/v1/me", "GET, HEAD"),
        ("POST", "/v1/incidents/nonsense", "GET, HEAD, PATCH, PUT"),
        ("OPTIONS", "/v1/incidents", "GET, HEAD, POST"),
        ("POST", "/healthz", "GET, HEAD"),
        ("GET", "/v1/monitors/test", "POST"),
        ("PUT", "/v1/monitors/uptime", "GET, HEAD"),
        ("DELETE", "/v1/monitors/bulk/", "POST"),
        ("DELETE", "/v1/incidents/stats", "GET, HEAD"),
        ("PATCH", "/v1/alert-rules/preview", "POST"),
        ("POST", "/v1/monitors/mon_unknown", "DELETE, GET, HEAD, PATCH, PUT"),
        ("POST", "/status/example.json", "GET, HEAD"),
        ("POST", "/monitors/new", "GET, HEAD"),
    ],
)
async def test_a_method_that_a_path_lacks_is_405_with_allow(
    api: Api, method: str, path: str, allow: str
) -> None:
    answer = await api.call(method, path)

    told(answer, 405, "Method Not Allowed")
    assert answer.headers["Allow"] == allow


@pytest.mark.parametrize(
    "path", ["/v1/me", "/v1/monitors?limit=1", "/v1/openapi.json", "/healthz", "/metrics", "/sign-in"]
)
async def test_a_slash_at_the_end_is_the_same_path(api: Api, path: str) -> None:
    name, mark, query = path.partition("?")

    answers = [await api.get(text) for text in (path, f"{name}/{mark}{query}")]

    assert [answer.status for answer in answers] == [200, 200]
    assert answers[0].headers.get("X-RateLimit-Limit") == answers[1].headers.get("X-RateLimit-Limit")
    assert (await api.with_token(None).get("/v1/me/")).status == 401


@pytest.mark.parametrize(
    ("name", "status", "error", "more"),
    [
        ("missing", 404, "Not Found", {}),
        ("conflict", 409, "Conflict", {}),
        ("precondition", 412, "Precondition Failed", {}),
        ("unavailable", 503, "Service Unavailable", {"retryAfter": 5}),
        ("unique", 409, "Conflict", {}),
        ("gone", 409, "Conflict", {}),
        ("lock", 503, "Service Unavailable", {"retryAfter": 1}),
        ("deadlock", 503, "Service Unavailable", {"retryAfter": 1}),
        ("readonly", 503, "Service Unavailable", {"retryAfter": 1}),
        ("shutdown", 503, "Service Unavailable", {"retryAfter": 1}),
        ("full", 503, "Service Unavailable", {"retryAfter": 1}),
        ("refused", 503, "Service Unavailable", {"retryAfter": 1}),
        ("slow", 503, "Service Unavailable", {"retryAfter": 1}),
        ("bug", 500, "Internal Server Error", {}),
        ("ours", 500, "Internal Server Error", {}),
        ("broken sql", 500, "Internal Server Error", {}),
        ("http", 502, "Bad Gateway", {}),
    ],
)
async def test_each_error_has_its_status(
    rough: Api, name: str, status: int, error: str, more: dict[str, int]
) -> None:
    answer = await rough.get(f"/v1/fail/{name}")

    told(answer, status, error, **more)
    assert int(answer.headers["X-RateLimit-Remaining"]) > 0
    assert answer.headers.get("Retry-After") == (str(more["retryAfter"]) if more else None)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"{", id="cut off"),
        pytest.param(b"name=shop", id="a form"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"null", id="null"),
        pytest.param(b'"text"', id="a string"),
        pytest.param(b'{"a": NaN}', id="not a number"),
        pytest.param(b'{"a": 1e999}', id="infinity"),
        pytest.param(b'{"a": "\\ud800"}', id="half a surrogate pair"),
        pytest.param(b'{"a": "\xff"}', id="not UTF-8"),
        pytest.param("{}".encode("utf-16"), id="UTF-16"),
        pytest.param(b"[" * 10_000 + b"]" * 10_000, id="10,000 lists deep"),
        pytest.param(b'{"a":' * 10_000 + b"1" + b"}" * 10_000, id="10,000 objects deep"),
        pytest.param(b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", id="200 deep"),
    ],
)
async def test_what_is_no_plain_json_object_is_a_400_keyed_body(rough: Api, data: bytes) -> None:
    answer = await rough.post("/v1/echo", data)

    told(answer, 400, "Bad Request", details={"body": answer.json["details"]["body"]})


@pytest.mark.parametrize(
    ("text", "bad"),
    [
        ('{"name": "a\\u0000"}', "name"),
        ('{"config": {"body": "\\u0000"}}', "body"),
        ('{"tags": [1, {"a": "\\u0000"}]}', "tags[1].a"),
        ('{"\\u0000": 1}', "body"),
    ],
)
async def test_a_character_that_no_column_holds_is_a_400(rough: Api, text: str, bad: str) -> None:
    answer = await rough.post("/v1/echo", text.encode())

    told(answer, 400, "Bad Request", details={bad: "must not contain the character U+0000"})


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b"", {}),
        (b" \r\n", {}),
        (b"{}", {}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "\\\\u0000"}', {"a": "\\u0000"}),
        (b'{"a": [' + b"{}," * 500 + b"{}]}", {"a": [{}] * 501}),
    ],
)
@pytest.mark.parametrize(
    "type_", ["application/json", "application/x-www-form-urlencoded", "text/plain", "x"]
)
async def test_a_body_is_read_whatever_its_type_says(rough: Api, data: bytes, read: Any, type_: str) -> None:
    answer = await rough.post("/v1/echo", data, headers={"Content-Type": type_})

    assert (answer.status, answer.json) == (200, read)


def filled(size: int) -> bytes:
    return b'{"a":"' + b"x" * (size - 8) + b'"}'


async def pieces(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 65_536):
        yield data[start : start + 65_536]


async def test_a_body_of_a_mebibyte_is_read_and_one_byte_more_is_413(rough: Api) -> None:
    assert (await rough.post("/v1/echo", io.BytesIO(filled(MAX_BODY)))).status == 200
    told(await rough.post("/v1/echo", io.BytesIO(filled(MAX_BODY + 1))), 413, "Payload Too Large")


async def test_a_body_that_does_not_say_its_size_is_cut_off_too(rough: Api) -> None:
    async with rough.session.post(f"{rough.url}/v1/echo", data=pieces(filled(MAX_BODY + 1))) as response:
        assert response.status == 413


async def test_a_small_body_that_unpacks_to_a_large_one_is_413(rough: Api) -> None:
    packed = gzip.compress(filled(64 * MAX_BODY))

    told(await rough.post("/v1/echo", packed, headers={"Content-Encoding": "gzip"}), 413, "Payload Too Large")


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(b'{"a": 1}', id="no gzip"),
        pytest.param(gzip.compress(b'{"a": 1}')[:-8], id="the end is missing"),
        pytest.param(gzip.compress(b"") * 2_000, id="of very many parts"),
        pytest.param(gzip.compress(b'{"a": 1}') + b"{}", id="and something else"),
    ],
)
async def test_a_body_that_is_not_packed_as_it_says_is_a_400_and_no_error_in_the_log(
    rough: Api, caplog: pytest.LogCaptureFixture, packed: bytes
) -> None:
    headers = {"Content-Encoding": "gzip"}

    answer = await rough.post("/v1/echo", packed, headers=headers)

    told(answer, 400, "Bad Request", details={"body": "cannot be read as it is encoded"})
    assert (await rough.with_token(None).post("/v1/monitors", packed, headers=headers)).status == 401
    assert (await rough.post("/v1/echo", b'{"a": 1}')).status == 200
    assert not caplog.records


async def test_a_packed_body_is_read_in_whichever_parts_it_comes(rough: Api) -> None:
    data = filled(MAX_BODY)
    packed = gzip.compress(data[:500_000], 0) + gzip.compress(data[500_000:])
    headers = {"Content-Encoding": "gzip"}

    for sent in (packed, gzip.compress(data)):
        assert (await rough.post("/v1/echo", sent, headers=headers)).json == orjson.loads(data)
    assert (await rough.post("/v1/echo", b"{}", headers={"Content-Encoding": "Identity"})).json == {}


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "compress", "gzip, gzip", "nonsense"])
async def test_a_body_in_an_encoding_that_is_not_promised_is_415(rough: Api, encoding: str) -> None:
    answer = await rough.post("/v1/echo", b"{}", headers={"Content-Encoding": encoding})

    told(answer, 415, "Unsupported Media Type")


@pytest.mark.parametrize("path", ["/v1/echo", "/v1/incidents", "/sign-in", "/setup/x", "/forgot"])
async def test_a_body_that_does_not_come_is_waited_for_no_longer_than_need_be(
    rough: Api, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(request_data, "READ_S", 0.2)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nContent-Length: 1000\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nIdempotency-Key: a\r\n"
        f"Authorization: Bearer {rough.token}\r\n\r\nabc"
    )

    answer = await sent_raw(rough, head.encode())

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nConnection: close\r\n" in answer


async def sent_raw(api: Api, data: bytes) -> bytes:
    """All that is answered, until the connection is closed from there."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(api.url).port)
    writer.write(data)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    return answer


@pytest.mark.parametrize(
    "path", ["/healthz", "/v1/me", "/v1/nothing", "/v1/fail/bug", "/v1/incidents?page=0"]
)
@pytest.mark.parametrize("sent", ["abc-123", "x" * 128])
async def test_a_sane_request_id_comes_back_on_every_response(rough: Api, path: str, sent: str) -> None:
    answer = await rough.get(path, headers={"X-Request-Id": sent})

    assert answer.headers["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "x" * 129, "a b", "\xe9", "a\tb"])
async def test_any_other_request_id_is_replaced(api: Api, sent: str) -> None:
    answer = await api.get("/v1/me", headers={"X-Request-Id": sent})

    assert answer.headers["X-Request-Id"] not in {sent, ""}


async def test_each_request_gets_an_id_of_its_own(api: Api) -> None:
    answers = [await api.with_token(None).get("/v1/me") for _ in range(3)]

    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 3


async def test_an_expectation_that_nobody_knows_is_refused_in_the_same_shape(api: Api) -> None:
    told(await api.get("/v1/me", headers={"Expect": "tea"}), 417, "Expectation Failed")
    told(await api.get("/nothing", headers={"Expect": "tea"}), 417, "Expectation Failed")


UNKNOWN_MONITOR = "/v1/monitors/" + ids.show("mon", ids.uuid7())
UNKNOWN_CHANNEL = "/v1/alert-channels/" + ids.show("chan", ids.uuid7())


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", UNKNOWN_MONITOR, b"no JSON"),
        ("PUT", UNKNOWN_MONITOR, b'{"interval": -1}'),
        ("POST", UNKNOWN_MONITOR + "/silence", b"{}"),
        ("GET", UNKNOWN_MONITOR + "/results?limit=0", None),
        ("PUT", UNKNOWN_CHANNEL, b"no JSON"),
        ("PUT", UNKNOWN_CHANNEL, b'{"name": 5}'),
        ("GET", UNKNOWN_CHANNEL + "/deliveries?page=0", None),
        ("GET", "/v1/alert-channels/nonsense/deliveries?page=0", None),
    ],
)
async def test_what_is_not_there_is_404_whatever_else_is_bad(
    api: Api, method: str, path: str, body: bytes | None
) -> None:
    told(await api.call(method, path, body), 404, "Not Found")


async def test_no_version_of_the_server_is_told(api: Api) -> None:
    assert (await api.get("/v1/me")).headers["Server"] == "tocsin"
    assert (await api.get("/nothing")).headers["Server"] == "tocsin"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", id="TLS"),
        pytest.param(b"GET /v1/me?" + b"x" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", id="a path too long"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 9000 + b"\r\n\r\n", id="a header too long"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", id="a negative length"),
    ],
)
async def test_what_is_no_http_is_told_so_in_the_same_shape(api: Api, sent: bytes) -> None:
    parts = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(sent)
    head, _, told_ = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()

    assert head.split()[1] == b"400"
    assert b"Server: tocsin" in head
    assert b"aiohttp" not in head
    told = orjson.loads(told_)
    assert list(told.pop("details")) == ["request"]
    assert told == {"error": "Bad Request", "message": "The request cannot be read", "status": 400}


async def test_an_address_that_is_taken_stops_the_start_and_is_named(api: Api) -> None:
    taken = api.url.removeprefix("http://")

    with pytest.raises(CannotStart, match=f"cannot listen on {taken}"):
        await serve(make(api.context, api.features), taken)


@asynccontextmanager
async def door(real: Path, here: Path) -> AsyncIterator[None]:
    """PostgreSQL's socket *real*, also reachable as *here* for as long as this lasts."""

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            sink.write(data)
        sink.close()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(real)
        try:
            await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer), return_exceptions=True)
        finally:
            far_writer.transport.abort()

    async with stream_server(carry, path=here):
        yield
    here.unlink()


async def test_while_the_database_is_away_it_is_503_and_afterwards_it_works(
    api: Api, database_url: str, tmp_path: Path
) -> None:
    parts = urlsplit(database_url)
    [directory] = parse_qs(parts.query)["host"]
    [port] = parse_qs(parts.query).get("port", ["5432"])
    name = f".s.PGSQL.{port}"
    url = database_url.replace(directory, os.fspath(tmp_path))
    async with door(Path(directory, name), tmp_path / name):
        db = await Db.open(url)
        runner = await serve(make(replace(api.context, db=db), api.features), "127.0.0.1:0")
        api = replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
        assert (await api.get("/v1/me")).status == 200

    for path in ("/v1/me", "/v1/incidents", "/readyz"):
        answer = await api.get(path)
        told(answer, 503, "Service Unavailable", retryAfter=answer.json["retryAfter"])
        assert answer.headers["Retry-After"] == str(answer.json["retryAfter"])
        assert ("X-RateLimit-Limit" in answer.headers) is path.startswith("/v1/")
    assert (await api.get("/healthz")).status == 200

    async with door(Path(directory, name), tmp_path / name):
        assert (await api.get("/v1/me")).status == 200
        await runner.cleanup()
        await db.close()


async def test_a_closed_connection_in_the_middle_of_a_body_harms_nobody_else(rough: Api) -> None:
    parts = urlsplit(rough.url)
    _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(b"POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    await writer.drain()
    writer.close()
    await writer.wait_closed()

    assert (await rough.post("/v1/echo", {"a": 1})).json == {"a": 1}
