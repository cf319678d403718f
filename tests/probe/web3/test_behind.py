"""A reader that falls behind its chain reports so, and reports nothing more once it cannot catch up."""

import time
from collections.abc import Iterator
from dataclasses import replace

import orjson
import pytest

from shared.kinds.web3.bridge import BridgeSide
from shared.kinds.web3.contract_event import ContractEvent
from shared.kinds.web3.whale_wallet import WhaleWallet
from shared.results import Status
from tests.probe.web3.between import Between, between
from tests.probe.web3.chain import Chain, running
from tests.probe.web3.test_bridge import Pair
from tests.probe.web3.test_reader import BLOCK, narrow
from tests.probe.web3.watch import Watch
from tests.probe.web3.zoo import Zoo

pytestmark = pytest.mark.races

DAY = 86_400
# One check asks for so many ranges of blocks; here each is of one.
READS = 256


@pytest.fixture
def chain() -> Iterator[Chain]:
    """With a few hours to come until now."""
    with running(31337, "--timestamp", str(int(time.time()) - 30_000)) as chain:
        yield chain


@pytest.fixture
def provider(chain: Chain) -> Iterator[Between]:
    with between(chain) as provider:
        provider.twist = narrow(1, -32000, "block range too large")
        yield provider


def patient(kind: ContractEvent) -> ContractEvent:
    return replace(kind, max_block_age_seconds=DAY)


async def begun(chain: Chain, provider: Between) -> Zoo:
    zoo = Zoo(chain)
    zoo.watch.change(patient(zoo.kind(provider.url)))
    await zoo.watch.well()
    return zoo


def pass_on(chain: Chain, blocks: int, each_s: int) -> None:
    chain.rpc("anvil_mine", hex(blocks), hex(each_s))


async def test_that_reading_is_late_is_told_and_so_is_that_it_caught_up(
    chain: Chain, provider: Between
) -> None:
    zoo = await begun(chain, provider)
    pass_on(chain, READS + 100, 10)
    assert await zoo.watch.tells(lambda: None) == (["reading_behind"], [])
    answer = zoo.watch.said["reading_behind"]
    assert int(answer["current"]) >= int(answer["threshold"]) == 600
    assert "blocks are not read yet" in answer["message"]
    assert await zoo.watch.tells(lambda: None) == ([], ["reading_behind"])


async def test_reading_that_never_gets_there_says_nothing_but_tells_what_it_finds(
    chain: Chain, provider: Between
) -> None:
    zoo = await begun(chain, provider)
    zoo.ring(1)
    pass_on(chain, READS + 100, 40)
    await zoo.watch.well()
    zoo.ring(2)
    pass_on(chain, READS + 20, 40)
    outcome = await zoo.watch.look()
    assert outcome.status is Status.UNKNOWN
    assert "reading does not keep up" in outcome.error
    assert outcome.state is not None
    assert outcome.found
    await zoo.watch.well()
    assert zoo.watch.recovered == ["reading_behind"]


async def test_a_node_that_lacks_much_of_what_was_read_is_told(chain: Chain, provider: Between) -> None:
    zoo = await begun(chain, provider)
    pass_on(chain, 150, 1)
    await zoo.watch.well()
    old = chain.rpc(BLOCK, hex(chain.head - 120), False)
    provider.twist = lambda method, params, said: old if method == BLOCK and params[0] == "latest" else said
    assert await zoo.watch.tells(lambda: None) == (["chain_behind"], [])
    assert "120 blocks before the last that was read" in zoo.watch.said["chain_behind"]["message"]
    provider.twist = narrow(100, 0, "")
    assert await zoo.watch.tells(lambda: None) == ([], ["chain_behind"])


async def test_a_wallet_s_transfers_are_late_in_the_same_words(chain: Chain, provider: Between) -> None:
    token = chain.deploy("Coin", ["uint8"], [18])
    kind = WhaleWallet(
        chain=chain.id,
        rpc_url=[provider.url],
        address=chain.accounts[1],
        token=token,
        threshold="5",
        max_block_age_seconds=DAY,
    )
    watch = Watch("whale_wallet", kind)
    await watch.well()
    pass_on(chain, READS + 100, 10)
    await watch.well()
    assert "reading_behind" in watch.raised
    await watch.well()
    assert "reading_behind" in watch.recovered


async def test_of_a_bridge_is_said_which_end_is_late(chain: Chain, provider: Between) -> None:
    with running(31338) as there:
        pair = Pair(chain, there)
        kind = pair.kind(max_delay_seconds=DAY)
        slow = BridgeSide(chain=chain.id, rpc_url=provider.url, contract=pair.locker, token=pair.coin)
        watch = Watch("bridge", replace(kind, source=slow))
        await watch.well()
        pass_on(chain, READS + 100, 10)
        await watch.well()
        assert watch.raised == ["source_reading_behind"]
        assert orjson.loads(watch.kept.state)["raised"] == ["source_reading_behind"]
        await watch.well()
        assert "source_reading_behind" in watch.recovered
