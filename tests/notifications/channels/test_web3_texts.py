"""What people read of Web3 monitors, whatever stands in names and arguments that anybody may choose."""

from typing import Any

import pytest

from collector.history.core.phase import Phase
from collector.notifications.channels.email import Email
from collector.notifications.channels.texts import write
from collector.notifications.core.summary import notice
from collector.platform.transport import Transport
from shared.clock import EPOCH, utc_now
from tests.notifications.channels.every import HTTP, channel
from tests.notifications.channels.payloads import (
    ALERT,
    GAS,
    GAS_ALERT,
    LOG,
    VAULT,
    VAULT_ALERT,
    event,
    message,
)
from tests.receiver import receiving

WORDS = "high_gas: gas costs 251.3 gwei, high is 200 gwei"
LINK: dict[str, str] = {"monitor": "https://tocsin.example.com/monitors/mon_1"}
FIRED = {**ALERT, "reason": "high_gas", "value": 251.3, "threshold": 200}
WHALE: dict[str, Any] = {
    "alert": {
        "type": "large_transfer",
        "subType": "whale_wallet",
        "current": "900",
        "threshold": "500",
        "unit": "ETH",
        "message": "900 ETH left",
    },
    "log": LOG,
}
OVER = {**GAS_ALERT, "type": "high_gas_recovered"}
HOSTILE = "<script>x</script>\r\nBcc: a@example.com @everyone <!channel> [x](https://evil.example) \u202e*_`"


@pytest.mark.parametrize(
    ("kind", "more", "phase", "title", "body"),
    [
        ("web3.gas.alert", {}, Phase.PROBLEM, f"Alert: Gas, {WORDS}", GAS_ALERT["message"]),
        ("web3.gas.alert", {"alert": OVER}, Phase.OVER, f"Recovered: Gas, {WORDS}", GAS_ALERT["message"]),
        (
            "web3.alert",
            {},
            Phase.PROBLEM,
            "Alert: Vault, low_tvl: 90.5 ETH is locked, least is 100 ETH",
            "90.5 ETH is locked, least is 100 ETH",
        ),
        (
            "web3.alert",
            {"alert": {"type": "low_tvl_recovered", "current": None}},
            Phase.OVER,
            "Recovered: Vault, low_tvl",
            "",
        ),
        ("web3.alert", WHALE, Phase.NEWS, "Alert: Vault, large_transfer: 900 ETH left", "900 ETH left"),
        (
            "web3.alert",
            {
                "alert": {**WHALE["alert"], "type": "large_transfer_removed"},
                "log": {**LOG, "removed": True},
            },
            Phase.NEWS,
            "Taken back: Vault, large_transfer: 900 ETH left",
            "900 ETH left",
        ),
        ("web3.event", {}, Phase.NEWS, "Event: Vault, Transfer", ""),
        ("web3.event", {"log": {**LOG, "removed": True}}, Phase.NEWS, "Taken back: Vault, Transfer", ""),
        (
            "alert.fired",
            {"alert": {**FIRED, "message": WORDS}, "monitor": GAS, "locationStates": []},
            Phase.PROBLEM,
            f"Alert: Gas, {WORDS}",
            WORDS,
        ),
        ("alert.recovered", {"alert": FIRED, "monitor": GAS}, Phase.OVER, "Recovered: Gas", ""),
    ],
)
def test_what_is_said(kind: str, more: dict[str, Any], phase: Phase, title: str, body: str) -> None:
    found = notice(event(kind, **more))
    text = write(found, None)
    assert (found.phase, text.title, text.body) == (phase, title, body)


def test_what_stands_below_it() -> None:
    assert notice(event("web3.gas.alert")).facts == (
        ("Chain", "ethereum"),
        ("Measured", "251.3 gwei"),
        ("Threshold", "200 gwei"),
    )
    assert notice(event("web3.alert")).facts == (
        ("Chain", "8453"),
        ("Measured", "90.5 ETH"),
        ("Threshold", "100 ETH"),
    )
    assert notice(event("web3.event")).facts == (
        ("Chain", "8453"),
        ("Event", "Transfer"),
        ("Arguments", f"from: {LOG['args']['from']}, to: {LOG['args']['to']}, value: 1500000"),
        ("Contract", LOG["address"]),
        ("Transaction", LOG["transactionHash"]),
        ("Block", "21000000"),
    )
    recovered = dict(notice(event("alert.recovered", alert=FIRED, monitor=GAS)).facts)
    assert recovered["Reason"] == "high_gas: 251.3, threshold 200"


