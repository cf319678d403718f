"""Web3 monitors on their way to probes: type of their checks, nodes of the deployment, findings of a test."""

import asyncio
from typing import Any

import orjson
import pytest

from collector.monitors.service import runs
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.findings import MAX_FINDINGS, Finding, Findings
from shared.results import Run, Status
from shared.wire.v1 import probe_pb2
from tests.probes.peer import Collector, Peer, collecting, connected, enrolled, hello

NODES = {1: ("https://a.example.com/key", "https://b.example.com/key"), 137: ("https://c.example.com/key",)}
GAS = {"subType": "gas_price", "chain": "ethereum", "rpcUrl": None, "thresholds": {"high": 50}}
SIDE = {"chain": "ethereum", "rpcUrl": None, "contract": "0x1", "token": "0x2"}
CONFIGS: dict[str, dict[str, Any]] = {
    "gas_price": GAS,
    "web3_contract_event": {"subType": "web3_contract_event", "chainId": 137, "rpcUrl": None},
    "bridge": {
        "subType": "bridge",
        "source": SIDE,
        "destination": {**SIDE, "chain": "polygon"},
    },
}


async def planned(collector: Collector, type_: str, config: dict[str, Any]) -> None:
    [monitor] = await collector.monitors()
    await collector.fetch("UPDATE monitors SET type = $1, config = $2", type_, config)
    await collector.place(monitor)


async def told(peer: Peer) -> tuple[str, dict[str, Any]]:
    await peer.hear_until(lambda: peer.plan)
    [assignment] = peer.plan.values()
    return assignment.type, orjson.loads(assignment.config)


@pytest.mark.parametrize("kind", CONFIGS)
@pytest.mark.parametrize("umbrella", [False, True])
async def test_a_probe_hears_the_type_of_the_checks_and_the_deployment_s_nodes(
    db: Db, kind: str, umbrella: bool
) -> None:
    async with collecting(db, nodes=NODES) as collector, connected(collector, hello(kinds=[kind])) as peer:
        await peer.snapshot()
        await planned(collector, "web3" if umbrella else kind, CONFIGS[kind])
        type_, config = await told(peer)
        stored = await collector.fetch("SELECT config FROM monitors")

    assert type_ == kind
    if kind == "bridge":
        assert config["source"] == {**SIDE, "rpcUrl": list(NODES[1])}
        assert config["destination"]["rpcUrl"] == list(NODES[137])
    else:
        assert config == {**CONFIGS[kind], "rpcUrl": list(NODES[1 if kind == "gas_price" else 137])}
    assert stored == [{"config": CONFIGS[kind]}]


async def test_a_monitor_s_own_nodes_are_asked_alone(db: Db) -> None:
    own = {**GAS, "rpcUrl": "https://own.example.com/key"}
    async with (
        collecting(db, nodes=NODES) as collector,
        connected(collector, hello(kinds=["gas_price"])) as peer,
    ):
        await peer.snapshot()
        await planned(collector, "gas_price", own)

        assert await told(peer) == ("gas_price", own)


async def test_other_nodes_reach_a_probe_when_it_connects_to_a_collector_that_has_them(db: Db) -> None:
    said = hello(kinds=["gas_price"])
    async with collecting(db, nodes=NODES) as collector, connected(collector, said) as peer:
        await peer.snapshot()
        await planned(collector, "web3", GAS)
        await told(peer)
    other = {1: ("https://new.example.com",)}
    async with collecting(db, nodes=other) as collector, connected(collector, said) as peer:
        _, config = await told(peer)

    assert config["rpcUrl"] == ["https://new.example.com"]


async def test_a_probe_that_does_not_know_the_subtype_does_not_get_the_monitor(db: Db) -> None:
    async with collecting(db) as collector, connected(collector, hello(kinds=["http", "bridge"])) as peer:
        await peer.snapshot()
        await planned(collector, "web3", GAS)
        [row] = await collector.fetch("SELECT probe_id FROM states")

    assert row["probe_id"] is None


def asked(collector: Collector) -> asyncio.Task[runs.TrialResult]:
    return asyncio.create_task(
        runs.test(
            collector.db,
            collector.signals,
            collector.keyring,
            team_id=collector.team_id,
            type_="gas_price",
            config=GAS,
            timeout_s=2,
            locations=["eu"],
            now=utc_now(),
        )
    )


async def tried(
    collector: Collector, peer: Peer, *findings: Finding
) -> tuple[probe_pb2.Run, runs.TrialResult]:
    waiting = asked(collector)
    await peer.hear_until(lambda: peer.runs)
    run = peer.runs.pop()
    said = [
        probe_pb2.Finding(found=finding.found, key=finding.key, data=finding.data) for finding in findings
    ]
    answer = probe_pb2.Answer(id=run.id, outcome=Status.UP, found=probe_pb2.Findings(finding=said))
    await peer.say(answer=answer)
    return run, await waiting


async def test_a_test_is_given_the_nodes_and_brings_back_what_it_found(db: Db) -> None:
    found = (
        Finding(Findings.RAISED, "high_gas", b'{"current":"52"}'),
        Finding(Findings.LOG, "0x1:2", b'{"name":"a\\u0000b"}'),
    )
    async with (
        collecting(db, nodes=NODES) as collector,
        connected(collector, hello(kinds=["gas_price"])) as peer,
    ):
        run, answered = await tried(collector, peer, *found)

    assert (run.run, run.check.type) == (Run.TEST, "gas_price")
    assert orjson.loads(run.check.config)["rpcUrl"] == list(NODES[1])
    assert answered.found == list(found)


@pytest.mark.parametrize(
    "found",
    [
        [probe_pb2.Finding(found=99, key="x")],
        [probe_pb2.Finding(found=1, key="")],
        [probe_pb2.Finding(found=1, key="x")] * (MAX_FINDINGS + 1),
        [probe_pb2.Finding(found=1, key="x", data=b" " * 300_000)],
    ],
    ids=["no such kind", "no key", "too many", "too much"],
)
async def test_an_answer_that_finds_what_cannot_be_is_none(db: Db, found: list[probe_pb2.Finding]) -> None:
    async with collecting(db) as collector:
        with pytest.raises(Exception, match="INVALID_ARGUMENT"):
            async with connected(collector, hello(kinds=["gas_price"])) as peer:
                waiting = asked(collector)
                await peer.hear_until(lambda: peer.runs)
                answer = probe_pb2.Answer(
                    id=peer.runs[-1].id, outcome=Status.UP, found=probe_pb2.Findings(finding=found)
                )
                waiting.cancel()
                await peer.say(answer=answer)
                await peer.hear_until(lambda: False)


async def test_a_team_s_own_probe_is_not_told_the_deployment_s_nodes(db: Db) -> None:
    said = hello(kinds=["gas_price"])
    async with collecting(db, nodes=NODES) as collector:
        [monitor] = await collector.monitors()
        mine = await enrolled(collector, said)
        await collector.fetch(
            "UPDATE probes SET team_id = (SELECT team_id FROM monitors WHERE monitor = $1)", monitor
        )
        async with connected(collector, said, mine) as peer:
            await peer.snapshot()
            await collector.fetch("UPDATE monitors SET type = 'gas_price', config = $1", GAS)
            await collector.place(monitor)
            _, config = await told(peer)

    assert config == GAS
