"""Each subtype of Web3 monitor from outside: it fires and recovers once, and the rules hear of it."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from tests.e2e.chains import NESTED, Stage, chain, of_events, stage
from tests.probe.web3.chain import ETHER, GWEI, Chain
from tests.receiver import Exchange, answer, receiving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    # A client that hangs up while it is accepted leaves asyncio's servers a socket that nobody closes.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

COMMON: Final = {"event", "id", "sequence", "timestamp", "monitor", "links"}
# What each has beside those, to the letter.
PARTS: Final = {"web3.gas.alert": {"alert"}, "web3.alert": {"alert"}, "web3.event": {"log"}}
GAS: Final = {"type", "currentGwei", "thresholdGwei", "message"}
ALERT: Final = {"type", "subType", "current", "threshold", "unit", "message"}
LOG: Final = {"name", "args", "address", "transactionHash", "blockNumber", "logIndex", "removed"}
# What a single check can't see: it has no time to look back on.
OF_TIME: Final = {"event", "large_transfer", "tvl_drop", "message_delay"}


@dataclass(slots=True)
class Case:
    """A monitor as it is asked for, what makes it fire and recover, and what is heard then.

    *at_first* is heard of what is so from the start.
    """

    type: str
    config: dict[str, Any]
    fire: Callable[[], object]
    fired: Sequence[str]
    heal: Callable[[], object] = int
    healed: Sequence[str] = ()
    at_first: Sequence[str] = ()
    monitor: str = field(default="")


async def test_each_subtype_fires_once_and_recovers_and_rules_hear_of_it(
    database_url: str, tmp_path: Path
) -> None:
    with chain() as here, chain(31338) as there, chain(31339) as dear:
        async with cases(here, there, dear) as each, stage(database_url, tmp_path, "eu", "us") as made:
            asked = [made.monitor(case.type, case.config, "eu", "us") for case in each]
            for case, monitor in zip(each, await asyncio.gather(*asked), strict=True):
                case.monitor = monitor
            for case in each:
                await made.hears(case.monitor, *case.at_first)
                case.fire()
            for case in each:
                told = await made.hears(case.monitor, *case.at_first, *case.fired)
                for payload in told:
                    assert_exact(payload, case)
                for payload in told:
                    await made.mailed(*_texts(payload))
            await asyncio.gather(*(assert_tested(made, case) for case in each))
            for case in each:
                case.heal()
            for case in each:
                told = await made.hears(case.monitor, *case.at_first, *case.fired, *case.healed)
                if len(case.fired) == len(case.healed):
                    await made.mailed(f"Recovered: {told[0]['monitor']['name']}")
            await asyncio.gather(*(made.checked(case.monitor) for case in each))
            for case in each:
                told = await made.hears(case.monitor, *case.at_first, *case.fired, *case.healed)
                for payload in told:
                    assert_exact(payload, case)
            made.assert_signed()
            kinds = {received.headers["x-service-event"] for received in made.hook.received}
            assert kinds == set(PARTS), "and a rule adds nothing to a webhook channel"


@asynccontextmanager
async def cases(here: Chain, there: Chain, dear: Chain) -> AsyncIterator[list[Case]]:
    async with AsyncExitStack() as stack:
        yield [
            *_gas(dear),
            *_whales(here),
            _liquidation(here),
            _protocol(here),
            await _subgraph(stack, here),
            _bridge(here, there),
            _slow_bridge(here, there),
            *_events(here),
        ]


def _gas(dear: Chain) -> list[Case]:
    def price(gwei: int) -> None:
        dear.rpc("anvil_setNextBlockBaseFeePerGas", hex(gwei * GWEI))
        dear.mine()

    price(50)
    rpc = {"chain": "31339", "rpcUrl": dear.url}
    high = {**rpc, "thresholds": {"high": 100}}
    low = {**rpc, "subType": "gas_price", "thresholds": {"high": 5000, "low": 10.5}}
    return [
        Case("gas_price", high, lambda: price(2000), ["high_gas"], lambda: price(1), ["high_gas_recovered"]),
        Case("web3", low, int, [], int, ["low_gas"]),
    ]


def _whales(here: Chain) -> list[Case]:
    coin = here.deploy("Coin", ["uint8"], [6])
    wallet, other, sender = here.accounts[4], here.accounts[5], here.accounts[6]
    base = {"chain": here.id, "rpcUrl": [here.url], "confirmations": 0}

    def pay() -> None:
        here.send({"from": sender, "to": wallet, "value": hex(50 * ETHER)})

    def mint() -> None:
        here.call(coin, "mint(address,uint256)", other, 2_500_000_001)

    def mint_in_parts() -> None:
        here.rpc("evm_setAutomine", False)
        for _ in range(3):
            data = {"from": sender, "to": wallet, "value": hex(4 * ETHER), "gas": hex(21_000)}
            here.rpc("eth_sendTransaction", data)
        here.mine()
        here.rpc("evm_setAutomine", True)

    token = {**base, "subType": "whale_wallet", "token": coin, "walletAddress": other, "threshold": "2500"}
    return [
        Case(
            "whale_wallet",
            {**base, "address": wallet, "threshold": 10},
            pay,
            ["large_transfer"],
            mint_in_parts,
            ["balance_change", "balance_change_recovered"],
        ),
        Case("web3", token, mint, ["large_transfer"]),
    ]


def _liquidation(here: Chain) -> Case:
    pool, owner = here.deploy("Pool"), here.accounts[3]

    def stands(collateral: int) -> None:
        here.call(pool, "set(address,uint256,uint256,uint256)", owner, collateral * 10**8, 10**11, 8250)

    stands(3_000)
    config = {
        "chain": here.id,
        "rpcUrl": here.url,
        "protocol": "aave_v3",
        "pool": pool,
        "address": owner,
        "minHealthFactor": "1.5",
    }
    fired, healed = ["low_health_factor"], ["low_health_factor_recovered"]
    return Case("liquidation", config, lambda: stands(1_500), fired, lambda: stands(3_000), healed)


def _protocol(here: Chain) -> Case:
    coin = here.deploy("Coin", ["uint8"], [6])
    vault = here.deploy("Vault", ["address"], [coin])
    feed = here.deploy("Feed", ["uint8", "int256"], [8, 10**8])

    def lies(paused: bool, deed: str, price: int) -> None:
        here.call(coin, f"{deed}(address,uint256)", vault, 600 * 10**6)
        here.call(vault, "pause(bool)", paused)
        here.call(feed, "set(int256)", price)

    here.call(coin, "mint(address,uint256)", vault, 1000 * 10**6)
    config = {
        "subType": "defi_protocol",
        "chain": here.id,
        "rpcUrl": here.url,
        "contract": vault,
        "minTvl": 500,
        "tvlDropPercent": 50,
        "windowMinutes": 60,
        "oracle": feed,
        "maxOracleAgeSeconds": 3600,
        "maxPriceDeviationPercent": 5,
        "expectedPrice": "1",
        "pausedCheck": True,
    }
    fired = ["low_tvl", "tvl_drop", "paused", "price_deviation"]

    def breaks() -> None:
        lies(True, "burn", 9 * 10**7)

    def heals() -> None:
        lies(False, "mint", 10**8)

    return Case("web3", config, breaks, fired, heals, [f"{text}_recovered" for text in fired])


async def _subgraph(stack: AsyncExitStack, here: Chain) -> Case:
    lag = [0]

    async def graph(exchange: Exchange) -> None:
        block = {"number": here.head - lag[0], "hash": "0x" + "00" * 32}
        said = {"data": {"_meta": {"block": block, "hasIndexingErrors": False}}}
        await answer(200, {"Content-Type": "application/json"}, orjson.dumps(said))(exchange)

    server = await stack.enter_async_context(receiving(always=graph))
    config = {"url": server.url("/subgraphs/shop"), "maxBlocksBehind": 5, "rpcUrl": here.url}
    fired, healed = ["blocks_behind"], ["blocks_behind_recovered"]
    return Case("subgraph", config, lambda: lag.insert(0, 6), fired, lambda: lag.insert(0, 0), healed)


def _sides(here: Chain, there: Chain) -> tuple[dict[str, Any], dict[str, Any]]:
    """A bridge's two ends, as much minted as there is locked; of each token an account has some more."""
    ends: list[dict[str, Any]] = []
    for at, digits in ((here, 18), (there, 6)):
        token = at.deploy("Coin", ["uint8"], [digits])
        side = at.deploy("Side", ["address"], [token])
        at.call(token, "mint(address,uint256)", side, 1000 * 10**digits)
        ends.append({"chain": at.id, "rpcUrl": at.url, "contract": side, "token": token})
    here.call(ends[0]["token"], "mint(address,uint256)", here.accounts[1], ETHER)
    return ends[0], ends[1]


