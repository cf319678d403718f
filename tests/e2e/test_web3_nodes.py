"""A fork under a bridge, a node that asks for a pause, a liar among several: from outside."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.chains import Stage, amounts, chain, forward, of_events, plain, provider, stage, url_of
from tests.e2e.product import eventually
from tests.e2e.test_web3 import _slow_bridge
from tests.probe.web3.between import between
from tests.probe.web3.chain import Chain
from tests.receiver import answer, reset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(120),
    # A client that hangs up while it is accepted leaves asyncio's servers a socket that nobody closes.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

LIE = 99


@pytest.fixture
def here() -> Iterator[Chain]:
    with chain() as here:
        yield here


@pytest.fixture
async def made(database_url: str, tmp_path: Path, here: Chain) -> AsyncIterator[Stage]:
    here.mine(10)
    async with stage(database_url, tmp_path, "eu") as made:
        yield made


async def test_a_message_that_a_fork_of_a_bridge_s_source_undid_is_not_waited_for(
    made: Stage, here: Chain
) -> None:
    with chain(31338) as there:
        case = _slow_bridge(here, there)
        here.mine(5)
        monitor = await made.monitor(case.type, case.config)
        case.fire()
        await made.hears(monitor, "message_delay")
        here.rpc("anvil_reorg", 5, [])
        here.mine(3)
        await made.hears(monitor, "message_delay", "message_delay_recovered")
        await made.checked(monitor)
        await made.hears(monitor, "message_delay", "message_delay_recovered")


async def test_a_node_that_asks_for_a_pause_has_it_while_others_serve(made: Stage, here: Chain) -> None:
    zoo = here.deploy("Zoo")
    async with provider(here) as first, provider(here) as second:
        monitor = await made.monitor("web3_contract_event", of_events([url_of(first), url_of(second)], zoo))
        assert not second.received
        first.always = answer(429, {"Retry-After": "8"}, b"slow down")
        await eventually(lambda: _asked(second))
        before = len(first.received)
        plain(zoo, here, [0])
        await made.hears(monitor, "event")
        await made.checked(monitor, 3)
        assert len(first.received) == before
        first.always = forward(here)
        plain(zoo, here, [1])
        await made.hears(monitor, "event", "event")
        await eventually(lambda: _more(first, before), timeout_s=20)


async def _asked(node: Any) -> bool:
    return bool(node.received)


async def _more(node: Any, before: int) -> bool:
    return len(node.received) > before


def _lies(method: str, _: list[Any], said: Any) -> Any:
    if method != "eth_getLogs":
        return said
    return [{**log, "data": f"0x{LIE:064x}{log['data'][66:]}"} for log in said]


async def test_of_several_nodes_one_that_lies_is_not_believed(made: Stage, here: Chain) -> None:
    zoo = here.deploy("Zoo")
    async with provider(here) as first, provider(here) as second:
        with between(here) as liar:
            liar.twist = _lies
            urls = [liar.url, url_of(first), url_of(second)]
            monitor = await made.monitor("web3_contract_event", of_events(urls, zoo, rpcQuorum=2))
            plain(zoo, here, [0])
            told = await made.hears(monitor, "event")
            assert amounts(told) == ["0"]

            second.always = reset
            plain(zoo, here, [1])
            told = await made.hears(monitor, "event", "monitor.down")
            assert "2 of 3 nodes agree" in told[-1]["incident"]["lastError"]
            second.always = forward(here)
            told = await made.hears(monitor, "event", "monitor.down", "event", "monitor.up")
            assert amounts(told) == ["0", "1"]
            assert any(method == "eth_getLogs" for method, _ in liar.asked)
