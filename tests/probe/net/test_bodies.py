"""Bodies that are kept: unpacked as they come, however packed, and never larger than asked for."""

import gzip
import tracemalloc
import zlib
from functools import partial
from itertools import pairwise

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.net.bodies import ACCEPTED, Body
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply

TEXT = b"all is well here, " * 400 + b"and here"
MIB = 1_048_576
# Without the second of the day in its header: read as brotli, some seconds are the start of something longer.
gzipped = partial(gzip.compress, mtime=0)


def raw(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKED = {
    "": TEXT,
    "identity": TEXT,
    "gzip": gzipped(TEXT),
    "x-gzip": gzipped(TEXT),
    "GZip ": gzipped(TEXT),
    "deflate": zlib.compress(TEXT),
    "br": brotli.compress(TEXT),
}
ODD = [
    pytest.param("deflate", raw(TEXT), id="deflate without its header"),
    pytest.param("gzip", gzipped(TEXT[:99]) + gzipped(TEXT[99:]), id="gzip of two streams"),
    pytest.param("gzip", gzipped(TEXT) + b"\0" * 99, id="gzip with padding"),
    pytest.param("gzip", gzipped(TEXT) + b"\x00\x1fmore", id="gzip with something behind it"),
    pytest.param("deflate", zlib.compress(TEXT) + b"more", id="deflate with something behind it"),
    pytest.param("gzip", gzipped(b"") * 3 + gzipped(TEXT), id="gzip with empty streams"),
]


def keep(encoding: str, *pieces: bytes, most: int = MIB) -> Body:
    body = Body(most)
    body.begin(encoding)
    for piece in pieces:
        if body.feed(piece):
            break
    body.end()
    return body


@pytest.mark.parametrize(("encoding", "packed"), [*PACKED.items(), *ODD])
def test_a_body_is_unpacked(encoding: str, packed: bytes) -> None:
    whole = keep(encoding, packed)
    bytewise = keep(encoding, *[bytes([byte]) for byte in packed])

    assert (bytes(whole.data), whole.fault) == (TEXT, "")
    assert (bytes(bytewise.data), bytewise.fault) == (TEXT, "")


def test_all_that_is_asked_for_can_be_unpacked() -> None:
    for encoding in ACCEPTED.split(", "):
        assert keep(encoding, PACKED[encoding]).data == TEXT


@given(st.sampled_from(list(PACKED)), st.lists(st.integers(0, 200), max_size=9), st.integers(1, 9000))
def test_no_more_is_kept_than_asked_for(encoding: str, cuts: list[int], most: int) -> None:
    packed = PACKED[encoding]
    edges = sorted({0, *cuts, len(packed)} & set(range(len(packed) + 1)))
    body = keep(encoding, *[packed[start:stop] for start, stop in pairwise(edges)], most=most)

    assert (bytes(body.data), body.fault) == (TEXT[:most], "")


@pytest.mark.parametrize(
    ("encoding", "packed", "fault"),
    [
        ("gzip", gzipped(TEXT)[:-1], "gzip ends too soon"),
        ("gzip", gzipped(TEXT)[:5], "gzip ends too soon"),
        ("deflate", zlib.compress(TEXT)[:-5], "deflate ends too soon"),
        ("deflate", b"x", "deflate ends too soon"),
        ("gzip", TEXT, "malformed gzip"),
        ("gzip", zlib.compress(TEXT), "malformed gzip"),
        ("deflate", b"\xff" * 99, "malformed deflate"),
        ("gzip", gzipped(TEXT)[:-8] + b"12345678", "malformed gzip"),
        ("br", TEXT, "malformed br"),
        ("br", gzipped(TEXT), "malformed br"),
        ("br", b"\xff" * 99, "malformed br"),
        ("br", brotli.compress(TEXT) + b"more", "malformed br"),
        ("br", brotli.compress(TEXT)[:-1], "br ends too soon"),
        ("br", brotli.compress(TEXT)[:5], "br ends too soon"),
        ("zstd", TEXT, "packed in a way that was not asked for"),
        ("gzip, gzip", gzipped(gzipped(TEXT)), "packed in a way that was not asked for"),
    ],
)
def test_says_why_a_body_cannot_be_read(encoding: str, packed: bytes, fault: str) -> None:
    assert keep(encoding, packed).fault == fault
    assert keep(encoding, *[bytes([byte]) for byte in packed]).fault == fault


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_an_empty_body_is_not_malformed(encoding: str) -> None:
    assert keep(encoding).fault == ""


def zeros(encoding: str) -> bytes:
    """256 MiB of nothing, packed."""
    if encoding == "br":
        return bytes(brotli.compress(bytes(256 * MIB), quality=1))
    packer = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    return b"".join(packer.compress(bytes(MIB)) for _ in range(256)) + packer.flush()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_a_bomb_goes_off_in_a_small_room(encoding: str) -> None:
    bomb = zeros(encoding)
    tracemalloc.start()
    try:
        small = keep(encoding, bomb, most=1_000)
        large = keep(encoding, bomb, most=16 * MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (len(small.data), small.fault) == (1_000, "")
    assert large.fault == f"{encoding} of more than 250 times its size"
    assert peak < 4 * MIB


def test_streams_without_end_are_given_up() -> None:
    body = keep("gzip", gzipped(b"") * 3_000 + gzipped(TEXT))

    assert (bytes(body.data), body.fault) == (b"", "")


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s"


def test_a_reply_keeps_its_body_if_that_is_wanted() -> None:
    packed = PACKED["gzip"]
    body = Body(MIB)
    reply = HttpReply(head=False, most=MIB, body=body)
    plain = HttpReply(head=False, most=MIB)

    assert reply.feed(ANSWER % (len(packed), packed))
    assert plain.feed(ANSWER % (len(packed), packed))
    assert (bytes(body.data), reply.size, plain.size) == (TEXT, len(packed), len(packed))


def test_a_reply_that_is_read_in_part_keeps_that_part() -> None:
    packed = gzipped(bytes(range(256)) * 99)
    body = Body(MIB)
    reply = HttpReply(head=False, most=100, body=body)

    assert reply.feed(ANSWER % (len(packed), packed))
    assert reply.size >= 100
    assert body.fault == ""


def test_a_reply_tells_of_a_body_that_cannot_be_read() -> None:
    reply = HttpReply(head=False, most=MIB, body=Body(MIB))
    with pytest.raises(TargetError) as caught:
        reply.feed(ANSWER % (len(TEXT), TEXT))

    assert str(caught.value) == "body: malformed gzip"


def test_a_body_that_ends_with_the_connection_is_kept_too() -> None:
    body = Body(MIB)
    reply = HttpReply(head=False, most=MIB, body=body)
    reply.feed(b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n" + PACKED["deflate"])
    reply.end("peer")

    assert body.data == TEXT
