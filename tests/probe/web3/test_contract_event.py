"""Events of contracts, against a zoo of ours on a real node, cross-checked by another library."""

from typing import Any

import orjson
import pytest

from shared.findings import MAX_BYTES, Findings
from shared.kinds.web3.contract_event import ContractEvent
from shared.results import Outcome
from tests.probe.web3.between import between
from tests.probe.web3.chain import Chain, artefacts, calldata
from tests.probe.web3.crosscheck import DISCARD, Web3
from tests.probe.web3.ledger import Ledger
from tests.probe.web3.watch import Watch

BELL = Web3.to_hex(Web3.keccak(text="Bell(uint256,string)"))


@pytest.fixture
def zoo(chain: Chain) -> str:
    return chain.deploy("Zoo")


def events(chain: Chain, address: str, event: str, **more: Any) -> ContractEvent:
    abi = more.pop("abi", artefacts()["Zoo"]["abi"])
    settings = {"rpc_url": chain.url, "confirmations": 0, **more}
    return ContractEvent(chain_id=chain.id, address=address, abi=abi, event_name=event, **settings)


async def watching(kind: ContractEvent) -> Watch:
    """From the newest block on."""
    watch = Watch("web3_contract_event", kind)
    assert logs(await watch.look()) == []
    assert watch.kept.state
    return watch


def logs(outcome: Outcome) -> list[dict[str, Any]]:
    assert not outcome.error
    return [orjson.loads(finding.data) for finding in outcome.found if finding.found is Findings.LOG]


async def seen(watch: Watch) -> list[dict[str, Any]]:
    return logs(await watch.look())


def plain(said: Any) -> Any:
    """What web3.py says, as findings have it."""
    if isinstance(said, bytes):
        return "0x" + said.hex()
    if isinstance(said, list | tuple):
        return [plain(item) for item in said]
    if hasattr(said, "items"):
        return {name: plain(one) for name, one in said.items()}
    return said if isinstance(said, bool | str) else str(said)


@pytest.mark.parametrize(
    ("event", "call", "values"),
    [
        ("Plain", "plain(uint256)", [2**256 - 1]),
        ("Indexed", "indexed_(address,uint256,bytes32,string)", ["0x" + "ab" * 20, 2**70, b"\xee" * 32, "ü"]),
        ("Hashed", "hashed()", []),
        ("Nested", "nested()", []),
        ("Sized", "sized()", []),
        ("Long", "long(uint256,uint256)", [100, 5]),
        ("Same(address)", "same()", []),
        ("Same(uint256)", "same()", []),
    ],
)
async def test_an_event_says_what_another_library_reads_in_it(
    chain: Chain, zoo: str, event: str, call: str, values: list[Any]
) -> None:
    watch = await watching(events(chain, zoo, event))
    receipt = chain.call(zoo, call, *values)
    [answer] = await seen(watch)
    web3 = Web3(Web3.HTTPProvider(chain.url))
    contract = web3.eth.contract(Web3.to_checksum_address(zoo), abi=artefacts()["Zoo"]["abi"])
    read = contract.get_event_by_signature(event) if "(" in event else contract.events[event]
    receipt_of_theirs = web3.eth.get_transaction_receipt(receipt["transactionHash"])
    theirs = read().process_receipt(receipt_of_theirs, errors=DISCARD)
    [their] = theirs
    assert answer == {
        "name": event.partition("(")[0],
        "args": plain(their["args"]),
        "address": Web3.to_checksum_address(zoo),
        "transactionHash": receipt["transactionHash"],
        "blockNumber": int(receipt["blockNumber"], 16),
        "blockHash": receipt["blockHash"],
        "logIndex": their["logIndex"],
    }
    assert await seen(watch) == []


