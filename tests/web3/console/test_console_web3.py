"""Web3 monitors in the console: made, changed, and what they found."""

import re
from html import unescape
from typing import Any

import pytest

from collector.monitors.console.types import GROUPS
from collector.web3.core.findings import FoundLog, RevertedBlocks
from collector.web3.core.web3 import ChainAlert
from collector.web3.storage import writes
from collector.web3.storage.writes import ObservedLog, Owner, RetractedLog
from shared import ids
from shared.findings import Findings
from shared.kinds import KINDS, WEB3
from shared.results import Status
from tests.console.client import Console, Page
from tests.monitors.api.test_monitor_tests import asked
from tests.monitors.monitors import probe

pytestmark = pytest.mark.shares_server

__all__ = ["asked"]

ADDRESS = "0x" + "a1" * 20
RPC = "https://rpc.example.com/v2/a-key-that-is-secret"
OTHER = "https://other.example.com/v2/another-secret-key"
TRANSACTION = "0x" + "ab" * 32
HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
ABI = '[{"type": "event", "name": "Ping", "inputs": [{"name": "n", "type": "uint256", "indexed": true}]}]'
FORMS: dict[str, dict[str, str]] = {
    "gas_price": {"chain": "ethereum", "thresholds.high": "200", "thresholds.low": "12.5"},
    "whale_wallet": {"chain": "8453", "address": ADDRESS, "threshold": "1000", "direction": "out"},
    "liquidation": {"chain": "ethereum", "protocol": "aave_v3", "pool": ADDRESS, "address": ADDRESS},
    "defi_protocol": {"chain": "ethereum", "contract": ADDRESS, "minTvl": "100.000000000000000001"},
    "subgraph": {"url": "https://graph.example.com/a-secret-key", "chain": "ethereum"},
    "bridge": {
        f"{side}.{name}": value
        for side in ("source", "destination")
        for name, value in {
            "chain": "ethereum",
            "rpcUrl": f"{RPC}\n{OTHER}",
            "contract": ADDRESS,
            "token": ADDRESS,
        }.items()
    },
    "web3_contract_event": {
        "chainId": "1",
        "address": ADDRESS,
        "abi": ABI,
        "eventName": "Ping",
        "filters": '{"n": ["1", "2"]}',
    },
}


async def sent(console: Console, path: str, type_: str, **fields: str) -> Page:
    config = {"rpcUrl": f"{RPC}\n{OTHER}", **FORMS[type_], **fields}
    body = {"type": type_, "name": "Chain", "interval": "30", "timeout": "10", "severity": "high"}
    return await console.post(path, body | {f"config.{name}": text for name, text in config.items()})


async def made(console: Console, **fields: Any) -> str:
    body = {"name": "Chain", "interval": 30, "locations": ["local"], **fields}
    answer = await console.api.post("/v1/monitors", body)
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


def field(page: Page, name: str) -> str:
    """What stands in a field that is text."""
    called = re.escape(name)
    match = re.search(
        rf'<textarea[^>]* name="{called}"[^>]*>\n([^<]*)<|name="{called}"[^>]* value="([^"]*)"', page.text
    )
    assert match, name
    return unescape(match[1] if match[1] is not None else match[2])


def test_every_type_is_in_a_group_once() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(KINDS)


@pytest.mark.parametrize("type_", WEB3)
async def test_each_is_made_by_its_form_and_sent_again_as_it_stands_changes_nothing(
    console: Console, type_: str
) -> None:
    await console.sign_in()
    assert (await console.get(f"/monitors/new?type={type_}")).status == 200

    page = await sent(console, "/monitors", type_)

    assert "Monitor “Chain” created." in page.words
    here = page.path
    before = (await console.api.get(f"/v1{here}")).json
    assert before["type"] == before["config"]["subType"] == type_
    page = await console.get(f"{here}/edit")
    assert page.status == 200
    assert "secret" not in page.text
    shown = {f"config.{name}": field(page, f"config.{name}") for name in ("rpcUrl", *FORMS[type_]) if
             type_ != "bridge" and name not in ("protocol", "direction")}  # fmt: skip
    if type_ == "bridge":
        shown = {f"config.{name}": field(page, f"config.{name}") for name in FORMS[type_]}
    body = {"name": "Chain", "interval": "30", "timeout": "10", "severity": "high", "type": type_}
    page = await console.post(f"{here}/edit", body | shown)
    assert "Saved." in page.words
    after = (await console.api.get(f"/v1{here}")).json
    assert after["config"] == before["config"]