def _bridge(here: Chain, there: Chain) -> Case:
    source, destination = _sides(here, there)
    to = there.accounts[1]

    def breaks() -> None:
        there.call(destination["token"], "mint(address,uint256)", to, 500 * 10**6)
        here.call(source["contract"], "pause(bool)", True)

    def heals() -> None:
        there.call(destination["token"], "burn(address,uint256)", to, 500 * 10**6)
        here.call(source["contract"], "pause(bool)", False)

    config = {"subType": "bridge", "source": source, "destination": destination, "maxImbalancePercent": 2}
    fired = ["imbalance", "source_paused"]
    return Case("web3", config, breaks, fired, heals, [f"{text}_recovered" for text in fired])


def _slow_bridge(here: Chain, there: Chain) -> Case:
    source, destination = _sides(here, there)

    def sends() -> None:
        here.call(source["contract"], "lock(uint256,address,uint256)", 7, here.accounts[1], ETHER)
        here.rpc("anvil_mine", hex(3), hex(2))

    def delivers() -> None:
        there.call(destination["contract"], "deliver(uint256,address,uint256)", 7, there.accounts[1], 10**6)
        there.mine(3)

    config = {
        "source": source,
        "destination": destination,
        "depositEvent": "Sent(uint256 indexed id, address by, uint256 amount)",
        "deliveryEvent": "Delivered(uint256 indexed id, address to, uint256 amount)",
        "maxDelaySeconds": 1,
    }
    return Case("bridge", config, sends, ["message_delay"], delivers, ["message_delay_recovered"])


