"""Wallets of whales: tokens and coins of ours on a real node."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from probe.checks._check import Kept
from probe.web3 import coins
from shared.findings import Findings
from shared.kinds.web3.whale_wallet import WhaleWallet
from tests.probe.web3.between import Refused, between
from tests.probe.web3.chain import ETHER, Chain
from tests.probe.web3.crosscheck import Web3
from tests.probe.web3.ledger import Ledger
from tests.probe.web3.watch import Watch

USD = 10**6
BOB = "0x" + "b0" * 20
TRANSFER = "transfer(address,uint256)"


@pytest.fixture
def token(chain: Chain) -> str:
    return chain.deploy("Token", ["uint8", "uint256"], [6, 10**9 * USD])


def wallet(chain: Chain, token: str | None = None, **more: Any) -> WhaleWallet:
    settings = {
        "rpc_url": chain.url,
        "address": chain.accounts[0],
        "confirmations": 0,
        "threshold": "100",
        **more,
    }
    return WhaleWallet(chain=chain.id, token=token, **settings)


async def watching(kind: WhaleWallet) -> Watch:
    """From the newest block on: the first check tells nothing."""
    watch = Watch("whale_wallet", kind)
    await watch.well()
    assert not sent(watch)
    assert not watch.raised
    return watch


def sent(watch: Watch) -> list[str]:
    """The amounts of the single transfers that the last check reported."""
    return [item["alert"]["current"] for item in watch.said.values() if "alert" in item]


async def told(watch: Watch) -> tuple[list[str], list[str]]:
    """Single transfers, and what is raised, in the next check."""
    await watch.well()
    return sent(watch), watch.raised


async def test_a_transfer_of_a_token_says_all_that_is_to_be_known_of_it(chain: Chain, token: str) -> None:
    watch = await watching(wallet(chain, token, threshold=99.5))
    receipt = chain.call(token, TRANSFER, BOB, 100 * USD + 1)
    await watch.well()
    [(key, answer)] = [(key, one) for key, one in watch.said.items() if "alert" in one]
    sender, receiver = (checksum(text) for text in (chain.accounts[0], BOB))
    [log] = receipt["logs"]
    assert key == f"{receipt['transactionHash']}:0"
    assert answer == {
        "name": "Transfer",
        "args": {"from": sender, "to": receiver, "value": "100000001"},
        "address": checksum(token),
        "transactionHash": receipt["transactionHash"],
        "blockNumber": int(log["blockNumber"], 16),
        "blockHash": log["blockHash"],
        "logIndex": 0,
        "alert": {
            "type": "large_transfer",
            "current": "100.000001",
            "threshold": "99.5",
            "unit": "tokens",
            "message": f"100.000001 tokens went from {sender} to {receiver}",
        },
    }


def checksum(address: str) -> str:
    return str(Web3.to_checksum_address(address))


@pytest.mark.parametrize("coin", [True, False])
@pytest.mark.parametrize(
    ("direction", "expected"),
    [("in", ["100", "300"]), ("out", ["200", "300"]), ("both", ["100", "200", "300"])],
)
async def test_only_transfers_of_the_direction_and_the_size_are_told_and_those_to_oneself_once(
    chain: Chain, token: str, coin: bool, direction: str, expected: list[str]
) -> None:
    us, other = chain.accounts[:2]
    if not coin:
        chain.call(token, TRANSFER, other, 1000 * USD)
    watch = await watching(wallet(chain, None if coin else token, direction=direction))
    send: Callable[[int, str, int], Any] = coin_sender(chain) if coin else token_sender(chain, token)
    send(1, us, 100)
    send(0, other, 200)
    send(0, us, 300)
    send(1, us, 99)
    send(0, other, 99)
    assert (await told(watch))[0] == expected
    assert await told(watch) == ([], [])


def coin_sender(chain: Chain) -> Callable[[int, str, int], Any]:
    return lambda by, to, amount: chain.send({"to": to, "value": hex(amount * ETHER)}, by)


def token_sender(chain: Chain, token: str) -> Callable[[int, str, int], Any]:
    return lambda by, to, amount: chain.call(token, TRANSFER, to, amount * USD, by=by)


@pytest.mark.parametrize("coin", [True, False])
@pytest.mark.parametrize(("direction", "expected"), [("in", [0, 1]), ("out", [1, 0]), ("both", [1, 1])])
async def test_many_small_transfers_come_to_a_change_of_the_balance(
    chain: Chain, token: str, coin: bool, direction: str, expected: list[int]
) -> None:
    us, other = chain.accounts[:2]
    if not coin:
        chain.call(token, TRANSFER, other, 1000 * USD)
    watch = await watching(wallet(chain, None if coin else token, direction=direction))
    send = coin_sender(chain) if coin else token_sender(chain, token)
    raised = []
    for by, to in ((0, other), (1, us)):
        for _ in range(2):
            send(by, to, 60)
        assert sent(watch) == []
        _, keys = await told(watch)
        raised.append(keys.count("balance_change"))
        await watch.well()
        assert watch.recovered == ["balance_change"] * raised[-1]
    assert raised == expected


async def test_what_was_told_of_single_transfers_is_no_change_besides(chain: Chain, token: str) -> None:
    watch = await watching(wallet(chain, token))
    chain.call(token, TRANSFER, BOB, 500 * USD)
    chain.call(token, TRANSFER, BOB, 99 * USD)
    assert await told(watch) == (["500"], [])
    chain.call(token, TRANSFER, BOB, 400 * USD)
    chain.call(token, TRANSFER, BOB, 99 * USD)
    chain.call(token, TRANSFER, BOB, 1 * USD)
    assert await told(watch) == (["400"], ["balance_change"])
    assert watch.said["balance_change"]["current"] == "100"
    assert "has 100 tokens less than at the check before" in watch.said["balance_change"]["message"]


async def test_confirmations_hold_a_transfer_back_and_the_balance_with_it(chain: Chain, token: str) -> None:
    watch = await watching(wallet(chain, token, confirmations=2))
    chain.call(token, TRANSFER, BOB, 500 * USD)
    for expected in ([], [], ["500"], []):
        assert await told(watch) == (expected, [])
        chain.mine()


@pytest.mark.parametrize("coin", [True, False])
async def test_after_a_fork_transfers_are_retracted_and_no_balance_changed(
    chain: Chain, token: str, coin: bool
) -> None:
    watch = await watching(wallet(chain, None if coin else token))
    ledger = Ledger()
    send = coin_sender(chain) if coin else token_sender(chain, token)
    chain.mine(3)
    await watch.well()
    send(0, BOB, 500)
    send(0, BOB, 600)
    ledger.take((await watch.look()).found)
    assert len(ledger.held) == 2
    chain.rpc("anvil_reorg", 1, [])
    chain.mine()
    outcome = await watch.look()
    assert [finding.key for finding in outcome.found if finding.found is Findings.RAISED] == []
    ledger.take(outcome.found)
    assert len(ledger.held) == len(ledger.gone) == 1
    assert await told(watch) == ([], [])


async def test_a_coin_that_came_by_a_transaction_is_told_whole(chain: Chain) -> None:
    watch = await watching(wallet(chain))
    receipt = chain.send({"to": BOB, "value": hex(100 * ETHER)})
    await watch.well()
    [(key, answer)] = [(key, one) for key, one in watch.said.items() if "alert" in one]
    assert key == f"{receipt['transactionHash']}:native"
    assert answer["args"] == {
        "from": checksum(chain.accounts[0]),
        "to": checksum(BOB),
        "value": str(100 * ETHER),
    }
    assert (answer["logIndex"], answer["address"], answer["name"]) == (None, None, "Transfer")
    assert answer["blockHash"] == receipt["blockHash"]
    assert answer["alert"]["unit"] == "coins"
    assert watch.raised == []


async def test_a_failed_transaction_moves_nothing(chain: Chain) -> None:
    purse = chain.deploy("Purse")
    watch = await watching(wallet(chain))
    chain.call(purse, "close()")
    failed = {"from": chain.accounts[0], "to": purse, "value": hex(500 * ETHER), "gas": "0xffff"}
    chain.rpc("eth_sendTransaction", failed)
    assert await told(watch) == ([], [])


async def test_coins_that_a_contract_passes_on_change_the_balance(chain: Chain) -> None:
    purse = chain.deploy("Purse")
    chain.send({"to": purse, "value": hex(500 * ETHER)}, by=1)
    watch = await watching(wallet(chain, direction="in"))
    chain.call(purse, "pass(address,uint256)", chain.accounts[0], 500 * ETHER, by=2)
    assert await told(watch) == ([], ["balance_change"])
    contract = await watching(wallet(chain, address=purse))
    chain.send({"to": purse, "value": hex(200 * ETHER)}, by=1)
    assert await told(contract) == (["200"], [])


async def test_a_long_span_is_searched_for_the_blocks_that_changed_the_wallet(chain: Chain) -> None:
    with between(chain) as node:
        watch = await watching(wallet(chain, rpc_url=node.url))
        for amount in (100, 200, 300):
            chain.mine(300)
            chain.send({"to": BOB, "value": hex(amount * ETHER)})
        assert await told(watch) == (["100", "200", "300"], [])
        whole = sum(method == "eth_getBlockByNumber" and params[1] for method, params in node.asked)
        assert whole == 3
        assert len(node.asked) < 900


async def test_a_chain_can_be_read_from_its_very_beginning(chain: Chain) -> None:
    chain.send({"to": BOB, "value": hex(100 * ETHER)})
    watch = await watching(wallet(chain))
    state = orjson.loads(watch.kept.state)
    state["more"]["cursor"] = [0, 0, [], None]
    watch.kept = Kept(orjson.dumps(state))
    watch.restart()
    assert (await told(watch))[0] == ["100"]


@pytest.mark.parametrize("kept", [128, 64, 20])
async def test_blocks_of_which_a_node_keeps_no_state_are_passed_over_and_it_says_so(
    chain: Chain, kept: int
) -> None:
    with between(chain) as pruned:

        def twist(method: str, params: list[Any], said: Any) -> Any:
            if (
                method in {"eth_getBalance", "eth_getTransactionCount"}
                and int(params[1], 16) < chain.head - kept
            ):
                raise Refused(-32000, "missing trie node 1234 (path ) state 0x56 is not available")
            return said

        pruned.twist = twist
        watch = await watching(wallet(chain, rpc_url=pruned.url))
        chain.send({"to": BOB, "value": hex(150 * ETHER)})
        chain.mine(500)
        chain.send({"to": BOB, "value": hex(250 * ETHER)})
        assert await told(watch) == (["250"], ["balance_change", "missed_blocks"])
        missed = int(watch.said["missed_blocks"]["current"])
        assert 502 - kept <= missed <= 502 - kept + 50
        assert f"{missed} blocks were passed over" in watch.said["missed_blocks"]["message"]
        chain.send({"to": BOB, "value": hex(350 * ETHER)})
        assert await told(watch) == (["350"], [])
        assert sorted(watch.recovered) == ["balance_change", "missed_blocks"]


async def test_a_node_that_is_late_with_its_state_is_given_time(chain: Chain) -> None:
    with between(chain) as node:
        watch = await watching(wallet(chain, rpc_url=node.url))
        chain.send({"to": BOB, "value": hex(500 * ETHER)})
        late = iter(range(2))

        def twist(method: str, _: list[Any], said: Any) -> Any:
            if method == "eth_getTransactionCount" and next(late, None) is not None:
                raise Refused(-32000, "header not found")
            return said

        node.twist = twist
        assert await told(watch) == (["500"], [])


async def test_a_node_without_any_state_is_at_fault(chain: Chain) -> None:
    with between(chain) as node:
        watch = await watching(wallet(chain, rpc_url=node.url))

        def twist(method: str, _: list[Any], said: Any) -> Any:
            if method == "eth_getBalance":
                raise Refused(-32000, "header not found")
            return said

        node.twist = twist
        chain.mine(2)
        assert "eth_getBalance: header not found (-32000)" in await watch.fault()


@pytest.mark.parametrize("contract", ["Things", "Oddity"])
async def test_a_token_that_tells_of_transfers_in_another_way_is_refused(chain: Chain, contract: str) -> None:
    odd = chain.deploy(contract)
    chain.call(odd, TRANSFER, chain.accounts[0], 5)
    watch = Watch("whale_wallet", wallet(chain, odd))
    assert (
        f"token: {checksum(odd)} tells of transfers otherwise than an ERC-20 token does"
        in await watch.fault()
    )


async def test_a_token_that_shows_itself_odd_later_is_refused_then(chain: Chain) -> None:
    things = chain.deploy("Things")
    watch = await watching(wallet(chain, things))
    chain.call(things, TRANSFER, BOB, 5)
    assert "tells of transfers otherwise" in await watch.fault()


async def test_what_is_no_token_is_said_to_be_none(chain: Chain) -> None:
    assert "decimals()" in await Watch("whale_wallet", wallet(chain, BOB)).fault()


async def test_amounts_are_exact_to_the_last_digit(chain: Chain) -> None:
    fine = chain.deploy("Token", ["uint8", "uint256"], [36, 2**256 - 1])
    watch = await watching(wallet(chain, fine, threshold="0.1"))
    tenth = 10**35
    chain.call(fine, TRANSFER, BOB, tenth - 1)
    assert await told(watch) == ([], [])
    chain.call(fine, TRANSFER, BOB, tenth)
    assert await told(watch) == (["0.1"], [])
    chain.call(fine, TRANSFER, BOB, tenth + 1)
    assert await told(watch) == (["0.1" + "0" * 34 + "1"], [])


async def test_a_restart_and_a_take_over_go_on_from_the_checkpoint(chain: Chain, token: str) -> None:
    watch = await watching(wallet(chain, token))
    older = watch.kept.state
    chain.call(token, TRANSFER, BOB, 60 * USD)
    watch.restart()
    assert await told(watch) == ([], [])
    chain.call(token, TRANSFER, BOB, 500 * USD)
    watch.kept = Kept(older)
    watch.restart()
    assert await told(watch) == (["500"], [])
    chain.call(token, TRANSFER, BOB, 60 * USD)
    watch.change(wallet(chain, token, threshold="60"))
    assert await told(watch) == (["60"], [])
    chain.call(token, TRANSFER, BOB, 500 * USD)
    watch.change(wallet(chain, None, threshold="60"))
    assert await told(watch) == ([], [])


async def test_a_quorum_outvotes_a_node_that_lies_about_the_balance(chain: Chain, token: str) -> None:
    with between(chain) as liar, between(chain) as other:
        liar.twist = lambda method, params, said: "0x" + "00" * 31 + "06" if method == "eth_call" else said
        urls = [liar.url, chain.url, other.url]
        watch = await watching(wallet(chain, token, rpc_url=urls, rpc_quorum=2))
        chain.call(token, TRANSFER, BOB, 500 * USD)
        assert await told(watch) == (["500"], [])


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one["transactions"][0].update(value="1"),
        lambda one: one["transactions"][0].update(hash="0x1"),
        lambda one: one.update(transactions=None),
        lambda one: one.update(transactions=[7]),
        lambda one: one.update(number="0x9"),
        lambda one: one.update(hash="0x" + "77" * 32),
    ],
)
async def test_a_node_that_lies_about_a_block_is_not_believed(
    chain: Chain, change: Callable[[dict[str, Any]], None]
) -> None:
    with between(chain) as liar:
        watch = await watching(wallet(chain, rpc_url=liar.url))
        chain.send({"to": BOB, "value": hex(500 * ETHER)})

        def twist(method: str, params: list[Any], said: Any) -> Any:
            if method == "eth_getBlockByNumber" and params[1]:
                change(said)
            return said

        liar.twist = twist
        assert await watch.fault()
        watch.change(wallet(chain, rpc_url=[liar.url, chain.url]))
        assert await told(watch) == (["500"], [])


@pytest.mark.parametrize(("chain_id", "name"), [(1, "ETH"), (137, "POL"), (31337, "coins")])
def test_a_coin_has_the_name_of_its_chain(chain_id: int, name: str) -> None:
    assert coins.coin_of(chain_id) == name
