"""Batches of checks of chains, with what they found beside their results, and who tells of it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson

from collector.evaluation.writer import Submission
from collector.web3.jobs import Web3
from shared.clock import utc_now
from shared.findings import Finding, Findings
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, writing

GAS = {"subType": "gas_price", "chain": "ethereum", "thresholds": {"high": 200}}
EVENTS = {"subType": "web3_contract_event", "chainId": 1, "address": "0x" + "11" * 20, "eventName": "Paid"}
WHALE = {"subType": "whale_wallet", "chain": "polygon", "address": "0x" + "22" * 20, "threshold": "100"}
HIGH = {"current": "251.3", "threshold": "200", "unit": "gwei", "message": "gas costs 251.3 gwei"}
LOW = {"current": "150", "threshold": "200", "unit": "gwei", "message": "gas costs 150 gwei"}


async def of_chains(world: World, config: dict[str, Any] = GAS, type_: str = "") -> World:
    """*world*, whose monitors check chains."""
    await world.run("UPDATE monitors SET type = $1, config = $2", type_ or config["subType"], config)
    return world


def raised(key: str = "high_gas", **answer: Any) -> Finding:
    return Finding(Findings.RAISED, key, orjson.dumps({**HIGH, **answer}))


def recovered(key: str = "high_gas", **answer: Any) -> Finding:
    return Finding(Findings.RECOVERED, key, orjson.dumps({**LOW, **answer}))


def hash_of(name: str) -> str:
    """A hash of 32 bytes that *name* stands for."""
    return "0x" + name.encode().hex().rjust(64, "0")


def log(transaction: str, block: int, *, index: int = 0, branch: str = "a", **answer: Any) -> Finding:
    """A log of that transaction, in the block of that number of a branch."""
    data = {
        "name": "Paid",
        "args": {"amount": "5"},
        "address": "0x" + "11" * 20,
        "transactionHash": hash_of(transaction),
        "blockNumber": block,
        "blockHash": hash_of(f"{branch}{block}"),
        "logIndex": index,
        **answer,
    }
    return Finding(Findings.LOG, f"{hash_of(transaction)}:{index}", orjson.dumps(data))


def gone(first: int, last: int, branch: str = "b", hashes: Mapping[int, str] | None = None) -> Finding:
    """Of these blocks the chain holds those of *branch*, or of *hashes*."""
    if hashes is None:
        hashes = {number: hash_of(f"{branch}{number}") for number in range(first, last + 1)}
    said = {"first": first, "last": last, "hashes": {str(number): text for number, text in hashes.items()}}
    return Finding(Findings.RETRACTED, f"{first}-{last}", orjson.dumps(said))


def finding(
    world: World,
    *findings: Finding,
    location: str = "local",
    monitor: int | None = None,
    ago: timedelta = timedelta(seconds=1),
) -> Submission:
    """The next batch: one good check that found these."""
    submission = world.batch(Status.UP, location=location, monitor=monitor, ago=ago)
    batch = replace(submission.batch, found={0: findings}, state={0: b'{"raised":[]}'})
    return replace(submission, batch=batch)


async def submit(world: World, *submissions: Submission) -> None:
    async with writing(world) as writer:
        for submission in submissions:
            await writer.submit(submission)


def teller(world: World, ahead: timedelta = timedelta()) -> Web3:
    """Who tells, with a clock that is *ahead*."""

    return Web3(world.db, clock=GivenClock(lambda: utc_now() + ahead))


async def heard(world: World) -> list[dict[str, Any]]:
    """Announce all that is due; return every payload of chains so far."""
    one = teller(world)
    while await one.turn():
        pass
    rows = await world.fetch(
        "SELECT payload FROM events WHERE kind LIKE 'web3.%' ORDER BY stream_id, sequence"
    )
    return [row["payload"] for row in rows]


def types(payloads: Sequence[dict[str, Any]]) -> list[str]:
    """The alerts' types."""
    return [payload["alert"]["type"] for payload in payloads]
