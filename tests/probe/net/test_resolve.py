"""Names: asked of a real name server, kept for their TTL, and never in the way of other checks."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.nameserver import NXDOMAIN, REFUSED, SERVFAIL, NameServer, name_server
from tests.probe.targets import OK, says, target

pytestmark = pytest.mark.races

HOST = "api.example.com"


@pytest.fixture
async def names() -> AsyncIterator[NameServer]:
    with name_server() as server:
        yield server


@pytest.fixture
async def net(names: NameServer) -> AsyncIterator[Net]:
    net = Net(nameservers=[names.address])
    yield net
    net.close()


async def check(net: Net, port: int, host: str = HOST, timeout_s: float = 2.0) -> Outcome:
    return (await run(CHECKS["tcp"](Tcp(host=host, port=port)), net, timeout_s)).outcome


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (NXDOMAIN, "dns: no such host api.example.com"),
        (SERVFAIL, "dns: server failure for api.example.com"),
        (REFUSED, "dns: query refused for api.example.com"),
        ([], "dns: no address for api.example.com"),
        (["169.254.169.254"], "connect: 169.254.169.254 is a cloud metadata address, which is never allowed"),
    ],
)
async def test_says_why_a_name_leads_nowhere(
    net: Net, names: NameServer, answer: list[str] | int, error: str
) -> None:
    names.names[HOST] = answer

    outcome = await check(net, 80)

    assert (outcome.status, outcome.error) == (Status.DOWN, error)
    assert outcome.phases.dns_us is not None


async def test_a_name_is_asked_for_once_while_its_ttl_runs(net: Net, names: NameServer) -> None:
    names.names[HOST] = ["127.0.0.1"]
    with target(targets.stall) as server:
        outcomes = [await check(net, server.port) for _ in range(5)]
        outcomes += await asyncio.gather(*[check(net, server.port) for _ in range(5)])

    assert {outcome.status for outcome in outcomes} == {Status.UP}
    assert len(names.asked) == 2  # A and AAAA


async def test_a_name_is_asked_for_again_after_its_ttl(net: Net, names: NameServer) -> None:
    names.ttl = 1
    names.names[HOST] = ["127.0.0.1"]
    with target(targets.stall) as server:
        before = await check(net, server.port)
        names.names[HOST] = ["127.0.0.2"]
        await asyncio.sleep(1.1)
        after = await check(net, server.port)

    assert before.status is Status.UP
    assert after.error == f"connect: refused by 127.0.0.2:{server.port}"


async def test_a_name_that_comes_back_is_seen_though_its_zone_says_an_hour(
    net: Net, names: NameServer
) -> None:
    names.names[HOST] = NXDOMAIN
    with target(targets.stall) as server:
        gone = await check(net, server.port)
        names.names[HOST] = ["127.0.0.1"]
        await asyncio.sleep(1.1)
        back = await check(net, server.port)

    assert gone.error == "dns: no such host api.example.com"
    assert back.status is Status.UP


async def test_a_dead_name_server_delays_only_those_who_need_it(net: Net) -> None:
    with target(targets.stall) as server:
        waiting = [asyncio.create_task(check(net, 80, f"{n}.example.com", 1.0)) for n in range(50)]
        fast = [await check(net, server.port, "127.0.0.1") for _ in range(50)]
        assert not any(task.done() for task in waiting)
        slow = await asyncio.gather(*waiting)

    assert {outcome.status for outcome in fast} == {Status.UP}
    assert slow[7].error == "dns: no answer for 7.example.com within 1.0 s"


async def test_the_address_that_answers_is_found_among_those_that_do_not(net: Net, names: NameServer) -> None:
    names.names[HOST] = ["127.0.0.9", "::1", "127.0.0.1"]
    with target(targets.stall) as server:
        outcome = await check(net, server.port)

    assert outcome.status is Status.UP


async def test_a_forbidden_address_is_left_out_and_the_others_are_tried(names: NameServer) -> None:
    names.names[HOST] = ["169.254.169.254", "127.0.0.1"]
    net = Net(nameservers=[names.address])
    with target(targets.stall) as server:
        outcome = await check(net, server.port)
    net.close()

    assert outcome.status is Status.UP


async def test_names_that_lead_home_are_refused_where_private_targets_are(names: NameServer) -> None:
    names.names[HOST] = ["127.0.0.1"]
    net = Net(nameservers=[names.address], allow_private=False)
    with target(targets.stall) as server:
        outcome = await check(net, server.port)
    net.close()

    assert outcome.error == "connect: 127.0.0.1 is a loopback address, which is not allowed here"
    assert server.accepted == 0


@pytest.mark.parametrize(("version", "status"), [("4", Status.DOWN), ("6", Status.UP), ("any", Status.UP)])
async def test_the_ip_version_is_honoured(net: Net, names: NameServer, version: str, status: Status) -> None:
    names.names[HOST] = ["::1"]
    with target(says(OK), "::1") as server:
        kind = Http(url=f"http://{HOST}:{server.port}/", ip_version=version)  # type: ignore[arg-type]
        outcome = (await run(CHECKS["http"](kind), net, 2.0)).outcome

    assert outcome.status is status
    assert outcome.error == ("dns: no IPv4 address for api.example.com" if version == "4" else "")


async def test_an_international_name_is_asked_for_in_ascii(net: Net, names: NameServer) -> None:
    names.names["xn--bcher-kva.example.com"] = ["127.0.0.1"]
    requests: list[bytes] = []
    with target(targets.records(requests, targets.sends(OK))) as server:
        kind = Http(url=f"http://Bücher.example.com.:{server.port}/")
        outcome = (await run(CHECKS["http"](kind), net, 2.0)).outcome

    assert outcome.status is Status.UP
    assert f"Host: xn--bcher-kva.example.com.:{server.port}\r\n".encode() in requests[0]


async def test_localhost_needs_no_name_server() -> None:
    net = Net(nameservers=["127.0.0.1:1"])
    with target(targets.stall) as server:
        outcome = await check(net, server.port, "localhost")
    net.close()

    assert outcome.status is Status.UP


async def test_a_name_server_that_is_not_there_is_told_of() -> None:
    net = Net(nameservers=["127.0.0.1:1"])
    outcome = await check(net, 80)
    net.close()

    assert outcome.error == "dns: name servers cannot be reached for api.example.com"


async def test_a_name_that_is_not_there_is_asked_for_once_a_second(net: Net, names: NameServer) -> None:
    names.names[HOST] = NXDOMAIN
    for _ in range(3):
        outcomes = await asyncio.gather(*[check(net, 80) for _ in range(20)])

    assert {outcome.error for outcome in outcomes} == {"dns: no such host api.example.com"}
    assert len(names.asked) == 2  # A and AAAA


@pytest.mark.parametrize(("ttl", "kept"), [(0, 1), (60, 60), (86_400, 300)])
async def test_an_answer_is_kept_for_its_ttl_within_bounds(
    net: Net, names: NameServer, ttl: int, kept: int
) -> None:
    names.ttl = ttl
    names.names[HOST] = ["127.0.0.1"]
    began = time.monotonic()
    with target(targets.stall) as server:
        await check(net, server.port)

    [known] = net._names._known.values()
    assert began + kept <= known.until <= time.monotonic() + kept


async def test_a_name_server_that_falls_silent_leaves_what_is_known(net: Net, names: NameServer) -> None:
    names.names[HOST] = ["127.0.0.1"]
    with target(targets.stall) as server:
        before = await check(net, server.port)
        waiting = [asyncio.create_task(check(net, 80, f"{n}.example.com", 1.0)) for n in range(50)]
        beside = [await check(net, server.port) for _ in range(50)]
        home = await check(net, server.port, "localhost")
        assert not any(task.done() for task in waiting)
        await asyncio.gather(*waiting)

    assert {outcome.status for outcome in [before, *beside, home]} == {Status.UP}


async def test_a_slow_name_server_costs_only_the_names_that_it_is_slow_with(names: NameServer) -> None:
    names.names[HOST] = ["127.0.0.1"]
    names.spoil = late
    net = Net(nameservers=[names.address])
    with target(targets.stall) as server:
        slow = asyncio.create_task(check(net, server.port))
        fast = [await check(net, server.port, "127.0.0.1") for _ in range(20)]
        assert not slow.done()
        ended = await slow
    net.close()

    assert {outcome.status for outcome in [ended, *fast]} == {Status.UP}
    assert (ended.phases.dns_us or 0) > 300_000
    assert all(outcome.phases.dns_us is None for outcome in fast)


def late(answer: bytes) -> bytes:
    time.sleep(0.3)
    return answer


async def test_a_second_name_server_is_asked_when_the_first_is_dead(names: NameServer) -> None:
    names.names[HOST] = ["127.0.0.1"]
    with name_server() as silent, target(targets.stall) as server:
        net = Net(nameservers=[silent.address, names.address])
        outcome = await check(net, server.port, timeout_s=8.0)
        net.close()

    assert outcome.status is Status.UP
    assert silent.asked


async def test_a_name_server_that_comes_back_is_heard(net: Net, names: NameServer) -> None:
    with target(targets.stall) as server:
        before = await check(net, server.port, timeout_s=0.3)
        names.names[HOST] = ["127.0.0.1"]
        after = await check(net, server.port, timeout_s=8.0)

    assert before.error == "dns: no answer for api.example.com within 0.3 s"
    assert after.status is Status.UP


@pytest.mark.skipif(
    subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0,
    reason="no mount namespace may be made here",
)
def test_a_change_of_the_hosts_file_is_seen(tmp_path: Path) -> None:
    command = ["unshare", "-m", sys.executable, "-m", "tests.probe.net.hosts_file", str(tmp_path / "hosts")]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)

    assert ran.stdout.splitlines() == [
        "connect: refused by 127.0.0.1:1",
        "connect: refused by 127.0.0.2:1",
        "dns: name servers cannot be reached for api.example.com",
    ]