def _events(here: Chain) -> list[Case]:
    zoo = here.deploy("Zoo")
    sender = here.accounts[0]

    def nested() -> None:
        here.call(zoo, "nested()")

    def plain() -> None:
        here.call(zoo, "plain(uint256)", 2**255)
        here.call(zoo, "plain(uint256)", 7)

    filtered = of_events(here, zoo, filters={"amount": str(2**255), "by": sender})
    deep = of_events(here, zoo, eventName=NESTED, subType="contract_event")
    return [Case("web3_contract_event", filtered, plain, ["event"]), Case("web3", deep, nested, ["event"])]


async def assert_tested(made: Stage, case: Case) -> None:
    """A test of the same configuration sees the same thresholds crossed, and so does ``tocsin check``."""
    tested = await made.fleet.made("/v1/monitors/test", {"type": case.type, "config": case.config})
    assert tested["success"], tested
    crossed = {alert["type"] for alert in tested["web3"]["alerts"] if alert["raised"]}
    assert crossed == {*case.at_first, *case.fired} - OF_TIME
    if case.type == "web3":
        return
    status, said = await checked_once(case)
    assert (status, said["success"]) == (bool(crossed), True)
    assert {item["key"] for item in said["found"] if item["found"] == "raised"} == crossed


async def checked_once(case: Case) -> tuple[int, Any]:
    """The exit status of ``tocsin check``, and what it prints."""
    asked = ["check", "web3", case.type, "--json", "--config", orjson.dumps(case.config).decode()]
    command = [sys.executable, "-m", "shared.command", *asked]
    ran = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    data, _ = await ran.communicate()
    assert ran.returncode is not None
    return ran.returncode, orjson.loads(data)


def assert_exact(payload: Any, case: Case) -> None:
    """The keys and the types of an event, as the contract shows them."""
    event = payload["event"]
    transfer = event == "web3.alert" and payload["alert"]["type"] == "large_transfer"
    assert set(payload) == COMMON | PARTS[event] | ({"log"} if transfer else set())
    assert set(payload["monitor"]) == {"id", "name", "type", "chain"}
    assert (payload["monitor"]["id"], payload["monitor"]["type"]) == (case.monitor, case.type)
    chain_ = case.config.get("chain", case.config.get("chainId"))
    assert payload["monitor"]["chain"] == case.config.get("source", {}).get("chain", chain_)
    assert set(payload["links"]) == {"monitor"}
    assert payload["links"]["monitor"].endswith(f"/monitors/{case.monitor}")
    if event == "web3.gas.alert":
        assert set(payload["alert"]) == GAS
        assert type(payload["alert"]["currentGwei"]) in {int, float}
        assert type(payload["alert"]["thresholdGwei"]) in {int, float}
    elif event == "web3.alert":
        assert set(payload["alert"]) == ALERT
        bare = {name for name, value in payload["alert"].items() if type(value) is not str}
        assert bare <= {"unit"}, "shares and factors have none"
    if "log" in payload:
        assert set(payload["log"]) == LOG
        assert payload["log"]["removed"] is False


def _texts(payload: Any) -> list[str]:
    """What a mail about it has to say."""
    name = payload["monitor"]["name"]
    return [name, payload["alert"]["message"]] if "alert" in payload else [name, payload["log"]["name"]]
