"""What goes out to each vendor keeps to what that vendor takes, whatever an event holds.

Slack's blocks are judged by Slack's own SDK. The others publish no validator that judges more than types, so
theirs are JSON Schemas by what they document: PagerDuty's Events API v2 reference and its limits, Discord's
webhook and embed limits, Opsgenie's alert API limits, Telegram's sendMessage.
"""

import html
import re
from typing import Any, Final

import jsonschema
import pytest

from collector.notifications.channels import CHANNELS
from collector.notifications.channels.discord import Discord
from collector.notifications.channels.opsgenie import Opsgenie
from collector.notifications.channels.pagerduty import PagerDuty
from collector.notifications.channels.slack import Slack
from collector.notifications.channels.telegram import Telegram
from collector.platform.validation.validation import check
from tests.notifications.channels.every import config
from tests.notifications.channels.payloads import INCIDENT, MONITOR, PARTS, message

LONG: Final = {
    "words": "every check fails " * 2_000,
    "markup": "<&>_*`~|[x](y)@everyone\\" * 1_000,
    "entities": "&&&&<<<<>>>>" * 2_000,
    "outside the basic plane": "\N{FIRE}\N{POLICE CARS REVOLVING LIGHT}" * 5_000,
    "one word": "a" * 40_000,
}


def text(most: int, least: int = 1) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": most}


