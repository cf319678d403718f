"""The websocket check: against a real server, and against those that get it wrong."""

import base64
import hashlib
import random
import re
import socket
import struct
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import WSMsgType, web

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.websocket import WebSocket, is_websocket
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.targets import Behaviour, target

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    net = Net()
    yield net
    net.close()


async def check(net: Net, url: str, timeout_s: float = 5.0, **config: Any) -> Outcome:
    return (await run(CHECKS["websocket"](WebSocket(url=url, **config)), net, timeout_s)).outcome


async def _echo(request: web.Request) -> web.WebSocketResponse:
    answers = web.WebSocketResponse()
    await answers.prepare(request)
    async for message in answers:
        if message.type is WSMsgType.TEXT:
            await answers.ping(b"still there?")
            await answers.send_str(f"you said {message.data} {request.headers.get('X-Key', '')}")
    return answers


@pytest.fixture
async def real() -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_get("/ws", _echo)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    yield f"ws://127.0.0.1:{runner.addresses[0][1]}/ws"
    await runner.cleanup()


@pytest.mark.parametrize("size", [0, 5, 125, 126, 60_000])
async def test_a_real_server_opens_and_answers(net: Net, real: str, size: int) -> None:
    text = "x" * size
    outcome = await check(net, real, send=text, expect=f"you said {text} k", headers={"X-Key": "k"})

    assert (outcome.status, outcome.error, outcome.code) == (Status.UP, "", 101)


async def test_another_answer_is_down(net: Net, real: str) -> None:
    outcome = await check(net, real, send="a", expect="b")

    assert (outcome.status, outcome.code) == (Status.DOWN, 101)
    assert outcome.error == "message: the expected text is not in the answer"


async def test_no_upgrade_is_told_with_its_status(net: Net, real: str) -> None:
    outcome = await check(net, real + "x")

    assert (outcome.error, outcome.code) == ("upgrade: status 404, expected 101", 404)


def opens(*frames: bytes) -> Behaviour:
    def behave(sock: socket.socket) -> None:
        request = targets.read_request(sock)
        key = re.search(rb"Sec-WebSocket-Key: (\S+)", request)
        assert key is not None
        accept = base64.b64encode(hashlib.sha1(key[1] + MAGIC).digest())
        head = b"HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        sock.sendall(head + accept + b"\r\n\r\n" + b"".join(frames))
        sock.recv(1)

    return behave


def frame(kind: int, data: bytes = b"", first: int = 128) -> bytes:
    return bytes([first | kind, len(data)]) + data


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        (targets.says(b"SSH-2.0\r\n\r\n"), "upgrade: not an HTTP response ('SSH-2.0')"),
        (targets.says(b"HTTP/1.1 101 Go\r\n\r\n"), "upgrade: the answer is not one to this request"),
        (targets.says(b"HTTP/1.1 101"), "upgrade: connection closed by {}"),
        (targets.says(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000), "upgrade: a line of more than 65536 bytes"),
        (opens(frame(8, struct.pack("!H", 1001) + b"away")), "message: closed by the server (1001 'away')"),
        (opens(frame(8, struct.pack("!H", 1000))), "message: closed by the server (1000)"),
        (opens(frame(8)), "message: closed by the server"),
        (opens(frame(1, b"x", first=0xC0)), "message: malformed frame"),
        (opens(frame(3)), "message: malformed frame"),
        (opens(frame(0, b"x")), "message: malformed frame"),
        (opens(b"\x81\x81abcdx"), "message: malformed frame"),
        (opens(b"\x89\x7e\x01\x00"), "message: malformed frame"),
        (opens(b"\x81\x7f" + b"\xff" * 8), "message: a message of more than 1048576 bytes"),
        (opens(frame(10) * 1_001), "message: more than 1000 frames"),
    ],
)
async def test_what_is_wrong_is_said(net: Net, behave: Behaviour, error: str) -> None:
    with target(behave) as server:
        outcome = await check(net, f"ws://{server.peer}/", expect="x")

    assert (outcome.status, outcome.error) == (Status.DOWN, error.format(server.peer))


async def test_a_message_in_parts_is_one(net: Net) -> None:
    parts = (frame(1, b"he", first=0), frame(9, b"hm"), frame(0, b"llo"))
    with target(opens(*parts)) as server:
        assert (await check(net, f"ws://{server.peer}/", expect="hello")).error == ""


async def test_nonsense_is_down_and_no_fault_of_ours(net: Net) -> None:
    chance = random.Random(9)
    makers: list[Callable[[bytes], Behaviour]] = [
        lambda data: opens(data + frame(8)),
        lambda data: targets.says(b"HTTP/1.1 " + data + b"\r\n\r\n"),
    ]
    for _ in range(60):
        with target(chance.choice(makers)(chance.randbytes(chance.randrange(60)))) as server:
            outcome = await check(net, f"ws://{server.peer}/", 0.3, expect="never said")
        assert outcome.status is Status.DOWN, outcome


@pytest.mark.parametrize(
    "url",
    [
        "http://x/",
        "ws://",
        "ws://x:0/",
        "ws://x:99999/",
        "ws://a:b@x/",
        "ws://x/\r\n",
        "ws://x/ y",
        "ws://x/\u00e9",
    ],
)
def test_what_is_no_websocket_is_refused(url: str) -> None:
    assert not is_websocket(url)
