"""The TCP check that says something and looks into the answer."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.banner import MOST_BYTES, Banner
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.schedule.runner import run
from shared.kinds.tcp import Tcp
from shared.patterns import finder, is_wanted, regex
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.zoo import HERE, MIDDLE, ROOT, issue, serving
from tests.probe.targets import Behaviour, over_tls, sends, target


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


@pytest.fixture(scope="module")
def trusted() -> ssl.SSLContext:
    return serving(issue(HERE, hosts=[HERE], by=MIDDLE), MIDDLE)


async def check(net: Net, port: int, timeout_s: float = 5.0, **config: object) -> Outcome:
    kind = Tcp(host=HERE, port=port, **config)  # type: ignore[arg-type]
    return (await run(CHECKS["tcp"](kind), net, timeout_s)).outcome


def answers(sock: object) -> None:
    """What Redis does."""
    word = sock.recv(100)  # type: ignore[attr-defined]
    sock.sendall(b"+PONG\r\n" if word == b"PING\r\n" else b"-ERR unknown\r\n")  # type: ignore[attr-defined]
    targets.stall(sock)  # type: ignore[arg-type]


def late(sock: object) -> None:
    sock.recv(100)  # type: ignore[attr-defined]
    for part in (b"220 ", b"mail.exam", b"ple.com ESMTP\r\n"):
        sock.sendall(part)  # type: ignore[attr-defined]
    targets.stall(sock)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("behave", "config"),
    [
        pytest.param(answers, {"send": "PING\r\n", "expect": "PONG"}, id="an answer"),
        pytest.param(answers, {"send": "PING\r\n", "expect": r"=~^\+(PONG|OK)"}, id="a pattern"),
        pytest.param(answers, {"send": "HELO\r\n"}, id="any answer"),
        pytest.param(late, {"send": "x", "expect": "mail.example.com ESMTP"}, id="in several parts"),
        pytest.param(sends(b"SSH-2.0-x\r\n"), {"expect": "SSH-2.0"}, id="without being asked"),
        pytest.param(sends(b"\xff\xfe SSH"), {"expect": "=~SSH$"}, id="no UTF-8"),
    ],
)
async def test_the_wanted_answer_is_up(net: Net, behave: Behaviour, config: dict[str, Any]) -> None:
    with target(behave) as server:
        outcome = await check(net, server.port, **config)

    assert (outcome.status, outcome.error) == (Status.UP, "")
    assert outcome.phases.first_byte_us is not None


@pytest.mark.parametrize(
    ("behave", "config", "error"),
    [
        pytest.param(
            answers,
            {"send": "PING", "expect": "PONG"},
            "expect: no 'PONG' within 0.5 s, but 14 bytes of something else",
            id="another answer",
        ),
        pytest.param(
            sends(b"-ERR\r\n"),
            {"expect": "PONG"},
            "expect: connection closed by {peer} after 6 bytes without 'PONG'",
            id="another answer, and the end",
        ),
        pytest.param(
            targets.stall, {"send": "x", "expect": "y"}, "first byte: no answer within 0.5 s", id="mute"
        ),
        pytest.param(targets.stall, {"expect": "y"}, "first byte: no answer within 0.5 s", id="no greeting"),
        pytest.param(
            sends(b""),
            {"expect": "y"},
            "first byte: connection closed by {peer} without an answer",
            id="closes at once",
        ),
        pytest.param(
            targets.repeats(b"x", b"abc" * 10_000),
            {"send": "x\r\n\r\n", "expect": "y"},
            "expect: no 'y' in the first 64 KiB",
            id="never ends",
        ),
        pytest.param(
            sends(b"220 plain\r\n"),
            {"tls": True, "expect": "220"},
            "tls: handshake failed: {peer} does not speak TLS",
            id="no TLS",
        ),
        pytest.param(targets.stall, {"tls": True}, "tls: handshake not done within 0.5 s", id="TLS, mute"),
    ],
)
async def test_a_broken_target_is_told_of(
    net: Net, behave: Behaviour, config: dict[str, Any], error: str
) -> None:
    with target(behave) as server:
        outcome = await check(net, server.port, 0.5, **config)

    assert (outcome.status, outcome.error) == (Status.DOWN, error.format(peer=server.peer))


async def test_over_tls_as_without(net: Net, trusted: ssl.SSLContext) -> None:
    with target(over_tls(trusted, sends(b"220 hello\r\n"))) as server:
        good = await check(net, server.port, tls=True, expect="220")
        bare = await check(net, server.port, tls=True)

    assert (good.status, good.error, bare.status) == (Status.UP, "", Status.UP)
    assert good.phases.tls_us is not None


async def test_a_certificate_nobody_vouches_for_is_down_unless_any_will_do(net: Net) -> None:
    with target(over_tls(serving(issue(HERE, hosts=[HERE])), sends(b"220 hello\r\n"))) as server:
        strict = await check(net, server.port, tls=True, expect="220")
        lenient = await check(net, server.port, tls=True, expect="220", verify_tls=False)

    assert strict.error == "tls: self-signed certificate"
    assert lenient.status is Status.UP


async def test_what_was_answered_is_shown_without_what_was_sent(net: Net) -> None:
    with target(sends(b"hello AUTH hunter22secret you\r\n")) as server:
        outcome = await check(net, server.port, send="hunter22secret", expect="welcome")

    assert outcome.evidence is not None
    seen = outcome.evidence()
    assert seen.address == server.peer
    assert seen.body.startswith("hello AUTH")
    assert "hunter22" not in seen.body + outcome.error


@pytest.mark.parametrize("pattern", ["(", r"(?=a)", r"(a)\1", "a{2000}"])
def test_what_could_run_long_or_is_no_pattern_is_refused(pattern: str) -> None:
    assert not is_wanted(f"=~{pattern}")
    with pytest.raises(ValueError, match="not a regular expression"):
        regex(pattern)


def test_a_pattern_that_others_choke_on_is_quick() -> None:
    assert not finder("=~^(a+)+$").finds("a" * 50_000 + "b")


async def test_the_more_a_pattern_costs_the_less_of_an_answer_it_sees(net: Net) -> None:
    with target(targets.repeats(b"x", b"ab" * 10_000)) as server:
        outcome = await check(net, server.port, send="x\r\n\r\n", expect="=~(a|b)*a[ab]{200}c")

    assert outcome.error == "expect: no '=~(a|b)*a[ab]{200}c' in the first 9 KiB"


def test_an_answer_in_many_pieces_is_not_looked_at_without_end() -> None:
    banner = Banner(finder("=~(a|b)*a[ab]{20}c"), "'c'")

    with pytest.raises(TargetError, match="too costly to look for any longer"):
        for _ in range(MOST_BYTES):
            assert not banner.feed(b"a")
