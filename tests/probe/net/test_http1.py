"""The reader of responses: pieces make no difference, and nothing at all breaks it."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from probe.net import http1
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply

WHOLE = (
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    b"HTTP/1.1 302 Found\r\nServer: x\r\nLocation: /there\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\nLocation: /elsewhere\r\n\r\n"
    b"HTTP/1.1 500 Next\r\nLocation: /nowhere\r\n\r\n"
)


@given(st.lists(st.integers(0, len(WHOLE)), max_size=20))
def test_pieces_make_no_difference(cuts: list[int]) -> None:
    reply = HttpReply(head=False, most=1000)
    for start, stop in pairwise(sorted({0, *cuts, len(WHOLE)})):
        if reply.feed(WHOLE[start:stop]):
            break

    assert (reply.code, reply.location, reply.size) == (302, b"/there", 8)


@given(st.lists(st.one_of(st.binary(max_size=200), st.sampled_from(WHOLE.split(b"\n"))), max_size=30))
def test_anything_at_all_is_an_answer_or_the_targets_fault(pieces: list[bytes]) -> None:
    reply = HttpReply(head=False, most=50)
    with suppress(TargetError):
        for piece in pieces:
            if reply.feed(piece + b"\n"):
                return
        reply.end("peer")

    assert reply.code == 0 or 100 <= reply.code <= 999


def read(pieces: Sequence[bytes], *, head: bool, most: int) -> tuple[object, ...]:
    """All that a check learns from a response that comes in *pieces*, after which the target closes."""
    reply = HttpReply(head=head, most=most)
    error = ""
    try:
        if not any(reply.feed(piece) for piece in pieces):
            reply.end("peer")
    except TargetError as fault:
        error = str(fault)
    return reply.code, reply.location, reply.size, reply.phase, error


STATUS_LINES = (
    b"HTTP/1.1 200 OK", b"HTTP/1.0 404 Not Found", b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 ",
    b"HTTP/1.1 200", b"HTTP/1.1 999 \xff\x01", b"HTTP/1.1 100 Continue", b"HTTP/1.1 101 Upgrade",
    b"HTTP/1.1  200 OK", b"HTTP/2.0 200 OK", b"HTTP/1.1 020 OK", b"HTTP/1.1 2000 OK", b"http/1.1 200 OK",
    b"HTTP/1.1 200\tOK", b"HTTP/1.1 301 Moved",
)  # fmt: skip
HEADERS = (
    b"Content-Length: 3", b"content-length:3", b"Content-Length:\t3 ", b"Content-Length: +3",
    b"Content-Length: 0", b"Content-Length: 99", b"Content-Length: 9999999999999999999999",
    b"Content-Length:", b"Content-Length: 3, 3", b"Content-Length : 3", b"X-Content-Length: 1",
    b"Server: x", b"Empty:",
    b"Location: /there", b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity", b"Connection: close",
    b"Connection: upgrade", b"Upgrade: h2c", b"no colon", b" folded: yes", b"\tfolded", b": nameless",
    b"na me: x", b"n\xe4me: x", b"Value: \x00", b"Value: \x01\x7f", b"Value: \xff", b"Value: a\rb",
    b"Value: a\nContent-Length: 1", b"Content-Encoding: gzip", b"Trailer: x", b"Keep-Alive: timeout=5",
)  # fmt: skip


@settings(max_examples=500)
@given(
    st.sampled_from(STATUS_LINES),
    st.lists(st.sampled_from(HEADERS), max_size=4),
    st.sampled_from((b"\r\n", b"\r\n", b"\r\n", b"\n")),
    st.sampled_from((b"", b"abc", b"abcdef", b"3\r\nabc\r\n0\r\n\r\n", b"HTTP/1.1 500 Next\r\n\r\n")),
    st.booleans(),
    st.sampled_from((0, 2, 3, 1000)),
)
@example(STATUS_LINES[0], [HEADERS[0], HEADERS[11]], b"\r\n", b"abc", False, 1000)
def test_a_response_that_comes_at_once_is_read_as_if_it_came_in_two_parts(
    status: bytes, headers: list[bytes], end: bytes, body: bytes, head: bool, most: int
) -> None:
    whole = end.join([status, *headers]) + end + end + body

    assert read([whole], head=head, most=most) == read([whole[:7], whole[7:]], head=head, most=most)


def test_most_responses_need_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "HttpResponseParser", None)
    usual = b"HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 3\r\nConnection: close\r\n\r\nabc"

    assert read([usual], head=False, most=1000) == (200, None, 3, "body", "")
