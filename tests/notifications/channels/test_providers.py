"""What each provider gets, field by field, and what of its answers is understood."""

from typing import Any

import orjson
import pytest

from collector.notifications.channels.discord import Discord
from collector.notifications.channels.opsgenie import Opsgenie
from collector.notifications.channels.pagerduty import PagerDuty
from collector.notifications.channels.slack import Slack
from collector.notifications.channels.telegram import Telegram
from collector.platform.delivery import Undelivered
from collector.platform.transport import Transport
from collector.platform.validation.validation import check
from shared import __version__
from shared.clock import utc_now
from shared.errors import Invalid
from tests.notifications.channels.every import channel
from tests.notifications.channels.payloads import INCIDENT, LINKS, MONITOR, message
from tests.receiver import Received, answer, receiving

NASTY = "*_`~|<b>&@everyone [x](https://evil.example) \\"


async def sent(transport: Transport, type_: str, kind: str, **more: Any) -> Received:
    config = more.pop("config", {})
    async with receiving() as receiver:
        await channel(type_, receiver, **config).send(message(kind, **more), transport, utc_now())
    return receiver.received[0]


async def undelivered(transport: Transport, type_: str, status: int, body: Any) -> Undelivered:
    text = body if isinstance(body, bytes) else orjson.dumps(body)
    async with receiving(answer(status, body=text)) as receiver:
        with pytest.raises(Undelivered) as caught:
            await channel(type_, receiver).send(message("monitor.down"), transport, utc_now())
    return caught.value


async def test_slack(transport: Transport) -> None:
    config = {"mentions": ["@here", "U012AB3CD", "<@W012AB3CD>", "S012AB3CD", "ops & co"]}
    request = await sent(transport, "slack", "monitor.down", config=config)

    assert request.target == "/services/SEEDED-T/SEEDED-B?x=SEEDED-X"
    assert (request.headers["content-type"], request.headers["user-agent"]) == (
        "application/json",
        f"Tocsin/{__version__}",
    )
    assert request.json == {
        "channel": "#ops",
        "text": "<!here> <@U012AB3CD> <@W012AB3CD> <!subteam^S012AB3CD> ops &amp; co "
        f"*<{LINKS['incident']}|Down: Shop checkout>*",
        "unfurl_links": False,
        "attachments": [
            {
                "color": "#c0392b",
                "blocks": [
                    {"type": "section", "text": {"type": "mrkdwn", "text": "status 503, expected 200-299"}},
                    {
                        "type": "section",
                        "fields": [
                            {"type": "mrkdwn", "text": text}
                            for text in (
                                "*Since*\n2026-11-21 07:24:00 UTC",
                                "*For*\n5m 32s",
                                "*Locations*\n2 of 3 fail (eu-west, us-east); good: ap-south",
                                "*Failed checks*\n4",
                                "*Severity*\ncritical",
                                "*Target*\nhttps://shop.example.com/checkout",
                            )
                        ],
                    },
                ],
            }
        ],
    }


async def test_slack_calls_nobody_for_a_recovery(transport: Transport) -> None:
    told = (await sent(transport, "slack", "monitor.up")).json
    assert told["text"] == f"*<{LINKS['incident']}|Up: Shop checkout, after 5m 32s>*"
    assert told["attachments"][0]["color"] == "#1e8449"


async def test_slack_shows_markup_as_text(transport: Transport) -> None:
    odd = {"monitor": {**MONITOR, "name": NASTY, "url": "<!channel>"}}
    told = (
        await sent(
            transport, "slack", "monitor.down", **odd, incident={**INCIDENT, "lastError": "<!here> & >"}
        )
    ).json

    assert "&lt;b&gt;&amp;@everyone" in told["text"]
    assert "|" not in told["text"].partition("|")[2]
    blocks = told["attachments"][0]["blocks"]
    assert blocks[0]["text"]["text"] == "&lt;!here&gt; &amp; &gt;"
    assert "<!channel>" not in str(blocks)


