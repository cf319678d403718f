"""Liquidation monitors, against pools and comets of ours on a real node."""

from dataclasses import replace
from typing import Any

import pytest

from probe.web3 import liquidation
from probe.web3.events import keccak
from shared.kinds.web3.liquidation import Liquidation
from tests.probe.targets import Behaviour, target
from tests.probe.web3.chain import ETHER, Chain
from tests.probe.web3.standin import Facts, node
from tests.probe.web3.watch import Watch

USD = 10**8
Told = tuple[list[str], list[str]]
NONE: Told = ([], [])
RAISED: Told = (["low_health_factor"], [])
RECOVERED: Told = ([], ["low_health_factor"])
FEED = "0x" + "f1" * 20
OTHER_FEED = "0x" + "f2" * 20
BASE_FEED = "0x" + "00" * 18 + "beef"
WETH = "0x" + "a1" * 20
WBTC = "0x" + "a2" * 20


def aave(chain: Chain, pool: str, **more: Any) -> Liquidation:
    return Liquidation(
        chain=chain.id,
        rpc_url=more.pop("rpc_url", chain.url),
        protocol="aave_v3",
        pool=pool,
        address=chain.accounts[0],
        **{"min_health_factor": "1.1", **more},
    )


class Position:
    """The first account's, in a pool of Aave's shape."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.pool = chain.deploy("Pool")

    def set(self, collateral: int, debt: int, percent: int = 80) -> None:
        self.chain.call(
            self.pool,
            "set(address,uint256,uint256,uint256)",
            self.chain.accounts[0],
            collateral * USD,
            debt * USD,
            percent * 100,
        )


def test_selectors_are_the_hashes_of_what_they_stand_for() -> None:
    signatures = {
        "getUserAccountData(address)": liquidation._ACCOUNT,
        "numAssets()": liquidation._ASSETS,
        "getAssetInfo(uint8)": liquidation._ASSET,
        "collateralBalanceOf(address,address)": liquidation._COLLATERAL,
        "borrowBalanceOf(address)": liquidation._DEBT,
        "getPrice(address)": liquidation._PRICE,
        "baseTokenPriceFeed()": liquidation._BASE_FEED,
        "baseScale()": liquidation._BASE_SCALE,
    }

    assert {text: "0x" + keccak(text.encode())[:4].hex() for text in signatures} == signatures


async def test_a_falling_health_factor_is_told_once_and_so_is_that_it_is_over(chain: Chain) -> None:
    position = Position(chain)
    watch = Watch("liquidation", aave(chain, position.pool))
    position.set(3000, 1000)
    await watch.well()
    assert watch.raised == []

    assert await watch.tells(lambda: position.set(1360, 1000)) == RAISED
    assert watch.said["low_health_factor"] == {
        "current": "1.088",
        "threshold": "1.1",
        "unit": "",
        "message": "the health factor is 1.088, at least 1.1 is wanted",
    }
    assert await watch.tells(lambda: position.set(1200, 1000)) == NONE
    assert await watch.tells(lambda: position.set(1380, 1000)) == NONE  # 1.104: not yet a percent above
    assert await watch.tells(lambda: position.set(1400, 1000)) == RECOVERED


async def test_exactly_the_least_is_enough_and_a_part_in_a_trillion_less_is_not(chain: Chain) -> None:
    pool = chain.deploy("Pool")
    watch = Watch("liquidation", aave(chain, pool))

    def owe(debt: int) -> None:
        owner = chain.accounts[0]
        chain.call(pool, "set(address,uint256,uint256,uint256)", owner, 11 * 10**20, debt, 10_000)

    owe(10**21)
    await watch.well()
    assert watch.raised == []

    assert await watch.tells(lambda: owe(10**21 + 1)) == RAISED
    assert watch.said["low_health_factor"]["current"] == "1.099999999999999999"
    assert "is 1.0999," in watch.said["low_health_factor"]["message"]


async def test_without_any_debt_there_is_nothing_to_fear(chain: Chain) -> None:
    position = Position(chain)
    watch = Watch("liquidation", aave(chain, position.pool))
    position.set(1000, 1000)
    await watch.well()
    assert watch.raised == ["low_health_factor"]

    assert await watch.tells(lambda: position.set(1000, 0)) == RECOVERED
    answer = watch.said["low_health_factor"]
    assert answer["message"] == "there is no debt"
    assert answer["current"].replace(".", "") == str(2**256 - 1)


async def test_a_restart_tells_a_crossing_of_before_as_what_it_is(chain: Chain) -> None:
    position = Position(chain)
    watch = Watch("liquidation", aave(chain, position.pool))
    position.set(1000, 1000)
    await watch.well()

    watch.restart()
    position.set(1380, 1000)  # within the way back: still raised, told anew
    await watch.well()
    assert watch.raised == ["low_health_factor"]
    watch.restart()
    assert await watch.tells(lambda: position.set(2000, 1000)) == RECOVERED


async def test_another_threshold_is_held_against_what_was_raised(chain: Chain) -> None:
    position = Position(chain)
    watch = Watch("liquidation", aave(chain, position.pool))
    position.set(1300, 1000)  # 1.04
    await watch.well()

    watch.change(replace(aave(chain, position.pool), min_health_factor="1.01"))
    await watch.well()
    assert watch.recovered == ["low_health_factor"]


class Loan:
    """The first account's, at a comet of ours: what Comet itself reckons is asked of it too."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.comet = chain.deploy("Comet")
        self.owner = chain.accounts[0]
        self.price(BASE_FEED, USD)
        self.list(WETH, FEED, ETHER, 90)
        self.list(WBTC, OTHER_FEED, 10**8, 75)

    def list(self, asset: str, feed: str, scale: int, percent: int) -> None:
        self.chain.call(
            self.comet, "list(address,address,uint64,uint64)", asset, feed, scale, percent * 10**16
        )

    def price(self, feed: str, value: int) -> None:
        self.chain.call(self.comet, "price(address,uint256)", feed, value)

    def put(self, asset: str, amount: int) -> None:
        self.chain.call(self.comet, "put(address,address,uint128)", self.owner, asset, amount)

    def owe(self, amount: int) -> None:
        self.chain.call(self.comet, "owe(address,uint256)", self.owner, amount)

    @property
    def kind(self) -> Liquidation:
        return replace(aave(self.chain, self.comet, min_health_factor=1), protocol="compound_v3")

    @property
    def liquidatable(self) -> bool:
        data = "0x" + (keccak(b"isLiquidatable(address)")[:4] + bytes(12)).hex() + self.owner[2:]
        return int(self.chain.rpc("eth_call", {"to": self.comet, "data": data}, "latest"), 16) == 1


