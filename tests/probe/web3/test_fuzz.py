"""Whatever a node answers, a check is up or down, says why, and breaks nothing of ours."""

import asyncio
import json
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from probe.checks import prepare
from probe.checks._check import Kept
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.findings import bounded
from shared.kinds import WEB3, load
from shared.results import Outcome, Status
from shared.wire.convert import MAX_STATE
from tests.probe.targets import Target, target
from tests.probe.web3.standin import Facts, Moving, node

A, B, C = ("0x" + two * 20 for two in ("a1", "b2", "c3"))
CONFIGS: dict[str, dict[str, Any]] = {
    "gas_price": {"thresholds": {"high": "50", "low": 1}},
    "whale_wallet": {"address": A, "threshold": "0.5", "token": B, "confirmations": 0},
    "whale_wallet of the coin": {"address": A, "threshold": "0.5", "confirmations": 0},
    "liquidation by aave": {"protocol": "aave_v3", "pool": B, "address": A, "minHealthFactor": 1.1},
    "liquidation": {"protocol": "compound_v3", "pool": B, "address": A, "minHealthFactor": 1.1},
    "defi_protocol": {
        "contract": B,
        "minTvl": 5,
        "tvlDropPercent": 10,
        "windowMinutes": 5,
        "oracle": C,
        "maxOracleAgeSeconds": 60,
        "maxPriceDeviationPercent": 5,
        "pausedCheck": True,
    },
    "subgraph": {"maxBlocksBehind": 5},
    "bridge": {"maxImbalancePercent": 1, "maxDelaySeconds": 60},
    "web3_contract_event": {
        "address": B,
        "eventName": "E(address indexed a, bytes b, (int8,string)[] c)",
        "confirmations": 0,
    },
}
METHODS = (
    "eth_gasPrice", "eth_call", "eth_getLogs", "eth_getBalance", "eth_getTransactionCount",
    "eth_getTransactionReceipt", "data",
)  # fmt: skip


def called(answers: list[str], params: Any) -> str:
    """One of *answers*, the same for the same question of the same contract."""
    asked = params[0] if isinstance(params, list) and params and isinstance(params[0], dict) else {}
    return answers[zlib.crc32(f"{asked.get('to')}{asked.get('data')}".encode()) % len(answers)]


WORDS = st.lists(
    st.one_of(st.sampled_from([0, 1, 6, 18, 32, 64, 96, 2**255, 2**256 - 1]), st.integers(0, 2**64))
)
HEX = st.one_of(
    st.integers(0, 2**256 - 1).map(hex),
    st.integers(0, 2000).map(hex),
    WORDS.map(lambda words: "0x" + "".join(f"{word:064x}" for word in words)),
    st.sampled_from(["0x", "0x0", A, B, "0x" + "0" * 63 + "1", "0xzz", "-0x1", "0x" + "f" * 130]),
)
ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=9)
    | HEX,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=6,
)
LOGS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "address": st.sampled_from([A, B]) | ANY,
            "topics": st.lists(HEX, max_size=5) | ANY,
            "data": HEX | ANY,
            "blockNumber": st.integers(990, 1010).map(hex) | ANY,
            "blockHash": st.integers(0, 2**255).map(lambda number: f"0x{number:064x}") | ANY,
            "transactionHash": st.integers(0, 2**255).map(lambda number: f"0x{number:064x}") | ANY,
            "logIndex": HEX,
            "removed": st.booleans() | ANY,
        },
    ),
    max_size=4,
)
CALLS = st.lists(
    st.lists(
        st.sampled_from([0, 1, 2, 6, 8, 18, 500, 10**18, 2**128, 2**255, 2**256 - 1]), min_size=8, max_size=9
    ),
    min_size=1,
    max_size=7,
).map(
    lambda answers: partial(called, ["0x" + "".join(f"{word:064x}" for word in words) for words in answers])
)
META = st.fixed_dictionaries(
    {
        "_meta": st.fixed_dictionaries(
            {
                "block": st.fixed_dictionaries({"number": st.integers(0, 2000) | ANY, "hash": HEX}),
                "hasIndexingErrors": st.booleans() | ANY,
            }
        )
    }
)
ANSWERS = st.builds(
    lambda sane, some: sane | some,
    st.fixed_dictionaries(
        {
            "eth_call": CALLS,
            "data": META,
            "eth_getLogs": LOGS,
            "eth_getBalance": st.integers(0, 10**20).map(hex),
            "eth_getTransactionCount": st.integers(0, 3).map(hex),
        }
    ),
    st.dictionaries(st.sampled_from(METHODS), HEX | LOGS | ANY, max_size=1),
)


