"""Reading a chain by ranges of blocks: nothing is missed or reported twice, whatever chain and nodes do."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from probe.checks._check import Kept
from probe.web3.agreement import agreed
from probe.web3.reader import Cursor, Step
from shared.findings import Findings
from tests.probe.web3.between import Refused, between
from tests.probe.web3.chain import Chain, calldata, running
from tests.probe.web3.zoo import Zoo

pytestmark = pytest.mark.races

LOGS = "eth_getLogs"
BLOCK = "eth_getBlockByNumber"


def narrow(most: int, code: int, words: str) -> Callable[[str, list[Any], Any], Any]:
    """A provider that gives so many blocks at once."""

    def twist(method: str, params: list[Any], said: Any) -> Any:
        if method == LOGS and span(params) > most:
            raise Refused(code, words)
        return said

    return twist


def span(params: list[Any]) -> int:
    return int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) + 1


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (-32005, "query returned more than 10000 results"),
        (-32602, "Log response size exceeded. You can make eth_getLogs requests with up to a 10 block range"),
        (-32000, "block range too large"),
        (-32701, "exceed maximum block range: 10"),
        (-32005, "limit exceeded"),
        (35, "ranges over 10 blocks are not supported on freetier"),
    ],
)
async def test_a_range_that_a_node_refuses_is_halved(chain: Chain, zoo: Zoo, code: int, words: str) -> None:
    with between(chain) as provider:
        provider.twist = narrow(10, code, words)
        zoo.watch.change(zoo.kind(provider.url))
        for number in range(5):
            zoo.ring(number)
            chain.mine(30)
        assert await zoo.check() == ["0", "1", "2", "3", "4"]
        refused = sum(method == LOGS and span(params) > 10 for method, params in provider.asked)
        assert refused <= 8
    zoo.settled()


async def test_a_range_with_more_than_is_read_of_an_answer_is_halved(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as node:
        heavy = [{"data": "0x" + "00" * 2**20}] * 9

        def twist(method: str, params: list[Any], said: Any) -> Any:
            return heavy if method == LOGS and span(params) > 10 else said

        node.twist = twist
        zoo.watch.change(zoo.kind(node.url))
        zoo.ring(1)
        chain.mine(30)
        zoo.ring(2)
        assert await zoo.check() == ["1", "2"]
    zoo.settled()


async def test_a_block_that_a_node_will_not_give_at_all_is_its_fault(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as provider:
        provider.twist = narrow(0, -32000, "eth_getLogs is disabled")
        zoo.watch.change(zoo.kind(provider.url))
        zoo.ring(1)
        assert "eth_getLogs: eth_getLogs is disabled (-32000)" in await zoo.watch.fault()
        provider.twist = narrow(10, 0, "")
        assert await zoo.check() == ["1"]


async def test_an_hour_offline_is_caught_up_with_in_bounded_checks(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as provider:
        provider.twist = narrow(5, -32000, "block range too large")
        zoo.watch.change(zoo.kind(provider.url))
        for number in range(10):
            zoo.ring(number)
            chain.mine(130)
        rounds = 0
        while len(zoo.ledger.news) < 10:
            provider.asked.clear()
            await zoo.check()
            assert provider.count(LOGS) <= 330
            rounds += 1
            zoo.watch.restart()
        assert 1 < rounds <= 10
    zoo.settled()


async def test_what_was_read_before_a_node_failed_stays_read(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as provider:
        zoo.watch.change(zoo.kind(provider.url))
        zoo.ring(1)
        chain.mine(100)
        zoo.ring(2)

        def dying(method: str, params: list[Any], said: Any) -> Any:
            if method == LOGS and provider.count(LOGS) > 1:
                raise Refused(-32005, "rate limit exceeded")
            return said

        provider.twist = dying
        assert await zoo.check() == ["1"]
        assert "rate limit" in await zoo.watch.fault()
        provider.twist = narrow(10**6, 0, "")
        assert await zoo.check() == ["2"]


async def test_a_slow_node_is_read_as_far_as_the_time_goes(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as slow:
        provider = narrow(5, -32000, "block range too large")

        def twist(method: str, params: list[Any], said: Any) -> Any:
            if method == LOGS:
                time.sleep(0.1)
            return provider(method, params, said)

        slow.twist = twist
        zoo.watch.change(zoo.kind(slow.url))
        for number in range(4):
            zoo.ring(number)
            chain.mine(25)
        rounds = 0
        while len(zoo.ledger.news) < 4:
            outcome = await zoo.watch.look(timeout_s=1.5)
            assert not outcome.error
            zoo.ledger.take(outcome.found)
            rounds += 1
        assert 1 < rounds < 15
    zoo.settled()


async def test_of_a_quorum_he_who_came_less_far_says_where_the_next_check_begins(
    chain: Chain, zoo: Zoo
) -> None:
    with between(chain) as dying:

        def twist(method: str, _: list[Any], said: Any) -> Any:
            if method == LOGS and dying.count(LOGS) > 1:
                raise Refused(-32005, "rate limit exceeded")
            return said

        dying.twist = twist
        zoo.watch.change(zoo.kind(dying.url, chain.url, quorum=2))
        zoo.ring(1)
        chain.mine(1000)
        zoo.ring(2)
        assert await zoo.check() == ["1"]
        dying.twist = narrow(100, 0, "")
        assert await zoo.check() == ["2"]
    zoo.settled()


async def test_who_takes_over_from_an_older_checkpoint_tells_the_same_again_and_misses_none(zoo: Zoo) -> None:
    zoo.ring(1)
    await zoo.check()
    older = zoo.watch.kept.state
    zoo.ring(2, 3)
    await zoo.check()
    zoo.ring(4)
    zoo.watch.kept = Kept(older)
    zoo.watch.restart()
    assert await zoo.check() == ["4"]
    assert len(zoo.ledger.news) == 4
    zoo.settled()


@pytest.mark.parametrize("confirmations", [0, 1])
@pytest.mark.parametrize("depth", [1, 2, 5])
async def test_after_a_fork_what_is_no_more_is_retracted_and_the_rest_is_not_told_again(
    chain: Chain, zoo: Zoo, depth: int, confirmations: int
) -> None:
    zoo.watch.change(zoo.kind(confirmations=confirmations))
    zoo.ring(1, 2, 3, 4, 5, 6)
    chain.mine(confirmations)
    assert len(await zoo.check()) == 6
    chain.rpc("anvil_reorg", depth, [])
    chain.mine(confirmations + 1)
    assert await zoo.check() == []
    assert len(zoo.ledger.gone) == depth - confirmations
    zoo.settled()


async def test_a_fork_while_the_node_was_away_with_other_events_in_it(chain: Chain, zoo: Zoo) -> None:
    zoo.ring(1)
    await zoo.check()
    snapshot = chain.rpc("evm_snapshot")
    zoo.ring(2, 3)
    await zoo.check()
    with between(chain) as away:
        zoo.watch.change(zoo.kind(away.url))
        away.twist = narrow(-1, -32000, "away")
        chain.rpc("evm_revert", snapshot)
        zoo.ring(4, 3, 5, 6)
        assert await zoo.watch.fault()
        away.twist = narrow(100, 0, "")
        zoo.watch.restart()
        assert await zoo.check() == ["4", "3", "5", "6"]
    assert len(zoo.ledger.gone) == 2
    zoo.settled()


async def test_a_chain_that_became_shorter_is_retracted_when_it_has_grown_again(
    chain: Chain, zoo: Zoo
) -> None:
    snapshot = chain.rpc("evm_snapshot")
    zoo.ring(1, 2, 3)
    await zoo.check()
    chain.rpc("evm_revert", snapshot)
    assert await zoo.check() == []
    zoo.ring(4)
    await zoo.check()
    chain.mine(3)
    await zoo.check()
    assert len(zoo.ledger.gone) == 3
    zoo.settled()


async def test_a_node_that_lags_behind_what_was_read_is_waited_for(chain: Chain, zoo: Zoo) -> None:
    zoo.ring(1, 2, 3)
    await zoo.check()
    with between(chain) as laggard:
        behind = chain.head - 2

        def lagging(method: str, params: list[Any], said: Any) -> Any:
            if method == BLOCK and params[0] == "latest":
                return chain.rpc(BLOCK, hex(behind), False)
            return said

        laggard.twist = lagging
        zoo.watch.change(zoo.kind(laggard.url))
        assert await zoo.check() == []
        state = zoo.watch.kept.state
        zoo.ring(4)
        assert await zoo.check() == []
        assert zoo.watch.kept.state == state
        laggard.twist = narrow(100, 0, "")
        assert await zoo.check() == ["4"]
    zoo.settled()


async def test_nodes_in_turn_on_two_branches_end_with_what_the_last_one_has(chain: Chain, zoo: Zoo) -> None:
    with running() as other:
        twin = Zoo(other)
        assert twin.address == zoo.address
        zoo.ring(1)
        twin.ring(7, 8)
        for url in (chain.url, other.url, chain.url, other.url):
            zoo.watch.change(zoo.kind(url))
            await zoo.check()
        other.mine()
        await zoo.check()
        zoo.ledger.agrees(other, zoo.address, [], twin.first, other.head)


def changed(**more: Any) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    return lambda log: [{**log, **more}]


LIES: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
    "another address": changed(address="0x" + "11" * 20),
    "another topic": changed(topics=["0x" + "22" * 32]),
    "no topics": changed(topics=[]),
    "null topics": changed(topics=None),
    "five topics": changed(topics=["0x" + "22" * 32] * 5),
    "another block": changed(blockNumber="0x1"),
    "a later block": changed(blockNumber="0xffffff"),
    "no block": changed(blockNumber=None),
    "a hash that is not the block's": changed(blockHash="0x" + "33" * 32),
    "no hash": changed(blockHash=None),
    "no transaction": changed(transactionHash="0x"),
    "numbers that are none": changed(logIndex=3),
    "data that is none": changed(data="0xabc"),
    "what is no log": lambda _: [7],
    "nothing at all": lambda _: [None],
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_node_that_lies_about_logs_is_not_believed(chain: Chain, zoo: Zoo, lie: str) -> None:
    zoo.ring(5)
    with between(chain) as liar:
        liar.twist = lambda method, _, said: LIES[lie](said[0]) if method == LOGS and said else said
        zoo.watch.change(zoo.kind(liar.url))
        assert "rpc: 127.0.0.1" in await zoo.watch.fault()
        zoo.watch.change(zoo.kind(liar.url, chain.url))
        assert await zoo.check() == ["5"]
    zoo.settled()


@pytest.mark.parametrize("said", [None, 7, "0x", {}])
async def test_an_answer_that_is_no_list_of_logs_is_a_fault(chain: Chain, zoo: Zoo, said: Any) -> None:
    with between(chain) as liar:
        liar.twist = lambda method, _, real: said if method == LOGS else real
        zoo.watch.change(zoo.kind(liar.url))
        zoo.ring(5)
        assert "eth_getLogs: answers no logs" in await zoo.watch.fault()


async def test_logs_that_were_removed_do_not_count_and_those_said_twice_count_once(
    chain: Chain, zoo: Zoo
) -> None:
    with between(chain) as node:

        def twist(method: str, _: list[Any], said: Any) -> Any:
            return (
                [*said, *said, *({**log, "removed": True, "logIndex": "0x9"} for log in said)]
                if method == LOGS
                else said
            )

        node.twist = twist
        zoo.watch.change(zoo.kind(node.url))
        zoo.ring(5)
        outcome = await zoo.watch.look()
    assert [finding.found for finding in outcome.found if finding.found is not Findings.RETRACTED] == [
        Findings.LOG
    ]


async def test_a_node_without_a_block_behind_its_head_is_at_fault(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as node:
        zoo.watch.change(zoo.kind(node.url))
        zoo.ring(5, 6)
        node.twist = lambda method, params, said: None if method == BLOCK and params[0] != "latest" else said
        assert "does not have block" in await zoo.watch.fault()


async def test_of_several_nodes_behind_one_address_a_late_one_is_given_time(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as node:
        zoo.watch.change(zoo.kind(node.url))
        zoo.ring(5)

        def twist(method: str, params: list[Any], said: Any) -> Any:
            if node.count(LOGS) in (1, 2) and method in (LOGS, BLOCK) and params[0] != "latest":
                return [] if method == LOGS else None
            return said

        node.twist = twist
        assert await zoo.check() == ["5"]
    zoo.settled()


async def test_a_fork_in_the_middle_of_a_check_is_noticed(chain: Chain, zoo: Zoo) -> None:
    with between(chain) as node:
        zoo.watch.change(zoo.kind(node.url))
        zoo.ring(5)

        def twist(method: str, _: list[Any], said: Any) -> Any:
            if method == LOGS:
                chain.rpc("anvil_reorg", 1, [])
            return said

        node.twist = twist
        assert "is of two branches" in await zoo.watch.fault()
        node.twist = narrow(100, 0, "")
        zoo.ring(6)
        assert await zoo.check() == ["6"]
    zoo.settled()


async def test_nodes_behind_one_address_that_differ_about_the_newest_block_are_no_fault(
    chain: Chain, zoo: Zoo
) -> None:
    with between(chain) as nodes:
        zoo.watch.change(zoo.kind(nodes.url, confirmations=1))
        zoo.ring(5)
        chain.mine()
        other = {"hash": "0x" + "ab" * 32}
        nodes.twist = lambda method, params, said: (
            {**said, **other} if method == BLOCK and params[0] == "latest" else said
        )
        assert await zoo.check() == ["5"]
    zoo.settled()


async def test_a_fork_of_many_blocks_is_retracted_in_parts(chain: Chain, zoo: Zoo) -> None:
    zoo.ring(1)
    await zoo.check()
    snapshot = chain.rpc("evm_snapshot")
    for number in range(2, 5):
        zoo.ring(number)
        chain.mine(200)
    await zoo.check()
    chain.rpc("evm_revert", snapshot)
    chain.mine(300)
    zoo.ring(9)
    chain.mine(400)
    for _ in range(6):
        await zoo.check()
    assert len(zoo.ledger.gone) == 3
    zoo.settled()


async def test_a_fork_in_a_block_that_was_told_in_part_is_noticed(chain: Chain, zoo: Zoo) -> None:
    chain.rpc("anvil_setBlockGasLimit", hex(10**9))
    chain.rpc("evm_setAutomine", False)
    zoo_call = {"to": zoo.address, "from": chain.accounts[0], "gas": hex(10**8)}
    many = calldata("many(uint256)", [400])
    snapshot = chain.rpc("evm_snapshot")
    for _ in range(3):
        chain.rpc("eth_sendTransaction", {**zoo_call, "data": many})
    chain.mine()
    assert len(await zoo.check()) == 480
    chain.rpc("evm_revert", snapshot)
    chain.rpc("evm_setAutomine", True)
    zoo.ring(7)
    chain.mine()
    assert await zoo.check() == ["7"]
    await zoo.check()
    assert len(zoo.ledger.gone) == 480
    zoo.settled()


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_in_the_end_all_is_held_that_the_chain_holds(
    chain: Chain, zoo: Zoo, seed: int
) -> None:
    chance = random.Random(seed)
    snapshots = list[str]()
    for _ in range(40):
        match chance.choice(["ring", "ring", "mine", "check", "check", "fork", "snapshot", "revert", "lost"]):
            case "ring":
                zoo.ring(*range(chance.randint(1, 3)))
            case "mine":
                chain.mine(chance.randint(1, 40))
            case "check":
                await zoo.check()
            case "fork" if chain.head > zoo.first + 6:
                chain.rpc("anvil_reorg", chance.randint(1, 5), [])
                snapshots.clear()
            case "snapshot":
                snapshots.append(chain.rpc("evm_snapshot"))
            case "revert" if snapshots:
                chain.rpc("evm_revert", snapshots.pop())
                chain.mine(chance.randint(1, 3))
            case "lost":
                before = zoo.watch.kept.state
                await zoo.watch.look()
                zoo.watch.kept = Kept(before)
                zoo.watch.restart()
    chain.mine(300)
    for _ in range(8):
        await zoo.check()
    zoo.settled()


def test_a_cursor_comes_back_from_its_checkpoint_and_from_nothing_else() -> None:
    whole = Cursor(9, 2, ((7, "0xab"), (8, "0xcd")), (5, 6))
    for cursor in (whole, Cursor(1)):
        assert Cursor.of(cursor.plain()) == cursor
    bad: list[Any] = [None, [], {}, "text", [1], [1, 2, 3, 4], [1, 2, [[1]], None], ["a", 0, [], None]]
    assert not any(map(Cursor.of, bad))


def test_of_several_that_came_far_what_so_many_saw_alike_counts() -> None:
    near: Step[Any] = Step(Cursor(5))
    far: Step[Any] = Step(Cursor(9))
    other: Step[Any] = Step(Cursor(9), (Place(4),))
    assert agreed([near, far], 2) == near
    assert agreed([near, far, far], 2) == far
    assert agreed([near, other], 2) is None
    assert agreed([near, other, far], 3) is None


class Place:
    """Something at a block."""

    index, block_hash, size = 0, "", 1

    def __init__(self, block: int) -> None:
        self.block = block
