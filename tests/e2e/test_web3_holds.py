"""Thresholds and events of chains during holds, from outside: notified at once, later, or never."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.chains import Stage, amounts, chain, of_events, stage
from tests.e2e.product import eventually
from tests.probe.web3.chain import GWEI, Chain

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    # A client that hangs up while it is accepted leaves asyncio's servers a socket that nobody closes.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

LOW: Final = "low_health_factor"
WELL: Final = f"{LOW}_recovered"


@dataclass(slots=True)
class Row:
    """A position on the chain, and the monitor that watches it; *at*: where contracts are."""

    made: Stage
    here: Chain
    at: dict[str, str]
    owner: str
    monitor: str = ""

    @property
    def path(self) -> str:
        return f"/v1/monitors/{self.monitor}"

    @property
    def config(self) -> dict[str, Any]:
        position = {"protocol": "aave_v3", "pool": self.at["Pool"], "address": self.owner}
        return {"chain": self.here.id, "rpcUrl": self.here.url, "minHealthFactor": "1.5", **position}

    def stands(self, collateral: int) -> None:
        """Of 3000 the factor is 2.475, of 1500 it is 1.2375."""
        owed = (self.owner, collateral * 10**8, 10**11, 8250)
        self.here.call(self.at["Pool"], "set(address,uint256,uint256,uint256)", *owed)

    def sinks(self) -> None:
        self.stands(1_500)

    def heals(self) -> None:
        self.stands(3_000)

    async def does(self, deed: str, body: Any = None) -> Any:
        return await self.made.fleet.made(f"{self.path}/{deed}", body)

    async def hears(self, *wanted: str) -> list[Any]:
        return await self.made.hears(self.monitor, *wanted)

    async def hears_no_more_than(self, *wanted: str) -> None:
        await self.made.checked(self.monitor)
        await self.hears(*wanted)

    async def crossed(self, *keys: str) -> None:
        """Soon the API shows just these thresholds as crossed, notified or not."""

        async def shown() -> bool:
            alerts = (await self.made.fleet.got(self.path))["alerts"]
            return sorted(alert["type"] for alert in alerts) == sorted(keys)

        await eventually(shown)

    async def updated(self, body: Any) -> None:
        status, answer = await self.made.fleet.call("PUT", self.path, body)
        assert status == 200, answer

    async def goes(self, path: str) -> None:
        status, answer = await self.made.fleet.call("DELETE", path)
        assert status == 204, answer


async def silenced_and_still_crossed(row: Row) -> None:
    await row.does("silence", {"duration": 600})
    row.sinks()
    await row.crossed(LOW)
    await row.hears_no_more_than()
    await row.goes(f"{row.path}/silence")
    await row.hears(LOW)
    row.heals()
    await row.hears(LOW, WELL)


async def silenced_and_back_in_time(row: Row) -> None:
    await row.does("silence", {"duration": 600})
    row.sinks()
    await row.crossed(LOW)
    row.heals()
    await row.crossed()
    await row.goes(f"{row.path}/silence")
    await row.hears_no_more_than()


async def silenced_after_it_was_told(row: Row) -> None:
    row.sinks()
    await row.hears(LOW)
    await row.does("silence", {"duration": 600})
    row.heals()
    await row.hears(LOW, WELL)
    await row.goes(f"{row.path}/silence")
    await row.hears_no_more_than(LOW, WELL)


async def maintained(row: Row) -> None:
    start = (await row.made.fleet.got(row.path))["updatedAt"]
    asked = {"name": row.owner, "monitors": [row.monitor], "start": start, "duration": 86_400}
    window = (await row.made.fleet.made("/v1/maintenance-windows", asked))["id"]
    row.sinks()
    await row.crossed(LOW)
    await row.hears_no_more_than()
    await row.made.fleet.made(f"/v1/maintenance-windows/{window}/end")
    await row.hears(LOW)
    row.heals()
    await row.hears(LOW, WELL)


async def paused_over_a_crossing(row: Row) -> None:
    await row.does("pause")
    row.sinks()
    await row.does("resume")
    await row.hears(LOW)
    await row.does("pause")
    await row.does("resume")
    await row.hears_no_more_than(LOW)
    await row.does("pause")
    row.heals()
    await row.does("resume")
    await row.hears(LOW, WELL)


async def deleted_while_crossed(row: Row) -> None:
    row.sinks()
    await row.hears(LOW)
    await eventually(lambda: _has_alerts(row, "firing"))
    await row.goes(row.path)
    await eventually(lambda: _has_alerts(row))
    assert (await row.made.fleet.call("GET", row.path))[0] == 404
    await row.hears(LOW)


async def _has_alerts(row: Row, *statuses: str) -> bool:
    found = (await row.made.fleet.got("/v1/alerts?limit=100"))["data"]
    open_ = [item for item in found if item["monitorId"] == row.monitor and item["status"] == "firing"]
    return [item["status"] for item in open_] == list(statuses)


async def asked_for_less(row: Row) -> None:
    row.sinks()
    await row.hears(LOW)
    await row.updated({"config": {"minHealthFactor": "1.1"}})
    await row.hears(LOW, WELL)
    await row.updated({"config": {"minHealthFactor": "1.3"}})
    await row.hears(LOW, WELL, LOW)


async def other_thresholds(row: Row) -> None:
    """Of gas: the high one goes, a low one comes."""
    row.here.rpc("anvil_setNextBlockBaseFeePerGas", hex(500 * GWEI))
    row.here.mine()
    gas = {"chain": row.here.id, "rpcUrl": row.here.url, "thresholds": {"high": 1}}
    row.monitor = await row.made.monitor("gas_price", gas)
    await row.hears("high_gas")
    await row.updated({"config": {"thresholds": {"high": None, "low": 100_000}}})
    told = await row.hears("high_gas", "high_gas_recovered", "low_gas")
    assert told[1]["alert"]["type"] == "high_gas_recovered"
    await row.updated({"config": {"thresholds": {"low": 0.5}}})
    await row.hears("high_gas", "high_gas_recovered", "low_gas", "low_gas_recovered")


async def events_in_a_silence(row: Row) -> None:
    """They are stored and never notified."""
    zoo = row.at["Zoo"]
    row.monitor = await row.made.monitor("web3_contract_event", of_events(row.here, zoo))
    await row.does("silence", {"duration": 600})
    row.here.call(zoo, "plain(uint256)", 1)
    await eventually(lambda: _kept(row, "1"))
    await row.goes(f"{row.path}/silence")
    row.here.call(zoo, "plain(uint256)", 2)
    assert amounts(await row.hears("event")) == ["2"]
    await row.hears_no_more_than("event")
    await eventually(lambda: _kept(row, "2", "1"))


async def another_contract(row: Row) -> None:
    """What it emitted before the monitor existed is not notified; nor is anything of the contract before."""
    before, after = row.here.deploy("Zoo"), row.here.deploy("Zoo")
    row.here.call(after, "plain(uint256)", 1)
    row.monitor = await row.made.monitor("web3_contract_event", of_events(row.here, before))
    row.here.call(before, "plain(uint256)", 2)
    await row.hears("event")
    await row.updated({"config": {"address": after}})
    await row.made.checked(row.monitor, 3)
    row.here.call(before, "plain(uint256)", 3)
    row.here.call(after, "plain(uint256)", 4)
    assert amounts(await row.hears("event", "event")) == ["2", "4"]


async def _kept(row: Row, *wanted: str) -> bool:
    results = (await row.made.fleet.got(f"{row.path}/results?limit=1000"))["data"]
    return [log["args"]["amount"] for result in results for log in result["logs"]] == list(wanted)


async def _play(row: Row, story: Callable[[Row], Awaitable[None]]) -> None:
    row.heals()
    row.monitor = await row.made.monitor("liquidation", row.config)
    await story(row)


async def test_who_hears_what_while_something_holds(database_url: str, tmp_path: Path) -> None:
    stories = (
        silenced_and_still_crossed,
        silenced_and_back_in_time,
        silenced_after_it_was_told,
        maintained,
        paused_over_a_crossing,
        deleted_while_crossed,
        asked_for_less,
        other_thresholds,
        events_in_a_silence,
        another_contract,
    )
    with chain(31337, "--accounts", "20") as here:
        at = {name: here.deploy(name) for name in ("Pool", "Zoo")}
        async with stage(database_url, tmp_path, "eu") as made:
            rows = [Row(made, here, at, here.accounts[number]) for number in range(1, len(stories) + 1)]
            ended = await asyncio.gather(
                *(_play(row, story) for row, story in zip(rows, stories, strict=True)), return_exceptions=True
            )
            faults = {
                story.__name__: fault
                for story, fault in zip(stories, ended, strict=True)
                if fault is not None
            }
            assert faults == {}
            made.assert_signed()
