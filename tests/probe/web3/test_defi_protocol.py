"""Monitors of protocols, against vaults, tokens and price feeds of ours on a real node."""

import operator
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from probe.web3 import defi_protocol, views, windows
from probe.web3.events import keccak
from probe.web3.rpc import Refusal
from shared.kinds.web3.defi_protocol import DefiProtocol
from tests.probe.web3.chain import Chain, calldata
from tests.probe.web3.watch import Watch

NONE: tuple[list[str], list[str]] = ([], [])
USD = 10**8
NOBODY = "0x" + "77" * 20


def kind(chain: Chain, **more: Any) -> DefiProtocol:
    return DefiProtocol(chain=chain.id, rpc_url=more.pop("rpc_url", chain.url), **more)


class Holding:
    """A vault, and what lies in it: of a token with *digits* decimals."""

    def __init__(self, chain: Chain, digits: int = 6) -> None:
        self.chain = chain
        self.coin = chain.deploy("Coin", ["uint8"], [digits])
        self.vault = chain.deploy("Vault", ["address"], [self.coin])

    def put(self, raw: int) -> None:
        self.chain.call(self.coin, "mint(address,uint256)", self.vault, raw)

    def take(self, raw: int) -> None:
        self.chain.call(self.coin, "burn(address,uint256)", self.vault, raw)

    def pause(self, *, flag: bool) -> None:
        self.chain.call(self.vault, "pause(bool)", flag)


class Feed:
    """A price feed with 8 decimals that begins with a price of *first* dollars."""

    def __init__(self, chain: Chain, first: int = 3000) -> None:
        self.chain = chain
        self.address = chain.deploy("Feed", ["uint8", "int256"], [8, first * USD])

    def set(self, raw: int) -> None:
        tell(self.chain, self.address, "set(int256)", raw)

    def age(self, seconds: int) -> None:
        tell(self.chain, self.address, "age(uint256)", seconds)


def tell(chain: Chain, feed: str, signature: str, *values: int) -> None:
    """With gas enough: what it costs depends on the second in which it gets into a block."""
    chain.send({"to": feed, "data": calldata(signature, values), "gas": hex(500_000)})


def test_selectors_are_the_hashes_of_what_they_stand_for() -> None:
    signatures = {
        "totalAssets()": defi_protocol._ASSETS,
        "asset()": defi_protocol._ASSET,
        "balanceOf(address)": views._BALANCE_OF,
        "decimals()": views._DECIMALS,
        "totalSupply()": views._TOTAL_SUPPLY,
        "paused()": views._PAUSED,
        "latestRoundData()": views._LATEST_ROUND,
    }

    assert {text: "0x" + keccak(text.encode())[:4].hex() for text in signatures} == signatures


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("0x", True, id="no code, or a fallback without words"),
        pytest.param(Refusal(3, "execution reverted"), True, id="reverted"),
        pytest.param(Refusal(-32000, "Execution Reverted"), True, id="reverted, by another code"),
        pytest.param(Refusal(-32000, "invalid opcode: INVALID"), True, id="of an old compiler"),
        pytest.param(Refusal(-32000, "header not found"), False, id="the node's own trouble"),
        pytest.param("0x" + "0" * 64, False, id="an answer"),
    ],
)
def test_what_a_contract_has_no_function_for_is_told_from_a_node_in_trouble(
    answer: object, *, expected: bool
) -> None:
    assert views.missing(answer) is expected


@pytest.mark.parametrize("by_token", [False, True])
async def test_too_little_locked_is_told_to_the_last_unit_of_the_token(
    chain: Chain, *, by_token: bool
) -> None:
    holding = Holding(chain)
    holding.put(1000 * 10**6)
    token = holding.coin if by_token else None
    watch = Watch("defi_protocol", kind(chain, contract=holding.vault, token=token, min_tvl=1000))
    await watch.well()
    assert watch.raised == []

    assert await watch.tells(lambda: holding.take(1)) == (["low_tvl"], [])
    assert watch.said["low_tvl"] == {
        "current": "999.999999",
        "threshold": "1000",
        "unit": "",
        "message": "999.999999 is locked, at least 1000 is wanted",
    }
    assert await watch.tells(lambda: holding.put(10**6)) == NONE  # 1000.999999: not yet a percent above
    assert await watch.tells(lambda: holding.put(10**7)) == ([], ["low_tvl"])


