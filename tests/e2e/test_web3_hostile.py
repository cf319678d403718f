"""Configurations of Web3 monitors that nobody sane sends, from outside: each is refused by its key."""

from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from tests.e2e.chains import KEY
from tests.e2e.fleet import Fleet, fleet

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

URL: Final = f"http://node.example.com/v3/{KEY}"
AT: Final = "0x" + "ab" * 20
SIDE: Final = {"chain": "ethereum", "rpcUrl": URL, "contract": AT, "token": AT}
EVENT: Final = "Transfer(address indexed from, address indexed to, uint256 value)"
GOOD: Final[dict[str, dict[str, Any]]] = {
    "gas_price": {"chain": "ethereum", "rpcUrl": URL, "thresholds": {"high": 50, "low": 5}},
    "whale_wallet": {"chain": 1, "rpcUrl": URL, "address": AT, "threshold": "1.5"},
    "liquidation": {
        "chain": "1",
        "rpcUrl": URL,
        "protocol": "aave_v3",
        "pool": AT,
        "address": AT,
        "minHealthFactor": 1.2,
    },
    "defi_protocol": {"chain": "base", "rpcUrl": URL, "contract": AT, "minTvl": 1},
    "subgraph": {"url": URL, "rpcUrl": URL, "maxBlocksBehind": 5},
    "bridge": {"source": SIDE, "destination": {**SIDE, "chain": "polygon"}},
    "web3_contract_event": {"chainId": 1, "rpcUrl": URL, "address": AT, "eventName": EVENT},
}
NUMBERS: Final = ["1e999", "NaN", "-1", "Infinity", "0x10", "ten", -5, True, [], {}, "9" * 200, "", " "]
CHAINS: Final = ["9" * 80, -1, 0, "no~where", "", 1.5, True, [], {}, 2**63, "0x" + "f" * 64, "1\n2"]
URLS: Final = [
    "ftp://x/",
    "http://",
    "x",
    5,
    True,
    {},
    [5],
    ["http://a/", "y"],
    [[URL]],
    [URL] * 99,
    "http://\n/",
]
ADDRESSES: Final = [
    "0x",
    "0x" + "g" * 40,
    "0x" + "a" * 41,
    5,
    [],
    {},
    "",
    "vitalik.example.com",
    "0x" + "a" * 40 + "\n",
]
DEEP: Final = {"name": "x", "type": "tuple", "components": []}


def _deep(levels: int) -> dict[str, Any]:
    one: dict[str, Any] = {"name": "x", "type": "uint256"}
    for _ in range(levels):
        one = {"name": "x", "type": "tuple", "components": [one]}
    return one


def _abi(*inputs: Any) -> list[Any]:
    return [{"type": "event", "name": "E", "inputs": list(inputs)}]


ABIS: Final = [
    "[",
    "5",
    "null ",
    5,
    True,
    [5],
    [[]],
    [{"type": "event"}],
    "x" * 262_145,
    "[" * 100_000,
    orjson.dumps(_abi(_deep(100))).decode(),
    _abi(_deep(20)),
    _abi({"type": "uint257", "name": "x"}),
    _abi({"type": "uint256" + "[]" * 5_000, "name": "x"}),
    _abi({"type": 5}),
    _abi(*[{"type": "uint256"}] * 65),
    [{"type": "event", "name": "E\x00", "inputs": []}],
    [{"type": "event", "name": "Other", "inputs": []}],
]
NAMES: Final = [
    "E(",
    "E)",
    "E((((((((((((uint256))))))))))))",
    "E(uint)" * 900,
    "(",
    "",
    5,
    [],
    "E(uint7)",
    "E(a b c d)",
]
FILTERS: Final = [5, "x", [], {"nobody": 1}, {"": 1}, {str(n): n for n in range(100)}]

