"""The reader of responses: pieces make no difference, and nothing at all breaks it."""

from contextlib import suppress
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

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