async def test_amounts_beyond_any_float_are_exact(chain: Chain) -> None:
    holding = Holding(chain, 18)
    whole = 123_456_789_012_345_678_901
    holding.put(whole * 10**18)
    watch = Watch("defi_protocol", kind(chain, contract=holding.vault, min_tvl=str(whole)))
    await watch.well()
    assert watch.raised == []

    assert await watch.tells(lambda: holding.take(1)) == (["low_tvl"], [])
    assert watch.said["low_tvl"]["current"] == f"{whole - 1}.999999999999999999"


async def test_a_drop_within_the_window_is_told_also_after_a_restart(chain: Chain) -> None:
    holding = Holding(chain)
    holding.put(1000 * 10**6)
    watch = Watch("defi_protocol", kind(chain, contract=holding.vault, tvl_drop_percent=20))
    await watch.well()
    assert await watch.tells(lambda: holding.take(199_999_999)) == NONE

    watch.restart()
    holding.take(1)
    await watch.well()
    assert watch.raised == ["tvl_drop"]
    answer = watch.said["tvl_drop"]
    assert (answer["current"], answer["threshold"], answer["unit"]) == ("20", "20", "%")
    assert answer["message"] == "20 % less is locked than at the most within 60 min: 800, after 1000"


async def test_a_slow_decline_is_no_drop(chain: Chain) -> None:
    holding = Holding(chain)
    holding.put(1000 * 10**6)
    config = kind(chain, contract=holding.vault, tvl_drop_percent=20, window_minutes=10)
    watch = Watch("defi_protocol", config)
    for _ in range(6):
        chain.rpc("evm_increaseTime", 400)
        assert (await watch.tells(lambda: holding.take(60 * 10**6)))[0] == []

    assert (await watch.tells(lambda: holding.take(200 * 10**6)))[0] == ["tvl_drop"]
    chain.rpc("evm_increaseTime", 700)
    assert await watch.tells(chain.mine) == ([], ["tvl_drop"])


async def test_another_contract_has_another_past(chain: Chain) -> None:
    rich, poor = Holding(chain), Holding(chain)
    rich.put(1000 * 10**6)
    poor.put(10 * 10**6)
    before = kind(chain, contract=rich.vault, tvl_drop_percent=20)
    watch = Watch("defi_protocol", before)
    await watch.well()

    watch.change(replace(before, contract=poor.vault))
    await watch.well()

    assert watch.raised == []


async def test_an_oracle_that_stands_still_is_told_by_the_time_of_the_chain(chain: Chain) -> None:
    feed = Feed(chain)
    watch = Watch("defi_protocol", kind(chain, oracle=feed.address, max_oracle_age_seconds=3600))
    await watch.well()
    assert watch.raised == []

    assert await watch.tells(lambda: feed.age(7200)) == (["stale_oracle"], [])
    answer = watch.said["stale_oracle"]
    assert (answer["current"], answer["threshold"], answer["unit"]) == ("7200", "3600", "s")
    assert await watch.tells(lambda: feed.set(3000 * USD)) == ([], ["stale_oracle"])


async def test_an_answer_that_is_no_price_is_told(chain: Chain) -> None:
    feed = Feed(chain)
    watch = Watch("defi_protocol", kind(chain, oracle=feed.address))
    await watch.well()
    assert watch.raised == []

    assert await watch.tells(lambda: feed.set(0)) == (["bad_oracle"], [])
    assert watch.said["bad_oracle"]["message"] == "the oracle answers 0 as its price"
    assert await watch.tells(lambda: feed.set(-1)) == NONE
    assert await watch.tells(lambda: feed.set(1)) == ([], ["bad_oracle"])
    begin = partial(tell, chain, feed.address, "begin()")
    assert await watch.tells(begin) == (["bad_oracle"], [])
    assert watch.said["bad_oracle"]["message"] == "the oracle has no answer of its last round"