@pytest.mark.parametrize(("gwei", "said"), [(0.00001, "0.00001 gwei"), (12, "12 gwei"), ("x", "x gwei")])
def test_a_price_next_to_nothing_is_readable(gwei: Any, said: str) -> None:
    alert = {**GAS_ALERT, "currentGwei": gwei}
    assert dict(notice(event("web3.gas.alert", alert=alert)).facts)["Measured"] == said


def test_crossed_and_come_back_from_have_a_key_that_no_other_threshold_has() -> None:
    crossed, over = notice(event("web3.gas.alert")), notice(event("web3.gas.alert", alert=OVER))
    low = notice(event("web3.gas.alert", alert={**GAS_ALERT, "type": "low_gas"}))

    assert crossed.key == over.key == f"{GAS['id']}.high_gas"
    assert low.key != crossed.key


async def test_a_pager_opens_and_closes_by_that_key_and_takes_events_as_news(transport: Transport) -> None:
    said = [
        ("web3.gas.alert", {}),
        ("web3.gas.alert", {"alert": OVER}),
        ("web3.event", {}),
        ("web3.alert", WHALE),
    ]
    async with receiving() as receiver:
        pager = channel("pagerduty", receiver)
        for kind, more in said:
            await pager.send(message(kind, **more), transport, utc_now())

    opened, closed, *news = (request.json for request in receiver.received)
    assert (opened["event_action"], closed["event_action"]) == ("trigger", "resolve")
    assert opened["dedup_key"] == closed["dedup_key"]
    assert opened["payload"]["custom_details"]["Measured"] == "251.3 gwei"
    assert [request.target for request in receiver.received[2:]] == ["/v2/change/enqueue"] * 2
    assert news[0]["payload"]["custom_details"]["Event"] == "Transfer"


RULED: dict[str, Any] = {"monitor": GAS, "alert": {**FIRED, "message": WORDS, "escalation": 0}, "links": LINK}
GOLDEN: dict[str, Any] = {
    "slack": {
        "text": f"<!here> *<{LINK['monitor']}|Alert: Gas, {WORDS}>*",
        "channel": "#ops",
        "unfurl_links": False,
        "attachments": [
            {
                "color": "#c0392b",
                "blocks": [
                    {"type": "section", "text": {"type": "mrkdwn", "text": WORDS}},
                    {
                        "type": "section",
                        "fields": [
                            {"type": "mrkdwn", "text": "*Since*\n2026-11-21 07:25:00 UTC"},
                            {"type": "mrkdwn", "text": "*Rule*\nProduction"},
                        ],
                    },
                ],
            }
        ],
    },
    "discord": {
        "embeds": [
            {
                "title": f"Alert: Gas, {WORDS}".replace("_", "\\_"),
                "description": WORDS.replace("_", "\\_"),
                "color": 0xC0392B,
                "timestamp": "2026-11-21T07:29:32.000Z",
                "url": LINK["monitor"],
                "fields": [
                    {"name": "Since", "value": "2026-11-21 07:25:00 UTC", "inline": True},
                    {"name": "Rule", "value": "Production", "inline": True},
                ],
            }
        ],
        "allowed_mentions": {"parse": []},
    },
    "telegram": {
        "chat_id": -100123,
        "text": f"🔴 <b>Alert: Gas, {WORDS}</b>\n\n{WORDS}\n\nSince: 2026-11-21 07:25:00 UTC\n"
        f'Rule: Production\n\n<a href="{LINK["monitor"]}">{LINK["monitor"]}</a>',
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
        "disable_notification": False,
    },
    "pagerduty": {
        "routing_key": "SEEDED0integration0key0123456789",
        "event_action": "trigger",
        "dedup_key": ALERT["id"],
        "client": "Tocsin",
        "client_url": LINK["monitor"],
        "links": [{"href": LINK["monitor"], "text": "In Tocsin"}],
        "payload": {
            "summary": f"Alert: Gas, {WORDS}",
            "source": "Gas",
            "severity": "error",
            "class": "alert.fired",
            "timestamp": "2026-11-21T07:29:32.000Z",
            "custom_details": {
                "Message": WORDS,
                "Since": "2026-11-21 07:25:00 UTC",
                "Rule": "Production",
            },
        },
    },
    "opsgenie": {
        "message": f"Alert: Gas, {WORDS}",
        "alias": ALERT["id"],
        "description": f"{WORDS}\n\n{LINK['monitor']}",
        "entity": "Gas",
        "source": "Tocsin",
        "priority": "P2",
        "details": {
            "Since": "2026-11-21 07:25:00 UTC",
            "Rule": "Production",
            "Link": LINK["monitor"],
        },
    },
}


