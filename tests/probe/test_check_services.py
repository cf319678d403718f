"""``tocsin check`` for the kinds of one protocol each: what is asked is run, and a misuse is told."""

import socket
from collections.abc import Iterator

import pytest

from probe import check
from tests.probe.dialogues import plays
from tests.probe.net.dns_server import dns_server, gives, record
from tests.probe.net.zoo import issue, serving
from tests.probe.targets import over_tls, shut_port, target


@pytest.fixture
def shut() -> Iterator[int]:
    with shut_port() as port:
        yield port


def test_a_name_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with dns_server(gives(record("A", bytes([192, 0, 2, 1])))) as server:
        arguments = ["dns", "www.example.com", "--resolver", server.address, "--expected"]
        codes = [check.main([*arguments, answer]) for answer in ("192.0.2.1", "192.0.2.2")]

    said = capsys.readouterr().out
    assert codes == [0, 1]
    assert "www.example.com A" in said
    assert "dns: 192.0.2.2 is not among the answers: 192.0.2.1" in said


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
def test_a_server_is_asked(type_: str, options: list[str], heard: bytes, said: bytes) -> None:
    with target(plays((heard, said))) as server:
        assert check.main([type_, server.peer, *options]) == 0


def test_the_days_of_a_bad_certificate_are_told_too(capsys: pytest.CaptureFixture[str]) -> None:
    def shake(sock: socket.socket) -> None:
        sock.recv(1)

    with target(over_tls(serving(issue("x")), shake)) as server:
        codes = [check.main(["tls", server.peer, *options]) for options in ([], ["--json"])]

    said = capsys.readouterr().out
    assert codes == [1, 1]
    assert "days left" in said
    assert '"daysLeft": ' in said


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["tls", "127.0.0.1:{port}"], "connect: refused"),
        (["grpc", "127.0.0.1:{port}", "--tls"], "connect: refused"),
        (["mysql", "127.0.0.1:{port}"], "connect: refused"),
        (["websocket", "ws://127.0.0.1:{port}/"], "connect: refused"),
    ],
)
def test_a_shut_port_is_not_good(
    arguments: list[str], text: str, capsys: pytest.CaptureFixture[str], shut: int
) -> None:
    assert check.main([part.format(port=shut) for part in arguments]) == 1
    assert text in capsys.readouterr().out


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
def test_a_misuse_is_told(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        check.main(arguments)

    assert ended.value.code == 2
    assert text in capsys.readouterr().err
