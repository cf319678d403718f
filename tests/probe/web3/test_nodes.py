"""Which node is believed: on the right chain, at its head, in time, and where asked as others see it too."""

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.web3.nodes import ChainView, Pool
from probe.web3.rpc import Call
from probe.web3.values import Block, quantity
from shared.kinds.web3.fields import nodes
from tests.probe import targets
from tests.probe.targets import Behaviour, target
from tests.probe.web3.chain import running
from tests.probe.web3.standin import GWEI, Facts, node

pytestmark = pytest.mark.races

HOUR = 3600


async def head(view: ChainView) -> Block:
    return view.head


async def gas(view: ChainView) -> int:
    [said] = await view.ask(Call("eth_gasPrice"))
    return quantity(said, "eth_gasPrice")


class Asked:
    """A pool of nodes that do as the test says, and what came of reading from it."""

    def __init__(
        self, *urls: str, chain: str | int | None = 1, age_s: int | None = None, quorum: int = 1
    ) -> None:
        self.pool = Pool(nodes(list(urls), chain, age_s, quorum))
        self.spent = PhaseDurations()

    async def read(self, look: Callable[[ChainView], Any] = gas, timeout_s: float = 5.0) -> Any:
        net = Net()
        try:
            return await self.pool.read(net, self.spent, Limit.until(time.monotonic() + timeout_s), look)
        finally:
            net.close()

    async def fault(self, look: Callable[[ChainView], Any] = gas, timeout_s: float = 5.0) -> str:
        with pytest.raises(TargetError) as caught:
            await self.read(look, timeout_s)
        assert caught.value.spent is self.spent
        return str(caught.value)


async def outcome(behaviours: Sequence[Behaviour], timeout_s: float = 5.0, **how: Any) -> Any:
    """What is read from nodes of these *behaviours*, or the words of the fault."""
    with ExitStack() as stack:
        servers = [stack.enter_context(target(behaviour)) for behaviour in behaviours]
        asked = Asked(*(server.url for server in servers), **how)
        try:
            return await asked.read(timeout_s=timeout_s)
        except TargetError as error:
            return str(error)


GOOD = node(Facts())


@pytest.mark.parametrize(
    ("chain", "named"),
    [("ethereum", "chain 1"), (999, "chain 999"), ("My-Rollup", "its chain"), (None, "its chain")],
)
async def test_without_a_node_the_check_fails_and_says_what_to_set(
    chain: str | int | None, named: str
) -> None:
    asked = Asked(chain=chain, quorum=2)

    assert await asked.fault() == f"no node for {named}: set rpcUrl or TOCSIN_RPC_URLS"


async def test_a_chain_that_has_no_name_here_is_the_one_that_its_node_is_on() -> None:
    assert await outcome([node(Facts(chain=4242))], chain="My-Rollup") == await outcome([GOOD])


LIAR = node(Facts(more={"eth_gasPrice": hex(900 * GWEI)}))
OTHER_BRANCH = node(Facts(branch=1))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (Facts(chain=5), "rpc: 127.0.0.1 is on chain 5, expected 1"),
        (Facts(age_s=2 * HOUR), "rpc: 127.0.0.1 is stale: its newest block 1000 is 7"),
        (Facts(age_s=-2 * HOUR), "rpc: 127.0.0.1 is ahead of time: its newest block 1000 is of "),
        (Facts(more={"eth_chainId": 1}), "rpc: 127.0.0.1 eth_chainId: answers no number"),
        (Facts(more={"eth_chainId": "0x"}), "rpc: 127.0.0.1 eth_chainId: answers no number"),
        (Facts(more={"eth_getBlockByNumber": None}), "rpc: 127.0.0.1 has no newest block"),
        (Facts(more={"eth_getBlockByNumber": "0x5"}), "rpc: 127.0.0.1 newest block: answers no block"),
        (Facts(more={"eth_getBlockByNumber": {}}), "rpc: 127.0.0.1 newest block: answers no number"),
        (Facts(more={"eth_gasPrice": 20}), "rpc: 127.0.0.1 eth_gasPrice: answers no number"),
        (Facts(more={"eth_gasPrice": "0x" + "f" * 65}), "rpc: 127.0.0.1 eth_gasPrice: answers no number"),
        (Facts(more={"eth_gasPrice": None}), "rpc: 127.0.0.1 eth_gasPrice: answers no number"),
    ],
)
async def test_a_node_that_can_t_be_believed_is_said_in_words(facts: Facts, words: str) -> None:
    assert (await outcome([node(facts)])).startswith(words)