async def test_an_anonymous_event_is_told_from_the_others_of_its_contract(chain: Chain, zoo: str) -> None:
    watch = await watching(events(chain, zoo, "Secret"))
    for call, *values in (("secret(uint256)", 5), ("same()",), ("plain(uint256)", 1), ("hashed()",)):
        chain.call(zoo, call, *values)
    [answer] = await seen(watch)
    assert answer["args"] == {"id": "5", "amount": str(2**255)}


async def test_text_that_is_none_is_told_as_postgresql_takes_it(chain: Chain, zoo: str) -> None:
    watch = await watching(events(chain, zoo, "Spoken(string,bytes)", abi=None))
    chain.call(zoo, "spoken(bytes)", b"\0bell\xff")
    [answer] = await seen(watch)
    assert answer["args"] == {"0": "\ufffdbell\ufffd", "1": "0x0062656c6cff"}


@pytest.mark.parametrize(
    ("event", "filters", "values"),
    [
        ("Indexed", {"id": 7}, [7]),
        ("Indexed", {"id": ["7", "0x8"]}, [7, 8]),
        ("Indexed", {"from": "0x" + "Ab" * 20, "id": [8, 9]}, [8, 9]),
        ("Indexed", {"from": "0x" + "11" * 20}, []),
        ("Indexed", {"note": "n9"}, [9]),
        ("Indexed", {"note": ["n7", "N8"], "id": [7, 8]}, [7]),
        ("Indexed", {"tag": "0x6e37"}, [7]),
        ("Indexed(address,uint256,bytes32,string)", {}, [7, 8, 9]),
    ],
)
async def test_only_events_with_the_values_of_the_filters_are_told(
    chain: Chain, zoo: str, event: str, filters: dict[str, Any], values: list[int]
) -> None:
    watch = await watching(events(chain, zoo, event, filters=filters))
    for id_ in (7, 8, 9):
        signature = "indexed_(address,uint256,bytes32,string)"
        chain.call(zoo, signature, "0x" + "ab" * 20, id_, f"n{id_}".encode().ljust(32, b"\0"), f"n{id_}")
    assert [int(item["args"]["id"]) for item in await seen(watch)] == values


async def test_of_indexed_tuples_and_bytes_the_hash_is_told(chain: Chain, zoo: str) -> None:
    watch = await watching(events(chain, zoo, "Odd"))
    receipt = chain.call(zoo, "odd(int256)", -5)
    [answer] = await seen(watch)
    _, raw, point, _ = receipt["logs"][0]["topics"]
    assert answer["args"] == {"raw": raw, "point": point, "number": "-5"}


async def test_indexed_text_and_bytes_are_looked_for_by_what_they_say(chain: Chain, zoo: str) -> None:
    right = await watching(events(chain, zoo, "Hashed", filters={"name": "tocsin"}))
    wrong = await watching(events(chain, zoo, "Hashed", filters={"name": "bell"}))
    by_bytes = await watching(events(chain, zoo, "Odd", filters={"raw": "0xC0FFEE", "number": -9}))
    unsaid = "Hashed(string name, uint256[] list, bytes data)"
    unindexed = await watching(events(chain, zoo, unsaid, abi=None, filters={"name": "tocsin"}))
    chain.call(zoo, "hashed()")
    chain.call(zoo, "odd(int256)", -9)
    chain.call(zoo, "odd(int256)", 9)
    told = [len(await seen(watch)) for watch in (right, wrong, by_bytes, unindexed)]
    assert told == [1, 0, 1, 1]


async def test_a_log_that_can_not_be_read_is_told_as_it_is(chain: Chain) -> None:
    forger = chain.deploy("Forger")
    kind = events(chain, forger, "Bell(uint256 a, string b)", abi=None)
    watch = await watching(kind)
    chain.call(forger, "log1_(bytes32,bytes)", bytes.fromhex(BELL[2:]), b"\xff" * 40)
    [answer] = await seen(watch)
    assert answer["args"] == {"topics": [BELL], "data": "0x" + "ff" * 40}
    assert "can't be decoded" in answer["error"]


