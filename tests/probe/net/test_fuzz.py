"""Whatever comes from a target or a name server: an answer or a fault, at once, and in little memory."""

import asyncio
import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress

import brotli
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from probe.checks import CHECKS
from probe.net.bodies import Body
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.http1 import HttpReply
from probe.schedule.runner import run
from shared.kinds.tcp import Tcp
from shared.results import Status
from tests.probe import targets
from tests.probe.net.nameserver import name_server
from tests.probe.targets import target

pytestmark = pytest.mark.races

MOST = 2_000
MIB = 1_048_576
TEXT = b"all is well here, " * 40
RUNS = settings(max_examples=400, deadline=None)

HEADS = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 503 No\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: /x\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: -1\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: deflate\r\n",
    b"Content-Encoding: br\r\n",
    b" folded\r\n",
    b"X: " + b"y" * 300 + b"\r\n",
    b"\r\n",
]
BODIES = [
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"0\r\nX: y\r\n\r\n",
    b"ffffffffffffffff\r\n",
    b"-1\r\n",
    b"5;" + b"e" * 300 + b"\r\n",
    gzip.compress(TEXT),
    zlib.compress(TEXT),
    brotli.compress(TEXT),
    b"hello",
    b"\0" * 50,
]
PIECES = st.lists(
    st.one_of(st.sampled_from(HEADS), st.sampled_from(BODIES), st.binary(max_size=30)), max_size=16
)


def read(pieces: list[bytes]) -> tuple[HttpReply, Body]:
    """Feed them all, as a connection would."""
    body = Body(MOST)
    reply = HttpReply(head=False, most=MOST, body=body)
    with suppress(TargetError):
        for piece in pieces:
            if reply.feed(piece):
                return reply, body
        reply.end("peer")
    return reply, body


@seed(1)
@RUNS
@given(st.sampled_from(HEADS[:2]), PIECES)
def test_any_pieces_of_responses_are_an_answer_or_a_fault(start: bytes, pieces: list[bytes]) -> None:
    reply, body = read([start, *pieces])

    assert 0 <= reply.code <= 999
    assert len(body.data) <= MOST


@seed(2)
@RUNS
@given(st.binary(max_size=600), st.integers(1, 50))
def test_any_bytes_are_an_answer_or_a_fault(data: bytes, step: int) -> None:
    reply, body = read([data[at : at + step] for at in range(0, len(data), step)])

    assert len(body.data) <= MOST
    assert reply.code == 0 or data.lstrip().startswith(b"HTTP/")


@seed(3)
@RUNS
@given(st.lists(st.binary(min_size=1, max_size=90), max_size=12), st.integers(1, 40))
def test_chunks_come_together_however_they_are_cut(chunks: list[bytes], step: int) -> None:
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    data += b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    reply, body = read([data[at : at + step] for at in range(0, len(data), step)])

    assert body.data == b"".join(chunks)
    assert reply.size == len(body.data)


@seed(4)
@RUNS
@given(st.binary(min_size=1, max_size=90), st.integers(0, 400), st.integers(0, 255))
def test_a_spoilt_chunk_is_an_answer_or_a_fault(chunk: bytes, at: int, byte: int) -> None:
    data = bytearray(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    data += (b"%x\r\n%s\r\n" % (len(chunk), chunk)) * 3 + b"0\r\n\r\n"
    data[at % len(data)] = byte
    _, body = read([bytes(data)])

    assert len(body.data) <= MOST


@seed(5)
@RUNS
@given(
    st.sampled_from(["gzip", "deflate", "br"]),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(1, 60),
)
def test_spoilt_packing_is_a_body_or_a_fault(encoding: str, spots: list[tuple[int, int]], step: int) -> None:
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
    packed = bytearray(pack[encoding](TEXT))
    for at, byte in spots:
        packed[at % len(packed)] = byte
    body = Body(MOST)
    body.begin(encoding)
    for at in range(0, len(packed), step):
        if body.feed(bytes(packed[at : at + step])):
            break
    body.end()

    assert len(body.data) <= MOST
    # brotli has no checksum: what was spoilt may still unpack.
    assert body.fault or body.data == TEXT or encoding in {"gzip", "br"}


@seed(6)
@RUNS
@given(st.sampled_from(["gzip", "deflate", "identity", "br"]), st.lists(st.binary(max_size=80), max_size=9))
def test_any_packing_is_a_body_or_a_fault(encoding: str, pieces: list[bytes]) -> None:
    body = Body(MOST)
    body.begin(encoding)
    for piece in pieces:
        if body.feed(piece):
            break
    body.end()

    assert len(body.data) <= MOST


ENDLESS = {
    "header": (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 9_999),
    "headers": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 999),
    "reason": (b"HTTP/1.1 200 ", b"O" * 9_999),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99),
    "chunk extension": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"e" * 9_999),
    "trailer": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX:", b"y" * 9_999),
    "body": (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 9_999),
    "small chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 999),
    "blanks": (b"", b"\r\n" * 999),
}


@pytest.mark.parametrize(("start", "more"), ENDLESS.values(), ids=ENDLESS)
def test_what_never_ends_is_given_up_in_little_memory(start: bytes, more: bytes) -> None:
    reply = HttpReply(head=False, most=MOST, body=Body(MOST))
    fed = 0
    tracemalloc.start()
    try:
        with suppress(TargetError):
            assert not start or not reply.feed(start)
            while not reply.feed(more) and fed < MIB:
                fed += len(more)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert fed < MIB
    assert peak < MIB


def spoiler(chance: random.Random) -> Callable[[bytes], bytes]:
    """Changes, cuts or lengthens an answer, leaving its number so that it is taken for one."""

    def spoil(answer: bytes) -> bytes:
        data = bytearray(answer)
        for _ in range(chance.randint(0, 1)):
            data[chance.randrange(2, len(data))] = chance.choice([0, 1, 0xC0, 0xFF, chance.randrange(256)])
        match chance.randrange(6):
            case 0:
                del data[chance.randrange(2, len(data)) :]
            case 1:
                data += chance.randbytes(chance.randrange(1, 400))
        return bytes(data)

    return spoil


async def test_spoilt_answers_of_a_name_server_are_an_address_or_a_fault() -> None:
    with name_server() as names, target(targets.stall) as server:
        net = Net(nameservers=[names.address])

        async def check(name: str, timeout_s: float) -> tuple[Status, str]:
            names.names[name] = ["127.0.0.1", "::1"]
            outcome = (await run(CHECKS["tcp"](Tcp(host=name, port=server.port)), net, timeout_s)).outcome
            return outcome.status, outcome.error

        names.spoil = spoiler(random.Random(20_261_121))
        checks = [check(f"n{number}.example.com", 1.0) for number in range(300)]
        spoilt = await asyncio.wait_for(asyncio.gather(*checks), 10)
        names.spoil = bytes
        after = await check("good.example.com", 5.0)
        net.close()

    assert {status for status, _ in spoilt} == {Status.UP, Status.DOWN}
    assert all(error == "" or error.startswith(("dns: ", "connect: ")) for _, error in spoilt)
    assert after == (Status.UP, "")
