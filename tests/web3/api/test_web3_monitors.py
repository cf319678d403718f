"""Web3 monitors through the API: types, other names of fields, secrets, and the deployment's nodes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from collector.server import make as make_app
from collector.server import serve
from shared.kinds import TYPES, WEB3
from tests.http.client import Api
from tests.monitors.monitors import details, rows, shown

pytestmark = pytest.mark.shares_server

ADDRESS = "0x00000000219ab540356cBB839Cbe05303d7705Fa"
OTHER = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
RPC = "https://rpc.example.com/v2/0123456789abcdef"
MASKED = "********cdef"
SIDE = {"chain": "ethereum", "rpcUrl": RPC, "contract": ADDRESS, "token": OTHER}
CONFIGS: dict[str, dict[str, Any]] = {
    "gas_price": {"chain": "ethereum", "rpcUrl": RPC, "thresholds": {"high": 50, "low": 5}},
    "whale_wallet": {"chain": "polygon", "rpcUrl": [RPC], "address": ADDRESS, "threshold": "1000.5"},
    "liquidation": {
        "chain": 1,
        "rpcUrl": RPC,
        "protocol": "aave_v3",
        "pool": OTHER,
        "address": ADDRESS,
        "minHealthFactor": 1.2,
    },
    "defi_protocol": {"chain": "base", "rpcUrl": RPC, "contract": ADDRESS, "minTvl": "1000000"},
    "subgraph": {"chain": "ethereum", "rpcUrl": RPC, "url": "https://graph.example.com/api/key/0123456789"},
    "bridge": {"source": SIDE, "destination": {**SIDE, "chain": "arbitrum"}},
    "web3_contract_event": {
        "chainId": 1,
        "rpcUrl": RPC,
        "address": ADDRESS,
        "eventName": "Transfer(address indexed from, address indexed to, uint256 value)",
    },
}
GAS = {"name": "gas", "type": "gas_price", "config": CONFIGS["gas_price"]}


def of(type_: str, **config: Any) -> dict[str, Any]:
    return {"name": type_, "type": type_, "config": {**CONFIGS[type_], **config}}


def less(type_: str, *names: str, **config: Any) -> dict[str, Any]:
    kept = {name: value for name, value in CONFIGS[type_].items() if name not in names}
    return {"name": type_, "type": type_, "config": {**kept, **config}}


async def make(api: Api, body: dict[str, Any]) -> str:
    answer = await api.post("/v1/monitors", body)
    assert (answer.status, answer.json.get("details")) == (201, None)
    assert [line for line in answer.json.get("warnings", ()) if "has no probe" not in line] == []
    return str(answer.json["id"])


async def refused(api: Api, body: dict[str, Any]) -> Any:
    return details(await api.post("/v1/monitors", body))


@asynccontextmanager
async def with_nodes(api: Api, nodes: dict[int, tuple[str, ...]]) -> AsyncIterator[Api]:
    """The same deployment, had it *nodes* of its own."""
    runner = await serve(make_app(replace(api.context, nodes=nodes), api.features), "127.0.0.1:0")
    try:
        yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("type_", WEB3)
async def test_each_subtype_is_made_by_its_own_name_and_by_the_umbrella(api: Api, type_: str) -> None:
    by_name = await make(api, of(type_))
    by_umbrella = await make(api, {**of(type_, subType=type_), "type": "web3"})

    for id_, type_said in ((by_name, type_), (by_umbrella, "web3")):
        found = await shown(api, id_)
        assert (found["type"], found["config"]["subType"]) == (type_said, type_)
        assert CONFIGS[type_].items() <= found["config"].items() or type_ == "bridge"
    for asked, ids in (("web3", [by_umbrella, by_name]), (type_, [by_umbrella, by_name]), ("http", [])):
        listed = await api.get("/v1/monitors", params={"type": asked})
        assert [item["id"] for item in listed.json["data"]] == ids
        assert listed.json["meta"]["total"] == len(ids)
    for other in set(WEB3) - {type_}:
        assert (await api.get("/v1/monitors", params={"type": other})).json["data"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"type": "contract_event"},
        {"type": "web3", "subType": "contract_event"},
        {"type": "web3", "subType": "web3_contract_event"},
        {"type": "web3", "subType": "Contract_Event"},
        {
            "type": "web3",
            "subType": "contract_event",
            "config": {**CONFIGS["web3_contract_event"], "subType": None},
        },
        {"type": "web3_contract_event", "subType": "contract_event"},
    ],
)
async def test_contract_events_are_known_by_both_names(api: Api, body: dict[str, str]) -> None:
    id_ = await make(api, {**of("web3_contract_event"), **body})

    found = await shown(api, id_)

    assert found["config"]["subType"] == "web3_contract_event"
    assert found["type"] == ("web3" if body["type"] == "web3" else "web3_contract_event")


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        ({"type": "web3", "config": {}}, {"subType": "Sub type is required"}),
        ({"type": "web3"}, {"subType": "Sub type is required"}),
        ({"type": "web3", "config": {"subType": "gas"}}, {"subType": f"must be one of {', '.join(WEB3)}"}),
        ({"type": "web3", "config": {"subType": "http"}}, {"subType": f"must be one of {', '.join(WEB3)}"}),
        ({"type": "web3", "config": {"subType": ["x"]}}, {"subType": f"must be one of {', '.join(WEB3)}"}),
        ({**GAS, "type": "gas"}, {"type": f"must be one of {', '.join(TYPES)}"}),
        ({**GAS, "type": "agent_metrics"}, {"type": "is made by the platform only"}),
        (of("gas_price", subType="bridge"), {"subType": "must be one of gas_price"}),
        (
            less("gas_price", "rpcUrl", thresholds={"high": "much"}, chain="narnia"),
            {"thresholds.high": "must be a number", "chain": "must be a chain's name or its id"},
        ),
        (of("gas_price", thresholds={"high": True}), {"thresholds.high": "must be a number"}),
        (of("gas_price", thresholds={"high": "0" * 129}), {"thresholds.high": "must be a number"}),
        (of("gas_price", chain="0" * 64 + "1"), {"chain": "must be a chain's name or its id"}),
        (of("gas_price", thresholds={"high": "٣"}), {"thresholds.high": "must be a number"}),
        (of("gas_price", thresholds={"high": [1]}), {"thresholds.high": "must be a number"}),
        (of("gas_price", thresholds={"low": -1}), {"thresholds.low": "must not be below 0"}),
        (of("gas_price", thresholds={"low": "-1"}), {"thresholds.low": "must not be below 0"}),
        (of("gas_price", thresholds={"high": "NaN"}), {"thresholds.high": "must be a number"}),
        (of("gas_price", thresholds={"high": 1, "low": 2}), {"thresholds": "high must be above low"}),
        (of("gas_price", thresholds={}), {"thresholds": "must say high, low, or both"}),
        (less("gas_price", "thresholds"), {"thresholds": "Thresholds is required"}),
        (of("gas_price", interval=0), {"interval": "must be between 1 and 86400"}),
        (
            of("gas_price", rpcUrl="ftp://rpc.example.com"),
            {"rpcUrl": "must be an http:// or https:// URL with a host"},
        ),
        (
            less("whale_wallet", "rpcUrl"),
            {"rpcUrl": "rpcUrl is required: there is no node for the chain polygon"},
        ),
        (
            less("whale_wallet", "rpcUrl", chain="narnia"),
            {"chain": "must be a chain's name or its id"},
        ),
        (
            of("bridge", source={**SIDE, "rpcUrl": None, "chain": "narnia"}),
            {"source.chain": "must be a chain's name or its id"},
        ),
        (
            of("bridge", source={**SIDE, "rpcUrl": None}),
            {"source.rpcUrl": "rpcUrl is required: there is no node for the chain ethereum"},
        ),
        (of("gas_price", rpcQuorum=2), {"rpcQuorum": "must be at most 1: there are no more nodes"}),
        (
            of("gas_price", rpcUrl=[RPC, RPC], rpcQuorum=2),
            {"rpcQuorum": "must be at most 1: there are no more nodes"},
        ),
        (
            of("whale_wallet", address="0x12", threshold="x"),
            {
                "address": "must be an address: 0x and 40 hexadecimal digits",
                "threshold": "must be a number",
            },
        ),
    ],
)
async def test_what_cannot_be_run_is_refused_field_by_field(api: Api, body: Any, bad: dict[str, str]) -> None:
    assert await refused(api, {"name": "one", **body}) == bad


@pytest.mark.parametrize(
    ("type_", "own", "other"),
    [
        ("whale_wallet", "address", "walletAddress"),
        ("whale_wallet", "address", "contractAddress"),
        ("liquidation", "address", "walletAddress"),
        ("defi_protocol", "contract", "contractAddress"),
        ("defi_protocol", "contract", "address"),
        ("web3_contract_event", "address", "contractAddress"),
        ("web3_contract_event", "chainId", "chain"),
        ("gas_price", "chain", "chainId"),
    ],
)
async def test_fields_are_read_by_their_other_names_within_config_and_beside_it(
    api: Api, type_: str, own: str, other: str
) -> None:
    value = CONFIGS[type_][own]

    within = await make(api, less(type_, own, **{other: value}))
    beside = await make(api, {**less(type_, own), other: value})
    changed = await make(api, of(type_))
    answer = await api.put(f"/v1/monitors/{changed}", {"config": {other: value}})

    assert (answer.json["revision"], "warnings" in answer.json) == (1, False)
    for id_ in (within, beside, changed):
        config = (await shown(api, id_))["config"]
        assert config[own] == value
        assert other not in config


async def test_the_sides_of_a_bridge_have_other_names_too(api: Api) -> None:
    side = {name: value for name, value in SIDE.items() if name != "contract"}

    id_ = await make(api, of("bridge", source={**side, "contractAddress": ADDRESS}))

    assert (await shown(api, id_))["config"]["source"]["contract"] == ADDRESS


async def test_all_fields_may_stand_beside_config(api: Api) -> None:
    flat = await make(api, {"name": "gas", "type": "web3", "subType": "gas_price", **CONFIGS["gas_price"]})

    assert (await shown(api, flat))["config"] == {
        "subType": "gas_price",
        **CONFIGS["gas_price"],
        "maxBlockAgeSeconds": None,
        "rpcQuorum": 1,
        "interval": 60,
    }


async def test_the_interval_of_a_gas_price_monitor_stands_in_both_places(api: Api) -> None:
    id_ = await make(api, of("gas_price", interval=300))
    path = f"/v1/monitors/{id_}"

    async def intervals() -> tuple[int, int]:
        found = await shown(api, id_)
        return found["interval"], found["config"]["interval"]

    assert await intervals() == (300, 300)
    await api.put(path, {"interval": 200, "config": {"interval": 100}})
    assert await intervals() == (100, 100)
    whole = await shown(api, id_)
    await api.put(path, {**whole, "interval": 30})
    assert await intervals() == (30, 30)
    await api.put(path, {**whole, "interval": 30, "config": {**whole["config"], "interval": 45}})
    assert await intervals() == (45, 45)


@pytest.mark.parametrize("type_", WEB3)
async def test_what_a_get_and_a_list_show_may_be_sent_back(api: Api, type_: str) -> None:
    for text in (type_, "web3"):
        id_ = await make(api, {**of(type_, subType=type_), "type": text})
        found = await shown(api, id_)
        listed = (await api.get("/v1/monitors")).json["data"][0]

        for sent in (found, listed):
            answer = await api.put(f"/v1/monitors/{id_}", sent)
            assert (answer.status, answer.json["revision"], "warnings" in answer.json) == (200, 1, False)
        await make(api, found)


async def test_neither_type_nor_subtype_can_be_changed(api: Api) -> None:
    single = f"/v1/monitors/{await make(api, GAS)}"
    umbrella = f"/v1/monitors/{await make(api, {**of('gas_price', subType='gas_price'), 'type': 'web3'})}"

    for path, type_, other in ((single, "gas_price", "web3"), (umbrella, "web3", "gas_price")):
        assert details(await api.put(path, {"type": other})) == {"type": f"cannot be changed; it is {type_}"}
        for sent in ({"subType": "bridge"}, {"config": {"subType": "bridge"}}):
            assert details(await api.put(path, sent)) == {"subType": "cannot be changed; it is gas_price"}
        for same in ({"subType": "gas_price"}, {"config": {"subType": None}}):
            assert (await api.put(path, same)).json["revision"] == 1


@pytest.mark.parametrize("type_", WEB3)
@pytest.mark.own_server
async def test_urls_of_nodes_are_sealed_and_a_reader_sees_their_masks(api: Api, type_: str) -> None:
    id_ = await make(api, of(type_, rpcUrl=RPC) if type_ != "bridge" else of(type_))
    reader = await api.reader()

    seen = (await reader.get(f"/v1/monitors/{id_}")).body.decode()

    assert "0123456789" not in seen
    assert MASKED in seen
    [row] = await rows(api, "SELECT config::text AS config FROM monitors")
    assert "rpc.example.com" not in row["config"]
    assert "graph.example.com" not in row["config"]
    assert '"subType"' in row["config"]


async def test_a_mask_that_is_sent_back_keeps_the_url(api: Api) -> None:
    list_of = await make(api, of("whale_wallet", rpcUrl=[RPC, "https://b.example.com/key/abcdef012345"]))
    bridge = await make(api, of("bridge"))
    reader = await api.reader()

    for id_ in (list_of, bridge):
        before, masked = await shown(api, id_), await shown(reader, id_)
        answer = await api.put(f"/v1/monitors/{id_}", {**masked, "name": "other"})
        assert answer.status == 200
        assert (await shown(api, id_))["config"] == before["config"]


@pytest.mark.own_server
async def test_of_a_bridge_all_but_the_urls_can_be_read_without_a_key(api: Api) -> None:
    await make(api, of("bridge"))

    [row] = await rows(api, "SELECT config -> 'source' AS source FROM monitors")

    assert row["source"] == {name: value for name, value in SIDE.items() if name != "rpcUrl"}


async def test_the_deployment_s_nodes_serve_monitors_without_any_and_are_shown_to_nobody(api: Api) -> None:
    async with with_nodes(api, {1: (RPC,), 42161: (RPC + "/b", RPC + "/c")}) as served:
        for body in (
            less("gas_price", "rpcUrl"),
            less("gas_price", "rpcUrl", chain="0x1"),
            less("gas_price", "rpcUrl", chain="arbitrum", rpcQuorum=2),
            less("web3_contract_event", "rpcUrl"),
            of("bridge", source={**SIDE, "rpcUrl": None}),
        ):
            id_ = await make(served, body)
            answer = await served.get(f"/v1/monitors/{id_}")
            assert (answer.json["config"].get("rpcUrl"), b"/b" in answer.body) == (None, False)
        assert await refused(served, less("whale_wallet", "rpcUrl", chain="polygon")) == {
            "rpcUrl": "rpcUrl is required: there is no node for the chain polygon"
        }
        assert await refused(served, less("gas_price", "rpcUrl", rpcQuorum=2)) == {
            "rpcQuorum": "must be at most 1: there are no more nodes"
        }
        assert "rpc.example.com" not in str(await rows(api, "SELECT config, secrets FROM monitors"))


@pytest.mark.parametrize(
    ("body", "chain"),
    [
        (less("gas_price", "rpcUrl"), 1),
        (less("web3_contract_event", "rpcUrl", chainId=137), 137),
        ({**less("gas_price", "rpcUrl", subType="gas_price", chain="base"), "type": "web3"}, 8453),
    ],
)
async def test_the_contract_s_own_fields_are_enough_and_a_missing_node_is_a_warning(
    api: Api, body: dict[str, Any], chain: int
) -> None:
    answer = await api.post("/v1/monitors", body)

    assert answer.status == 201
    text = f"no node for chain {chain}: checks fail until rpcUrl or TOCSIN_RPC_URLS names one"
    assert text in answer.json["warnings"]
    changed = await api.put(f"/v1/monitors/{answer.json['id']}", {"config": {"rpcUrl": RPC}})
    assert (changed.status, text in changed.json.get("warnings", [])) == (200, False)


@pytest.mark.parametrize("type_", ["gas_price", "whale_wallet", "web3_contract_event"])
async def test_a_chain_that_has_no_name_here_is_taken_with_nodes_of_its_own(api: Api, type_: str) -> None:
    name = "chainId" if type_ == "web3_contract_event" else "chain"

    id_ = await make(api, of(type_, **{name: "My-Rollup 2"}))

    assert (await shown(api, id_))["config"][name] == "My-Rollup 2"


async def test_many_are_picked_by_the_umbrella_or_by_the_subtype(api: Api) -> None:
    single = await make(api, GAS)
    umbrella = await make(api, {**of("gas_price", subType="gas_price"), "type": "web3"})
    wallet = await make(api, of("whale_wallet"))

    for type_, picked in (("web3", {single, umbrella, wallet}), ("gas_price", {single, umbrella})):
        order = {"action": "tag", "filter": {"type": type_}, "tags": {"of": type_}}
        answer = await api.post("/v1/monitors/bulk", order)
        assert (answer.status, set(answer.json["ids"])) == (200, picked)


@pytest.mark.parametrize("type_", WEB3)
async def test_no_url_of_a_node_is_told_of_by_any_deed_or_refusal(api: Api, type_: str) -> None:
    other = "https://rpc.example.com/v2/another-key-0123456789"
    side = {"source": {"rpcUrl": other}} if type_ == "bridge" else {"rpcUrl": other}
    id_ = await make(api, of(type_))
    path = f"/v1/monitors/{id_}"
    assert (await api.put(path, {"config": side})).json["revision"] == 2
    refusals = [
        await api.put(path, {"config": {**side, "maxBlockAgeSeconds": 0}}),
        await api.post("/v1/monitors", {**of(type_), **side, "name": "", "rpcUrl": f"x{other}"}),
    ]
    await api.delete(path)

    kept = [await rows(api, f"SELECT * FROM {table}") for table in ("events", "audit_log", "signals")]

    assert [answer.status for answer in refusals] == [400, 400]
    assert "0123456789" not in str(kept) + str([answer.body for answer in refusals])