async def test_the_next_node_serves_where_one_does_not() -> None:
    stale, wrong = node(Facts(age_s=2 * HOUR)), node(Facts(chain=5))
    assert await outcome([stale, wrong, targets.close, GOOD]) == 20 * GWEI


async def test_a_node_that_stalls_leaves_time_for_the_others() -> None:
    assert await outcome([targets.stall, GOOD], timeout_s=1.0) == 20 * GWEI


async def test_a_node_that_dies_in_the_middle_of_a_check_is_followed_by_another() -> None:
    answers = iter([node(Facts()), targets.reset_after_request])

    def behave(sock: socket.socket) -> None:
        next(answers)(sock)

    assert await outcome([behave, GOOD]) == 20 * GWEI


async def test_a_node_that_failed_is_asked_after_the_others() -> None:
    good = Facts()
    with target(targets.close) as bad, target(node(good)) as well:
        asked = Asked(bad.url, well.url)
        for _ in range(3):
            assert await asked.read() == 20 * GWEI
        assert bad.accepted == 1
        assert well.accepted == 6


async def test_a_node_that_limits_us_is_left_alone_for_as_long_as_it_says() -> None:
    with target(node(lambda _: b"", 429, "Retry-After: 60")) as bad, target(GOOD) as well:
        asked = Asked(bad.url, well.url)
        for _ in range(3):
            await asked.read()
        assert bad.accepted == 1


async def test_each_node_is_named_with_its_number_and_what_is_wrong_with_it() -> None:
    with targets.shut_port() as port, target(node(Facts(chain=5))) as wrong, target(targets.close) as mute:
        urls = [f"http://me:secret@127.0.0.1:{port}/v3/0123456789abcdef", wrong.url, mute.url]
        asked = Asked(*urls)
        for _ in range(2):  # whatever the order in which they are asked
            words = await asked.fault()
            first, second, third = words.removeprefix("rpc: ").split("; ")
            assert first.startswith("node 1 of 3 (127.0.0.1) connect: ")
            assert second == "node 2 of 3 (127.0.0.1) is on chain 5, expected 1"
            assert third.startswith("node 3 of 3 (127.0.0.1) first byte: ")
            assert not [secret for secret in ("secret", "me:", "v3", "0123456789") if secret in words]


async def test_the_network_s_own_words_stand_alone_where_there_is_one_node() -> None:
    with targets.shut_port() as port:
        assert (await Asked(f"http://127.0.0.1:{port}/key").fault()).startswith("connect: ")


async def test_without_a_chain_whatever_the_first_node_names_holds_for_all() -> None:
    with target(node(Facts(chain=5))) as first, target(node(Facts(chain=6))) as second:
        asked = Asked(first.url, second.url, chain=None)
        assert await asked.read() == 20 * GWEI
        first.stop()
        assert "node 2 of 2 (127.0.0.1) is on chain 6, expected 5" in await asked.fault()


async def test_a_node_that_moves_to_another_chain_is_found_out() -> None:
    behaviours = iter([GOOD, GOOD, node(Facts(chain=5))])

    def behave(sock: socket.socket) -> None:
        next(behaviours)(sock)

    with target(behave) as server:
        asked = Asked(server.url)
        await asked.read()
        assert await asked.fault() == "rpc: 127.0.0.1 is on chain 5, expected 1"


@pytest.mark.parametrize(
    ("behaviours", "seen"),
    [
        pytest.param([GOOD, GOOD, GOOD], 20 * GWEI, id="all agree"),
        pytest.param([LIAR, GOOD, GOOD], 20 * GWEI, id="one lies"),
        pytest.param([GOOD, OTHER_BRANCH, GOOD], 20 * GWEI, id="one is on another branch"),
        pytest.param([GOOD, GOOD, node(Facts(number=10**9))], 20 * GWEI, id="one is of the future"),
        pytest.param([GOOD, GOOD, node(Facts(number=1009))], 20 * GWEI, id="one is ahead"),
        pytest.param([node(Facts(number=990)), GOOD, GOOD], 20 * GWEI, id="one lags"),
        pytest.param([targets.close, GOOD, GOOD], 20 * GWEI, id="one is dead"),
        pytest.param([targets.stall, GOOD, GOOD], 20 * GWEI, id="one stalls"),
        pytest.param(
            [LIAR, GOOD, targets.close],
            "no 2 of 3 nodes agree on what they see at block 1000",
            id="two differ",
        ),
        pytest.param([OTHER_BRANCH, GOOD], "no 2 of 2 nodes agree on block 1000", id="two branches"),
        pytest.param(
            [GOOD, targets.close, node(Facts(chain=5))],
            "2 nodes must agree; node 2 of 3 (127.0.0.1) first byte: ",
            id="one is left",
        ),
    ],
)
async def test_a_quorum(behaviours: Sequence[Behaviour], seen: Any) -> None:
    found = await outcome(behaviours, timeout_s=2.0, quorum=2)
    assert found.startswith(f"rpc: {seen}") if isinstance(seen, str) else found == seen


