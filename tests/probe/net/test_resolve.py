"""Names: asked of a real name server, kept for their TTL, and never in the way of other checks."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.runner import run
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.nameserver import NXDOMAIN, REFUSED, SERVFAIL, NameServer, name_server
from tests.probe.targets import OK, says, target

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