@pytest.mark.parametrize("type_", GOLDEN)
async def test_what_a_rule_sends_of_a_crossed_threshold(transport: Transport, type_: str) -> None:
    async with receiving() as receiver:
        await channel(type_, receiver).send(message("alert.fired", **RULED), transport, utc_now())
    assert receiver.received[0].json == GOLDEN[type_]


def test_a_mail_says_it_in_its_subject_and_its_facts() -> None:
    mail, _ = Email(recipients=["ops@example.com"]).render(
        message("web3.event"), "tocsin@example.com", "example.com", EPOCH
    )
    plain = mail.get_body(("plain",))
    assert plain is not None
    assert mail["Subject"] == "Event: Vault, Transfer"
    assert f"Transaction: {LOG['transactionHash']}" in plain.get_content()


@pytest.mark.parametrize("kind", ["web3.gas.alert", "web3.alert", "web3.event", "alert.fired"])
def test_no_name_of_a_chain_can_forge_a_line_or_a_mark_in_a_mail(kind: str) -> None:
    mail, _ = Email(recipients=["ops@example.com"]).render(
        message(kind, **_hostile(kind)), "tocsin@example.com", "example.com", EPOCH
    )
    html, plain = mail.get_body(("html",)), mail.get_body(("plain",))
    assert html is not None
    assert plain is not None
    assert mail["Bcc"] is None
    assert "<script>" not in html.get_content()
    assert "\u202e" not in plain.get_content() + mail["Subject"]


@pytest.mark.parametrize("type_", HTTP)
@pytest.mark.parametrize("kind", ["web3.gas.alert", "web3.alert", "web3.event", "alert.fired"])
async def test_no_name_of_a_chain_can_call_anybody_or_break_out(
    transport: Transport, type_: str, kind: str
) -> None:
    async with receiving() as receiver:
        said = message(kind, **_hostile(kind))
        await channel(type_, receiver).send(said, transport, utc_now())

    [request] = receiver.received
    assert b"Bcc" not in request.raw_headers
    if type_ == "webhook":
        return
    shown = str(request.json)
    if type_ == "slack":
        assert "<!channel>" not in shown
    if type_ == "discord":
        assert request.json["allowed_mentions"] == {"parse": []}
        assert "[x](https" not in shown
    if type_ == "telegram":
        assert "<script>" not in shown


@pytest.mark.parametrize(
    "log",
    [
        None,
        "odd",
        [],
        {"args": []},
        {"args": {"a": {"b": [1, None, {"c": "d" * 9_000}]}}},
        {"args": {str(n): "x" * 9_000 for n in range(500)}},
        {"name": ["odd"], "args": {"": None}, "blockNumber": {}},
    ],
)
@pytest.mark.parametrize("kind", ["web3.alert", "web3.event"])
def test_whatever_shape_it_has_it_is_bounded(kind: str, log: Any) -> None:
    found = notice(event(kind, log=log, alert={"type": 5, "current": [], "message": {}}))
    text = write(found, None)
    assert text.title
    assert text.fault is None
    assert sum(len(value) for _, value in found.facts) < 2_000


def _hostile(kind: str) -> dict[str, Any]:
    alert: dict[str, dict[str, Any]] = {
        "web3.gas.alert": GAS_ALERT,
        "web3.alert": VAULT_ALERT,
        "alert.fired": {**FIRED, "message": HOSTILE},
    }
    log = {**LOG, "name": HOSTILE, "args": {HOSTILE: HOSTILE, "deep": [{"x": HOSTILE}]}}
    odd = dict.fromkeys(("message", "unit", "type"), HOSTILE)
    return {
        "monitor": {**VAULT, "name": HOSTILE, "chain": HOSTILE},
        "log": log,
        **({"alert": {**alert[kind], **odd}} if kind in alert else {}),
    }