@pytest.mark.parametrize("type_", WEB3)
async def test_faults_stand_at_their_fields(console: Console, type_: str) -> None:
    await console.sign_in()
    await console.get(f"/monitors/new?type={type_}")

    page = await console.post("/monitors", {"type": type_, "name": "", "interval": "0"})

    assert page.status == 400
    assert page.text.count('aria-invalid="true"') >= 2


async def test_a_threshold_that_is_emptied_is_gone_and_one_node_more_keeps_the_secret_of_the_first(
    console: Console,
) -> None:
    config = {"chain": "ethereum", "rpcUrl": RPC, "thresholds": {"high": 200, "low": 5}}
    id_ = await made(console, type="web3", config={"subType": "gas_price", **config})
    await console.sign_in()
    page = await console.get(f"/monitors/{id_}/edit")
    mask = field(page, "config.rpcUrl")
    assert mask.startswith("****")

    body = {"name": "Chain", "interval": "30", "timeout": "10", "severity": "high", "type": "gas_price"}
    body |= {"config.chain": "ethereum", "config.thresholds.high": "200", "config.thresholds.low": ""}
    page = await console.post(f"/monitors/{id_}/edit", {**body, "config.rpcUrl": mask})

    assert "Saved." in page.words
    shown = (await console.api.get(f"/v1/monitors/{id_}")).json
    assert shown["type"] == "web3"
    assert shown["config"]["thresholds"]["high"] == 200
    assert shown["config"]["thresholds"].get("low") is None
    assert shown["config"]["rpcUrl"] == RPC

    page = await console.post(f"/monitors/{id_}/edit", {**body, "config.rpcUrl": f"{mask}\n{OTHER}"})
    assert "Saved." in page.words
    shown = (await console.api.get(f"/v1/monitors/{id_}")).json
    assert shown["config"]["rpcUrl"] == [RPC, OTHER]


async def test_a_header_that_is_taken_out_is_gone(console: Console) -> None:
    id_ = await made(
        console, type="http", config={"url": "https://example.com/", "headers": {"A": "1", "B": "2"}}
    )
    await console.sign_in()
    await console.get(f"/monitors/{id_}/edit")

    body = {"name": "Chain", "interval": "30", "timeout": "10", "severity": "high", "type": "http"}
    await console.post(
        f"/monitors/{id_}/edit", {**body, "config.url": "https://example.com/", "config.headers": "A: 1"}
    )

    assert (await console.api.get(f"/v1/monitors/{id_}")).json["config"]["headers"] == {"A": "1"}


async def test_a_test_of_one_that_is_there_goes_on_from_its_configuration(console: Console) -> None:
    config = {"chain": "ethereum", "rpcUrl": RPC, "thresholds": {"high": 200}}
    id_ = await made(console, type="gas_price", config=config)
    await console.sign_in()
    page = await console.get(f"/monitors/{id_}/edit")
    mask = field(page, "config.rpcUrl")

    page = await console.post(
        "/monitors/test",
        {"type": "gas_price", "monitor": id_, "name": "n", "config.chain": "ethereum",
            "config.rpcUrl": mask, "config.thresholds.high": "10", "config.thresholds.low": ""},
    )  # fmt: skip

    assert page.status == 503, page.words
    assert RPC not in page.text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {
                "status": Status.UP, "code": 0, "error": "", "durationUs": 5_000,
                "found": [
                    (Findings.RAISED, "high_gas", '{"current": "9", "message": "gas costs <b>9</b> gwei"}'),
                    (Findings.RECOVERED, "low_gas", '{"message": "low is 5 gwei"}'),
                    (Findings.RAISED, "odd", "no JSON"),
                ],
            },
            "It answered in 5 ms. Nothing is saved yet. gas costs <b>9</b> gwei (crossed) low is 5 gwei",
        ),
        (
            {"status": Status.DOWN, "code": 0, "error": "no node answers", "durationUs": 5_000},
            "no node answers (after 5 ms). Nothing is saved yet.",
        ),
    ],
    indirect=["asked"],
)  # fmt: skip
@pytest.mark.own_server
async def test_a_test_says_what_was_measured(console: Console, asked: list[Any], said: str) -> None:
    await probe(console.api, "eu", session=7, kinds=["gas_price"])
    await console.sign_in()
    await console.get("/monitors/new?type=gas_price")

    page = await sent(console, "/monitors/test", "gas_price")

    assert said in page.words
    assert "<b>9" not in page.text
    assert len(asked) == 1


