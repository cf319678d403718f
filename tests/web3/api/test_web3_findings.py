"""What checks of Web3 monitors found, as callers read it: with a monitor, with its results, with a test."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import orjson
import pytest
import pytest_asyncio

from collector.web3.service import reads
from shared import ids
from shared.clock import utc_now
from shared.findings import Findings
from shared.results import Status
from tests.http.client import Api
from tests.http.far_end import answering
from tests.http.rows import insert
from tests.monitors.monitors import details, location, number, probe, result, shown
from tests.web3.api.test_web3_monitors import CONFIGS, GAS, make, of

pytestmark = pytest.mark.shares_server

MEASURED = {"current": "52.1", "threshold": "50", "unit": "gwei", "message": "gas costs 52.1 gwei"}
LOG = {
    "name": "Transfer",
    "args": {"value": "5"},
    "address": "0x" + "11" * 20,
    "transactionHash": "0x" + "22" * 32,
    "blockNumber": 7,
    "logIndex": 3,
}


async def raise_(api: Api, id_: str, key: str = "high_gas", **columns: Any) -> None:
    row = {
        "team_id": api.team_id,
        "monitor_id": ids.read("mon", id_),
        "key": key,
        "locations": [await location(api, "local")],
        "raised_at": utc_now(),
        "data": MEASURED,
        **columns,
    }
    await insert(api.context.db, "web3_alerts", row)


async def log(api: Api, id_: str, at: datetime, index: int, where: str = "local", **columns: Any) -> None:
    row = {
        "team_id": api.team_id,
        "monitor_id": ids.read("mon", id_),
        "key": f"{LOG['transactionHash']}:{index}",
        "block": 7,
        "log_index": index,
        "block_hash": "0x" + "33" * 32,
        "found_at": at,
        "said_at": at,
        "location": await location(api, where),
        "data": {**LOG, "logIndex": index, "blockHash": "0x" + "33" * 32},
        **columns,
    }
    await insert(api.context.db, "web3_logs", row)


def moment(seconds: int) -> datetime:
    """So many seconds ago, in whole milliseconds."""
    return utc_now().replace(microsecond=0) - timedelta(seconds=seconds)


async def test_a_monitor_shows_the_thresholds_that_are_crossed(api: Api) -> None:
    id_, other = await make(api, GAS), await make(api, {**GAS, "type": "web3", "subType": "gas_price"})
    await raise_(api, id_)
    await raise_(api, id_, "low_gas", locations=[])

    found = await shown(api, id_)

    [alert] = found["alerts"]
    assert alert == {
        "type": "high_gas",
        "since": alert["since"],
        "locations": ["local"],
        "told": False,
        **MEASURED,
    }
    assert (await shown(api, other))["alerts"] == []
    assert (await api.put(f"/v1/monitors/{id_}", found)).json["revision"] == 1


async def test_other_types_have_no_alerts(api: Api) -> None:
    http = await api.post("/v1/monitors", {"name": "a", "type": "http", "url": "https://example.com"})

    assert "alerts" not in await shown(api, http.json["id"])


async def test_logs_are_shown_with_the_result_that_found_them(api: Api) -> None:
    id_ = await make(api, of("web3_contract_event"))
    monitor, (newest, between, oldest) = await number(api, id_), map(moment, (10, 20, 30))
    for at in (newest, between, oldest):
        await result(api, monitor, at)
    await result(api, monitor, oldest, "eu")
    await log(api, id_, newest, 1)
    await log(api, id_, newest, 2, removed_at=utc_now())
    await log(api, id_, oldest, 4, "eu")

    answer = await api.get(f"/v1/monitors/{id_}/results")

    logs = {(item["timestamp"], item["location"]): item["logs"] for item in answer.json["data"]}
    assert [[item["logIndex"] for item in found] for found in logs.values()].count([]) == 2
    [two, one] = next(iter(logs.values()))
    assert one == {**LOG, "logIndex": 1, "removed": False}
    assert (two["logIndex"], two["removed"]) == (2, True)
    assert [four["logIndex"] for (_, where), found in logs.items() for four in found if where == "eu"] == [4]


@pytest.mark.oldest
async def test_a_page_ends_before_it_holds_too_many_logs_and_the_next_goes_on(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_MOST_LOGS", 5)
    id_ = await make(api, of("whale_wallet"))
    monitor, times = await number(api, id_), [moment(10 * at) for at in range(1, 6)]
    for at, time in enumerate(times):
        await result(api, monitor, time)
        for index in range(2):
            await log(api, id_, time, 10 * at + index)
    path, pages = f"/v1/monitors/{id_}/results", []

    query: dict[str, str] = {}
    while query.get("cursor", "") is not None:
        answer = (await api.get(path, params=query)).json
        pages.append([len(item["logs"]) for item in answer["data"]])
        query = {"cursor": answer["meta"]["next"]}

    assert pages == [[2, 2], [2, 2], [2]]


async def test_results_of_other_types_have_no_logs(api: Api) -> None:
    id_ = await make(api, GAS)
    await result(api, await number(api, id_), moment(10))

    [one] = (await api.get(f"/v1/monitors/{id_}/results")).json["data"]

    assert "logs" not in one


@pytest_asyncio.fixture(loop_scope="module")
async def found(api: Api) -> AsyncIterator[list[Any]]:
    """The far end of a session, which answers each run with these findings."""
    findings: list[Any] = []
    answer = {"status": Status.UP, "code": 0, "error": "", "durationUs": 1000, "found": findings}
    async with answering(api, answer):
        yield findings


@pytest.mark.parametrize("type_", ["gas_price", "web3"])
async def test_a_test_answers_what_it_measured_and_read(api: Api, found: list[Any], type_: str) -> None:
    await probe(api, "local", kinds=["gas_price"])
    below = {**MEASURED, "current": "3"}
    found += [
        [Findings.RAISED, "high_gas", orjson.dumps(MEASURED).decode()],
        [Findings.RECOVERED, "low_gas", orjson.dumps(below).decode()],
        [Findings.RECOVERED, "gone", "{}"],
        [Findings.RAISED, "nonsense", "{"],
        [Findings.RAISED, "odd", "[1]"],
        [Findings.LOG, "0x1:1", orjson.dumps({**LOG, "error": "no fit"}).decode()],
        [Findings.RETRACTED, "1-2", "{}"],
    ]

    body = {**GAS, "type": type_, "subType": "gas_price"}
    answer = await api.post("/v1/monitors/test", body)

    assert (answer.status, answer.json.get("warnings")) == (200, None)
    assert answer.json["success"] is True
    assert answer.json["web3"] == {
        "alerts": [
            {"type": "high_gas", "raised": True, **MEASURED},
            {"type": "low_gas", "raised": False, **below},
        ],
        "logs": [{**LOG, "error": "no fit"}],
    }


async def test_what_cannot_be_run_is_not_tested_either(api: Api) -> None:
    config = {name: value for name, value in CONFIGS["whale_wallet"].items() if name != "rpcUrl"}

    answer = await api.post("/v1/monitors/test", {"type": "whale_wallet", "config": config})

    assert details(answer) == {"rpcUrl": "rpcUrl is required: there is no node for the chain polygon"}
