"""What the probe says of each way in which a server gets HTTP wrong."""

import socket
from dataclasses import dataclass

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Status
from tests.probe import targets
from tests.probe.targets import OK, says, target

HELLO = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HELLO + b"Transfer-Encoding: chunked\r\n\r\n"
NOT_HTTP = "http: not an HTTP response"


def half_closes(sock: socket.socket) -> None:
    targets.read_request(sock)
    sock.shutdown(socket.SHUT_WR)
    targets.stall(sock)


def redirects(location: bytes) -> targets.Behaviour:
    return says(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + location + b"\r\n\r\n")


@dataclass(frozen=True)
class Row:
    does: str
    behave: targets.Behaviour
    error: str
    code: int = 0
    timeout_s: float = 5.0


TOO_LONG_HEADERS = "headers: more than 64 KiB of headers"
ROWS = [
    Row(
        "answers 500",
        says(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"),
        "status 500, expected 200-299",
        500,
    ),
    Row("answers 404 until close", says(b"HTTP/1.0 404 No\r\n\r\ngone"), "status 404, expected 200-299", 404),
    Row("closes without a word", targets.close, "first byte: connection closed by {peer} without an answer"),
    Row("resets after the request", targets.reset_after_request, "first byte: connection reset by {peer}"),
    Row("accepts and is silent", targets.stall, "first byte: no answer within 0.3 s", timeout_s=0.3),
    Row(
        "closes in the status line", says(b"HTTP/1."), "headers: connection closed by {peer} before their end"
    ),
    Row(
        "closes in the headers",
        says(HELLO + b"A: b"),
        "headers: connection closed by {peer} before their end",
    ),
    Row(
        "resets in the headers",
        targets.says_then_resets(HELLO + b"A: b\r\n"),
        "headers: connection reset by {peer}",
    ),
    Row(
        "stalls in the headers",
        targets.says_then_stalls(HELLO + b"A: b\r\n"),
        "headers: not complete within 0.3 s",
        timeout_s=0.3,
    ),
    Row("drips", targets.drips(OK, 0.1), "headers: not complete within 0.3 s", timeout_s=0.3),
    Row(
        "sends less than it said",
        says(HELLO + b"Content-Length: 100\r\n\r\n0123456789"),
        "body: connection closed after 10 of 100 bytes",
        200,
    ),
    Row(
        "resets in the body",
        targets.says_then_resets(HELLO + b"Content-Length: 100\r\n\r\n0123456789"),
        "body: connection reset by {peer}",
        200,
    ),
    Row(
        "stalls in the body",
        targets.says_then_stalls(HELLO + b"Content-Length: 100\r\n\r\n0123456789"),
        "body: not complete within 0.3 s",
        200,
        timeout_s=0.3,
    ),
    Row(
        "closes between chunks",
        says(CHUNKED + b"5\r\nhello\r\n"),
        "body: connection closed before the last chunk",
        200,
    ),
    Row("sends a chunk of no size", says(CHUNKED + b"nonsense\r\n"), "body: malformed chunk", 200),
    Row("sends a chunk of absurd size", says(CHUNKED + b"f" * 40 + b"\r\n"), "body: malformed chunk", 200),
    Row(
        "never ends its trailers",
        targets.repeats(CHUNKED + b"1\r\na\r\n0\r\nX: ", b"y" * 4096),
        "body: more than 64 KiB of headers",
        200,
    ),
    Row("talks another protocol", says(b"SSH-2.0-OpenSSH_9.2\r\n"), NOT_HTTP),
    Row("talks binary", says(bytes(range(256))), NOT_HTTP),
    Row("talks HTTP/0.9", says(b"<html>hello</html>"), NOT_HTTP),
    Row(
        "talks HTTP/2 at once",
        targets.sends(b"\0\0\x12\4\0\0\0\0\0\0\3\0\0\0\x80"),
        NOT_HTTP,
    ),
    Row("has no status", says(b"HTTP/1.1 OK\r\n\r\n"), NOT_HTTP),
    Row("has a header without a name", says(HELLO + b": x\r\n\r\n"), "headers: malformed"),
    Row("has a length that is none", says(HELLO + b"Content-Length: ten\r\n\r\n"), "headers: malformed"),
    Row(
        "has two lengths",
        says(HELLO + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        "headers: malformed",
    ),
    Row("has one huge header", targets.repeats(HELLO + b"A: ", b"x" * 4096), TOO_LONG_HEADERS),
    Row("has endless headers", targets.repeats(HELLO, b"A: b\r\n" * 500), TOO_LONG_HEADERS),
    Row(
        "says continue for ever",
        targets.repeats(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99),
        TOO_LONG_HEADERS,
    ),
    Row("half-closes", half_closes, "first byte: connection closed by {peer} without an answer"),
    Row(
        "closes before the body",
        says(HELLO + b"Content-Length: 100\r\n\r\n"),
        "body: connection closed after 0 of 100 bytes",
        200,
    ),
    Row(
        "stalls in a chunk",
        targets.says_then_stalls(CHUNKED + b"5\r\nhel"),
        "body: not complete within 0.3 s",
        200,
        timeout_s=0.3,
    ),
    Row(
        "resets between chunks",
        targets.says_then_resets(CHUNKED + b"5\r\nhello\r\n"),
        "body: connection reset by {peer}",
        200,
    ),
    Row("runs over its chunk", says(CHUNKED + b"5\r\nhello!!5\r\n"), "body: malformed chunk", 200),
    Row("sends a chunk of negative size", says(CHUNKED + b"-5\r\nhello\r\n"), "body: malformed chunk", 200),
    Row(
        "says continue and closes",
        says(b"HTTP/1.1 100 Continue\r\n\r\n"),
        "headers: connection closed by {peer} before their end",
    ),
    Row(
        "says continue and stalls",
        targets.says_then_stalls(b"HTTP/1.1 100 Continue\r\n\r\n"),
        "headers: not complete within 0.3 s",
        timeout_s=0.3,
    ),
    Row(
        "switches protocols unasked",
        says(b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        "status 101, expected 200-299",
        101,
    ),
    Row("has a status of two digits", says(b"HTTP/1.1 99 Low\r\n\r\n"), "headers: malformed"),
    Row("has a status of four digits", says(b"HTTP/1.1 2000 OK\r\n\r\n"), "headers: malformed"),
    Row("answers 999", says(b"HTTP/1.1 999 No\r\n\r\n"), "status 999, expected 200-299", 999),
    Row("talks HTTP/3 in plain text", says(b"HTTP/3 200\r\n\r\n"), NOT_HTTP),
    Row("talks ICY", says(b"ICY 200 OK\r\n\r\n"), NOT_HTTP),
    Row("talks RTSP", says(b"RTSP/1.0 200 OK\r\n\r\n"), NOT_HTTP),
    Row("writes http small", says(b"http/1.1 200 OK\r\n\r\n"), NOT_HTTP),
    Row("prints a warning first", says(b"Warning: in line 7\nHTTP/1.1 200 OK\r\n\r\n"), NOT_HTTP),
    Row("sends JSON alone", says(b'{"ok": true}'), NOT_HTTP),
    Row("wants TLS", targets.sends(b"\x15\x03\x01\x00\x02\x02\x0a"), NOT_HTTP),
    Row(
        "wants TLS and says so",
        says(b"HTTP/1.1 400 Bad Request\r\n\r\nThe plain HTTP request was sent to HTTPS port"),
        "status 400, expected 200-299",
        400,
    ),
    Row("talks SMTP", targets.sends(b"220 mail.example.com ESMTP\r\n"), NOT_HTTP),
    Row("sends blank lines for ever", targets.repeats(b"", b"\r\n" * 999), TOO_LONG_HEADERS),
    Row("has a header without a colon", says(HELLO + b"nocolon\r\n\r\n"), "headers: malformed"),
    Row("has a blank in a header's name", says(HELLO + b"A b: c\r\n\r\n"), "headers: malformed"),
    Row("ends a header with CR alone", says(HELLO + b"A: b\rC: d\r\n\r\n"), "headers: malformed"),
    Row("has a negative length", says(HELLO + b"Content-Length: -5\r\n\r\n"), "headers: malformed"),
    Row(
        "has an absurd length",
        says(HELLO + b"Content-Length: 9" + b"9" * 30 + b"\r\n\r\n"),
        "headers: malformed",
    ),
    Row("redirects to itself", redirects(b"/"), "redirect: more than 10", 302),
    Row(
        "redirects to FTP",
        redirects(b"ftp://example.com/"),
        "redirect: to an address that is not http or https",
        302,
    ),
    Row("redirects to nonsense", redirects(b"http://[x/"), "redirect: to an address that is none", 302),
    Row(
        "redirects to the metadata",
        redirects(b"http://169.254.169.254/latest/"),
        "connect: 169.254.169.254 is a cloud metadata address, which is never allowed",
    ),
    Row("redirects to a shut port", redirects(b"http://127.0.0.1:1/"), "connect: refused by 127.0.0.1:1"),
    Row(
        "redirects without saying where",
        says(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
        "status 302, expected 200-299",
        302,
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.does)
async def test_says_what_is_wrong_with_a_server_that(row: Row) -> None:
    with target(row.behave) as server:
        net = Net()
        outcome = (await run(CHECKS["http"](Http(url=server.url)), net, row.timeout_s)).outcome
        net.close()

    expected = row.error.format(peer=server.peer)
    assert (outcome.status, outcome.error, outcome.code) == (Status.DOWN, expected, row.code)
    assert outcome.phases.connect_us is not None
