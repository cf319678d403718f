"""What the probe says of mail servers, databases and sockets that are not what they should be."""

import socket
import struct
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds import load
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.zoo import DAY, HERE, ROOT, STRANGER, Issued, issue, serving
from tests.probe.targets import Behaviour, mute_port, over_tls, shut_port, target

TIMEOUT_S = 0.5
HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
SSH = b"SSH-2.0-OpenSSH_9.2p1\r\n"
PEER = "127.0.0.1:{port}"
MYSQL = b"\x0a8.0.36\0" + struct.pack("<I", 7) + b"saltsalt\0" + struct.pack("<HBHH", 0x8A08, 45, 2, 0x8)
MYSQL += bytes([21]) + bytes(10) + b"saltsaltsalt\0mysql_native_password\0"


def at_once(data: bytes) -> Behaviour:
    """Says so before it is asked, and no more."""

    def behave(sock: socket.socket) -> None:
        sock.sendall(data)
        targets.stall(sock)

    return behave


def asked(data: bytes) -> Behaviour:
    """Says so once something came, and no more."""

    def behave(sock: socket.socket) -> None:
        sock.recv(65_536)
        sock.sendall(data)
        targets.stall(sock)

    return behave


def closes(sock: socket.socket) -> None:
    """Without a word, once something came."""
    sock.recv(65_536)


@dataclass(frozen=True)
class Kind:
    """*greets*: the server speaks first; *phase*: what is under way then; *is_no*: how others are told."""

    name: str
    phase: str
    is_no: str
    greets: bool = True
    line: bool = True


KINDS = [
    Kind("smtp", "greeting", "not an SMTP server"),
    Kind("imap", "greeting", "not an IMAP server"),
    Kind("pop3", "greeting", "not a POP3 server"),
    Kind("mysql", "greeting", "not a MySQL server", line=False),
    Kind("postgres", "startup", "not a PostgreSQL server", greets=False, line=False),
    Kind("redis", "ping", "not a Redis server", greets=False),
]
WHOLE = {"smtp": SSH, "imap": SSH, "pop3": SSH, "mysql": SSH[:4], "postgres": SSH[:1], "redis": SSH}
of_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
of_every = pytest.mark.parametrize("type_", [*(kind.name for kind in KINDS), "grpc", "websocket"])


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


def placed(type_: str, port: int, **config: Any) -> dict[str, Any]:
    if type_ == "websocket":
        return {"url": f"{'wss' if config.pop('tls', False) else 'ws'}://{HERE}:{port}/", **config}
    if config.get("tls") and type_ in {"smtp", "imap", "pop3"}:
        config = {"security": "tls"}
    return {"host": HERE, "port": port, **config}


async def check(net: Net, type_: str, port: int, timeout_s: float = TIMEOUT_S, **config: Any) -> Outcome:
    kind = load(type_, placed(type_, port, **config))
    outcome = (await run(CHECKS[type_](kind), net, timeout_s)).outcome
    assert outcome.status is Status.DOWN
    return outcome


@of_every
async def test_a_port_that_is_shut(net: Net, type_: str) -> None:
    with shut_port() as port:
        assert (await check(net, type_, port)).error == f"connect: refused by {HERE}:{port}"


@of_every
async def test_a_port_that_says_nothing_even_to_a_connection(net: Net, type_: str) -> None:
    with mute_port() as port:
        assert (await check(net, type_, port)).error == f"connect: timed out after 0.5 s to {HERE}:{port}"


@of_kind
async def test_one_that_says_nothing(net: Net, kind: Kind) -> None:
    with target(targets.stall) as server:
        assert (await check(net, kind.name, server.port)).error == f"{kind.phase}: not complete within 0.5 s"


@of_kind
async def test_one_that_closes(net: Net, kind: Kind) -> None:
    with target((lambda _: None) if kind.greets else closes) as server:
        outcome = await check(net, kind.name, server.port)
    assert outcome.error == f"{kind.phase}: connection closed by {HERE}:{server.port}"


@of_kind
async def test_one_that_resets(net: Net, kind: Kind) -> None:
    with target(targets.reset) as server:
        outcome = await check(net, kind.name, server.port)
    assert outcome.error == f"{kind.phase}: connection reset by {HERE}:{server.port}"


@of_kind
async def test_one_that_speaks_another_protocol(net: Net, kind: Kind) -> None:
    with target((at_once if kind.greets else asked)(SSH)) as server:
        outcome = await check(net, kind.name, server.port)
    text = WHOLE[kind.name].decode().strip()
    assert outcome.error == f"{kind.phase}: {kind.is_no} ('{text}')"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.line], ids=lambda kind: kind.name)
async def test_one_that_never_ends_its_line(net: Net, kind: Kind) -> None:
    with target((at_once if kind.greets else asked)(b"2" * 100_000)) as server:
        outcome = await check(net, kind.name, server.port)
    assert outcome.error == f"{kind.phase}: a line of more than 8192 bytes"


