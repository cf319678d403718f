"""Sockets that connect again: nothing of a former connection shows in the next."""

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from probe.checks import CHECKS, Check
from probe.net import spare
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.kinds.tcp import Tcp
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.targets import OK, mute_port, says, shut_port, target

pytestmark = pytest.mark.races

GONE = b"HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture
async def net(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Net]:
    monkeypatch.setattr(spare, "_IDLE_S", 60.0)  # longer than a busy machine takes between two checks
    net = Net()
    yield net
    assert not net._watched
    net.close()


def http(server: targets.Target) -> Check:
    return CHECKS["http"](Http(url=server.url))


def tcp(port: int, host: str = "127.0.0.1") -> Check:
    return CHECKS["tcp"](Tcp(host=host, port=port))


async def outcome(net: Net, check: Check, timeout_s: float = 5.0) -> Outcome:
    return (await run(check, net, timeout_s)).outcome


def kept(net: Net) -> list[int]:
    return [sock.fileno() for sock in net.spares._sockets]


async def test_checks_one_after_another_use_the_same_socket(net: Net) -> None:
    with target(says(OK)) as first, target(says(OK)) as second:
        await outcome(net, http(first))
        [fd] = kept(net)
        for server in (second, first, second):
            assert (await outcome(net, http(server))).status is Status.UP
            assert kept(net) == [fd]

    assert (first.accepted, second.accepted) == (2, 2)


async def test_what_the_former_target_still_sent_is_not_read(net: Net) -> None:
    with target(says(OK + b"x" * 100_000)) as talkative, target(says(GONE)) as gone:
        for _ in range(50):
            assert (await outcome(net, http(talkative))).code == 200
            assert (await outcome(net, http(gone))).code == 410

    assert len(kept(net)) == 1


async def test_the_target_sees_the_connection_end_at_once(net: Net) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        assert (await outcome(net, tcp(listener.getsockname()[1]))).status is Status.UP
        sock, _ = listener.accept()
        with sock:
            sock.settimeout(5)
            with pytest.raises(ConnectionResetError):
                sock.recv(1)

    assert kept(net)


async def test_a_refused_connection_is_refused_on_a_used_socket_too(net: Net) -> None:
    with target(says(OK)) as good, shut_port() as port:
        for _ in range(20):
            assert (await outcome(net, http(good))).status is Status.UP
            assert len(kept(net)) == 1
            refused = await outcome(net, tcp(port))
            assert refused.error == f"connect: refused by 127.0.0.1:{port}"
            assert not kept(net)


async def test_silence_is_silence_on_a_used_socket_too(net: Net) -> None:
    with target(says(OK)) as good, mute_port() as port:
        await outcome(net, http(good))
        mute = await outcome(net, tcp(port), 0.3)

    assert mute.error == f"connect: timed out after 0.3 s to 127.0.0.1:{port}"
    assert not kept(net)


@pytest.mark.parametrize("behave", [targets.reset, targets.close, targets.sends(b"nonsense")])
async def test_a_socket_that_failed_is_not_used_again(behave: targets.Behaviour, net: Net) -> None:
    with target(behave) as bad:
        assert (await outcome(net, http(bad))).status is Status.DOWN

    assert not kept(net)


async def test_an_idle_socket_that_is_used_between_events_is_not_mistaken(net: Net) -> None:
    with target(says(OK)) as good, mute_port() as port:
        for _ in range(5):
            await outcome(net, http(good))
            await asyncio.sleep(0.02)  # the kernel reports the end of the connection meanwhile
            assert (await outcome(net, tcp(port), 0.1)).error.startswith("connect: timed out")


async def test_no_more_are_kept_than_a_burst_needs(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare, "_MOST", 3)
    with target(says(OK)) as server:
        ran = await asyncio.gather(*(outcome(net, http(server)) for _ in range(20)))

    assert all(each.status is Status.UP for each in ran)
    assert len(kept(net)) == 3


async def test_those_that_nothing_needs_are_closed_soon(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spare, "_IDLE_S", 0.1)
    with target(says(OK)) as server:
        await asyncio.gather(*(outcome(net, http(server)) for _ in range(20)))
        async with asyncio.timeout(10):
            while kept(net):
                await asyncio.sleep(0.02)
        assert (await outcome(net, http(server))).status is Status.UP


async def test_sockets_for_ipv6_are_closed(net: Net) -> None:
    with target(says(OK), "::1") as server:
        assert (await outcome(net, http(server))).status is Status.UP

    assert not kept(net)


async def test_a_kernel_that_cannot_undo_a_connection_costs_only_time(
    net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare, "_NOWHERE", b"")
    with target(says(OK)) as server:
        for _ in range(3):
            assert (await outcome(net, http(server))).status is Status.UP

    assert not kept(net)
