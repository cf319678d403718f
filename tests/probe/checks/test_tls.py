"""The tls check: days left are measured whatever is wrong, and what is wrong is said."""

import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.tls import Expiry, Tls
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.zoo import (
    CLIENTS,
    DAY,
    HERE,
    HOUR,
    MIDDLE,
    ROOT,
    STRANGER,
    issue,
    serving,
    sha1,
    weak,
)  # fmt: skip
from tests.probe.targets import Behaviour, target

GOOD = issue("good", MIDDLE)


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


async def check(net: Net, port: int, timeout_s: float = 5.0, **config: Any) -> Outcome:
    check = CHECKS["tls"](Tls(**{"domain": f"{HERE}:{port}", **config}))
    return (await run(check, net, timeout_s)).outcome


def shakes(context: ssl.SSLContext) -> Behaviour:
    def wait(sock: socket.socket) -> None:
        sock.recv(1)

    return targets.over_tls(context, wait)


def good() -> ssl.SSLContext:
    return serving(GOOD, MIDDLE)


def days_left(outcome: Outcome) -> int:
    assert outcome.state is not None
    return (
        round((Expiry.unpack(outcome.state).ends - GOOD.certificate.not_valid_after_utc.timestamp()) / 86_400)
        + 60
    )


@pytest.mark.parametrize(
    ("context", "days", "error"),
    [
        pytest.param(good, 60, "", id="good"),
        pytest.param(
            lambda: serving(issue("x", MIDDLE, ends=5 * DAY + HOUR), MIDDLE),
            5,
            "tls: certificate expires in 5 days, 14 are wanted",
            id="near its end",
        ),
        pytest.param(
            lambda: serving(issue("x", ROOT, ends=1 * DAY + HOUR)),
            1,
            "tls: certificate expires in 1 day, 14 are wanted",
            id="the last day",
        ),
        pytest.param(
            lambda: serving(issue("x", ROOT, ends=-3 * DAY)),
            -3,
            "tls: certificate expired 3 days ago",
            id="expired",
        ),
        pytest.param(
            lambda: serving(issue("x", ROOT, hosts=("api.example.com",))),
            60,
            "tls: certificate is for api.example.com, not 127.0.0.1 (59 days left)",
            id="another name",
        ),
        pytest.param(
            lambda: serving(issue("x", ROOT, hosts=())),
            60,
            "tls: certificate names no host, so it is not for 127.0.0.1 (59 days left)",
            id="no name at all",
        ),
        pytest.param(
            lambda: serving(issue("x")), 60, "tls: self-signed certificate (59 days left)", id="self-signed"
        ),
        pytest.param(
            lambda: serving(issue("x", MIDDLE)),
            60,
            "tls: chain is incomplete: issuer Zoo Middle was not sent, and is no trusted authority itself"
            " (59 days left)",
            id="incomplete chain",
        ),
        pytest.param(
            lambda: serving(issue("x", STRANGER), STRANGER),
            60,
            "tls: issued by an authority that is not trusted (Strange Root) (59 days left)",
            id="another authority",
        ),
        pytest.param(
            lambda: serving(issue("x", ROOT, key=weak())),
            60,
            "tls: certificate's key is too weak (59 days left)",
            id="weak key",
        ),
        pytest.param(
            lambda: serving(sha1(issue("x", ROOT), ROOT)),
            30,
            "tls: certificate's signature is too weak (29 days left)",
            id="weak signature",
        ),
        pytest.param(
            lambda: serving(issue("x", ROOT, usage=CLIENTS)),
            60,
            "tls: certificate is not meant for servers (59 days left)",
            id="meant for clients",
        ),
        pytest.param(
            lambda: serving(issue("x", MIDDLE), issue("Zoo Middle", ROOT, authority=True, ends=3 * DAY + HOUR,
                                                      key=MIDDLE.key)),
            3,
            "tls: certificate expires in 3 days, 14 are wanted",
            id="issuer near its end",
        ),
    ],
)  # fmt: skip
async def test_each_certificate_is_judged_and_its_days_are_counted(
    net: Net, context: Any, days: int, error: str
) -> None:
    with target(shakes(context())) as server:
        outcome = await check(net, server.port)

    assert outcome.error == error
    assert outcome.status is (Status.DOWN if error else Status.UP)
    assert abs(days_left(outcome) - days) <= 1
    assert outcome.phases.tls_us is not None


