"""Nodes that lie, die, limit and stand still, from outside: in whose words, and where their keys go."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import orjson
import pytest

from tests.e2e.chains import (
    KEY,
    Stage,
    amounts,
    chain,
    forward,
    of_events,
    plain,
    provider,
    stage,
    texts_of,
    url_of,
)
from tests.e2e.fleet import Fleet
from tests.ports import free_port
from tests.probe.web3.chain import Chain
from tests.receiver import Exchange, Receiver, answer, reset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    # A client that hangs up while it is accepted leaves asyncio's servers a socket that nobody closes.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

LIMITS: Final = answer(429, {"Retry-After": "1"}, b'{"error": "slow down"}')


async def gossip(exchange: Exchange) -> None:
    """Refuse each call, and say back what was sent, as some nodes do."""
    text = f"no such project: {exchange.request.target} {exchange.request.headers.get('authorization')}"
    asked = orjson.loads(exchange.request.body)
    refused = [
        {"jsonrpc": "2.0", "id": item["id"], "error": {"code": -32000, "message": text}}
        for item in (asked if isinstance(asked, list) else [asked])
    ]
    body = orjson.dumps(refused if isinstance(asked, list) else refused[0])
    await answer(200, {"X-Echo": exchange.request.target}, body)(exchange)


@dataclass(slots=True)
class Nodes:
    """Those of each monitor of one contract's events, all behind a key but for those of *still*."""

    made: Stage
    here: Chain
    zoo: str
    default: Receiver
    wrong: Receiver
    good: list[Receiver]
    in_turn: str = ""
    alone: str = ""
    still: str = ""
    unnamed: str = ""

    async def watch(self) -> None:
        """Make the monitors: of a wrong node and two good ones, of one, of one that gets stale, of none."""
        first, second, third = map(url_of, self.good)
        asked = [
            of_events([url_of(self.wrong), first, second], self.zoo),
            of_events([third], self.zoo),
            of_events(self.here, self.zoo, maxBlockAgeSeconds=4),
            of_events([], self.zoo),
        ]
        del asked[3]["rpcUrl"]
        made = [self.made.monitor("web3_contract_event", config) for config in asked]
        self.in_turn, self.alone, self.still, self.unnamed = await asyncio.gather(*made)

    @property
    def monitors(self) -> tuple[str, ...]:
        return self.in_turn, self.alone, self.still, self.unnamed

    async def tell(self, number: int, *monitors: str) -> None:
        """Emit the event of that number, the next one, and wait until all *monitors* have notified it."""
        await asyncio.to_thread(plain, self.zoo, self.here, [number])
        for monitor in monitors:
            await self.made.hears(monitor, *["event"] * (number + 1))


@asynccontextmanager
async def nodes(database_url: str, directory: Path, here: Chain, elsewhere: Chain) -> AsyncIterator[Nodes]:
    """A stage with one probe, and nodes that serve well so far."""
    async with AsyncExitStack() as stack:
        default, *good = [await stack.enter_async_context(provider(here)) for _ in range(4)]
        wrong = await stack.enter_async_context(provider(elsewhere))
        settings = {"RPC_URLS": f"31337={url_of(default)}"}
        made = await stack.enter_async_context(stage(database_url, directory, **settings))
        metrics = f"127.0.0.1:{free_port()}"
        collector = made.fleet.collectors[0]
        await made.fleet.probe("eu", collector, operators=True, LOG_LEVEL="debug", METRICS_LISTEN=metrics)
        yield Nodes(made, here, here.deploy("Zoo"), default, wrong, good)


async def test_nodes_fail_in_words_and_in_turn_and_their_keys_stay_with_them(
    database_url: str, tmp_path: Path
) -> None:
    with chain(31337, "--block-time", "1") as here, chain(31338) as elsewhere:
        async with nodes(database_url, tmp_path, here, elsewhere) as all_:
            await all_.watch()
            await all_.tell(0, *all_.monitors)
            all_.good[0].always = reset
            await all_.tell(1, *all_.monitors)
            assert (await all_.made.fleet.got(f"/v1/monitors/{all_.in_turn}"))["status"] == "up"
            await _limited_and_gossiped_of(all_)
            await _stale(all_)
            for monitor in all_.monitors:
                assert amounts(all_.made.told(monitor)) == ["0", "1", "2", "3"]
            assert all_.wrong.received
            assert all_.default.received
            await _tested(all_)
            await _keys_stay(all_, tmp_path)