def test_slack_cuts_no_entity_in_two() -> None:
    made, _ = check(Slack, {"webhookUrl": "https://hooks.example.com/x"})
    call, _ = made.render(message("monitor.down", incident={**INCIDENT, "lastError": "&" * 900}))
    shown = call.body["attachments"][0]["blocks"][0]["text"]["text"]

    assert len(shown) <= 3000
    assert shown.removesuffix("…").replace("&amp;", "") == ""


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (404, b"no_service", "answered 404: no_service"),
        (410, b"channel_is_archived", "answered 410: channel_is_archived"),
        (500, b"<html>SEEDED</html>", "answered 500"),
    ],
)
async def test_what_slack_says_is_told(transport: Transport, status: int, body: bytes, said: str) -> None:
    assert str(await undelivered(transport, "slack", status, body)) == said


async def test_discord(transport: Transport) -> None:
    request = await sent(transport, "discord", "monitor.down")

    assert request.target == "/api/webhooks/1/SEEDED-token?wait=true"
    [embed] = request.json["embeds"]
    assert request.json["allowed_mentions"] == {"parse": []}
    assert embed["fields"][0] == {"name": "Since", "value": "2026-11-21 07:24:00 UTC", "inline": True}
    assert {name: value for name, value in embed.items() if name != "fields"} == {
        "title": "Down: Shop checkout",
        "description": "status 503, expected 200-299",
        "color": 0xC0392B,
        "timestamp": "2026-11-21T07:29:32.000Z",
        "url": LINKS["incident"],
    }


async def test_discord_shows_markup_as_text(transport: Transport) -> None:
    request = await sent(transport, "discord", "monitor.down", monitor={**MONITOR, "name": NASTY})
    assert request.json["embeds"][0]["title"] == (
        "Down: \\*\\_\\`\\~\\|\\<b\\>&\\@everyone \\[x\\](https://evil.example) \\\\"
    )


async def test_discord_s_wish_for_a_pause_is_read_from_its_body(transport: Transport) -> None:
    error = await undelivered(
        transport, "discord", 429, {"message": "You are being rate limited.", "retry_after": 64.57}
    )
    assert (str(error), error.retry_after_s, error.lasting) == (
        "answered 429: You are being rate limited.",
        64.57,
        False,
    )


async def test_telegram(transport: Transport) -> None:
    request = await sent(transport, "telegram", "monitor.down")

    assert request.target == "/bot123456:SEEDED-bot/sendMessage"
    assert request.json == {
        "chat_id": -100123,
        "text": "\N{LARGE RED CIRCLE} <b>Down: Shop checkout</b>\n\nstatus 503, expected 200-299\n\n"
        "Since: 2026-11-21 07:24:00 UTC\nFor: 5m 32s\n"
        "Locations: 2 of 3 fail (eu-west, us-east); good: ap-south\nFailed checks: 4\nSeverity: critical\n"
        f'Target: https://shop.example.com/checkout\n\n<a href="{LINKS["incident"]}">{LINKS["incident"]}</a>',
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
        "disable_notification": False,
    }


async def test_telegram_shows_markup_as_text_and_keeps_within_its_limit(transport: Transport) -> None:
    long = NASTY * 500 + "\N{FIRE}" * 3000
    request = await sent(
        transport,
        "telegram",
        "monitor.down",
        monitor={**MONITOR, "name": long, "url": long},
        incident={**INCIDENT, "lastError": long},
    )
    text = request.json["text"]

    assert "<b>&" not in text.removeprefix("\N{LARGE RED CIRCLE} <b>")
    assert text.count("<b>") == 1
    shown = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert len(shown.encode("utf-16-le")) // 2 <= 4096 + len("<b></b>") + len('<a href=""></a>') + len(
        LINKS["incident"]
    )


async def test_telegram_follows_a_group_that_became_another(transport: Transport) -> None:
    moved = {
        "ok": False,
        "description": "Bad Request: group chat was upgraded",
        "parameters": {"migrate_to_chat_id": -1009},
    }
    async with receiving(answer(400, body=orjson.dumps(moved))) as receiver:
        made = channel("telegram", receiver)
        done = await made.send(message("monitor.down"), transport, utc_now())

    assert [request.json["chat_id"] for request in receiver.received] == [-100123, -1009]
    assert done.note == "the chat is now -1009: change chatId"