def test_no_kind_is_left_out() -> None:
    assert {name.partition(" ")[0] for name in CONFIGS} == set(WEB3)


@pytest.fixture(scope="module")
def moving() -> Iterator[tuple[Moving, Target]]:
    made = Moving(Facts())
    with target(node(made)) as server:
        yield made, server


def config_of(name: str, url: str) -> dict[str, Any]:
    type_ = name.partition(" ")[0]
    chain = {"web3_contract_event": {"chainId": 1, "rpcUrl": url}, "bridge": {}}
    config = CONFIGS[name] | chain.get(type_, {"chain": 1, "rpcUrl": url})
    if type_ == "bridge":
        side = {"chain": 1, "rpcUrl": url, "contract": A, "token": B}
        config |= {"source": side, "destination": side | {"contract": C}}
    return config | ({"url": url} if type_ == "subgraph" else {})


async def outcomes(name: str, moving: tuple[Moving, Target], steps: list[dict[str, Any]]) -> list[Outcome]:
    """One monitor's checks, each of a chain that grew and of other answers."""
    node_, server = moving
    type_, kept, net = name.partition(" ")[0], Kept(), Net()
    check = prepare(type_, load(type_, config_of(name, server.url)), kept)
    seen = []
    for number, more in enumerate(steps, 1000):
        node_.facts = Facts(number=number, more=more)
        seen.append((await run(check, net, 5.0)).outcome)
        state = seen[-1].state
        if state is not None:
            kept.keep(state)
    net.close()
    return seen


@pytest.mark.parametrize("name", CONFIGS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(ANSWERS, min_size=2, max_size=4))
def test_whatever_a_node_answers_is_no_fault_of_ours(
    name: str, moving: tuple[Moving, Target], steps: list[dict[str, Any]]
) -> None:
    for outcome in asyncio.run(outcomes(name, moving, steps)):
        assert outcome.status in {Status.UP, Status.DOWN}, outcome.error
        assert bool(outcome.error) == (outcome.status is Status.DOWN)
        assert outcome.state is None or len(outcome.state) <= MAX_STATE
        assert bounded(outcome.found)
        for finding in outcome.found:
            assert isinstance(orjson.loads(finding.data), dict)


@pytest.mark.parametrize("name", CONFIGS)
@settings(max_examples=40, deadline=None)
@given(state=st.one_of(st.binary(max_size=50), ANY.map(lambda value: json.dumps(value).encode())), more=ANY)
def test_whatever_a_checkpoint_holds_is_no_fault_of_ours(name: str, state: bytes, more: Any) -> None:
    async def begun() -> list[Outcome]:
        with target(node(Facts())) as server:
            config, net, seen = config_of(name, server.url), Net(), list[Outcome]()
            type_ = name.partition(" ")[0]
            first = Kept()
            check = prepare(type_, load(type_, config), first)
            good = (await run(check, net, 5.0)).outcome.state
            about = orjson.loads(good)["about"] if good else ""
            for bytes_ in (state, json.dumps({"about": about, "more": more, "raised": more}).encode()):
                check = prepare(type_, load(type_, config), Kept(bytes_))
                seen.append((await run(check, net, 5.0)).outcome)
            net.close()
            return seen

    for outcome in asyncio.run(begun()):
        assert outcome.status in {Status.UP, Status.DOWN}, outcome.error