@pytest.mark.parametrize("type_", ["smtp", "imap", "pop3", "redis", "grpc", "websocket"])
@pytest.mark.parametrize(
    ("behave", "error"),
    [
        pytest.param(targets.stall, "tls: handshake not done within 0.5 s", id="says nothing"),
        pytest.param(closes, "tls: handshake failed: connection closed by {peer}", id="closes"),
        pytest.param(asked(SSH), "tls: handshake failed: {peer} does not speak TLS", id="speaks clear text"),
        pytest.param(asked(HTTP), "tls: handshake failed: {peer} does not speak TLS", id="speaks HTTP"),
    ],
)
async def test_one_that_does_not_shake_hands(net: Net, type_: str, behave: Behaviour, error: str) -> None:
    with target(behave) as server:
        outcome = await check(net, type_, server.port, tls=True)
    assert outcome.error == error.replace("{peer}", f"{HERE}:{server.port}")


FUTURE = issue("", ROOT, starts=2 * DAY)
CERTIFICATES = [
    pytest.param(issue("", ROOT, ends=-3 * DAY), "tls: certificate expired 3 days ago", id="expired"),
    pytest.param(
        FUTURE,
        f"tls: certificate is not valid before {FUTURE.certificate.not_valid_before_utc:%Y-%m-%d}",
        id="not yet valid",
    ),
    pytest.param(
        issue("", ROOT, hosts=("shop.example.com",)),
        "tls: certificate is for shop.example.com, not 127.0.0.1",
        id="another host",
    ),
    pytest.param(issue("x"), "tls: self-signed certificate", id="self-signed"),
    pytest.param(
        issue("", STRANGER),
        "tls: chain is incomplete: issuer Strange Root was not sent, and is no trusted authority itself",
        id="stranger",
    ),
]


@pytest.mark.parametrize("type_", ["smtp", "imap", "pop3", "redis", "grpc", "websocket"])
@pytest.mark.parametrize(("leaf", "error"), CERTIFICATES)
async def test_a_certificate_is_told_of_in_full(net: Net, type_: str, leaf: Issued, error: str) -> None:
    with target(over_tls(serving(leaf), targets.stall)) as server:
        assert (await check(net, type_, server.port, 5.0, tls=True)).error == error


def turning(script: list[tuple[int, bytes]], leaf: Issued) -> Behaviour:
    """For each pair: read so many bytes, say the rest; then shake hands."""

    def behave(sock: socket.socket) -> None:
        for wanted, data in script:
            if wanted:
                sock.recv(wanted, socket.MSG_WAITALL if wanted < 40 else 0)
            sock.sendall(data)
        over_tls(serving(leaf), targets.stall)(sock)

    return behave


TURNS: dict[str, tuple[dict[str, Any], list[tuple[int, bytes]]]] = {
    "smtp": (
        {"security": "starttls"},
        [(0, b"220 mail\r\n"), (999, b"250-mail\r\n250 STARTTLS\r\n"), (999, b"220 go\r\n")],
    ),
    "imap": ({"security": "starttls"}, [(0, b"* OK ready\r\n"), (999, b"a1 OK go\r\n")]),
    "pop3": ({"security": "starttls"}, [(0, b"+OK ready\r\n"), (999, b"+OK go\r\n")]),
    "postgres": ({"tls": True}, [(8, b"S")]),
    "mysql": ({"tls": True}, [(0, len(MYSQL).to_bytes(3, "little") + b"\0" + MYSQL), (36, b"")]),
}


@pytest.mark.parametrize("type_", TURNS)
@pytest.mark.parametrize(("leaf", "error"), CERTIFICATES)
async def test_a_certificate_is_told_of_in_full_behind_clear_text(
    net: Net, type_: str, leaf: Issued, error: str
) -> None:
    config, script = TURNS[type_]
    with target(turning(script, leaf)) as server:
        assert (await check(net, type_, server.port, 5.0, **config)).error == error


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        pytest.param(targets.stall, "upgrade: not complete within 0.5 s", id="says nothing"),
        pytest.param(closes, "upgrade: connection closed by {peer}", id="closes"),
        pytest.param(targets.reset, "upgrade: connection reset by {peer}", id="resets"),
        pytest.param(asked(HTTP), "upgrade: status 400, expected 101", id="does not know of it"),
        pytest.param(asked(b"a" * 100_000), "upgrade: a line of more than 65536 bytes", id="never ends"),
    ],
)
async def test_one_that_is_no_websocket(net: Net, behave: Behaviour, error: str) -> None:
    with target(behave) as server:
        outcome = await check(net, "websocket", server.port)
    assert outcome.error == error.replace("{peer}", f"{HERE}:{server.port}")


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        pytest.param(targets.stall, "grpc: no answer within 0.5 s", id="says nothing"),
        pytest.param(closes, "grpc: UNAVAILABLE 'Socket closed'", id="closes"),
        pytest.param(
            asked(SSH),
            "grpc: UNAVAILABLE 'Failed parsing HTTP/2 "
            "(Expected SETTINGS frame as the first frame, got frame type 45)'",
            id="speaks something else",
        ),
    ],
)
async def test_one_that_speaks_no_grpc(net: Net, behave: Behaviour, error: str) -> None:
    with target(behave) as server:
        assert (await check(net, "grpc", server.port)).error == error


async def test_grpc_over_tls_without_http_2(net: Net) -> None:
    with target(over_tls(serving(issue("", ROOT)), targets.stall)) as server:
        outcome = await check(net, "grpc", server.port, 5.0, tls=True)
    assert outcome.error == "grpc: UNAVAILABLE 'Cannot check peer: missing selected ALPN property.'"
