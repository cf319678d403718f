"""Requests as no client library writes them: each is answered in our shape, none as if it were our fault."""

import asyncio
from urllib.parse import urlsplit

import orjson
import pytest

from tests.http.client import Api

pytestmark = [pytest.mark.races, pytest.mark.shares_server]

DEEP = b'{"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
HUGE = b'{"name":"a","type":"tcp","config":{"host":"a","port":1},"interval":' + b"9" * 4000 + b"}"
NUL = b'{"name":"a\\u0000","type":"tcp","config":{"host":"a\\u0000","port":1}}'


def get(path: bytes, *headers: bytes, method: bytes = b"GET") -> bytes:
    lines = [method + b" " + path + b" HTTP/1.1", b"Host: x", b"Connection: close", *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n"


def post(path: bytes, body: bytes, *headers: bytes) -> bytes:
    return get(path, b"Content-Length: %d" % len(body), *headers, method=b"POST") + body


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(get(b"/v1/monitors/%00"), 404, id="NUL in the path"),
        pytest.param(get(b"/v1/monitors/%ff"), 404, id="no UTF-8 in the path"),
        pytest.param(get(b"/v1/monitors?tag=%00"), 400, id="NUL in the query"),
        pytest.param(get(b"/v1/monitors?tag=%ff%fe"), 200, id="no UTF-8 in the query"),
        pytest.param(get(b"/v1/monitors?page=99999999999999999999999"), 200, id="a page beyond all"),
        pytest.param(get(b"/v1/monitors?limit=-0"), 400, id="a limit of minus zero"),
        pytest.param(get(b"/v1/../v1/me"), 404, id="dots in the path"),
        pytest.param(get(b"//v1/me"), 404, id="two slashes"),
        pytest.param(get(b"http://example.com/v1/me"), 200, id="an absolute URI"),
        pytest.param(get(b"*", method=b"OPTIONS"), 404, id="OPTIONS *"),
        pytest.param(get(b"/v1/me", method=b"TRACE"), 405, id="TRACE"),
        pytest.param(get(b"/v1/me", method=b"FOO"), 400, id="a method that HTTP lacks"),
        pytest.param(get(b"/v1/me", b"X-Long: " + b"a" * 9000), 400, id="a header of 9,000 bytes"),
        pytest.param(get(b"/v1/me", b"X-Forwarded-For: " + b"1," * 2000), 200, id="two thousand proxies"),
        pytest.param(
            get(b"/v1/me", b'If-None-Match: """'), 200, id="a tag that is none, where there are none"
        ),
        pytest.param(post(b"/v1/incidents", b'{"title":NaN}'), 400, id="not a number"),
        pytest.param(post(b"/v1/incidents", b'{"title":"\\ud800"}'), 400, id="half a character"),
        pytest.param(post(b"/v1/incidents", b'{"title":"a","title":"b"}'), 201, id="a field twice"),
        pytest.param(post(b"/v1/monitors", HUGE), 400, id="a number of 4,000 digits"),
        pytest.param(post(b"/v1/monitors", DEEP), 400, id="100,000 lists deep"),
        pytest.param(post(b"/v1/monitors", NUL), 400, id="NUL in two fields"),
        pytest.param(post(b"/v1/incidents", b"xx", b"Content-Encoding: gzip"), 400, id="no gzip"),
        pytest.param(post(b"/v1/incidents", b"xx", b"Content-Encoding: br"), 415, id="brotli"),
        pytest.param(
            post(b"/v1/incidents", b'{"title":"a"}', b"Content-Type: text/csv; charset=nonsense"),
            201,
            id="another content type",
        ),
        pytest.param(post(b"/v1/incidents", b"{}", b"Idempotency-Key: a b"), 400, id="a blank in the key"),
        pytest.param(
            post(b"/v1/incidents", b"{}", b"Transfer-Encoding: chunked"), 400, id="two lengths of a body"
        ),
    ],
)
async def test_an_odd_request_is_answered_in_shape(
    api: Api, caplog: pytest.LogCaptureFixture, sent: bytes, status: int
) -> None:
    head, _, body = await exchange(api, sent)

    assert int(head.split()[1]) == status
    assert b"Server: tocsin" in head
    if status >= 400:
        told = orjson.loads(body)
        assert told["status"] == status
        assert told["error"]
        assert told["message"]
        assert bool(told.get("details")) is (status == 400)
    assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]
    assert (await api.get("/v1/me")).status == 200


@pytest.mark.parametrize(
    "said",
    [
        b"Bearer",
        b"Bearer  ",
        b"bearer x",
        b"Basic abc",
        b"Bearer \xff\xfe\xfd0123456789abcdef",
        b"Bearer a, b",
    ],
)
async def test_an_odd_authorization_is_401(api: Api, said: bytes) -> None:
    head, _, _ = await exchange(api.with_token(None), get(b"/v1/me", b"Authorization: " + said))

    assert int(head.split()[1]) == 401


async def exchange(api: Api, sent: bytes) -> tuple[bytes, bytes, bytes]:
    """Head and body of the answer, all of it."""
    parts = urlsplit(api.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    if api.token is not None:
        first, _, rest = sent.partition(b"\r\n")
        sent = first + b"\r\nAuthorization: Bearer " + api.token.encode() + b"\r\n" + rest
    writer.write(sent)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n\r\n")