async def test_one_that_is_not_valid_yet_is_told_with_its_day(net: Net) -> None:
    leaf = issue("x", ROOT, starts=3 * DAY)
    with target(shakes(serving(leaf))) as server:
        outcome = await check(net, server.port)

    day = f"{leaf.certificate.not_valid_before_utc:%Y-%m-%d}"
    assert outcome.error == f"tls: certificate is not valid before {day} (59 days left)"


@pytest.mark.parametrize(("days", "near"), [(5, True), (60, False)])
async def test_the_collector_is_told_whether_only_the_end_is_near(net: Net, days: int, near: bool) -> None:
    with target(shakes(serving(issue("x", ROOT, ends=days * DAY)))) as server:
        outcome = await check(net, server.port)

    assert outcome.state is not None
    assert Expiry.unpack(outcome.state).only_near is near


async def test_a_trusted_chain_is_verified_once_and_another_anew(net: Net) -> None:
    contexts = [good()]

    def behave(sock: socket.socket) -> None:
        shakes(contexts[0])(sock)

    with target(behave) as server:
        checked = CHECKS["tls"](Tls(domain=f"{HERE}:{server.port}"))
        for _ in range(3):
            assert (await run(checked, net, 5.0)).outcome.error == ""
        assert server.accepted == 4
        contexts[0] = serving(issue("x"))
        assert "self-signed" in (await run(checked, net, 5.0)).outcome.error
        contexts[0] = good()
        assert (await run(checked, net, 5.0)).outcome.error == ""


async def test_an_authority_of_ones_own_is_trusted_instead(net: Net) -> None:
    with target(shakes(serving(issue("x", STRANGER)))) as server:
        assert (await check(net, server.port, trusted_ca=STRANGER.pem.decode())).error == ""
    with target(shakes(good())) as server:
        assert "not trusted" in (await check(net, server.port, trusted_ca=STRANGER.pem.decode())).error


async def test_another_name_can_be_asked_for(net: Net) -> None:
    with target(shakes(serving(issue("x", ROOT, hosts=("api.example.com",))))) as server:
        assert (await check(net, server.port, server_name="api.example.com")).error == ""


async def test_an_old_version_is_too_low(net: Net) -> None:
    context = good()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with target(shakes(context)) as server:
        outcomes = [await check(net, server.port, min_version=least) for least in ("1.2", "1.3")]

    assert [outcome.error for outcome in outcomes] == [
        "",
        "tls: TLSv1.2 was spoken, 1.3 is the least that is wanted",
    ]


def turns(*talk: tuple[bytes, bytes]) -> Behaviour:
    """Says the first of each pair, then reads until it has the second; shakes hands in the end."""

    def behave(sock: Any) -> None:
        for data, wanted in talk:
            sock.sendall(data)
            came = b""
            while wanted not in came:
                part = sock.recv(4096)
                if not part:
                    return
                came += part
        shakes(good())(sock)

    return behave


def startled(first: bytes, last: bytes) -> Behaviour:
    """Says *first*, and *last* to whatever comes; shakes hands."""

    def behave(sock: Any) -> None:
        sock.sendall(first)
        sock.recv(4096)
        sock.sendall(last)
        shakes(good())(sock)

    return behave


@pytest.mark.parametrize(
    ("protocol", "greeting", "asked", "agreed"),
    [
        ("imap", b"* OK ready\r\n", b"a1 STARTTLS\r\n", b"* x\r\na1 OK go\r\n"),
        ("pop3", b"+OK ready\r\n", b"STLS\r\n", b"+OK go\r\n"),
        ("postgres", b"", b"\x04\xd2\x16\x2f", b"S"),
    ],
)
async def test_clear_text_turns_to_tls(
    net: Net, protocol: str, greeting: bytes, asked: bytes, agreed: bytes
) -> None:
    with target(turns((greeting, asked), (agreed, b""))) as server:
        assert (await check(net, server.port, start_tls=protocol)).error == ""


