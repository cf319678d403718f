"""The smtp, imap and pop3 checks: greetings, STARTTLS, logging in, and no password in what is said."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds import load
from shared.results import Outcome, Status
from tests import mailbox as mail
from tests.probe import targets
from tests.probe.dialogues import Script, plays
from tests.probe.net.zoo import HERE, ROOT, issue, serving
from tests.probe.targets import shut_port, target

USER, PASSWORD = "alerts", "correct horse"
LOGIN: dict[str, Any] = {"username": USER, "password": PASSWORD}
PLAIN = base64.b64encode(f"\0{USER}\0{PASSWORD}".encode())
SMTP = ((b"", b"220 mail\r\n"), (b"EHLO", b"250-mail\r\n250-AUTH PLAIN LOGIN\r\n250 STARTTLS\r\n"))
SMTP_LOGIN = ((b"", b"220 mail\r\n"), (b"EHLO", b"250-mail\r\n250 AUTH LOGIN\r\n"))
IMAP = ((b"", b"* OK ready\r\n"),)
POP3 = ((b"", b"+OK ready\r\n"),)


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


async def check(net: Net, type_: str, port: int, timeout_s: float = 5.0, **config: Any) -> Outcome:
    kind = load(type_, {"host": HERE, "port": port, **config})
    return (await run(CHECKS[type_](kind), net, timeout_s)).outcome


@pytest.mark.parametrize(
    ("type_", "script", "config"),
    [
        pytest.param("smtp", (*SMTP, (b"QUIT", b"221 bye\r\n")), {}, id="smtp"),
        pytest.param(
            "smtp", (*SMTP, (b"AUTH PLAIN " + PLAIN, b"235 in\r\n"), (b"QUIT", b"")), LOGIN, id="plain"
        ),
        pytest.param(
            "smtp",
            (
                *SMTP_LOGIN,
                (b"AUTH LOGIN", b"334 VXNlcm5hbWU6\r\n"),
                (base64.b64encode(USER.encode()), b"334 UGFzc3dvcmQ6\r\n"),
                (base64.b64encode(PASSWORD.encode()), b"235 in\r\n"),
                (b"QUIT", b""),
            ),
            LOGIN,
            id="login",
        ),
        pytest.param("imap", (*IMAP, (b"LOGOUT", b"* BYE\r\n")), {}, id="imap"),
        pytest.param(
            "imap",
            (
                *IMAP,
                (b"a2 LOGIN {6}\r\n", b"+ go\r\n"),
                (b"alerts {13}\r\n", b"+ go\r\n"),
                (PASSWORD.encode() + b"\r\n", b"* CAPABILITY x\r\na2 OK in\r\n"),
                (b"LOGOUT", b""),
            ),
            LOGIN,
            id="imap login",
        ),
        pytest.param("pop3", (*POP3, (b"QUIT", b"+OK\r\n")), {}, id="pop3"),
        pytest.param(
            "pop3",
            (
                *POP3,
                (b"USER alerts\r\n", b"+OK\r\n"),
                (b"PASS correct horse\r\n", b"+OK\r\n"),
                (b"QUIT", b""),
            ),
            LOGIN,
            id="pop3 login",
        ),
    ],
)
async def test_a_server_that_does_its_part_is_up(
    net: Net, type_: str, script: Script, config: dict[str, Any]
) -> None:
    with target(plays(*script)) as server:
        outcome = await check(net, type_, server.port, **config)

    assert (outcome.status, outcome.error) == (Status.UP, "")
    assert outcome.phases.first_byte_us is not None


@pytest.mark.parametrize(
    ("type_", "script", "config", "error"),
    [
        ("smtp", ((b"", b"421 busy\r\n"),), {}, "greeting: answered '421 busy'"),
        ("smtp", ((b"", b"+OK\r\n"),), {}, "greeting: not an SMTP server ('+OK')"),
        ("smtp", ((b"", b"\xff\xfe\x00\n"),), {}, "greeting: not an SMTP server ('???')"),
        ("smtp", ((b"", b"220 x\r\n"), (b"EHLO", b"502 no\r\n")), {}, "ehlo: answered '502 no'"),
        (
            "smtp",
            ((b"", b"220 x\r\n"), (b"EHLO", b"250 x\r\n")),
            {"security": "starttls"},
            "starttls: not offered",
        ),
        (
            "smtp",
            ((b"", b"220 x\r\n"), (b"EHLO", b"250 x\r\n")),
            LOGIN,
            "auth: neither PLAIN nor LOGIN is offered",
        ),
        ("smtp", (*SMTP, (b"PLAIN", b"535 no " + PLAIN + b"\r\n")), LOGIN, "auth: refused ('535')"),
        (
            "smtp",
            (*SMTP_LOGIN, (b"LOGIN", b"334 x\r\n"), (b"", b"500 correct horse\r\n")),
            LOGIN,
            "auth: refused ('500')",
        ),
        ("imap", ((b"", b"* NO x\r\n"),), {}, "greeting: answered '* NO x'"),
        ("imap", ((b"", b"SSH-2.0\r\n"),), {}, "greeting: not an IMAP server ('SSH-2.0')"),
        ("imap", (*IMAP, (b"LOGIN", b"a2 BAD correct horse\r\n")), LOGIN, "auth: refused"),
        ("imap", (*IMAP, (b"LOGIN", b"* x\r\n" * 101)), LOGIN, "auth: an answer of more than 100 lines"),
        (
            "imap",
            (*IMAP, (b"STARTTLS", b"a1 BAD x\r\n")),
            {"security": "starttls"},
            "starttls: answered 'BAD x'",
        ),
        ("pop3", ((b"", b"-ERR full\r\n"),), {}, "greeting: answered '-ERR full'"),
        ("pop3", ((b"", b"220 ftp\r\n"),), {}, "greeting: not a POP3 server ('220 ftp')"),
        ("pop3", (*POP3, (b"USER", b"-ERR correct horse\r\n")), LOGIN, "auth: refused"),
        (
            "pop3",
            (*POP3, (b"STLS", b"-ERR no\r\n")),
            {"security": "starttls"},
            "starttls: answered '-ERR no'",
        ),
    ],
)
async def test_what_is_wrong_is_said_without_the_password(
    net: Net, type_: str, script: Script, config: dict[str, Any], error: str
) -> None:
    with target(plays(*script)) as server:
        outcome = await check(net, type_, server.port, **config)

    assert (outcome.status, outcome.error) == (Status.DOWN, error)


@pytest.mark.parametrize("type_", ["smtp", "imap", "pop3"])
async def test_one_that_closes_stalls_or_refuses_is_down(net: Net, type_: str) -> None:
    with target(lambda _: None) as server:
        closed = await check(net, type_, server.port)
    with target(targets.stall) as stalling:
        stalled = await check(net, type_, stalling.port, 0.3)
    with shut_port() as port:
        refused = await check(net, type_, port)

    assert closed.error == f"greeting: connection closed by {server.peer}"
    assert stalled.error == "greeting: not complete within 0.3 s"
    assert refused.error == f"connect: refused by {HERE}:{port}"


@pytest.mark.parametrize(
    ("type_", "greeting", "last"),
    [("smtp", SMTP, b"QUIT"), ("imap", IMAP, b"LOGOUT"), ("pop3", POP3, b"QUIT")],
)
async def test_tls_from_the_first_byte(net: Net, type_: str, greeting: Script, last: bytes) -> None:
    talk = plays(*greeting, (last, b""))
    with target(targets.over_tls(serving(issue("x", ROOT)), talk)) as server:
        good = await check(net, type_, server.port, security="tls")
    with target(targets.over_tls(serving(issue("x")), talk)) as server:
        bad = await check(net, type_, server.port, security="tls")
        taken = await check(net, type_, server.port, security="tls", verifyTls=False)

    assert (good.error, bad.error, taken.error) == ("", "tls: self-signed certificate", "")


@pytest.mark.parametrize(
    ("type_", "before", "after"),
    [
        (
            "smtp",
            (*SMTP, (b"STARTTLS", b"220 go\r\n")),
            ((b"EHLO", b"250 AUTH PLAIN\r\n"), (b"PLAIN", b"235 in\r\n")),
        ),
        (
            "imap",
            (*IMAP, (b"STARTTLS", b"a1 OK\r\n")),
            ((b"LOGIN", b"+\r\n"), (b"{13}", b"+\r\n"), (b"horse", b"a2 OK\r\n")),
        ),
        ("pop3", (*POP3, (b"STLS", b"+OK\r\n")), ((b"USER", b"+OK\r\n"), (b"PASS", b"+OK\r\n"))),
    ],
)
async def test_clear_text_turns_to_tls_before_the_password_goes_out(
    net: Net, type_: str, before: Script, after: Script
) -> None:
    context = serving(issue("x", ROOT))

    def behave(sock: Any) -> None:
        for heard, data in before:
            came = b""
            while heard not in came:
                came += sock.recv(4096) or heard
            assert PASSWORD.encode() not in came
            sock.sendall(data)
        targets.over_tls(context, plays(*after))(sock)

    with target(behave) as server:
        outcome = await check(net, type_, server.port, security="starttls", **LOGIN)

    assert (outcome.status, outcome.error) == (Status.UP, "")


@pytest.mark.parametrize(("password", "error"), [(mail.PASSWORD, ""), ("wrong", "auth: refused ('535')")])
async def test_a_real_server_lets_one_in_by_the_password_only(net: Net, password: str, error: str) -> None:
    login: dict[str, Any] = {"security": "starttls", "username": mail.USER, "password": password}
    async with mail.mailbox(tls=serving(issue("x", ROOT)), login=True) as box:
        outcome = await check(net, "smtp", box.port, **login)

    assert outcome.error == error
