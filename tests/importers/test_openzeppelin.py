"""The configuration folder of OpenZeppelin Monitor."""

import json
from pathlib import Path
from typing import Any

import pytest

from collector.importers.cli.sources import UnreadableSource, openzeppelin_document
from collector.importers.core import openzeppelin
from collector.importers.core.draft import Draft, WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.service.finish import finish, variables

ADDRESS = "0x" + "ab" * 20
SPEC = [
    {
        "type": "event",
        "name": "Transfer",
        "inputs": [
            {"name": "from", "type": "address", "indexed": True},
            {"name": "to", "type": "address", "indexed": True},
            {"name": "value", "type": "uint256", "indexed": False},
        ],
    },
    {"type": "function", "name": "pause", "inputs": []},
]
TRANSFER = {"signature": "Transfer(address,address,uint256)", "expression": None}
MAINNET = {
    "network_type": "EVM",
    "slug": "mainnet",
    "name": "Mainnet",
    "chain_id": 1,
    "confirmation_blocks": 3,
    "cron_schedule": "*/30 * * * * *",
    "rpc_urls": [
        {"type_": "rpc", "url": {"type": "plain", "value": "https://b.example.com"}, "weight": 5},
        {"type_": "ws_rpc", "url": {"type": "plain", "value": "wss://c.example.com"}, "weight": 200},
        {"type_": "rpc", "url": {"type": "Environment", "value": "NODE_URL"}, "weight": 100},
    ],
}
CHAT = {
    "name": "Chat",
    "trigger_type": "slack",
    "config": {"slack_url": {"type": "plain", "value": "https://hooks.example.com/a"}},
}


def source(*events: dict[str, Any], **monitor: Any) -> dict[str, Any]:
    return {
        "networks": [MAINNET],
        "monitors": [
            {
                "name": "Token",
                "networks": ["mainnet"],
                "addresses": [{"address": ADDRESS, "contract_spec": SPEC}],
                "match_conditions": {"events": list(events), "functions": [], "transactions": []},
                "triggers": ["chat"],
                **monitor,
            }
        ],
        "triggers": {"chat": CHAT},
    }


def left_out(draft: Draft) -> dict[str, str]:
    return {
        line.origin.name: line.reasons[0]
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    }


def test_an_event_is_a_monitor() -> None:
    draft = openzeppelin.draft(source(TRANSFER, paused=True))
    sections = finish(draft)
    [monitor], [rule] = sections["monitors"], sections["rules"]
    assert (monitor["key"], monitor["interval"]) == (f"oz-token-transfer-{ADDRESS}-mainnet", 30)
    assert monitor["config"] == {
        "subType": "web3_contract_event",
        "chainId": 1,
        "confirmations": 3,
        "rpcUrl": ["${NODE_URL}", "${OPENZEPPELIN_MAINNET_RPC_URL}"],
        "address": ADDRESS,
        "abi": [SPEC[0]],
        "eventName": "Transfer",
    }
    assert (rule["monitors"], rule["channels"]) == ([monitor["key"]], ["oz-channel-chat"])
    assert variables(draft) == {
        "NODE_URL": "",
        "OPENZEPPELIN_MAINNET_RPC_URL": "https://b.example.com",
        "OPENZEPPELIN_CHAT_URL": "https://hooks.example.com/a",
    }
    [line] = [line for line in draft.report.lines if line.origin.kind == "event"]
    assert line.reasons == ["is paused there; a file cannot pause: pause it after `tocsin apply`"]


@pytest.mark.parametrize(
    ("expression", "filters"),
    [
        (f"to == {ADDRESS}", {"to": ADDRESS}),
        (f"to == '{ADDRESS}' and value == 5", {"to": ADDRESS, "value": "5"}),
        ("", None),
    ],
)
def test_conditions_that_are_filters(expression: str, filters: dict[str, str] | None) -> None:
    [monitor] = finish(openzeppelin.draft(source({**TRANSFER, "expression": expression})))["monitors"]
    assert monitor["config"].get("filters") == filters


@pytest.mark.parametrize(
    "expression",
    [
        "value > 5",
        "value == 1 OR value == 2",
        "(value == 1)",
        "value == 1 AND value == 2",
        "value contains 1",
    ],
)
def test_a_condition_that_is_no_filter_leaves_the_event_out(expression: str) -> None:
    draft = openzeppelin.draft(source({**TRANSFER, "expression": expression}))
    assert "monitors" not in finish(draft)
    assert left_out(draft) == {
        "Token: Transfer(address,address,uint256)": (
            f"its condition {expression} has no counterpart: it would notify more"
        )
    }