async def test_two_that_lie_alike_are_believed_by_a_quorum_of_two_and_not_by_one_of_three() -> None:
    assert await outcome([LIAR, GOOD, LIAR], quorum=2) == 900 * GWEI
    assert "no 3 of 3 nodes agree" in await outcome([LIAR, GOOD, LIAR], quorum=3)


async def test_a_quorum_looks_at_the_newest_block_that_all_of_it_have() -> None:
    with ExitStack() as stack:
        urls = [stack.enter_context(target(node(Facts(number=number)))).url for number in (1003, 1001, 990)]
        assert (await Asked(*urls, quorum=2).read(head)).number == 1001
        assert (await Asked(*urls, quorum=3).read(head)).number == 990


async def test_a_quorum_waits_no_second_time_for_one_that_stalls() -> None:
    with target(targets.stall) as mute, target(GOOD) as one, target(GOOD) as two:
        asked = Asked(mute.url, one.url, two.url, quorum=2)
        await asked.read(timeout_s=1.0)
        async with asyncio.timeout(20):
            await asked.read(timeout_s=600.0)


async def test_a_quorum_that_is_cut_off_leaves_nothing_running() -> None:
    before = asyncio.all_tasks()
    with target(targets.stall) as one, target(targets.stall) as two:
        reading = asyncio.create_task(Asked(one.url, two.url, quorum=2).read())
        await asyncio.sleep(0.2)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    assert asyncio.all_tasks() == before


async def test_what_is_our_own_fault_is_not_the_nodes_() -> None:
    async def broken(view: ChainView) -> int:
        raise ZeroDivisionError

    with target(GOOD) as one, target(GOOD) as two:
        for quorum in (1, 2):
            with pytest.raises(ZeroDivisionError):
                await Asked(one.url, two.url, quorum=quorum).read(broken)


@pytest.mark.parametrize(("urls", "quorum"), [(["http://a.example.com/"], 2), (["http://a/"] * 2, 2)])
def test_a_quorum_that_can_t_be_is_refused(urls: list[str], quorum: int) -> None:
    with pytest.raises(ValueError, match="can't agree"):
        nodes(urls, 1, None, quorum)


@pytest.mark.parametrize("url", ["ftp://a.example.com/", "a.example.com", "", 5, ["http://a/", "file:///x"]])
def test_what_is_no_url_is_no_node(url: Any) -> None:
    with pytest.raises(ValueError, match=r"rpcUrl (is empty|must be an http)"):
        nodes(url if isinstance(url, list) else [url], 1, None, 1)


async def test_a_real_node_is_read_at_its_head() -> None:
    with running() as chain:
        asked = Asked(chain.url, chain=chain.id)
        chain.mine(3)
        seen = await asked.read(head)
        assert (seen.number, await asked.read()) == (3, int(chain.rpc("eth_gasPrice"), 16))
        assert asked.spent.first_byte


async def test_a_real_node_that_mines_no_more_gets_stale_and_is_well_again_after() -> None:
    with running(31337, "--timestamp", str(int(time.time()) - 600)) as chain:
        asked = Asked(chain.url, chain=chain.id, age_s=300)
        assert "is stale: its newest block 0 is 6" in await asked.fault()
        chain.rpc("anvil_setTime", hex(int(time.time())))
        chain.mine()
        assert (await asked.read(head)).number == 1


async def test_real_nodes_on_two_branches_do_not_agree() -> None:
    with running() as one, running() as two:
        for chain in (one, two):
            chain.mine(2)
        one.send({"to": one.accounts[1], "value": hex(1)})
        two.send({"to": two.accounts[2], "value": hex(1)})
        words = await Asked(one.url, two.url, chain=one.id, quorum=2).fault()
    assert words == "rpc: no 2 of 2 nodes agree on block 3"


async def test_a_real_node_that_dies_is_followed_by_another() -> None:
    with running() as second:
        with running() as first:
            asked = Asked(first.url, second.url, chain=first.id)
            await asked.read()
        second.mine()
        assert (await asked.read(head)).number == 1
