"""``tocsin check web3``: what the chains say is shown, and a threshold that is crossed is not good."""

import pytest

from tests.probe.targets import shut_port, target
from tests.probe.test_check import check, check_json
from tests.probe.web3.chain import running
from tests.probe.web3.standin import GWEI, Facts, node

pytestmark = pytest.mark.races

WALLET = "0x" + "ab" * 20


async def gas(*options: str, facts: Facts | None = None) -> tuple[int, str, str]:
    with target(node(facts or Facts(gas=60 * GWEI))) as server:
        return await check("web3", "gas_price", "--chain", "ethereum", "--rpc-url", server.url, *options)


@pytest.mark.parametrize(("high", "status", "word"), [("60", 1, "CROSSED"), ("60.1", 0, "ok")])
async def test_a_threshold_says_whether_it_is_good(high: str, status: int, word: str) -> None:
    said = await gas("--high", high)
    assert (said[0], said[2]) == (status, "")
    lines = said[1].splitlines()
    assert lines[0].split() == ["UP", "gas_price", "ethereum"]
    text = f"gas costs 60 gwei at a base fee of 59; high is {high} or more"
    assert lines[-1].split(None, 2) == ["high_gas", word, text]


async def test_the_type_alone_is_enough() -> None:
    with target(node(Facts(gas=60 * GWEI))) as server:
        said = await check("gas_price", "--chain", "ethereum", "--rpc-url", server.url, "--high", "60")

    assert said[0] == 1
    assert said[1].splitlines()[0].split() == ["UP", "gas_price", "ethereum"]


async def test_it_is_told_as_json_too() -> None:
    with target(node(Facts(gas=60 * GWEI))) as server:
        config = '{"chain": 1, "thresholds": {"low": 60.5}}'
        status, told = await check_json("web3", "gas_price", "--rpc-url", server.url, "--config", config)
    assert (status, told["success"], told["status"], told["type"]) == (1, True, "up", "gas_price")
    [one] = told["found"]
    assert (one["found"], one["key"], one["current"], one["threshold"]) == ("raised", "low_gas", "60", "60.5")


async def test_a_node_on_another_chain_is_not_good() -> None:
    status, out, _ = await gas("--high", "90", facts=Facts(chain=5))
    assert status == 1
    assert "rpc: 127.0.0.1 is on chain 5, expected 1" in out


async def test_several_nodes_are_asked_in_turn_and_their_keys_told_to_nobody() -> None:
    with shut_port() as port, target(node(Facts())) as server:
        key = f"http://127.0.0.1:{port}/0123456789abcdef"
        urls = ["--rpc-url", key, "--rpc-url", server.url]
        good = await check("web3", "gas_price", "--chain", "1", "--high", "90", *urls)
        bad = await check("web3", "gas_price", "--chain", "5", "--high", "90", *urls, "--json")
    assert (good[0], bad[0]) == (0, 1)
    assert "node 1 of 2 (127.0.0.1) connect: " in bad[1]
    assert "0123456789abcdef" not in "".join([*good[1:], *bad[1:]])


async def test_what_happened_in_the_last_blocks_is_read_on_a_real_chain() -> None:
    with running(1) as chain:
        wallet = "0x" + "12" * 20
        chain.send({"to": wallet, "value": hex(5 * 10**18)})
        chain.mine(5)
        options = ["--chain", "1", "--rpc-url", chain.url, "--address", wallet, "--threshold", "2"]
        none = await check_json("web3", "whale_wallet", *options)
        status, told = await check_json("web3", "whale_wallet", *options, "--blocks", "6")
        _, text, _ = await check("web3", "whale_wallet", *options, "--blocks", "6")
    assert none[0] == status == 0
    assert [item["name"] for item in told["found"] if item["found"] == "log"] == ["Transfer"]
    assert "Transfer            block 1 " in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["tarot"], "invalid choice: 'tarot'"),
        (["gas_price", "--chain", "1", "--high", "5"], "rpcUrl is empty"),
        (["gas_price", "--chain", "0", "--high", "5", "--rpc-url", "http://a/"], "no chain has the id 0"),
        (["gas_price", "--chain", "1", "--rpc-url", "http://a/"], "lacks thresholds"),
        (["gas_price", "--chain", "1", "--rpc-url", "ftp://a/", "--high", "5"], "rpcUrl must be"),
        (["gas_price", "--chain", "1", "--rpc-url", "http://a/", "--high", "x"], "'x'"),
        (["gas_price", "--chain", "1", "--rpc-url", "http://a/", "--high", "1", "--low", "2"], "above low"),
        (["gas_price", "--config", "[]"], "must be a JSON object"),
        (["gas_price", "--config", "{"], "must be a JSON object"),
        (["gas_price", "--config", '{"chain": 1, "thresholds": 5}'], "of another shape"),
        (["bridge", "--config", '{"source": 5, "destination": []}'], "of another shape"),
        (
            ["whale_wallet", "--chain", "1", "--address", "0x12", "--threshold", "1"],
            "address must be an address",
        ),
        (["whale_wallet", "--blocks", "-1"], "must be a number"),
        (
            [
                "web3_contract_event",
                "--config",
                f'{{"chainId": 1, "address": "{WALLET}", "eventName": "A("}}',
            ],
            "eventName",
        ),
    ],
)
async def test_a_misuse_is_told(arguments: list[str], text: str) -> None:
    status, out, err = await check("web3", *arguments)
    assert (status, out) == (2, "")
    assert text in err
    assert "Traceback" not in err