async def _limited_and_gossiped_of(all_: Nodes) -> None:
    """The last node of one monitor, and the only one of another; what happens meanwhile is notified later."""
    made, (_, second, third) = all_.made, all_.good
    third.always = LIMITS
    await made.hears(all_.alone, "event", "event", "monitor.down")
    assert "limits how often" in made.told(all_.alone)[-1]["incident"]["lastError"]
    second.always = third.always = gossip
    await made.hears(all_.in_turn, "event", "event", "monitor.down")
    await all_.tell(2, all_.still)
    second.always = third.always = forward(all_.here)
    for monitor in (all_.in_turn, all_.alone):
        await made.hears(monitor, *["event"] * 3, "monitor.down", "monitor.up", timeout_s=40)


async def _stale(all_: Nodes) -> None:
    """The chain stands still, and goes on."""
    made = all_.made
    all_.here.rpc("evm_setIntervalMining", 0)
    await made.hears(all_.still, *["event"] * 3, "monitor.down")
    assert "is stale: its newest block" in made.told(all_.still)[-1]["incident"]["lastError"]
    all_.here.rpc("evm_setIntervalMining", 1)
    await all_.tell(3, all_.unnamed)
    for monitor in (all_.in_turn, all_.alone, all_.still):
        await made.hears(monitor, *["event"] * 4, "monitor.down", "monitor.up")


async def _tested(all_: Nodes) -> None:
    all_.good[2].always = gossip
    asked = {"type": "web3_contract_event", "config": of_events([url_of(all_.good[2])], all_.zoo)}
    tested = await all_.made.fleet.made("/v1/monitors/test", asked)
    assert (tested["success"], KEY in str(tested)) == (False, False), tested


async def _keys_stay(all_: Nodes, directory: Path) -> None:
    """No key of a node is in what is logged, sent, measured, or shown to who may only read."""
    made, fleet = all_.made, all_.made.fleet
    listening = fleet.collectors[0].settings["HTTP_LISTEN"], fleet.probes[0].settings["METRICS_LISTEN"]
    text = await texts_of(directory, fleet.session, *(f"http://{at}/metrics" for at in listening))
    text += "".join(received.body.decode() for received in made.hook.received)
    text += "".join(mail.raw.decode() for mail in made.box.mails)
    asked = {"name": "reader", "permission": "read-only", "expiresIn": "never"}
    reader = replace(fleet, token=(await fleet.made("/v1/tokens", asked))["token"])
    paths = ["/v1/monitors", "/v1/incidents", "/v1/alerts", "/v1/alert-rules", "/v1/monitors?type=web3"]
    for monitor in all_.monitors:
        paths += [f"/v1/monitors/{monitor}{part}" for part in ("", "/results?limit=1000", "/explain")]
    for incident in (await reader.got("/v1/incidents"))["data"]:
        paths += [f"/v1/incidents/{incident['id']}{part}" for part in ("", "/timeline", "/evidence")]
    for path in paths:
        text += str(await reader.got(path))
    assert KEY not in text
    await _masked(fleet, reader, f"/v1/monitors/{all_.in_turn}")
    assert (await fleet.got(f"/v1/monitors/{all_.unnamed}"))["config"].get("rpcUrl") is None


async def _masked(admin: Fleet, reader: Fleet, path: str) -> None:
    """What is masked and sent back stays as it is."""
    shown, whole = await reader.got(path), await admin.got(path)
    assert all(KEY in url for url in whole["config"]["rpcUrl"])
    status, updated = await admin.call("PUT", path, shown)
    assert (status, updated.get("warnings", [])) == (200, shown.get("warnings", [])), updated
    assert (await admin.got(path))["config"] == whole["config"]