async def test_logs_without_topics_are_of_anonymous_events(chain: Chain) -> None:
    forger = chain.deploy("Forger")
    watch = await watching(events(chain, forger, "Bell(uint256 a) anonymous", abi=None))
    chain.call(forger, "log0_(bytes)", (5).to_bytes(32))
    chain.call(forger, "log0_(bytes)", b"short")
    assert [item["args"] for item in await seen(watch)] == [{"a": "5"}]


async def test_an_event_counts_when_its_block_is_confirmed(chain: Chain, zoo: str) -> None:
    watch = await watching(events(chain, zoo, "Plain", confirmations=3))
    chain.call(zoo, "plain(uint256)", 5)
    for expected in ([], [], [], ["5"], []):
        assert [item["args"]["amount"] for item in await seen(watch)] == expected
        chain.mine()


async def test_more_than_a_result_carries_comes_with_the_next_ones(chain: Chain, zoo: str) -> None:
    watch = await watching(events(chain, zoo, "Plain"))
    chain.rpc("anvil_setBlockGasLimit", hex(10**9))
    for count in (600, 10, 500):
        chain.send({"to": zoo, "data": many(count), "gas": hex(10**8)})
    ledger, sizes = Ledger(), []
    for _ in range(5):
        outcome = await watch.look()
        sizes.append(len(ledger.take(outcome.found)))
        assert sum(len(finding.data) for finding in outcome.found) <= MAX_BYTES
        watch.restart()
    assert sum(sizes) == len(ledger.news) == 1110
    assert sizes[-1] == 0
    assert max(sizes) <= 480
    ledger.agrees(chain, zoo, [], 2, chain.head)


def many(count: int) -> str:
    return calldata("many(uint256)", [count])


async def test_large_arguments_are_cut_and_fewer_fit_into_a_result(chain: Chain, zoo: str) -> None:
    watch = await watching(events(chain, zoo, "Long"))
    for _ in range(12):
        chain.call(zoo, "long(uint256,uint256)", 22_000, 0)
    chain.call(zoo, "long(uint256,uint256)", 26_000, 600)
    ledger = Ledger()
    first = ledger.take((await watch.look()).found)
    rest = ledger.take((await watch.look()).found)
    assert 0 < len(first) < 13
    assert len(first) + len(rest) == 13
    assert all(item["args"] == {"said": "x" * 22_000, "list": []} for item in [*first, *rest[:-1]])
    assert rest[-1]["args"] == {"said": "x" * 4096, "list": ["0"] * 600}
    assert rest[-1]["error"] == "too long to be told whole"


async def test_another_event_or_address_does_not_go_on_from_the_old_cursor(chain: Chain, zoo: str) -> None:
    watch = await watching(events(chain, zoo, "Plain"))
    chain.call(zoo, "plain(uint256)", 1)
    watch.change(events(chain, zoo, "Same(uint256)"))
    chain.call(zoo, "same()")
    assert await seen(watch) == []
    chain.call(zoo, "same()")
    assert len(await seen(watch)) == 1
    watch.change(
        events(chain, zoo, "Same(uint256)", confirmations=1, rpc_url=[chain.url, "http://127.0.0.1:1"])
    )
    chain.call(zoo, "same()")
    chain.mine()
    assert len(await seen(watch)) == 1


async def test_events_are_read_through_a_quorum_and_a_liar_is_outvoted(chain: Chain, zoo: str) -> None:
    with between(chain) as liar, between(chain) as other:
        liar.twist = lambda method, _params, said: [] if method == "eth_getLogs" else said
        urls = [liar.url, chain.url, other.url]
        watch = await watching(events(chain, zoo, "Plain", rpc_url=urls, rpc_quorum=2))
        chain.call(zoo, "plain(uint256)", 5)
        assert [item["args"]["amount"] for item in await seen(watch)] == ["5"]
