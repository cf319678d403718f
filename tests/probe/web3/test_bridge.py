"""Monitors of bridges, between two real chains with contracts of ours on each."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from probe.web3.events import keccak
from probe.web3.logs import TRANSFER
from shared.kinds.web3.bridge import Bridge, BridgeSide
from tests.probe.targets import shut_port
from tests.probe.web3.chain import Chain, running
from tests.probe.web3.watch import Watch

NONE: tuple[list[str], list[str]] = ([], [])
ONE = 10**18
MICRO = 10**6
EVENTS = {
    "deposit_event": "Sent(uint256 indexed id, address by, uint256 amount)",
    "delivery_event": "Delivered(uint256,address,uint256)",
}


@pytest.fixture(scope="module")
def chains() -> Iterator[tuple[Chain, Chain]]:
    with running(31337) as chain, running(31338) as other:
        yield chain, other


class Pair:
    """A bridge of its own: 18 decimals at the source, 6 at the destination; 1000 were bridged long ago."""

    def __init__(self, here: Chain, there: Chain) -> None:
        self.here, self.there = here, there
        self.coin = here.deploy("Coin", ["uint8"], [18])
        self.locker = here.deploy("Side", ["address"], [self.coin])
        self.twin = there.deploy("Coin", ["uint8"], [6])
        self.minter = there.deploy("Side", ["address"], [self.twin])
        self.user = here.accounts[1]
        here.call(self.coin, "mint(address,uint256)", self.user, 10**6 * ONE)
        self.lock(1000)
        self.deliver(1000)
        self.settle()

    def lock(self, amount: float, id_: int = 0) -> None:
        raw = int(amount * MICRO) * 10**12
        self.here.call(self.locker, "lock(uint256,address,uint256)", id_, self.user, raw)

    def deliver(self, amount: float, id_: int = 0) -> None:
        self.there.call(self.minter, "deliver(uint256,address,uint256)", id_, self.user, int(amount * MICRO))

    def lock_many(self, first: int, count: int, micro: int) -> None:
        signature = "lockMany(uint256,uint256,address,uint256)"
        self.here.call(self.locker, signature, first, count, self.user, micro * 10**12)

    def deliver_many(self, first: int, count: int, micro: int) -> None:
        signature = "deliverMany(uint256,uint256,address,uint256)"
        self.there.call(self.minter, signature, first, count, self.user, micro)

    def settle(self) -> None:
        """Both chains go on."""
        self.here.mine(2)
        self.there.mine(2)

    def age(self, seconds: int) -> None:
        """So long passes on both."""
        for chain in (self.here, self.there):
            chain.rpc("evm_increaseTime", seconds)
            chain.mine(2)

    def kind(self, **more: Any) -> Bridge:
        return Bridge(
            source=BridgeSide(chain=31337, rpc_url=self.here.url, contract=self.locker, token=self.coin),
            destination=BridgeSide(
                chain=31338, rpc_url=self.there.url, contract=self.minter, token=self.twin
            ),
            max_block_age_seconds=86_400,
            **more,
        )


@pytest.fixture
def pair(chains: tuple[Chain, Chain]) -> Iterator[Pair]:
    """As time passes in a test, both chains are set back after it."""
    marks = [(chain, chain.rpc("evm_snapshot")) for chain in chains]
    yield Pair(*chains)
    for chain, mark in marks:
        assert chain.rpc("evm_revert", mark)


async def test_the_topic_is_the_hash_of_what_it_stands_for() -> None:
    assert "0x" + keccak(b"Transfer(address,address,uint256)").hex() == TRANSFER


async def test_more_minted_than_locked_is_told_and_so_is_that_it_is_burnt(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind())
    await watch.well()
    assert watch.raised == []
    assert await watch.tells(lambda: pair.deliver(10)) == NONE  # exactly what is allowed

    assert await watch.tells(lambda: pair.deliver(0.000001)) == (["imbalance"], [])
    assert watch.said["imbalance"] == {
        "current": "1.0001",
        "threshold": "1",
        "unit": "%",
        "message": "1010.000001 is minted, but only 1000 locked: 1.0001 % more, 1 % are allowed",
    }
    watch.restart()
    pair.there.call(pair.twin, "burn(address,uint256)", pair.user, 5 * MICRO)
    await watch.well()
    assert "imbalance" in watch.recovered


async def test_more_locked_than_minted_is_told_too(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_imbalance_percent=5))
    await watch.well()

    assert await watch.tells(lambda: pair.lock(100)) == (["imbalance"], [])
    assert watch.said["imbalance"]["message"] == (
        "1100 is locked, and 1000 minted: 9.091 % less, 5 % are allowed"
    )
    assert await watch.tells(lambda: pair.deliver(100)) == ([], ["imbalance"])


async def test_money_minted_from_nothing_is_all_of_it(pair: Pair) -> None:
    pair.here.call(pair.coin, "move(address,address,uint256)", pair.locker, pair.user, 1000 * ONE)
    watch = Watch("bridge", pair.kind())

    await watch.well()

    assert watch.raised == ["imbalance"]
    assert watch.said["imbalance"]["current"] == "100"


async def test_either_side_paused_is_told(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind())
    await watch.well()

    def pause(chain: Chain, contract: str, *, flag: bool) -> None:
        chain.call(contract, "pause(bool)", flag)

    stop = await watch.tells(lambda: pause(pair.here, pair.locker, flag=True))
    assert stop == (["source_paused"], [])
    assert watch.said["source_paused"]["message"] == "the contract at the source is paused"
    stop = await watch.tells(lambda: pause(pair.there, pair.minter, flag=True))
    assert stop == (["destination_paused"], [])
    resumed = await watch.tells(lambda: pause(pair.here, pair.locker, flag=False))
    assert resumed == ([], ["source_paused"])


async def test_what_cannot_be_paused_is_not_paused(pair: Pair) -> None:
    plainer = pair.there.deploy("Plainer")
    kind = pair.kind()
    watch = Watch("bridge", replace(kind, destination=replace(kind.destination, contract=plainer)))

    await watch.well()

    assert watch.raised == []


@pytest.mark.parametrize("events", [{}, EVENTS], ids=["by amounts", "by ids"])
async def test_a_message_that_does_not_arrive_is_told_until_it_does(
    pair: Pair, events: dict[str, str]
) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=600, max_imbalance_percent=100, **events))
    await watch.well()
    pair.lock(5, 1)
    pair.lock(7, 2)
    pair.deliver(7, 2)
    pair.settle()
    await watch.well()
    assert watch.raised == []

    watch.restart()
    pair.age(700)
    await watch.well()
    assert watch.raised == ["message_delay"]
    answer = watch.said["message_delay"]
    assert (answer["threshold"], answer["unit"]) == ("600", "s")
    assert answer["message"].startswith("messages under way: 1, the oldest sent 70")
    watch.restart()
    pair.deliver(5, 1)
    pair.settle()
    await watch.well()
    assert "message_delay" in watch.recovered
    assert watch.said["message_delay"]["message"] == "messages under way: 0"


async def test_the_same_amounts_are_told_apart_by_ids(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=600, max_imbalance_percent=100, **EVENTS))
    await watch.well()
    pair.lock(5, 1)
    pair.age(500)
    pair.lock(5, 2)
    pair.deliver(5, 2)
    pair.age(200)

    await watch.well()

    assert watch.raised == ["message_delay"]


async def test_what_is_under_way_is_no_imbalance(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=3000))
    await watch.well()
    pair.lock(500)
    await watch.well()
    assert watch.raised == []
    pair.settle()
    await watch.well()
    assert watch.raised == []
    pair.deliver(500)
    await watch.well()
    assert watch.raised == []
    pair.settle()
    await watch.well()
    assert watch.raised == []

    pair.deliver(20)  # that nobody sent
    pair.settle()
    await watch.well()
    assert watch.raised == ["imbalance"]


async def test_a_delivery_that_is_seen_before_its_message_counts(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=600))
    await watch.well()
    pair.lock(5)
    pair.deliver(5)
    pair.there.mine(3)  # the source's block has no confirmation yet
    await watch.well()
    pair.age(700)

    await watch.well()

    assert watch.raised == []


async def test_an_hour_away_is_made_up_for_in_bounded_checks(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=600, max_imbalance_percent=0.05, **EVENTS))
    await watch.well()
    for first, count in ((1, 76), (77, 1), (78, 73)):
        pair.lock_many(first, count, MICRO)
        if first != 77:
            pair.deliver_many(first, count, MICRO)
    pair.here.mine(300)
    pair.there.mine(300)
    pair.age(700)

    raised = []
    for _ in range(8):
        await watch.well()
        raised += watch.raised
        assert len(watch.kept.state) < 65_536
        watch.restart()

    late = {"source_reading_behind", "destination_reading_behind"}
    assert set(raised) == {"message_delay", "imbalance", *late}
    assert "under way: 1," in watch.said["message_delay"]["message"]


async def test_more_messages_under_way_than_can_be_kept_are_all_heard_of(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=600, max_imbalance_percent=50, **EVENTS))
    await watch.well()
    for first in range(1, 601, 50):
        pair.lock_many(first, 50, 1)
    pair.age(700)
    raised = []
    for _ in range(6):
        await watch.well()
        raised += watch.raised
        assert len(watch.kept.state) < 65_536
    assert sorted(raised) == ["message_delay", "source_reading_behind"]

    for first in range(1, 601, 50):
        pair.deliver_many(first, 50, 1)
    pair.lock(1, 9999)
    pair.settle()
    for _ in range(30):
        await watch.well()
        assert len(watch.kept.state) < 65_536
    assert orjson.loads(watch.kept.state)["raised"] == []
    pair.age(700)
    await watch.well()

    assert watch.raised == ["message_delay"]
    assert "under way: 1," in watch.said["message_delay"]["message"]


async def test_dust_and_spam_are_no_messages(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=600))
    await watch.well()
    for raw in (0, 1, 10**12 - 1):
        pair.here.call(pair.locker, "lock(uint256,address,uint256)", 0, pair.user, raw)
    pair.age(700)

    await watch.well()

    assert watch.raised == []


async def test_a_fork_takes_a_delivery_back(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind(max_delay_seconds=600, max_imbalance_percent=100))
    await watch.well()
    pair.lock(5)
    pair.settle()
    await watch.well()
    mark = pair.there.rpc("evm_snapshot")
    pair.deliver(5)
    pair.settle()
    await watch.well()
    assert orjson.loads(watch.kept.state)["more"]["delivered"]

    pair.there.rpc("evm_revert", mark)
    pair.there.mine(8)
    pair.age(700)
    await watch.well()
    await watch.well()

    assert orjson.loads(watch.kept.state)["more"]["delivered"] == []
    assert "message_delay" in orjson.loads(watch.kept.state)["raised"]


async def test_another_contract_has_other_messages(pair: Pair) -> None:
    kind = pair.kind(max_delay_seconds=600)
    watch = Watch("bridge", kind)
    await watch.well()
    pair.lock(5)
    pair.age(700)
    await watch.well()
    assert watch.raised == ["message_delay"]

    other = pair.here.deploy("Side", ["address"], [pair.coin])
    watch.change(replace(kind, source=replace(kind.source, contract=other)))
    await watch.well()

    assert "message_delay" in watch.recovered


async def test_without_a_delay_to_hold_it_to_nothing_is_kept(pair: Pair) -> None:
    watch = Watch("bridge", pair.kind())

    await watch.well()

    assert orjson.loads(watch.kept.state)["more"] == {}


async def test_an_error_says_at_which_end(pair: Pair) -> None:
    kind = pair.kind()
    with shut_port() as port:
        gone = replace(kind.destination, rpc_url=f"http://127.0.0.1:{port}/key-of-somebody")
        error = await Watch("bridge", replace(kind, destination=gone)).fault()
        assert error == f"destination: connect: refused by 127.0.0.1:{port}"

    wrong = replace(kind.source, chain=31338)
    error = await Watch("bridge", replace(kind, source=wrong)).fault()
    assert error == "source: rpc: 127.0.0.1 is on chain 31337, expected 31338"

    nothing = replace(kind.source, token="0x" + "77" * 20)
    error = await Watch("bridge", replace(kind, source=nothing)).fault()
    assert "there is no such contract" in error


async def test_nodes_that_see_the_same_agree_also_on_messages(pair: Pair) -> None:
    kind = pair.kind(max_delay_seconds=600, rpc_quorum=2)
    sides = [
        replace(side, rpc_url=[side.rpc_url, side.rpc_url.replace("127.0.0.1", "localhost")])
        for side in (kind.source, kind.destination)
        if isinstance(side.rpc_url, str)
    ]
    watch = Watch("bridge", replace(kind, source=sides[0], destination=sides[1]))
    await watch.well()
    pair.lock(5)
    pair.age(700)

    await watch.well()

    assert watch.raised == ["message_delay"]


async def test_an_event_without_an_id_is_an_error_of_the_check(pair: Pair) -> None:
    plainer = pair.here.deploy("Plainer")
    kind = pair.kind(max_delay_seconds=600, **EVENTS)
    side = replace(kind.source, contract=plainer)
    watch = Watch("bridge", replace(kind, source=side, deposit_event="Sent(bytes32 indexed,uint256)"))
    await watch.well()
    pair.here.call(plainer, "send(bytes32,uint256)", b"\1" * 32, 5)
    pair.settle()

    assert "Sent: has logs without an id as the first argument" in await watch.fault()

    watch.change(replace(watch.kind, deposit_event="Sent(bytes32,uint256)"))
    await watch.well()
    pair.here.call(plainer, "send(bytes32,uint256)", b"\2" * 32, 5)
    pair.age(700)
    await watch.well()
    assert watch.raised == ["message_delay"]


@pytest.mark.parametrize(
    ("deposit", "delivery", "keys"),
    [
        pytest.param(None, None, set(), id="by amounts"),
        pytest.param("Sent(uint256)", "Delivered(bytes32)", set(), id="by ids"),
        pytest.param("Sent(uint256)", None, {"deliveryEvent"}, id="one event alone"),
        pytest.param(None, "Delivered(uint256)", {"depositEvent"}, id="the other alone"),
        pytest.param("Sent", "Delivered(uint256)", {"depositEvent"}, id="no signature"),
        pytest.param("Sent(string)", "Delivered()", {"depositEvent", "deliveryEvent"}, id="no ids"),
        pytest.param("Sent(uint256) anonymous", "D(uint256)", {"depositEvent"}, id="anonymous"),
    ],
)
def test_events_that_name_no_messages_are_refused(
    deposit: str | None, delivery: str | None, keys: set[str]
) -> None:
    side = BridgeSide(chain="ethereum", contract="0x" + "11" * 20, token="0x" + "22" * 20)

    kind = Bridge(source=side, destination=side, deposit_event=deposit, delivery_event=delivery)

    assert set(kind.faults()) == keys