async def test_a_price_is_held_against_the_one_that_is_expected(chain: Chain) -> None:
    feed = Feed(chain, 1)
    config = kind(chain, oracle=feed.address, max_price_deviation_percent=2, expected_price="1")
    watch = Watch("defi_protocol", config)
    await watch.well()
    assert await watch.tells(lambda: feed.set(98_000_000)) == NONE

    assert await watch.tells(lambda: feed.set(97_999_999)) == (["price_deviation"], [])
    answer = watch.said["price_deviation"]
    assert (answer["current"], answer["message"]) == (
        "2.0001",
        "the price is 0.97999999, 2.0001 % off 1: 2 % are allowed",
    )
    assert await watch.tells(lambda: feed.set(98_050_000)) == NONE
    assert await watch.tells(lambda: feed.set(101_000_000)) == ([], ["price_deviation"])


async def test_a_price_is_held_against_another_feed_whatever_its_decimals(chain: Chain) -> None:
    feed = Feed(chain, 3000)
    other = chain.deploy("Feed", ["uint8", "int256"], [18, 3000 * 10**18])
    config = kind(chain, oracle=feed.address, max_price_deviation_percent=5, reference=other)
    watch = Watch("defi_protocol", config)
    await watch.well()
    assert watch.raised == []

    def move(dollars: int) -> None:
        tell(chain, other, "set(int256)", dollars * 10**18)

    assert await watch.tells(lambda: move(3300)) == (["price_deviation"], [])
    assert await watch.tells(lambda: move(0)) == (["bad_oracle"], [])  # nothing to hold it against
    assert await watch.tells(lambda: move(3010)) == ([], ["bad_oracle", "price_deviation"])


@pytest.mark.parametrize("dollars", [2600, 3400])
async def test_without_another_price_it_is_held_against_its_own_of_the_window(
    chain: Chain, dollars: int
) -> None:
    feed = Feed(chain, 3000)
    limits = {"max_price_deviation_percent": 10.0, "window_minutes": 10}
    watch = Watch("defi_protocol", kind(chain, oracle=feed.address, **limits))
    await watch.well()
    assert await watch.tells(lambda: feed.set((3000 + dollars) // 2 * USD)) == NONE

    watch.restart()
    feed.set(dollars * USD)
    await watch.well()
    assert watch.raised == ["price_deviation"]
    chain.rpc("evm_increaseTime", 700)
    assert await watch.tells(chain.mine) == ([], ["price_deviation"])


async def test_a_dead_feed_leaves_a_deviation_as_it_was(chain: Chain) -> None:
    feed = Feed(chain, 3000)
    config = kind(chain, oracle=feed.address, max_price_deviation_percent=2, expected_price=3100)
    watch = Watch("defi_protocol", config)
    await watch.well()
    assert watch.raised == ["price_deviation"]

    assert await watch.tells(lambda: feed.set(0)) == (["bad_oracle"], [])
    assert await watch.tells(lambda: feed.set(3100 * USD)) == ([], ["bad_oracle", "price_deviation"])


async def test_a_pause_is_told_and_so_is_its_end(chain: Chain) -> None:
    holding = Holding(chain)
    watch = Watch("defi_protocol", kind(chain, contract=holding.vault, paused_check=True))
    await watch.well()

    assert await watch.tells(lambda: holding.pause(flag=True)) == (["paused"], [])
    assert watch.said["paused"]["message"] == "the contract is paused"
    watch.restart()
    assert await watch.tells(lambda: holding.pause(flag=False)) == ([], ["paused"])


async def test_a_threshold_that_is_taken_away_lets_go(chain: Chain) -> None:
    holding = Holding(chain)
    config = kind(chain, contract=holding.vault, min_tvl=1, paused_check=True)
    watch = Watch("defi_protocol", config)
    await watch.well()
    assert watch.raised == ["low_tvl"]

    watch.change(replace(config, min_tvl=None))
    await watch.well()

    assert "low_tvl" in watch.recovered
    assert watch.said["low_tvl"] == {}


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        pytest.param("Odd", {"min_tvl": 1}, "token must say what is held there", id="no vault"),
        pytest.param("Odd", {"paused_check": True}, "paused(): execution reverted", id="no pause"),
        pytest.param(None, {"min_tvl": 1}, "token must say what is held there", id="no contract"),
        pytest.param(None, {"paused_check": True}, "there is no such contract", id="nothing to pause"),
        pytest.param(
            None, {"min_tvl": 1, "token": NOBODY}, "balanceOf(): there is no such contract", id="no token"
        ),
        pytest.param(
            None, {"oracle": NOBODY}, "latestRoundData(): there is no such contract", id="no oracle"
        ),
    ],
)
async def test_what_cannot_be_asked_is_an_error_of_the_check(
    chain: Chain, name: str | None, asked: dict[str, Any], words: str
) -> None:
    contract = chain.deploy(name) if name else NOBODY

    error = await Watch("defi_protocol", kind(chain, contract=contract, **asked)).fault()

    assert words in error


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(b"\xff" * 32, "asset(): answers no address", id="an asset that is no address"),
        pytest.param(b"\0" * 31 + b"\1", "decimals()", id="an asset without decimals"),
        pytest.param(b"\1", "answers too little", id="too little"),
    ],
)
async def test_garbage_is_an_error_of_the_check(chain: Chain, answer: bytes, words: str) -> None:
    odd = chain.deploy("Odd")
    chain.call(odd, "set(bytes)", answer)

    assert words in await Watch("defi_protocol", kind(chain, contract=odd, min_tvl=1)).fault()


