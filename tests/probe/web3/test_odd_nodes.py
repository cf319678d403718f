"""Nodes as there are in the world, and none on a test's machine: late, huge, or beyond all measure."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from probe.web3.decode import keccak
from shared.kinds.web3.contract_event import ContractEvent
from shared.kinds.web3.liquidation import Liquidation
from shared.kinds.web3.whale_wallet import WhaleWallet
from tests.probe.targets import target
from tests.probe.web3.standin import Facts, Moving, node
from tests.probe.web3.watch import Watch

pytestmark = pytest.mark.races

WALLET, CONTRACT, OTHER = ("0x" + two * 20 for two in ("a1", "b2", "c3"))
TRANSACTION = "0x" + "5" * 64
ETHER = 10**18


def log(facts: Facts, signature: str, data: bytes, index: int) -> dict[str, Any]:
    header = facts.header(facts.number)
    return {
        "address": CONTRACT,
        "topics": ["0x" + keccak(signature.encode()).hex()],
        "data": "0x" + data.hex(),
        "blockNumber": header["number"],
        "blockHash": header["hash"],
        "transactionHash": TRANSACTION,
        "logIndex": hex(index),
    }


def events(url: str, signature: str) -> Watch:
    kind = ContractEvent(chain_id=1, address=CONTRACT, event_name=signature, rpc_url=url, confirmations=0)
    return Watch("web3_contract_event", kind)


def refusing(
    facts: Callable[[Any], Any], method: str, times: int, said: dict[str, Any]
) -> tuple[Callable[[Any], Any], list[Any]]:
    """A node that answers *method* so many *times* with *said*, and which calls of it came."""
    calls: list[Any] = []

    def answer(asked: Any) -> Any:
        if isinstance(asked, list):
            return [answer(item) for item in asked]
        if asked["method"] == method:
            calls.append(asked)
            if len(calls) <= times:
                return {"jsonrpc": "2.0", "id": asked["id"], **said}
        return facts(asked)

    return answer, calls


@pytest.mark.parametrize("field", ["number", "timestamp"])
@pytest.mark.parametrize("number", [2**63, 2**64, 2**256 - 1])
async def test_a_head_beyond_all_measure_is_no_block(field: str, number: int) -> None:
    head = {**Facts().header(1000), field: hex(number)}
    with target(node(Facts(more={"eth_getBlockByNumber": head}))) as server:
        fault = await events(server.url, "E()").fault()
    assert fault == "rpc: 127.0.0.1 newest block: answers no block"


@pytest.mark.parametrize("index", [2**31, 2**63, 2**256 - 1])
async def test_a_log_beyond_all_measure_is_none(index: int) -> None:
    moving = Moving(Facts())
    with target(node(moving)) as server:
        watch = events(server.url, "E()")
        await watch.well()
        facts = Facts(number=1001)
        moving.facts = replace(facts, more={"eth_getLogs": [log(facts, "E()", b"", index)]})
        assert "at no place in its block" in await watch.fault()


@pytest.mark.parametrize(
    "words",
    [
        "header not found",
        "header for hash not found",
        "Unknown block",
        "block not found: 0x3e8",
        "Block 1000 could not be found",
        "missing trie node 5a2f (path )",
        "required historical state unavailable",
        "state at block #1000 is not available",
    ],
)
async def test_a_contract_is_asked_again_where_a_node_has_not_got_to_its_block(words: str) -> None:
    account = "0x" + "".join(f"{word:064x}" for word in (5, 1, 0, 0, 0, 2 * ETHER))
    said = {"error": {"code": -32000, "message": words}}
    answer, calls = refusing(Facts(more={"eth_call": account}), "eth_call", 1, said)
    with target(node(answer)) as server:
        await Watch("liquidation", position(server.url)).well()
    assert len(calls) == 2


@pytest.mark.parametrize("words", ["execution reverted: position not found", "invalid opcode: INVALID"])
async def test_what_a_contract_itself_refuses_is_not_asked_again(words: str) -> None:
    said = {"error": {"code": 3, "message": words}}
    answer, calls = refusing(Facts(), "eth_call", 9, said)
    with target(node(answer)) as server:
        assert words in await Watch("liquidation", position(server.url)).fault()
    assert len(calls) == 1


def position(url: str) -> Liquidation:
    return Liquidation(chain=1, rpc_url=url, protocol="aave_v3", pool=CONTRACT, address=WALLET)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("eth_getLogs", "One of the blocks specified in filter cannot be found."),
        ("eth_getLogs", "block range extends beyond current head block"),
        ("eth_getLogs", "requested to block 1001 after last accepted block 1000"),
        ("eth_getLogs", "unknown block"),
        ("eth_getBlockByNumber", "cannot query unfinalized data"),
        ("eth_getBlockByNumber", "block not found: 0x3e9"),
    ],
)
async def test_a_node_that_refuses_what_it_has_not_got_to_is_given_time(method: str, words: str) -> None:
    moving, refused = Moving(Facts(more={"eth_getLogs": []})), list[int]()

    def answer(asked: Any) -> Any:
        if isinstance(asked, list):
            return [answer(item) for item in asked]
        if (
            asked["method"] == method
            and not refused
            and moving.facts.number > 1000
            and asked["params"][0] != "latest"
        ):
            refused.append(asked["id"])
            return {"id": asked["id"], "error": {"code": -32000, "message": words}}
        return moving(asked)

    with target(node(answer)) as server:
        watch = events(server.url, "E()")
        await watch.well()
        facts = Facts(number=1001)
        moving.facts = replace(facts, more={"eth_getLogs": [log(facts, "E()", b"", 0)]})
        assert len((await watch.look()).found) == 1
    assert refused


async def test_a_receipt_that_is_late_is_waited_for() -> None:
    moving = Moving(Facts(more=account(0)))
    answer, receipts = refusing(moving, "eth_getTransactionReceipt", 1, {"result": None})
    with target(node(answer)) as server:
        wallet = WhaleWallet(chain=1, rpc_url=server.url, address=WALLET, threshold=1, confirmations=0)
        watch = Watch("whale_wallet", wallet)
        await watch.well()
        moving.facts = Facts(number=1001, more=account(5 * ETHER))
        await watch.well()
    assert f"{TRANSACTION}:native" in watch.said
    assert len(receipts) == 2


def account(received: int) -> dict[str, Any]:
    """A wallet that got so much in block 1001."""
    facts = Facts()
    got = {"from": OTHER, "to": WALLET, "value": hex(received), "hash": TRANSACTION}

    def block(params: list[Any]) -> dict[str, Any]:
        number = (1001 if received else 1000) if params[0] == "latest" else int(params[0], 16)
        return {**facts.header(number), "transactions": [got] if params[1] and number == 1001 else []}

    return {
        "eth_getBalance": lambda params: hex(received if int(params[1], 16) > 1000 else 0),
        "eth_getTransactionCount": "0x0",
        "eth_getBlockByNumber": block,
        "eth_getTransactionReceipt": {"blockHash": facts.header(1001)["hash"], "status": "0x1"},
    }


async def test_while_much_is_read_other_checks_have_their_turns() -> None:
    """120 logs of 64 kB of addresses take more than a second of the processor."""
    facts, moving = Facts(number=1001), Moving(Facts())
    addresses = [32, 2045, *(at << 96 for at in range(2045))]
    data = b"".join((word >> 96 if word >> 100 else word).to_bytes(32) for word in addresses)
    many = [log(facts, "E(address[])", data, index) for index in range(110)]
    with target(node(moving)) as server:
        watch = events(server.url, "E(address[])")
        await watch.well()
        moving.facts = replace(facts, more={"eth_getLogs": many})
        check, longest = asyncio.ensure_future(watch.look(20.0)), 0.0
        while not check.done():
            began = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - began)
    assert (await check).found
    # By far most of what is left is to read the JSON.
    assert longest < 0.2