async def found(console: Console, id_: str, word: str = "Transfer") -> None:
    """A threshold that is crossed, an event, and one that was taken back."""
    # The table keeps milliseconds.
    at, monitor_id = console.api.clock().replace(microsecond=0), ids.read("mon", id_)
    assert monitor_id is not None
    owner = Owner(0, console.api.team_id, monitor_id)
    data = {"current": "9", "threshold": "5", "unit": "gwei", "message": f"{word} gas costs 9 gwei"}
    async with console.api.context.db.transaction() as tx:
        location = await tx.fetchval("SELECT location FROM locations LIMIT 1")
        alert = ChainAlert((location,), at, data)
        await writes.save_alerts(tx, {(owner.team_id, owner.id, "high_gas"): alert})
        for n in range(2):
            said = {
                "name": f"{word}{n}",
                "args": {word: [word, {"x": 5}]},
                "transactionHash": TRANSACTION,
                "blockNumber": 70 + n,
                "alert": {"type": "large_transfer", "message": f"{word} of 900"},
            }
            log = FoundLog(f"{TRANSACTION}:{n}", 70 + n, n, f"0x{n}", said)
            await writes.add_logs(tx, [ObservedLog(owner, location, at, log)])
        gone = RetractedLog(owner, location, at, RevertedBlocks(71, 71, {}))
        await writes.take_back(tx, [gone], at)


@pytest.mark.parametrize("type_", ["whale_wallet", "web3"])
async def test_its_page_says_what_is_crossed_and_what_happened(console: Console, type_: str) -> None:
    config = {"subType": "whale_wallet", "chain": "ethereum", "address": ADDRESS, "threshold": 5}
    id_ = await made(console, type=type_, config={**config, "rpcUrl": RPC})
    await console.sign_in()
    page = await console.get(f"/monitors/{id_}")
    assert "No threshold is crossed." in page.words
    assert "Nothing in the last 30 days." in page.words

    await found(console, id_)

    page = await console.get(f"/monitors/{id_}", headers={"X-Part": "chain"})
    for text in (
        "high gas crossed Transfer gas costs 9 gwei",
        "no one was notified yet",
        'Transfer: ["Transfer",{"x":5}]',
        "Transfer1 taken back",
        "Transfer of 900",
        TRANSACTION,
        "70",
    ):
        assert text in page.words


async def test_nothing_that_a_chain_says_becomes_markup(console: Console) -> None:
    config = {"chain": "ethereum", "address": ADDRESS, "threshold": 5, "rpcUrl": RPC}
    id_ = await made(console, type="whale_wallet", config=config)
    await console.sign_in()
    await found(console, id_, HOSTILE)

    page = await console.get(f"/monitors/{id_}")

    assert "onerror" in page.text
    assert "<img" not in page.text
    assert "'49" not in unescape(page.text)


async def test_the_list_knows_the_umbrella_and_each_of_its_types(console: Console) -> None:
    config = {"chain": "ethereum", "rpcUrl": RPC, "thresholds": {"high": 200}}
    await made(console, type="web3", config={"subType": "gas_price", **config})
    await console.sign_in()
    for type_ in ("web3", "gas_price"):
        assert "Chain" in (await console.get(f"/monitors?type={type_}")).words
    assert "Chain" not in (await console.get("/monitors?type=bridge")).words.split("Monitors")[-1]
