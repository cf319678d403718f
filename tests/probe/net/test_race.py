"""Happy eyeballs: the first address to let us in wins, whatever the others do."""

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import pytest

from probe.checks import CHECKS
from probe.net import faults
from probe.net.engine import Net
from probe.net.errors import ProbeError, TargetError
from probe.net.race import STAGGER_S, ConnectionRace
from probe.net.spent import Limit
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Status
from tests.probe import targets
from tests.probe.net.nameserver import name_server
from tests.probe.targets import OK, mute_port, no_more_descriptors, shut_port, target

pytestmark = pytest.mark.races

# Loopback has many addresses: those where nobody listens refuse, the others are made mute.
OPEN, MUTE, MUTE_TOO, SHUT = "127.0.0.1", "127.0.0.8", "127.0.0.9", "127.0.0.10"


@pytest.fixture
async def net() -> AsyncIterator[Net]:
    net = Net()
    yield net
    assert not net._watched
    net.close()


@contextmanager
def one_open_port(behave: targets.Behaviour = targets.stall) -> Iterator[targets.Target]:
    with target(behave, OPEN) as server, ExitStack() as stack:
        for address in (MUTE, MUTE_TOO):
            stack.enter_context(mute_port(address, server.port))
        yield server


async def race(net: Net, addresses: Sequence[str], port: int, time_s: float = 5.0) -> tuple[str, float]:
    """Who won, and after how long."""
    began = time.monotonic()
    racing = ConnectionRace(net, addresses, port, Limit.until(began + time_s))
    try:
        racing.start()
        await racing.future
        winner, sock = racing.take()
        net.forget(sock.fileno())
        sock.close()
    finally:
        racing.close()
    return winner, time.monotonic() - began


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> float:
    """A stagger that a busy machine does not use up; in seconds."""
    monkeypatch.setattr("probe.net.race.STAGGER_S", 1.5)
    return 1.5


async def test_the_first_wins_if_it_answers_and_the_others_are_left_alone(net: Net) -> None:
    with target(targets.stall, OPEN) as first, target(targets.stall, "127.0.0.2", first.port) as second:
        winner, _ = await race(net, [OPEN, "127.0.0.2"], first.port)
        await asyncio.sleep(STAGGER_S + 0.1)

    assert (winner, second.accepted) == (OPEN, 0)


async def test_a_silent_address_delays_by_the_stagger_and_no_more(net: Net) -> None:
    with one_open_port() as server:
        winner, took = await race(net, [MUTE, OPEN], server.port)
        later, longer = await race(net, [MUTE, MUTE_TOO, OPEN], server.port)

    assert winner == later == OPEN
    assert STAGGER_S <= took < 1  # the silent one is not even asked again by then
    assert longer >= 2 * STAGGER_S


async def test_an_address_that_refuses_hands_on_at_once(net: Net, unhurried: float) -> None:
    with one_open_port() as server:
        winner, took = await race(net, [SHUT, "127.0.0.11", "127.0.0.12", OPEN], server.port)

    assert winner == OPEN
    assert took < unhurried


async def test_an_address_that_refuses_while_another_is_silent_hands_on_at_once(
    net: Net, unhurried: float
) -> None:
    with one_open_port() as server:
        winner, took = await race(net, [MUTE, SHUT, OPEN], server.port)

    assert winner == OPEN
    assert took < 2 * unhurried


@pytest.mark.parametrize(
    ("addresses", "error"),
    [
        ([MUTE, MUTE_TOO], f"connect: timed out after 0.4 s to {MUTE}:%d and 1 more"),
        ([MUTE], f"connect: timed out after 0.4 s to {MUTE}:%d"),
        ([SHUT, MUTE], f"connect: refused by {SHUT}:%d"),
        ([SHUT, "127.0.0.11"], f"connect: refused by {SHUT}:%d"),
    ],
)
async def test_if_nobody_wins_the_fault_that_says_most_is_told(
    addresses: list[str], error: str, net: Net
) -> None:
    with one_open_port() as server:
        with pytest.raises(TargetError) as caught:
            await race(net, addresses, server.port, 0.4)

        assert str(caught.value) == error % server.port


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (errno.ECONNREFUSED, errno.ENETUNREACH),
        (errno.ETIMEDOUT, errno.EHOSTUNREACH),
        (errno.EHOSTUNREACH, errno.EADDRNOTAVAIL),
        (errno.ECONNREFUSED, errno.EMFILE),
    ],
)
def test_the_targets_own_fault_says_more_than_the_way_there_and_that_more_than_ours(
    better: int, worse: int
) -> None:
    assert faults.rank(better) < faults.rank(worse)


async def test_faults_of_our_own_alone_are_no_fault_of_the_target(net: Net) -> None:
    with no_more_descriptors(), pytest.raises(ProbeError, match="out of file descriptors"):
        await race(net, [OPEN, SHUT], 9)


async def test_a_race_that_is_given_up_leaves_nothing(net: Net) -> None:
    with one_open_port() as server:
        racing = asyncio.create_task(race(net, [MUTE, MUTE_TOO], server.port))
        await asyncio.sleep(STAGGER_S + 0.1)
        running = len(net._watched)
        racing.cancel()
        await asyncio.gather(racing, return_exceptions=True)

    assert (running, len(net._watched)) == (2, 0)


async def test_closing_the_engine_ends_a_race() -> None:
    net = Net()
    with one_open_port() as server:
        racing = asyncio.create_task(race(net, [MUTE, MUTE_TOO], server.port))
        await asyncio.sleep(0.1)
        net.close()
        [end] = await asyncio.wait_for(asyncio.gather(racing, return_exceptions=True), 2)

    assert isinstance(end, asyncio.CancelledError)


@pytest.mark.parametrize("behave", [targets.says(OK), targets.sends(OK)], ids=["asked", "unasked"])
async def test_the_conversation_goes_on_over_the_winner(behave: targets.Behaviour) -> None:
    with name_server() as names, one_open_port(behave) as server:
        names.names["api.example.com"] = [MUTE, OPEN]
        net = Net(nameservers=[names.address])
        check = CHECKS["http"](Http(url=f"http://api.example.com:{server.port}/"))
        outcomes = [(await run(check, net, 5.0)).outcome for _ in range(3)]
        net.close()

    assert [(outcome.status, outcome.code, outcome.error) for outcome in outcomes] == [
        (Status.UP, 200, "")
    ] * 3


async def test_a_port_shut_everywhere_is_told_of_without_delay(unhurried: float) -> None:
    with name_server() as names, shut_port() as port:
        names.names["api.example.com"] = [f"127.0.0.{last}" for last in range(1, 9)]
        net = Net(nameservers=[names.address])
        check = CHECKS["http"](Http(url=f"http://api.example.com:{port}/"))
        ran = await run(check, net, 5.0)
        net.close()

    assert ran.outcome.error.startswith("connect: refused by 127.0.0.")
    assert ran.duration_us < unhurried * 1_000_000