@pytest.mark.parametrize(
    ("monitor", "reason"),
    [
        ({"match_conditions": {"functions": [{"signature": "pause()"}]}}, "watches no events"),
        ({"trigger_conditions": [{"script_path": "a.sh"}]}, "has scripts that choose among its events"),
        ({"addresses": []}, "has no addresses or no networks"),
        (
            {"match_conditions": {"events": [TRANSFER], "transactions": [{"status": "Failure"}]}},
            "has conditions on transactions",
        ),
        (
            {"match_conditions": {"events": [TRANSFER], "transactions": [{"expression": "value > 1"}]}},
            "has conditions on transactions",
        ),
        ({"addresses": [{"address": ADDRESS, "contract_spec": None}]}, "has no ABI"),
        ({"addresses": [{"address": ADDRESS, "contract_spec": []}]}, "its ABI does not have this event"),
        ({"networks": ["stellar"]}, "its network is not carried"),
        ({"addresses": [{"address": "0x1", "contract_spec": SPEC}]}, "address: must be an address"),
    ],
)
def test_what_would_notify_otherwise_is_left_out(monitor: dict[str, Any], reason: str) -> None:
    draft = openzeppelin.draft(source(TRANSFER, **monitor))
    assert "monitors" not in finish(draft)
    [why] = left_out(draft).values()
    assert why.startswith(reason)


def test_a_successful_transaction_and_functions_beside_events() -> None:
    wanted = {
        "events": [TRANSFER],
        "transactions": [{"status": "Success", "expression": None}],
        "functions": [{"signature": "pause()"}],
    }
    draft = openzeppelin.draft(source(match_conditions=wanted))
    assert len(finish(draft)["monitors"]) == 1
    assert left_out(draft) == {"pause()": "calls of functions have no counterpart"}


@pytest.mark.parametrize(
    ("schedule", "interval_s"),
    [("0 * * * * *", 60), ("0 */5 * * * *", 300), ("0 0 */2 * * *", 7_200), ("0 0 3 * * MON", 60)],
)
def test_schedules(schedule: str, interval_s: int) -> None:
    document = source(TRANSFER)
    document["networks"] = [{**MAINNET, "cron_schedule": schedule}]
    [monitor] = finish(openzeppelin.draft(document))["monitors"]
    assert monitor["interval"] == interval_s


def test_other_networks_and_triggers() -> None:
    document = source(TRANSFER, triggers=["mail", "run"])
    document["networks"].append({"network_type": "Stellar", "slug": "stellar", "name": "Stellar"})
    document["triggers"] = {
        "mail": {
            "name": "Mail",
            "trigger_type": "email",
            "config": {"recipients": ["a@example.com"], "password": "x"},
        },
        "run": {"name": "Run", "trigger_type": "script", "config": {"script_path": "a.sh"}},
        "bot": {
            "name": "Bot",
            "trigger_type": "telegram",
            "config": {"token": {"type": "HashicorpCloudVault", "value": "t"}, "chat_id": "5"},
        },
        "hook": {
            "name": "Hook",
            "trigger_type": "webhook",
            "config": {"url": "https://x.example.com", "secret": "s", "headers": {"X-A": "b"}},
        },
    }
    draft = openzeppelin.draft(document)
    sections = finish(draft)
    assert [(item["type"], item["config"]) for item in sections["channels"]] == [
        ("email", {"recipients": ["a@example.com"]}),
        ("telegram", {"botToken": "${OPENZEPPELIN_BOT_BOT_TOKEN}", "chatId": "5"}),
        ("webhook", {"url": "${OPENZEPPELIN_HOOK_URL}", "headers": {"X-A": "${OPENZEPPELIN_HOOK_X_A}"}}),
    ]
    assert left_out(draft) == {
        "Stellar": "networks of type Stellar have no counterpart",
        "Run": "triggers of type script have no counterpart",
    }
    [line] = [line for line in draft.report.lines if line.origin.kind == "event"]
    assert line.reasons == ["its trigger run is not carried"]


def test_a_folder(tmp_path: Path) -> None:
    document = source(TRANSFER)
    for section in ("networks", "monitors", "triggers"):
        (tmp_path / section).mkdir()
    (tmp_path / "networks" / "mainnet.json").write_text(json.dumps(document["networks"][0]))
    (tmp_path / "monitors" / "token.json").write_text(json.dumps(document["monitors"][0]))
    (tmp_path / "triggers" / "chat.json").write_text(json.dumps(document["triggers"]))
    assert openzeppelin_document(tmp_path) == document


def test_a_folder_without_monitors_is_refused(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(UnreadableSource, match="holds no folder `monitors`"):
        openzeppelin_document(tmp_path)


@pytest.mark.parametrize("document", [None, {}, "x", 5, {"monitors": {}}])
def test_something_else_is_refused(document: Any) -> None:
    with pytest.raises(WrongSource):
        openzeppelin.draft(document)
