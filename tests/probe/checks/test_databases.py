"""The postgres, mysql and redis checks: against a real PostgreSQL, by script, and against nonsense."""

import hashlib
import random
import socket
import struct
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.net.mysql import _proof
from probe.schedule.runner import run
from shared.kinds import load
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.dialogues import Script, plays
from tests.probe.net.proxies import relay
from tests.probe.targets import shut_port, target

LOGIN: dict[str, Any] = {"username": "alerts", "password": "correct horse"}
SALT = bytes(range(1, 21))


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    net = Net()
    yield net
    net.close()


async def check(net: Net, type_: str, port: int, timeout_s: float = 5.0, **config: Any) -> Outcome:
    kind = load(type_, {"host": "127.0.0.1", "port": port, **config})
    return (await run(CHECKS[type_](kind), net, timeout_s)).outcome


def pg(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


def asks(way: int, rest: bytes = b"") -> bytes:
    return pg(b"R", struct.pack("!I", way) + rest)


def fails(code: str, text: str) -> bytes:
    return pg(b"E", f"SFATAL\0C{code}\0M{text}\0\0".encode())


def my(sequence: int, body: bytes) -> bytes:
    return len(body).to_bytes(3, "little") + bytes([sequence]) + body


def greets(plugin: bytes = b"mysql_native_password", can: int = 0x80208) -> bytes:
    return my(
        0,
        b"\x0a8.0.36\0"
        + struct.pack("<I", 7)
        + SALT[:8]
        + b"\0"
        + struct.pack("<HBHH", can & 0xFFFF, 45, 2, can >> 16)
        + bytes([21])
        + bytes(10)
        + SALT[8:]
        + b"\0"
        + plugin
        + b"\0",
    )


def my_error(sequence: int, code: int, text: bytes) -> bytes:
    return my(sequence, b"\xff" + struct.pack("<H", code) + b"#28000" + text)


NATIVE = _proof(b"mysql_native_password", b"correct horse", SALT)
SHA2 = _proof(b"caching_sha2_password", b"correct horse", SALT)
READY = asks(0) + pg(b"S", b"a\0b\0") + pg(b"K", bytes(8)) + pg(b"Z", b"I")


@pytest.mark.parametrize(
    ("type_", "script", "config"),
    [
        pytest.param("postgres", ((b"tocsin\0", asks(10, b"SCRAM-SHA-256\0\0")),), {}, id="pg asks who"),
        pytest.param(
            "postgres", ((b"tocsin\0", fails("28000", "no entry")),), {}, id="pg refuses a stranger"
        ),
        pytest.param("postgres", ((b"alerts\0", READY),), {"username": "alerts"}, id="pg trusts"),
        pytest.param("postgres", ((b"alerts\0", asks(3)), (b"p", READY)), LOGIN, id="pg clear"),
        pytest.param(
            "postgres",
            (
                (b"alerts\0", asks(5, b"salt")),
                (
                    hashlib.md5(hashlib.md5(b"correct horsealerts").hexdigest().encode() + b"salt")
                    .hexdigest()
                    .encode(),
                    READY,
                ),
            ),
            LOGIN,
            id="pg md5",
        ),
        pytest.param(
            "mysql", ((b"", greets()), (b"tocsin", my_error(2, 1045, b"denied"))), {}, id="my stranger"
        ),
        pytest.param(
            "mysql", ((b"", greets()), (NATIVE, my(2, b"\0\0\0\2\0\0\0")), (b"\1", b"")), LOGIN, id="native"
        ),
        pytest.param(
            "mysql",
            ((b"", greets(b"caching_sha2_password")), (SHA2, my(2, b"\1\3") + my(3, b"\0\0\0\2\0\0\0"))),
            LOGIN,
            id="sha2",
        ),
        pytest.param(
            "mysql",
            (
                (b"", greets(b"caching_sha2_password")),
                (SHA2, my(2, b"\xfemysql_native_password\0" + SALT + b"\0")),
                (NATIVE, my(4, b"\0\0\0\2\0\0\0")),
            ),
            LOGIN,
            id="another plugin",
        ),
        pytest.param("redis", ((b"PING", b"+PONG\r\n"),), {}, id="redis"),
        pytest.param("redis", ((b"PING", b"-NOAUTH Authentication required.\r\n"),), {}, id="redis asks who"),
        pytest.param(
            "redis",
            (
                (b"$4\r\nAUTH\r\n$6\r\nalerts\r\n$13\r\ncorrect horse\r\n", b"+OK\r\n"),
                (b"PING", b"+PONG\r\n"),
            ),
            LOGIN,
            id="redis login",
        ),
    ],
)
async def test_a_server_that_does_its_part_is_up(
    net: Net, type_: str, script: Script, config: dict[str, Any]
) -> None:
    with target(plays(*script)) as server:
        outcome = await check(net, type_, server.port, **config)

    assert (outcome.status, outcome.error) == (Status.UP, "")


@pytest.mark.parametrize(
    ("type_", "script", "config", "error"),
    [
        (
            "postgres",
            ((b"tocsin", fails("57P03", "starting up")),),
            {},
            "startup: answered '57P03' 'starting up'",
        ),
        ("postgres", ((b"tocsin", fails("53300", "too many")),), {}, "startup: answered '53300' 'too many'"),
        ("postgres", ((b"alerts", fails("28000", "no")),), LOGIN, "startup: answered '28000' 'no'"),
        (
            "postgres",
            ((b"alerts", asks(3)), (b"p", fails("28P01", "correct horse"))),
            LOGIN,
            "auth: refused ('28P01')",
        ),
        ("postgres", ((b"alerts", asks(7)),), LOGIN, "auth: a way to log in that is not known (7)"),
        (
            "postgres",
            ((b"alerts", asks(10, b"SCRAM-SHA-256\0\0")), (b"SCRAM", READY)),
            LOGIN,
            "auth: the server did not prove that it knows the password",
        ),
        (
            "postgres",
            ((b"alerts", asks(10, b"SCRAM-SHA-256\0\0")), (b"SCRAM", asks(11, b"r=x,s=eA==,i=1"))),
            LOGIN,
            "auth: malformed challenge",
        ),
        ("postgres", ((b"tocsin", b"HTTP/1.1 400\r\n"),), {}, "startup: not a PostgreSQL server ('H')"),
        ("postgres", ((b"tocsin", b"R\xff\xff\xff\xff"),), {}, "startup: not a PostgreSQL server ('R')"),
        ("postgres", ((b"alerts", pg(b"S", b"a\0b\0") * 1_001),), LOGIN, "startup: more than 1000 messages"),
        ("postgres", ((b"alerts", pg(b"R", b"")),), LOGIN, "auth: malformed request"),
        ("postgres", ((b"\x04\xd2", b"N"),), {"tls": True}, "starttls: the server has no TLS"),
        (
            "mysql",
            ((b"", my(0, b"\xff\x10\x04Too many connections")),),
            {},
            "greeting: answered 1040 'Too many connections'",
        ),
        ("mysql", ((b"", b"220 mail ready\r\n"),), {}, "greeting: not a MySQL server ('220 ')"),
        ("mysql", ((b"", my(0, b"\x09old\0")),), {}, "greeting: not a MySQL server ('?old?')"),
        ("mysql", ((b"", my(0, b"\x0a8.0\0short")),), {}, "greeting: not a MySQL server ('?8.0?short')"),
        (
            "mysql",
            ((b"", greets()), (NATIVE, my_error(2, 1045, b"correct horse"))),
            LOGIN,
            "auth: refused (1045)",
        ),
        ("mysql", ((b"", greets()), (b"tocsin", my_error(2, 1040, b""))), {}, "auth: refused (1040)"),
        ("mysql", ((b"", greets()),), {"tls": True}, "starttls: the server has no TLS"),
        ("mysql", ((b"", greets(b"dialog")),), LOGIN, "auth: a way to log in that is not known ('dialog')"),
        (
            "mysql",
            ((b"", greets(b"caching_sha2_password")), (SHA2, my(2, b"\1\4"))),
            LOGIN,
            "auth: the server wants the password itself, which needs TLS",
        ),
        ("mysql", ((b"", greets()), (NATIVE, my(2, b"\1\3") * 21)), LOGIN, "auth: more than 20 packets"),
        ("mysql", ((b"", greets()), (NATIVE, my(2, b"\7"))), LOGIN, "auth: malformed answer"),
        ("redis", ((b"PING", b"-LOADING data\r\n"),), {}, "ping: answered 'LOADING data'"),
        ("redis", ((b"PING", b"+HELLO\r\n"),), {}, "ping: answered '+HELLO'".replace("+", "")),
        ("redis", ((b"PING", b"HTTP/1.1 400 Bad\r\n"),), {}, "ping: not a Redis server ('HTTP/1.1 400 Bad')"),
        ("redis", ((b"AUTH", b"-WRONGPASS correct horse\r\n"),), LOGIN, "auth: refused ('WRONGPASS')"),
    ],
)
async def test_what_is_wrong_is_said_without_the_password(
    net: Net, type_: str, script: Script, config: dict[str, Any], error: str
) -> None:
    with target(plays(*script)) as server:
        outcome = await check(net, type_, server.port, **config)

    assert (outcome.status, outcome.error) == (Status.DOWN, error)


@pytest.mark.parametrize(
    ("type_", "phase"), [("postgres", "startup"), ("mysql", "greeting"), ("redis", "ping")]
)
async def test_one_that_closes_stalls_or_refuses_is_down(net: Net, type_: str, phase: str) -> None:
    with target(
        plays((b"" if type_ == "mysql" else b"\n" if type_ == "redis" else b"tocsin", b""))
    ) as server:
        stalled = await check(net, type_, server.port, 0.3)
    with target(targets.reset) as resetting:
        reset = await check(net, type_, resetting.port)
    with shut_port() as port:
        refused = await check(net, type_, port)

    assert stalled.error == f"{phase}: not complete within 0.3 s"
    assert reset.error == f"{phase}: connection reset by {resetting.peer}"
    assert refused.error == f"connect: refused by 127.0.0.1:{port}"


def to_socket(path: str) -> targets.Behaviour:
    """Relays to what listens on the socket at *path*."""

    def behave(sock: socket.socket) -> None:
        inner = socket.socket(socket.AF_UNIX)
        inner.connect(path)
        relay(sock, inner)

    return behave


async def test_a_real_postgresql_lets_one_in_by_its_password_only(net: Net, database_url: str) -> None:
    place = urlsplit(database_url)
    folder = parse_qs(place.query)["host"][0]
    config: dict[str, Any] = {"database": place.path[1:]}
    role = f"watched_{place.path[-8:]}"
    owner = await asyncpg.connect(database_url)
    try:
        trusting = await owner.fetchval("SELECT bool_or(auth_method = 'trust') FROM pg_hba_file_rules")
        await owner.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'correct horse'")
        with target(to_socket(f"{folder}/.s.PGSQL.{place.port or 5432}")) as server:
            stranger = await check(net, "postgres", server.port, **config)
            good = await check(
                net, "postgres", server.port, **config, username=role, password="correct horse"
            )
            bad = await check(net, "postgres", server.port, **config, username=role, password="wrong")
    finally:
        await owner.execute(f"DROP ROLE {role}")
        await owner.close()

    refused = "" if trusting else "auth: refused ('28P01')"  # a server may let in whoever comes
    assert [outcome.error for outcome in (stranger, good, bad)] == ["", "", refused]


@pytest.mark.parametrize("type_", ["postgres", "mysql", "redis", "smtp", "imap", "pop3"])
async def test_nonsense_is_down_and_no_fault_of_ours(net: Net, type_: str) -> None:
    chance = random.Random(type_)
    starts = [
        b"",
        b"R\0\0\0\x17\0\0\0\x0a",
        greets(),
        b"220 x\r\n",
        b"* OK\r\n",
        b"+OK\r\n",
        b"-",
        b"E\0\0\0\x10",
    ]
    for _ in range(40):
        data = chance.choice(starts) + chance.randbytes(chance.randrange(200))

        def behave(sock: Any, raw: bytes = data) -> None:
            sock.sendall(raw)
            sock.settimeout(0.05)
            sock.recv(4096)

        with target(behave) as server:
            outcome = await check(net, type_, server.port, 0.5, **LOGIN)
        assert outcome.status is Status.DOWN, (data, outcome)