async def test_smtp_turns_to_tls_after_its_greeting(net: Net) -> None:
    talk = (
        (b"220-mail\r\n220 mail\r\n", b"EHLO probe.invalid\r\n"),
        (b"250-mail\r\n250 STARTTLS\r\n", b"STARTTLS\r\n"),
        (b"220 go\r\n", b""),
    )
    with target(turns(*talk)) as server:
        assert (await check(net, server.port, start_tls="smtp")).error == ""


@pytest.mark.parametrize(
    ("protocol", "first", "last", "error"),
    [
        ("smtp", b"554 go away\r\n", b"", "greeting: answered '554 go away'"),
        ("smtp", b"hello\r\n", b"", "greeting: not an SMTP server ('hello')"),
        ("smtp", b"220 mail\r\n", b"500 what\r\n", "ehlo: answered '500 what'"),
        ("smtp", b"220-x\r\n" * 101, b"", "greeting: an answer of more than 100 lines"),
        ("smtp", b"x" * 9000, b"", "greeting: a line of more than 8192 bytes"),
        ("imap", b"* BYE full\r\n", b"", "greeting: answered '* BYE full'"),
        ("imap", b"220 mail\r\n", b"", "greeting: not an IMAP server ('220 mail')"),
        ("imap", b"* OK x\r\n", b"a1 NO\x01 never\r\n", "starttls: answered 'NO? never'"),
        ("imap", b"* OK x\r\n", b"hm\r\n", "starttls: malformed answer ('hm')"),
        ("imap", b"* OK x\r\n", b"a1 OK\r\nmore\r\n", "starttls: more came than the answer, ahead of TLS"),
        ("pop3", b"-ERR busy\r\n", b"", "greeting: answered '-ERR busy'"),
        ("pop3", b"* OK x\r\n", b"", "greeting: not a POP3 server ('* OK x')"),
        ("pop3", b"+OK\r\n", b"-ERR no\r\n", "starttls: answered '-ERR no'"),
        ("postgres", b"", b"N", "starttls: the server has no TLS"),
        ("postgres", b"", b"E", "starttls: not a PostgreSQL server ('E')"),
        ("postgres", b"", b"SS", "starttls: more came than the answer, ahead of TLS"),
    ],
)
async def test_a_refusal_to_turn_to_tls_is_said(
    net: Net, protocol: str, first: bytes, last: bytes, error: str
) -> None:
    with target(startled(first, last)) as server:
        outcome = await check(net, server.port, start_tls=protocol)

    assert (outcome.status, outcome.error) == (Status.DOWN, error)


def hangs_up(sock: socket.socket) -> None:
    sock.recv(9_000)


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        pytest.param(targets.sends(b"hello\r\n"), "tls: handshake failed: {} does not speak TLS", id="text"),
        pytest.param(targets.reset, "tls: connection reset by {}", id="reset"),
        pytest.param(targets.stall, "tls: handshake not done within 0.5 s", id="silence"),
        pytest.param(hangs_up, "tls: handshake failed: connection closed by {}", id="closed"),
    ],
)  # fmt: skip
async def test_no_handshake_no_certificate(net: Net, behave: Behaviour, error: str) -> None:
    with target(behave) as server:
        outcome = await check(net, server.port, 0.5)

    assert (outcome.status, outcome.error) == (Status.DOWN, error.format(server.peer))


async def test_silence_ahead_of_tls_is_told_as_such(net: Net) -> None:
    with target(targets.stall) as server:
        outcome = await check(net, server.port, 0.3, start_tls="smtp")

    assert outcome.error == "greeting: not complete within 0.3 s"


@pytest.mark.parametrize("packed", [b"", b"\0", bytes(10)])
def test_a_state_that_is_none_is_refused(packed: bytes) -> None:
    assert Expiry.unpack(Expiry(True, 7).pack()) == Expiry(True, 7)
    with pytest.raises(ValueError, match="unpack"):
        Expiry.unpack(packed)