async def test_telegram_s_wish_for_a_pause_and_its_reasons_are_read(transport: Transport) -> None:
    pause = {"ok": False, "description": "Too Many Requests: retry after 7", "parameters": {"retry_after": 7}}
    assert (await undelivered(transport, "telegram", 429, pause)).retry_after_s == 7
    gone = await undelivered(
        transport, "telegram", 403, {"description": "Forbidden: bot was blocked by the user"}
    )
    assert (str(gone), gone.lasting) == ("answered 403: Forbidden: bot was blocked by the user", True)


@pytest.mark.parametrize("chat", ["@ops", "-100123", 5])
def test_telegram_s_chat_may_be_a_text_or_a_number(chat: Any) -> None:
    made, _ = check(Telegram, {"botToken": "1:a", "chatId": chat})
    assert made.chat_id == chat


@pytest.mark.parametrize("chat", ["", [1], True, 1.5, {}, None])
def test_telegram_s_chat_is_one(chat: Any) -> None:
    with pytest.raises(Invalid) as caught:
        check(Telegram, {"botToken": "1:a", "chatId": chat})
    assert list(caught.value.details) == ["chatId"]


@pytest.mark.parametrize("token", ["1:a/../../x", "1:a?b", "1:a b", "1:a\r\n", "1:é", "1:a#"])
def test_telegram_s_token_can_lead_nowhere_else(token: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(Telegram, {"botToken": token, "chatId": 5})
    assert list(caught.value.details) == ["botToken"]


async def test_pagerduty_opens_takes_and_closes_one_alert_for_an_incident(transport: Transport) -> None:
    down = await sent(transport, "pagerduty", "monitor.down")
    taken = await sent(transport, "pagerduty", "incident.acknowledged")
    over = await sent(transport, "pagerduty", "monitor.up")

    assert down.target == taken.target == over.target == "/v2/enqueue"
    assert down.json == {
        "routing_key": "SEEDED0integration0key0123456789",
        "event_action": "trigger",
        "dedup_key": INCIDENT["id"],
        "client": "Tocsin",
        "client_url": LINKS["incident"],
        "links": [{"href": LINKS["incident"], "text": "In Tocsin"}],
        "payload": {
            "summary": "Down: Shop checkout",
            "source": "Shop checkout",
            "severity": "critical",
            "timestamp": "2026-11-21T07:29:32.000Z",
            "class": "monitor.down",
            "custom_details": {
                "Message": "status 503, expected 200-299",
                "Since": "2026-11-21 07:24:00 UTC",
                "For": "5m 32s",
                "Locations": "2 of 3 fail (eu-west, us-east); good: ap-south",
                "Failed checks": "4",
                "Severity": "critical",
                "Target": "https://shop.example.com/checkout",
            },
        },
    }
    assert [(received.json["event_action"], received.json["dedup_key"]) for received in (taken, over)] == [
        ("acknowledge", INCIDENT["id"]),
        ("resolve", INCIDENT["id"]),
    ]


async def test_pagerduty_wakes_nobody_for_a_note(transport: Transport) -> None:
    request = await sent(transport, "pagerduty", "incident.note_added")

    assert request.target == "/v2/change/enqueue"
    assert request.json["payload"]["summary"] == "Note: Shop checkout is down"
    assert "event_action" not in request.json


@pytest.mark.parametrize(
    ("config", "severity", "shown"),
    [
        ({}, "high", "error"),
        ({}, "medium", "warning"),
        ({}, "low", "info"),
        ({"severity": "warning"}, "critical", "warning"),
        ({"severity": "HIGH"}, "low", "error"),
    ],
)
async def test_pagerduty_s_severity(transport: Transport, config: Any, severity: str, shown: str) -> None:
    incident = {**INCIDENT, "severity": severity}
    request = await sent(transport, "pagerduty", "monitor.down", config=config, incident=incident)
    assert request.json["payload"]["severity"] == shown


@pytest.mark.parametrize("ending", ["", "/", "/v2/enqueue"])
def test_pagerduty_s_address_may_be_that_of_the_call(ending: str) -> None:
    config = {"integrationKey": "k", "apiUrl": f"https://events.eu.pagerduty.com{ending}"}
    call, _ = check(PagerDuty, config)[0].render(message("monitor.down"))
    assert call.url == "https://events.eu.pagerduty.com/v2/enqueue"


async def test_what_pagerduty_says_is_told(transport: Transport) -> None:
    refused = {
        "status": "invalid event",
        "message": "Event object is invalid",
        "errors": ["Length of 'routing_key' is incorrect"],
    }
    error = await undelivered(transport, "pagerduty", 400, refused)
    assert str(error) == "answered 400: Event object is invalid: Length of 'routing_key' is incorrect"


@pytest.mark.parametrize("type_", ["discord", "opsgenie", "pagerduty", "slack", "telegram"])
async def test_an_answer_nested_too_deeply_to_be_shown_is_a_refusal(transport: Transport, type_: str) -> None:
    deep = b"[" * 1_000 + b"]" * 1_000
    body = b'{"message":' + deep + b',"description":' + deep + b"}"

    assert str(await undelivered(transport, type_, 400, body)) == "answered 400"


async def test_opsgenie_opens_takes_notes_and_closes_one_alert(transport: Transport) -> None:
    down = await sent(transport, "opsgenie", "monitor.down")
    alias = INCIDENT["id"]

    assert down.target == "/v2/alerts"
    assert down.headers["authorization"] == "GenieKey SEEDED-0000-1111"
    assert down.json == {
        "message": "Down: Shop checkout",
        "alias": alias,
        "description": f"status 503, expected 200-299\n\n{LINKS['incident']}",
        "entity": "Shop checkout",
        "source": "Tocsin",
        "priority": "P1",
        "details": {
            "Since": "2026-11-21 07:24:00 UTC",
            "For": "5m 32s",
            "Locations": "2 of 3 fail (eu-west, us-east); good: ap-south",
            "Failed checks": "4",
            "Severity": "critical",
            "Target": "https://shop.example.com/checkout",
            "Link": LINKS["incident"],
        },
    }
    for kind, deed in (
        ("incident.acknowledged", "acknowledge"),
        ("monitor.up", "close"),
        ("incident.note_added", "notes"),
    ):
        request = await sent(transport, "opsgenie", kind)
        assert request.target == f"/v2/alerts/{alias}/{deed}?identifierType=alias"
        assert request.json["source"] == "Tocsin"
    assert request.json["note"] == "Note: Shop checkout is down\nRolled back to 4.2"


@pytest.mark.parametrize(
    ("config", "kind", "priority"),
    [({}, "monitor.down", "P1"), ({"priority": "p4"}, "monitor.down", "P4"), ({}, "monitor.degraded", "P5")],
)
async def test_opsgenie_s_priority(transport: Transport, config: Any, kind: str, priority: str) -> None:
    assert (await sent(transport, "opsgenie", kind, config=config)).json["priority"] == priority


def test_opsgenie_s_successor_is_an_address_away() -> None:
    config = {"apiKey": "k", "apiUrl": "https://api.atlassian.com/jsm/ops/integration"}
    call, _ = check(Opsgenie, config)[0].render(message("monitor.down"))
    assert call.url == "https://api.atlassian.com/jsm/ops/integration/v2/alerts"


@pytest.mark.parametrize(
    "url", ["ftp://x.example", "https://", "https://u:p@x.example", "https://x.example?a=b", "x", 5]
)
@pytest.mark.parametrize("cls", [PagerDuty, Opsgenie, Telegram])
def test_an_address_of_a_provider_is_one(cls: Any, url: Any) -> None:
    with pytest.raises(Invalid) as caught:
        check(cls, {"apiUrl": url})
    assert "apiUrl" in caught.value.details


@pytest.mark.parametrize("cls", [Slack, Discord])
@pytest.mark.parametrize("url", ["ftp://x.example", "x", "", "https://x.example/a\r\nb"])
def test_a_webhook_s_address_is_one(cls: Any, url: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(cls, {"webhookUrl": url})
    assert list(caught.value.details) == ["webhookUrl"]