async def test_a_loan_of_several_collaterals_is_in_danger_where_comet_says_so(chain: Chain) -> None:
    loan = Loan(chain)
    watch = Watch("liquidation", loan.kind)
    loan.price(FEED, 3000 * USD)
    loan.price(OTHER_FEED, 60_000 * USD)
    loan.put(WETH, 2 * ETHER)
    loan.put(WBTC, 10**7)  # 0.1
    loan.owe(9_900 * 10**6)  # against 2 * 3000 * 0.9 + 6000 * 0.75 = 9,900
    await watch.well()
    assert (watch.raised, loan.liquidatable) == ([], False)

    assert await watch.tells(lambda: loan.owe(9_900 * 10**6 + 1)) == RAISED
    assert loan.liquidatable
    assert watch.said["low_health_factor"]["current"].startswith("0.99999999")

    assert await watch.tells(lambda: loan.owe(0)) == RECOVERED


async def test_collateral_that_is_not_there_needs_no_price(chain: Chain) -> None:
    loan = Loan(chain)
    loan.price(FEED, 3000 * USD)
    loan.put(WETH, ETHER)
    loan.owe(1000 * 10**6)

    await Watch("liquidation", loan.kind).well()


async def test_a_collateral_without_price_is_an_error_of_the_check(chain: Chain) -> None:
    loan = Loan(chain)
    loan.put(WETH, ETHER)
    loan.owe(1000 * 10**6)

    assert "getPrice(): execution reverted: BadPrice" in await Watch("liquidation", loan.kind).fault()