async def test_more_decimals_than_anything_has_are_an_error_of_the_check(chain: Chain) -> None:
    feed = chain.deploy("Feed", ["uint8", "int256"], [255, 1])

    assert "decimals(): answers 255" in await Watch("defi_protocol", kind(chain, oracle=feed)).fault()


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        pytest.param({}, {"config"}, id="it asks for nothing"),
        pytest.param({"min_tvl": 1}, {"contract"}, id="a TVL of nothing"),
        pytest.param({"paused_check": True}, {"contract"}, id="a pause of nothing"),
        pytest.param({"max_oracle_age_seconds": 60}, {"oracle"}, id="the age of no oracle"),
        pytest.param({"max_price_deviation_percent": 1}, {"oracle"}, id="the price of no oracle"),
        pytest.param({"oracle": NOBODY, "expected_price": 0}, {"expectedPrice"}, id="no price to expect"),
        pytest.param(
            {"oracle": NOBODY, "expected_price": 1, "reference": NOBODY}, {"reference"}, id="two references"
        ),
        pytest.param({"oracle": NOBODY, "max_price_deviation_percent": 1}, set(), id="an oracle by itself"),
        pytest.param({"contract": NOBODY, "tvl_drop_percent": 5}, set(), id="a drop"),
        pytest.param(
            {"oracle": NOBODY, "max_price_deviation_percent": 0, "expected_price": 1},
            set(),
            id="no change at all",
        ),
    ],
)
def test_what_fits_together(given: dict[str, Any], keys: set[str]) -> None:
    assert set(DefiProtocol(chain="ethereum", **given).faults()) == keys


def test_a_window_keeps_few_points_and_forgets_no_extreme() -> None:
    values = [Decimal((at * 7919) % 1000) for at in range(5000)]
    points: list[windows.Point] = []
    for at, value in enumerate(values):
        points = windows.remember(points, (at * 10, value), 3600, operator.gt)
        points = windows.of(windows.plain(points))
        within = values[max(at - 359, 0) : at + 1]
        # The window's end is exact to one part of so many.
        sharp = values[max(at - 359 + 360 // windows.MOST_POINTS, 0) : at + 1]
        assert max(sharp) <= points[0][1] <= max(*within, *values[max(at - 360, 0) : at + 1])
        assert len(points) <= windows.MOST_POINTS + 1


@pytest.mark.parametrize("kept", [None, 7, {}, [1], [["a", "1"]], [[1, "x"]], [[1, "1", 2]], [[1, "NaN"]]])
def test_a_past_of_another_shape_is_none(kept: Any) -> None:
    assert windows.of(kept) == []