# Of each type: a field's path, and what it must not be.
WRONG: Final[list[tuple[str, str, list[Any]]]] = [
    ("gas_price", "thresholds.high", NUMBERS),
    ("gas_price", "thresholds.low", NUMBERS),
    (
        "gas_price",
        "thresholds",
        [{}, {"high": 5, "low": 5}, {"high": 1, "low": 2}, {"high": None}, 5, [], "x"],
    ),
    ("gas_price", "chain", CHAINS),
    ("gas_price", "rpcUrl", URLS),
    ("gas_price", "rpcQuorum", [0, -1, 99, "x", 2, 1.5]),
    ("whale_wallet", "threshold", [*NUMBERS, 0, "0.0"]),
    ("whale_wallet", "address", ADDRESSES),
    ("whale_wallet", "token", [one for one in ADDRESSES if one != ""]),
    ("whale_wallet", "direction", ["up", 5, []]),
    ("whale_wallet", "confirmations", [-1, 257, "x", 1.5]),
    ("liquidation", "minHealthFactor", [*NUMBERS, 0]),
    ("liquidation", "pool", ADDRESSES),
    ("liquidation", "protocol", ["maker", "", 5, None]),
    ("defi_protocol", "minTvl", NUMBERS),
    ("defi_protocol", "tvlDropPercent", [0, -1, 101, "x"]),
    ("defi_protocol", "windowMinutes", [0, -1, 10**9, "x"]),
    ("defi_protocol", "maxOracleAgeSeconds", [0, -1, 10**12, 5]),
    ("subgraph", "url", [one for one in URLS if not isinstance(one, list)]),
    ("subgraph", "maxBlocksBehind", [0, -1, 10**12, "x"]),
    ("bridge", "source", [5, [], "x", {}, None]),
    ("bridge", "source.chain", CHAINS),
    ("bridge", "destination.rpcUrl", URLS),
    ("bridge", "destination.token", ADDRESSES),
    ("bridge", "maxImbalancePercent", [-1, 1e300, "x"]),
    ("web3_contract_event", "chainId", CHAINS),
    ("web3_contract_event", "abi", ABIS),
    ("web3_contract_event", "eventName", NAMES),
    ("web3_contract_event", "filters", FILTERS),
    ("web3_contract_event", "maxBlockAgeSeconds", [0, -1, 10**12, "x"]),
]
# Of what fits no single field either side may be named.
ALSO: Final = {"maxOracleAgeSeconds": "oracle", "abi": "eventName", "eventName": "abi"}


async def test_no_configuration_is_too_odd_to_be_refused_in_words(database_url: str, tmp_path: Path) -> None:
    async with fleet(database_url, tmp_path) as made:
        collector = await made.collector(LOG_LEVEL="debug")
        bad: list[Any] = []
        for type_, config in GOOD.items():
            for type_sent, more in ((type_, {}), ("web3", {"subType": type_})):
                asked = {"name": type_, "type": type_sent, "config": {**config, **more}}
                id_ = (await made.made("/v1/monitors", asked))["id"]
                shown = await made.got(f"/v1/monitors/{id_}")
                assert (shown["type"], shown["config"]["subType"]) == (type_sent, type_)
                assert await made.call("DELETE", f"/v1/monitors/{id_}") == (204, None)
        id_ = (
            await made.made("/v1/monitors", {"name": "x", "type": "gas_price", "config": GOOD["gas_price"]})
        )["id"]
        for type_, path, values in WRONG:
            for value in values:
                bad += await _refused(made, type_, path, value)
        for body in ODD:
            status, answer = await made.call("POST", "/v1/monitors", body)
            if status != 400:
                bad.append((body, status, answer))
        for config in (
            {"thresholds": {"high": "NaN"}},
            {"subType": "bridge"},
            {"chain": None},
        ):
            status, answer = await made.call("PUT", f"/v1/monitors/{id_}", {"config": config})
            if (status, set(answer.get("details", ()))) == (200, set()):
                bad.append((config, status, answer))
        assert bad == []
        log = collector.log
        assert '"level": "error"' not in log
        assert KEY not in log


ODD: Final[list[Any]] = [
    {"name": "x", "type": "web3", "config": {}},
    {"name": "x", "type": "web3", "config": {"subType": "whale"}},
    {"name": "x", "type": "web3", "config": {"subType": ["bridge"]}},
    {"name": "x", "type": "web3", "config": {"subType": "web3"}},
    {"name": "x", "type": "web3", "config": {"subType": "http", "url": "http://a/"}},
    {"name": "x", "type": "gas_price", "config": {**GOOD["gas_price"], "subType": "bridge"}},
    {"name": "x", "type": "agent_metrics", "config": {}},
    {"name": "x", "type": ["web3"], "config": GOOD["gas_price"]},
    {"name": "x", "type": "gas_price", "config": [GOOD["gas_price"]]},
    {"name": "x", "type": "whale_wallet", "config": {**GOOD["whale_wallet"], "rpcUrl": None}},
]


async def _refused(made: Fleet, type_: str, path: str, value: Any) -> list[Any]:
    """What is wrong with the answer, if it is not a 400 that names the field."""
    config = deepcopy(GOOD[type_])
    first, _, second = path.partition(".")
    if second:
        config[first][second] = value
    else:
        config[first] = value
    status, answer = await made.call("POST", "/v1/monitors", {"name": "x", "type": type_, "config": config})
    keys = list(answer.get("details", ()))
    known = {path, first, ALSO.get(first, path)}
    named = any(key in known or key.startswith((path + ".", path + "[")) for key in keys)
    quiet = KEY not in str(answer)
    return (
        []
        if status == 400 and named and quiet
        else [(type_, path, repr(value)[:80], status, str(answer)[:300])]
    )