@pytest.mark.parametrize("protocol", ["aave_v3", "compound_v3"])
async def test_no_contract_there_is_an_error_of_the_check(chain: Chain, protocol: Any) -> None:
    kind = replace(aave(chain, "0x" + "77" * 20), protocol=protocol)

    assert "there is no such contract" in await Watch("liquidation", kind).fault()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(b"", "execution reverted: none of your business", id="it reverts"),
        pytest.param(b"\1" * 40, "answers too little", id="it answers too little"),
    ],
)
async def test_what_is_no_pool_is_an_error_of_the_check(chain: Chain, answer: bytes, words: str) -> None:
    odd = chain.deploy("Odd")
    chain.call(odd, "set(bytes)", answer)
    chain.call(odd, "set(bytes)", answer)

    error = await Watch("liquidation", aave(chain, odd)).fault()

    assert words in error
    assert "getUserAccountData()" in error


async def test_garbage_from_what_is_no_comet_is_an_error_of_the_check(chain: Chain) -> None:
    odd = chain.deploy("Odd")
    kind = replace(aave(chain, odd), protocol="compound_v3")
    chain.call(odd, "set(bytes)", b"\xff" * 512)

    assert "what no Comet does" in await Watch("liquidation", kind).fault()


async def test_after_a_fault_it_goes_on_from_what_was_raised(chain: Chain) -> None:
    position = Position(chain)
    watch = Watch("liquidation", aave(chain, position.pool))
    position.set(1000, 1000)
    await watch.well()
    code = chain.rpc("eth_getCode", position.pool, "latest")
    chain.rpc("anvil_setCode", position.pool, "0x")
    await watch.fault()
    chain.rpc("anvil_setCode", position.pool, code)

    assert await watch.tells(lambda: None) == NONE
    assert await watch.tells(lambda: position.set(3000, 1000)) == RECOVERED


async def test_a_reorg_that_takes_the_repayment_back_raises_it_again(chain: Chain) -> None:
    position = Position(chain)
    watch = Watch("liquidation", aave(chain, position.pool))
    position.set(1000, 1000)
    await watch.well()
    before = chain.rpc("evm_snapshot")
    assert await watch.tells(lambda: position.set(3000, 1000)) == RECOVERED

    assert await watch.tells(lambda: chain.rpc("evm_revert", before)) == RAISED


def says(factor: int) -> Behaviour:
    """A node on whose chain the health factor is that."""
    return node(Facts(more={"eth_call": "0x" + f"{factor:064x}" * 6}))


async def test_one_that_lies_among_three_nodes_is_not_believed() -> None:
    with target(says(ETHER)) as liar, target(says(2 * ETHER)) as one, target(says(2 * ETHER)) as other:
        kind = Liquidation(
            chain=1,
            rpc_url=[liar.url, one.url, other.url],
            protocol="aave_v3",
            pool=FEED,
            address=WETH,
            rpc_quorum=2,
        )
        watch = Watch("liquidation", kind)
        await watch.well()
        assert watch.raised == []

        watch.change(replace(kind, rpc_url=[liar.url, one.url]))
        assert "no 2 of 2 nodes agree" in await watch.fault()


@pytest.mark.parametrize("least", [0, "0", "1000001", "1e30"])
def test_a_least_that_no_position_has_is_refused(least: Any) -> None:
    kind = Liquidation(chain="ethereum", protocol="aave_v3", pool=FEED, address=WETH, min_health_factor=least)

    assert set(kind.faults()) == {"minHealthFactor"}
