"""The TCP check: a port that lets one in is up, whatever it does then."""

from pathlib import Path

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.tcp import Tcp
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.zoo import ROOT, issue, serving


async def check(host: str, port: int, timeout_s: float = 5.0) -> Outcome:
    net = Net()
    try:
        return (await run(CHECKS["tcp"](Tcp(host=host, port=port)), net, timeout_s)).outcome
    finally:
        net.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost"])
@pytest.mark.parametrize("behave", [targets.stall, targets.reset, targets.sends(b"220 hello\r\n")])
async def test_an_open_port_is_up(host: str, behave: targets.Behaviour) -> None:
    with targets.target(behave, "::1" if "::" in host else "127.0.0.1") as server:
        outcome = await check(host, server.port)

    assert outcome.status is Status.UP
    assert outcome.phases.connect_us is not None
    assert (outcome.phases.dns_us is None) == (host != "localhost")


async def test_a_shut_port_is_down() -> None:
    with targets.shut_port() as port:
        outcome = await check("127.0.0.1", port)

    assert (outcome.status, outcome.error) == (Status.DOWN, f"connect: refused by 127.0.0.1:{port}")


async def test_every_address_of_a_name_is_tried() -> None:
    with targets.shut_port() as port:
        outcome = await check("localhost", port)

    assert outcome.error == f"connect: refused by [::1]:{port}"


async def test_a_port_that_lets_nobody_in_times_out() -> None:
    with targets.mute_port() as port:
        outcome = await check("127.0.0.1", port, 0.3)

    assert outcome.error == f"connect: timed out after 0.3 s to 127.0.0.1:{port}"


async def test_one_mute_address_leaves_time_for_the_next() -> None:
    """localhost is ::1 first, then 127.0.0.1: the second has its turn while the first is still silent."""
    with targets.target(targets.stall, "127.0.0.1") as server, targets.mute_port("::1", server.port):
        outcome = await check("localhost", server.port, 1.0)

    assert outcome.status is Status.UP
    assert 250_000 <= (outcome.phases.connect_us or 0) < 1_000_000


@pytest.mark.parametrize("expect", [None, "hello"])
async def test_the_end_of_the_certificate_is_told(tmp_path: Path, expect: str | None) -> None:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    leaf = issue("", ROOT)
    net = Net(ca_file=tmp_path / "root.pem")
    try:
        with targets.target(targets.over_tls(serving(leaf), targets.sends(b"hello\r\n"))) as server:
            kind = Tcp(host="127.0.0.1", port=server.port, tls=True, expect=expect)
            outcome = (await run(CHECKS["tcp"](kind), net, 5.0)).outcome
    finally:
        net.close()
    assert (outcome.error, outcome.ends) == ("", leaf.certificate.not_valid_after_utc.timestamp())
