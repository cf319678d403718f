"""The price of gas crosses a threshold once, and has come back once it is 5 % away from it."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.checks import prepare
from probe.checks._check import Kept
from probe.net.engine import Net
from probe.schedule.runner import run
from probe.web3.checkpoint import CheckpointState
from probe.web3.crossings import MeasuredValue, compare, plain, rounded
from shared.findings import Finding, Findings
from shared.kinds import load
from shared.results import Outcome, Status
from tests.probe.targets import target
from tests.probe.web3.chain import Chain, running
from tests.probe.web3.standin import GWEI, Facts, Moving, node


class Watch:
    """One monitor over its checks: *kept* is what its probe keeps between them."""

    def __init__(
        self, url: str | list[str], chain: int = 1, *, rpc_quorum: int = 1, **thresholds: Any
    ) -> None:
        self.config = {
            "chain": chain,
            "rpcUrl": url,
            "thresholds": thresholds,
            "rpcQuorum": rpc_quorum,
        }
        self.kept = Kept()
        self.restart()

    def restart(self, **thresholds: Any) -> None:
        """Another process goes on from what the collector has."""
        self.kept = Kept(self.kept.state)
        config = self.config | ({"thresholds": thresholds} if thresholds else {})
        self._check = prepare("gas_price", load("gas_price", config), self.kept)

    async def run(self) -> Outcome:
        net = Net()
        outcome = (await run(self._check, net, 5.0)).outcome
        net.close()
        if outcome.state is not None:
            self.kept.keep(outcome.state)
        return outcome

    async def found(self) -> list[tuple[Findings, str]]:
        outcome = await self.run()
        assert outcome.status is Status.UP, outcome.error
        return [(finding.found, finding.key) for finding in outcome.found]


RAISED, RECOVERED = Findings.RAISED, Findings.RECOVERED
HIGH, LOW = "high_gas", "low_gas"


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running(1) as made:
        yield made


async def test_a_real_chain_s_price_is_told_at_the_edges_and_nowhere_else(chain: Chain) -> None:
    price = Decimal(int(chain.rpc("eth_gasPrice"), 16)) / GWEI
    watch = Watch(chain.url, high=str(price * 3), low=str(price / 3))
    assert await watch.found() == [(RECOVERED, HIGH), (RECOVERED, LOW)]  # at first it says how all stands
    assert await watch.found() == []

    chain.rpc("anvil_setNextBlockBaseFeePerGas", hex(int(price * 20 * GWEI)))
    chain.mine()
    outcome = await watch.run()
    [raised] = outcome.found
    told = json.loads(raised.data)
    base = int(chain.rpc("eth_getBlockByNumber", "latest", False)["baseFeePerGas"], 16)
    assert (raised.found, raised.key) == (RAISED, HIGH)
    assert Decimal(told["current"]) * GWEI == int(chain.rpc("eth_gasPrice"), 16)
    assert Decimal(told["threshold"]) == price * 3
    assert told["unit"] == "gwei"
    assert f" at a base fee of {plain(rounded(Decimal(base) / GWEI))}; high is " in told["message"]
    assert outcome.status is Status.UP
    assert await watch.found() == []


async def test_it_is_told_again_only_after_it_had_come_back_by_5_percent() -> None:
    steps = ["50", "49.99", "50", "47.6", "60", "47.5", "47.6", "50"]
    told = [item async for item in walk(steps, high=50)]
    assert told == [RAISED, None, None, None, None, RECOVERED, None, RAISED]


async def test_a_low_price_is_told_and_has_come_back_5_percent_above_it() -> None:
    told = [item async for item in walk(["10.1", "10", "10.4", "9", "10.5", "10.4"], low=10)]
    assert told == [None, RAISED, None, None, RECOVERED, None]


async def walk(steps: list[str], **thresholds: Any) -> Any:
    """The result of each change of the price, after a first check."""
    prices = iter(["20", *steps])
    now = Moving(Facts())
    with target(node(now)) as server:
        watch = Watch(server.url, **thresholds)
        for at, price in enumerate(prices):
            now.facts = Facts(gas=int(Decimal(price) * GWEI))
            found = await watch.found()
            if at:
                yield found[0][0] if found else None


async def test_a_restart_tells_how_it_stands_and_forgets_nothing() -> None:
    now = Moving(Facts(gas=60 * GWEI))
    with target(node(now)) as server:
        watch = Watch(server.url, high=50)
        assert await watch.found() == [(RAISED, HIGH)]
        now.facts = Facts(gas=48 * GWEI)  # below, but not by 5 %
        watch.restart()
        assert await watch.found() == [(RAISED, HIGH)]
        assert await watch.found() == []
        now.facts = Facts(gas=47 * GWEI)
        assert await watch.found() == [(RECOVERED, HIGH)]


async def test_a_threshold_that_is_taken_away_has_come_back() -> None:
    with target(node(Facts(gas=60 * GWEI))) as server:
        watch = Watch(server.url, high=50, low=1)
        assert (RAISED, HIGH) in await watch.found()
        watch.restart(low=1)
        outcome = await watch.run()
        assert Finding(RECOVERED, HIGH, b"{}") in outcome.found
        assert await watch.found() == []


async def test_another_chain_s_price_says_nothing_of_this_one_s() -> None:
    with target(node(Facts(gas=60 * GWEI))) as dear, target(node(Facts(chain=5))) as cheap:
        watch = Watch(dear.url, high=50)
        assert await watch.found() == [(RAISED, HIGH)]
        watch.config |= {"chain": 5, "rpcUrl": cheap.url}
        watch.restart()
        assert await watch.found() == [(RECOVERED, HIGH)]


async def test_a_quorum_goes_by_the_price_in_the_middle() -> None:
    head = Facts().header(1000)
    with ExitStack() as stack:
        urls = [
            stack.enter_context(target(node(Facts(gas=gwei * GWEI, more={"eth_getBlockByNumber": head})))).url
            for gwei in (20, 21, 900)
        ]
        outcome = await Watch(urls, rpc_quorum=2, high=50).run()
    [finding] = outcome.found
    assert (finding.found, json.loads(finding.data)["current"]) == (RECOVERED, "21")


async def test_a_chain_without_a_base_fee_is_told_of_without_one() -> None:
    legacy = {name: value for name, value in Facts().header(1000).items() if name != "baseFeePerGas"}
    with target(node(Facts(more={"eth_getBlockByNumber": legacy}))) as server:
        [finding] = (await Watch(server.url, high=50).run()).found
    assert json.loads(finding.data)["message"] == "gas costs 20 gwei; high is 50 or more"


async def test_a_node_that_does_not_answer_is_down_and_moves_nothing() -> None:
    with target(node(Facts(gas=60 * GWEI))) as server:
        watch = Watch(server.url, high=50)
        await watch.found()
        before = watch.kept.state
    outcome = await watch.run()
    assert (outcome.status, outcome.found, watch.kept.state) == (Status.DOWN, (), before)


async def test_a_checkpoint_of_any_other_kind_is_none() -> None:
    for state in (
        b"",
        b"\xff",
        b"[]",
        b'{"raised": 5}',
        b'{"raised": [5, null]}',
        b'{"more": [], "raised": {}}',
    ):
        standing = CheckpointState(Kept(state), "x")
        assert not standing.raised
        assert not standing.more


def test_what_was_kept_counts_only_for_what_it_was_about() -> None:
    kept = Kept()
    state, _ = CheckpointState(kept, "event", 1, "0xa").settle([hot(7)], {"block": 5})
    assert state is not None
    kept.keep(state)
    assert CheckpointState(kept, "event", 1, "0xa").more == {"block": 5}
    other = CheckpointState(kept, "event", 1, "0xb")
    assert other.raised == {"hot"}
    assert not other.more


def hot(value: int) -> MeasuredValue:
    return MeasuredValue("hot", Decimal(value), Decimal(5), "", "it is hot")


def test_what_did_not_change_is_not_written_again() -> None:
    kept = Kept()
    standing = CheckpointState(kept, "x")
    state, findings = standing.settle([hot(7)])
    assert state is not None
    assert [finding.found for finding in findings] == [RAISED]
    kept.keep(state)
    assert standing.settle([hot(8)]) == (None, [])


def test_what_can_t_be_judged_stays_as_it_was() -> None:
    kept = Kept(b'{"raised": ["hot"]}')
    state, findings = CheckpointState(kept, "x").settle((), None, ["hot", "cold"])
    assert findings == []
    assert CheckpointState(Kept(state or b""), "x").raised == {"hot"}
    state, findings = CheckpointState(kept, "x").settle()
    assert findings == [Finding(RECOVERED, "hot", b"{}")]


@pytest.mark.parametrize(("above", "beyond"), [(True, 6), (False, 4)])
def test_where_a_limit_is_allowed_only_what_lies_beyond_it_crosses(above: bool, beyond: int) -> None:
    def crossed(value: int) -> bool:
        one = MeasuredValue("k", Decimal(value), Decimal(5), "", "", above=above, strict=True)
        return bool(compare(frozenset(), [one])[0])

    assert not crossed(5)
    assert crossed(beyond)


PRICES = st.integers(0, 2**64)
AMOUNTS = st.decimals(0, 10**9, places=6, allow_nan=False)


@given(st.lists(PRICES, max_size=30), AMOUNTS, st.booleans())
def test_edges_alternate_and_lie_where_whole_numbers_say(
    prices: list[int], threshold: Decimal, above: bool
) -> None:
    raised, wanted = frozenset[str](), False
    line = Fraction(threshold)
    back = line * (Fraction(19, 20) if above else Fraction(21, 20))
    for price in prices:
        value = Decimal(price).scaleb(-9)
        exact = Fraction(price, GWEI)
        crossed = exact >= line if above else exact <= line
        away = (exact <= back if above else exact >= back) if line else not crossed
        before, wanted = wanted, crossed or (wanted and not away)
        raised, findings = compare(raised, [MeasuredValue("k", value, threshold, "", "", above=above)])
        assert [finding.found for finding in findings] == (
            [RAISED if wanted else RECOVERED] if wanted != before else []
        )
        assert bool(raised) == wanted
