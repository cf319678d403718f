"""``tocsin check`` for the kinds of one protocol each: runs the check, and reports misuse."""

import socket
from collections.abc import Iterator

import pytest

from tests.probe.dialogues import plays
from tests.probe.net.dns_server import dns_server, gives, record
from tests.probe.net.zoo import issue, serving
from tests.probe.targets import over_tls, says, shut_port, target
from tests.probe.test_check import check

pytestmark = pytest.mark.races


@pytest.fixture
def shut() -> Iterator[int]:
    with shut_port() as port:
        yield port


async def test_a_name_is_asked_for() -> None:
    with dns_server(gives(record("A", bytes([192, 0, 2, 1])))) as server:
        arguments = ["dns", "www.example.com", "--resolver", server.address, "--expected"]
        told = [await check(*arguments, answer) for answer in ("192.0.2.1", "192.0.2.2")]

    text = "".join(out for _, out, _ in told)
    assert [status for status, _, _ in told] == [0, 1]
    assert "www.example.com A" in text
    assert "dns: 192.0.2.2 is not among the answers: 192.0.2.1" in text


@pytest.mark.parametrize(
    ("type_", "options", "heard", "said"),
    [
        ("smtp", ["--security", "none"], b"", b"220 mail\r\n250 mail\r\n"),
        ("imap", [], b"", b"* OK\r\n"),
        ("pop3", [], b"", b"+OK\r\n"),
        ("redis", [], b"PING", b"+PONG\r\n"),
        ("postgres", [], b"tocsin", b"R\0\0\0\x08\0\0\0\x03"),
    ],
)
async def test_a_server_is_asked(type_: str, options: list[str], heard: bytes, said: bytes) -> None:
    with target(plays((heard, said))) as server:
        status, out, err = await check(type_, server.peer, *options)

    assert status == 0, out + err


async def test_the_days_of_a_bad_certificate_are_told_too() -> None:
    def shake(sock: socket.socket) -> None:
        sock.recv(1)

    with target(over_tls(serving(issue("x")), shake)) as server:
        told = [await check("tls", server.peer, *options) for options in ([], ["--json"])]

    text = "".join(out for _, out, _ in told)
    assert [status for status, _, _ in told] == [1, 1]
    assert "days left" in text
    assert '"daysLeft": ' in text


async def test_so_are_those_of_one_that_a_page_came_with() -> None:
    page = says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    with target(over_tls(serving(issue("x")), page)) as server:
        status, out, err = await check("http", f"https://{server.peer}/", "--no-verify-tls", "--json")

    assert status == 0, out + err
    assert '"daysLeft": ' in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["tls", "127.0.0.1:{port}"], "connect: refused"),
        (["grpc", "127.0.0.1:{port}", "--tls"], "connect: refused"),
        (["mysql", "127.0.0.1:{port}"], "connect: refused"),
        (["websocket", "ws://127.0.0.1:{port}/"], "connect: refused"),
    ],
)
async def test_a_shut_port_is_not_good(arguments: list[str], text: str, shut: int) -> None:
    status, out, _ = await check(*(part.format(port=shut) for part in arguments))

    assert status == 1
    assert text in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["grpc", "example.com"], "must be a host with a port"),
        (["dns", "a b"], "must be a host name"),
        (["dns", "192.0.2.1"], "must be a name, not an address"),
        (["tls", "https://"], "must be a host, or a URL"),
        (["websocket", "http://example.com"], "must be a ws or wss URL"),
        (["redis", "example.com/x"], "must be a host, perhaps with a port"),
    ],
)
async def test_a_misuse_is_told(arguments: list[str], text: str) -> None:
    status, _, err = await check(*arguments)

    assert status == 2
    assert text in err
