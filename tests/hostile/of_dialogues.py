"""What servers say in turns to checks of mail, databases, WebSocket and others, over real sockets."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any, Final

from probe.checks import CHECKS, imap, pop3, redis, smtp, tcp
from probe.checks import websocket as websocket_check
from probe.net import banner, mysql, postgres, stream, websocket
from probe.net.engine import Net
from probe.net.tls import starttls
from probe.schedule.runner import run
from shared.kinds import load
from shared.results import Status
from tests.hostile.fuzzing import Parser

# Between what the server says at once and what it says once it has heard something.
TURN: Final = b"\x1d\x1d"
_PATIENCE_S: Final = 0.1


async def outcome_of(type_: str, config: Mapping[str, Any], data: bytes) -> None:
    """Check a server that says *data*: it is up or down in words, and no fault of ours."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError):
            for at, part in enumerate(data.split(TURN)):
                if at:
                    await asyncio.wait_for(reader.read(65_536), _PATIENCE_S)
                writer.write(part)
                await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server, net = await asyncio.start_server(serve, "127.0.0.1", 0), Net()
    port = server.sockets[0].getsockname()[1]
    filled = {name: port if value == "PORT" else value for name, value in config.items()}
    if "url" in filled:
        filled["url"] = f"ws://127.0.0.1:{port}/"
    try:
        outcome = (await run(CHECKS[type_](load(type_, filled)), net, 10 * _PATIENCE_S)).outcome
    finally:
        net.close()
        server.close()
    assert outcome.status is not Status.UNKNOWN, outcome.error
    assert outcome.error.isprintable(), outcome.error


def dialogue(
    type_: str,
    config: Mapping[str, Any],
    seeds: list[bytes],
    *within: ModuleType,
    words: tuple[bytes, ...] = (),
) -> Parser:
    """The check of one type, of a server on this machine."""
    place = {} if "url" in config else {"host": "127.0.0.1", "port": "PORT"}
    parse: Callable[[bytes], object] = partial(outcome_of, type_, {**place, **config})
    return Parser(parse, seeds, [stream, starttls, *within], words=[TURN, *words], slowest_s=0.5, inputs=25)


LOGIN: Final = {"username": "me", "password": "word"}
GREETING: Final = b"\x4a\0\0\0\n8.0.36\0" + b"\1\0\0\0" + b"saltsalt" + b"\0\xff\xf7\xff\2\0\xff\xdf\x15"
MYSQL: Final = GREETING + bytes(10) + b"saltsaltsalt\0caching_sha2_password\0"
PARSERS: Final[Mapping[str, Parser]] = {
    "SMTP": dialogue(
        "smtp", {},
        [b"220-mx\r\n220 mx\r\n" + TURN + b"250-mx\r\n250 STARTTLS\r\n" + TURN + b"221 bye\r\n"],
        smtp, words=(b"250-", b"250 ", b"\r\n", b"421 no"),
    ),
    "IMAP": dialogue(
        "imap", {}, [b"* OK ready\r\n" + TURN + b"* BYE\r\na1 OK\r\n"],
        imap, words=(b"* ", b"a1 ", b"NO", b"{9}\r\n"),
    ),
    "POP3": dialogue("pop3", {}, [b"+OK ready\r\n" + TURN + b"+OK\r\n"], pop3, words=(b"-ERR ", b"+OK")),
    "MySQL": dialogue(
        "mysql", LOGIN,
        [MYSQL + TURN + b"\7\0\0\2\0\0\0\2\0\0\0",
         MYSQL + TURN + b"\5\0\0\2\xfex\0yy" + TURN + b"\3\0\0\4\xff\x15\4"],
        mysql, words=(b"\1\0\0\2\xfe", b"\2\0\0\4\1\3", b"\2\0\0\4\1\4", b"mysql_native_password\0", b"\xff"),
    ),
    "PostgreSQL": dialogue(
        "postgres", LOGIN,
        [
            b"R\0\0\0\x0c\0\0\0\5salt" + TURN + b"R\0\0\0\x08\0\0\0\0Z\0\0\0\5I",
            b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0" + TURN + b"R\0\0\0\x18\0\0\0\x0br=x,s=c2FsdA==,i=4096",
            b"E\0\0\0\x14C28P01\0Mno\0\0\0\0\0\0\0",
        ],
        postgres, words=(b"R\0\0\0\x08", b"E\0\0\0\x0a", b"i=99999999", b"N\0\0\0\5"),
    ),
    "Redis": dialogue(
        "redis", {}, [b"+PONG\r\n", b"-NOAUTH\r\n"], redis, words=(b"+", b"-ERR", b"$-1\r\n", b"*1\r\n")
    ),
    "banners": dialogue("tcp", {"expect": "=~^SSH-[12]"}, [b"SSH-2.0-x\r\n"], tcp, banner, words=(b"SSH",)),
    "WebSocket": dialogue(
        "websocket", {"url": "", "expect": "hello"},
        [
            b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n\x81\5hello",
            TURN + b"HTTP/1.1 200 OK\r\n\r\n",
        ],
        websocket, websocket_check, words=(b"\x81\x7e\0\5", b"\x88\2\3\xe8", b"\x89\0", b"\0", b"\r\n\r\n"),
    ),
}  # fmt: skip
