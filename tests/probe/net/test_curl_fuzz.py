"""Whatever a server of HTTP/2 or a proxy says, it is an answer or its fault: never ours, never for ever."""

import random
import socket
from contextlib import suppress

import pytest

from shared.results import Status
from tests.probe import targets
from tests.probe.net import h2_server as h2
from tests.probe.net.curl_check import check
from tests.probe.targets import OK, Behaviour, target

FRAMES = [
    h2.headers(),
    h2.headers(204, end=True),
    h2.headers(200, h2.field("content-length", "5")),
    h2.data(b"ok"),
    h2.data(b"x", end=False),
    h2.resets(2),
    h2.goes_away(0),
    h2.frame(h2.SETTINGS, h2.ACK, 0),
    h2.frame(h2.SETTINGS, 0, 0, b"\0\4\0\0\0\0"),
    h2.frame(h2.PING, 0, 0, bytes(8)),
    h2.frame(h2.CONTINUATION, h2.END_HEADERS, h2.STREAM, b"\x88"),
    h2.frame(5, h2.END_HEADERS, h2.STREAM, b"\0\0\0\2\x88"),
    h2.frame(8, 0, h2.STREAM, b"\0\0\0\0"),
    h2.frame(99, 255, 7, b"abc"),
]
OF_PROXIES = [
    b"\5\0",
    b"\5\2",
    b"\5\xff",
    b"\1\0",
    b"\5\0\0\1" + bytes(6),
    b"\5\0\0\3\5abcde\0\1",
    b"\5\0\0\4" + bytes(18),
    b"\5\1\0\1" + bytes(6),
    b"\5\0\0\7",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 407 Login\r\n\r\n",
    OK,
]


def closes(_sock: socket.socket) -> None:
    """Says no more."""


def changed(chance: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice([0, 0, 1, 3])):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def babbles(chance: random.Random, words: list[bytes]) -> Behaviour:
    """Says some of *words*, each once it has heard something, or without if nothing comes."""
    said = [changed(chance, chance.choice(words)) for _ in range(chance.randrange(6))]
    end = chance.choice([targets.reset, targets.stall, closes])

    def behave(sock: socket.socket) -> None:
        sock.settimeout(0.1)
        for part in said:
            with suppress(TimeoutError):
                sock.recv(65_536)
            sock.sendall(part)
        sock.settimeout(None)
        end(sock)

    return behave


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("what", ["http2", "http", "socks5", "socks5h://user:word@"])
async def test_nonsense_is_told_as_the_other_end_s_fault(seed: int, what: str) -> None:
    chance = random.Random(f"{seed} {what}")
    for _ in range(4):
        begins = [h2.frame(h2.SETTINGS, 0, 0)] if what == "http2" else []
        behave = babbles(chance, [*begins, *(FRAMES if what == "http2" else OF_PROXIES)])
        with target(behave) as server:
            if what == "http2":
                outcome = await check(server.url, 0.5, http_version="2")
            else:
                way = f"{what}{server.peer}" if "://" in what else f"{what}://{server.peer}"
                outcome = await check("https://127.0.0.1:9/", 0.5, proxy=way)

        assert outcome.status is not Status.UNKNOWN, outcome.error
        assert outcome.error or outcome.status is Status.UP
