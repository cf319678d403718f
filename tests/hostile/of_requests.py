"""What strangers send to collectors as requests, over real sockets: forms, files, and what is neither."""

import asyncio
import gzip
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from aiohttp import web

from collector.http import bodies, request_data
from shared.errors import BodyTooLarge, Invalid
from tests.hostile.fuzzing import Parser

_PATIENCE_S: Final = 0.1
_MOST_FIELDS: Final = 20
# Of the web server, for what is no request, and of ours.
_STATUSES: Final = frozenset({200, 400, 408, 411, 413, 414, 415, 417, 431, 501, 505})
BOUNDARY: Final = (
    b'--x\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n'
    b"Content-Type: image/png\r\n\r\n\x89PNG\r\n\x1a\n\r\n--x--\r\n"
)


def post(body: bytes, *lines: bytes) -> bytes:
    head = (b"POST / HTTP/1.1", b"Host: example.com", b"Connection: close", *lines)
    return b"\r\n".join((*head, b"Content-Length: %d" % len(body), b"", body))


async def requested(data: bytes) -> None:
    """Send *data* to a server that reads a form: it is answered with a status of a fault, or as a form."""
    faults: list[Exception] = []

    async def handle(request: web.BaseRequest) -> web.Response:
        assert isinstance(request, web.Request)
        try:
            fields = await request_data.form(request, _MOST_FIELDS)
        except (Invalid, web.HTTPException, ConnectionError):
            return web.Response(status=400)
        except BodyTooLarge:
            return web.Response(status=413)
        except Exception as error:
            faults.append(error)
            raise
        assert all(isinstance(value, str) for values in fields.values() for value in values)
        return web.Response(text="ok")

    application = web.Application()
    application.router.add_route("*", "/{rest:.*}", handle)
    runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        answer = await _answer(runner.addresses[0][1], data)
    finally:
        await runner.cleanup()
    assert faults == []
    if answer:
        assert int(answer.split(b" ", 2)[1]) in _STATUSES, answer[:200]


async def _answer(port: int, data: bytes) -> bytes:
    """The beginning of the answer; empty if none came in time."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        with suppress(OSError, TimeoutError):
            writer.write(data)
            await writer.drain()
            return await asyncio.wait_for(reader.read(4_096), _PATIENCE_S)
        return b""
    finally:
        writer.transport.abort()


PARSERS: Final[Mapping[str, Parser]] = {
    "requests with forms and files": Parser(
        requested,
        [
            post(b"name=a%20b&name=c&empty=", b"Content-Type: application/x-www-form-urlencoded"),
            post(BOUNDARY, b"Content-Type: multipart/form-data; boundary=x"),
            post(
                gzip.compress(b"name=value&" * 50),
                b"Content-Type: application/x-www-form-urlencoded",
                b"Content-Encoding: gzip",
            ),
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\nX: y\r\n\r\n",
        ],
        [request_data, bodies],
        words=[
            b"\r\n", b"\r\n\r\n", b"Content-Length: 0", b"Content-Encoding: gzip", b"Content-Encoding: br",
            b"Transfer-Encoding: chunked", b"Expect: 100-continue", b"boundary=", b"--x\r\n", b"%00", b"&",
            b"Content-Type: multipart/mixed", b"HTTP/1.0", b"HTTP/2.0", b"Upgrade: h2c",
        ],
        slowest_s=0.5,
        inputs=60,
    ),
}  # fmt: skip