def record(required: str = "", **properties: Any) -> dict[str, Any]:
    """An object with no other fields than these."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


URL: Final = {"type": "string", "pattern": "^https?://[^ ]+$", "maxLength": 2048}
PAGERDUTY_PAYLOAD: Final = {
    "summary": text(1024),
    "source": text(1024),
    "severity": {"enum": ["critical", "error", "warning", "info"]},
    "timestamp": text(40),
    "component": text(1024),
    "group": text(1024),
    "class": text(1024),
    "custom_details": {"type": "object"},
}
PAGERDUTY_LINKS: Final = {"type": "array", "items": record("href", href=URL, text=text(1024))}
PAGERDUTY: Final = record(
    "routing_key event_action dedup_key",
    routing_key=text(32),
    event_action={"enum": ["trigger", "acknowledge", "resolve"]},
    dedup_key=text(255),
    client=text(255),
    client_url=URL,
    links=PAGERDUTY_LINKS,
    payload=record("summary severity source", **PAGERDUTY_PAYLOAD),
) | {"if": {"properties": {"event_action": {"const": "trigger"}}}, "then": {"required": ["payload"]}}
PAGERDUTY_CHANGE: Final = record(
    "routing_key payload",
    routing_key=text(32),
    links=PAGERDUTY_LINKS,
    payload=record(
        "summary",
        **{name: PAGERDUTY_PAYLOAD[name] for name in ("summary", "source", "timestamp", "custom_details")},
    ),
)
DISCORD: Final = record(
    "embeds",
    allowed_mentions={"const": {"parse": []}},
    embeds={
        "type": "array",
        "minItems": 1,
        "maxItems": 10,
        "items": record(
            "title",
            title=text(256),
            description=text(4096, 0),
            url=URL,
            color={"type": "integer", "minimum": 0, "maximum": 0xFFFFFF},
            timestamp=text(40),
            fields={
                "type": "array",
                "maxItems": 25,
                "items": record("name value", name=text(256), value=text(1024), inline={"type": "boolean"}),
            },
        ),
    },
)
OPSGENIE: Final = record(
    "message",
    message=text(130),
    alias=text(512),
    description=text(15_000, 0),
    entity=text(512),
    source=text(100),
    priority={"enum": ["P1", "P2", "P3", "P4", "P5"]},
    details={"type": "object", "additionalProperties": {"type": "string"}},
)
OPSGENIE_FOLLOW_UP: Final = record("note source", note=text(25_000), source=text(100))
TELEGRAM: Final = record(
    "chat_id text",
    chat_id={"type": ["integer", "string"]},
    text={"type": "string", "minLength": 1},
    parse_mode={"const": "HTML"},
    link_preview_options=record(is_disabled={"type": "boolean"}),
    disable_notification={"type": "boolean"},
)


def body(type_: str, kind: str, long: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """Where it goes, and what; *long* is in every part of the event that people name or write."""
    made, _ = check(CHANNELS[type_], {**config(type_, "https://vendor.example.com"), **more})
    assert isinstance(made, Slack | Discord | PagerDuty | Opsgenie | Telegram)
    odd: dict[str, Any] = {}
    if long:
        odd["incident"] = {**INCIDENT, "title": long, "lastError": long}
        odd["monitor"] = {**MONITOR, "name": long, "url": long}
        odd["locationStates"] = [{"location": long, "status": "down", "error": long}] * 30
    call, _ = made.render(message(kind, **odd))
    return call.url, dict(call.body)


KINDS: Final = [kind for kind in PARTS if kind != "of.a.later.version"]
TEXTS: Final = {"as it is": "", **LONG}
VENDORS: Final = ["slack", "discord", "pagerduty", "opsgenie", "telegram"]
each_text = pytest.mark.parametrize("long", TEXTS.values(), ids=TEXTS)


def pairs(vendor: str) -> pytest.MarkDecorator:
    """Of all kinds and texts those that fall to *vendor*.

    Each text is tried in each kind by some vendor, and by each vendor in some kind; each kind by each vendor.
    """
    cases = [
        pytest.param(kind, long, id=f"{kind}-{name}")
        for row, kind in enumerate(KINDS)
        for column, (name, long) in enumerate(TEXTS.items())
        if VENDORS[(row + column) % len(VENDORS)] == vendor
    ]
    return pytest.mark.parametrize(("kind", "long"), cases)


def test_every_vendor_is_tried_with_every_kind_and_every_text() -> None:
    tried = {vendor: [case.values for case in pairs(vendor).args[1]] for vendor in VENDORS}

    assert sorted(case for cases in tried.values() for case in cases) == sorted(
        (kind, long) for kind in KINDS for long in TEXTS.values()
    )
    for cases in tried.values():
        assert {kind for kind, _ in cases} == set(KINDS)
        assert {long for _, long in cases} == set(TEXTS.values())


@pairs("slack")
def test_slack_takes_it(kind: str, long: str) -> None:
    from slack_sdk.models.attachments import BlockAttachment  # noqa: PLC0415 - heavy, and needed here alone
    from slack_sdk.models.blocks import Block  # noqa: PLC0415 - as above

    _, sent = body("slack", kind, long)
    assert 0 < len(sent["text"]) <= 40_000
    for attachment in sent.get("attachments", []):
        blocks = Block.parse_all(attachment["blocks"])
        assert len(blocks) == len(attachment["blocks"]) <= 50
        assert None not in blocks
        for block in blocks:
            block.validate_json()
        shown = BlockAttachment(blocks=blocks, color=attachment["color"])
        shown.validate_json()
        assert shown.to_dict()["blocks"] == attachment["blocks"], "and the SDK would send the same"
        # That one the SDK does not judge.
        fields = [item["text"] for part in attachment["blocks"] for item in part.get("fields", ())]
        assert max(map(len, fields), default=0) <= 2_000


@pairs("discord")
def test_discord_takes_it(kind: str, long: str) -> None:
    _, sent = body("discord", kind, long)
    jsonschema.validate(sent, DISCORD)
    [embed] = sent["embeds"]
    parts = [embed["title"], embed["description"]]
    parts += [field[name] for field in embed["fields"] for name in ("name", "value")]
    # Counted as Discord does, in UTF-16.
    assert sum(len(part.encode("utf-16-le")) // 2 for part in parts) <= 6_000
    assert len(embed["title"].encode("utf-16-le")) // 2 <= 256


@pairs("pagerduty")
def test_pagerduty_takes_it(kind: str, long: str) -> None:
    url, sent = body("pagerduty", kind, long)
    jsonschema.validate(sent, PAGERDUTY_CHANGE if url.endswith("/v2/change/enqueue") else PAGERDUTY)
    assert len(str(sent).encode()) < 512_000


@pairs("opsgenie")
def test_opsgenie_takes_it(kind: str, long: str) -> None:
    url, sent = body("opsgenie", kind, long)
    jsonschema.validate(sent, OPSGENIE if url.endswith("/v2/alerts") else OPSGENIE_FOLLOW_UP)
    assert sum(len(name) + len(value) for name, value in sent.get("details", {}).items()) <= 8_000


@pairs("telegram")
def test_telegram_takes_it(kind: str, long: str) -> None:
    _, sent = body("telegram", kind, long)
    jsonschema.validate(sent, TELEGRAM)
    marks = re.findall(r"<[^>]*>", sent["text"])
    assert all(re.fullmatch(r'</?b>|<a href="[^"<>]*">|</a>', mark) for mark in marks), "no other than ours"
    assert len(marks) == 2 * sum(mark.startswith("</") for mark in marks)
    shown = html.unescape(re.sub(r"<[^>]*>", "", sent["text"]))
    assert 0 < len(shown.encode("utf-16-le")) // 2 <= 4_096
    assert "&" not in re.sub(r"&(amp|lt|gt|quot);", "", sent["text"])


@pytest.mark.parametrize("type_", VENDORS)
@each_text
def test_a_team_s_own_words_keep_to_it_too(type_: str, long: str) -> None:
    own = {"templates": {"title": "{{ monitor.name }}", "body": "{{ error }}{{ error }}{{ locations }}"}}
    _, sent = body(type_, "monitor.down", long, **own)
    if type_ == "slack":
        from slack_sdk.models.blocks import Block  # noqa: PLC0415 - heavy, and needed here alone

        for block in Block.parse_all(sent["attachments"][0]["blocks"]):
            block.validate_json()
        return
    schema = {"discord": DISCORD, "pagerduty": PAGERDUTY, "opsgenie": OPSGENIE, "telegram": TELEGRAM}[type_]
    jsonschema.validate(sent, schema)
