"""What holds for channels of every type."""

import asyncio
import logging
import subprocess
from pathlib import Path
from typing import Any

import pytest
import structlog

from collector.notifications.channels import CHANNELS, apprise, load
from collector.platform.delivery import Undelivered
from collector.platform.masks import masked
from collector.platform.transport import Transport
from collector.platform.validation.validation import check, to_json
from shared.clock import utc_now
from shared.errors import Invalid
from shared.kinds import secret_fields
from tests.notifications.channels.every import HTTP, SEED, channel, config
from tests.notifications.channels.payloads import INCIDENT, MONITOR, PARTS, message
from tests.receiver import answer, hang_up, receiving, reset, stall

pytestmark = pytest.mark.races

BASE = "http://127.0.0.1:9"
REQUIRED = {
    "email": {"recipients": "Recipients is required"},
    "slack": {"webhookUrl": "Webhook URL is required"},
    "discord": {"webhookUrl": "Webhook URL is required"},
    "telegram": {"botToken": "Bot token is required", "chatId": "Chat id is required"},
    "pagerduty": {"integrationKey": "Integration key is required"},
    "opsgenie": {"apiKey": "Api key is required"},
    "webhook": {"url": "URL is required"},
    "apprise": {"urls": "Urls is required"},
}


@pytest.mark.parametrize("type_", CHANNELS)
def test_what_is_required_is_named(type_: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(CHANNELS[type_], {})
    assert caught.value.details == REQUIRED[type_]


@pytest.mark.parametrize("type_", CHANNELS)
def test_a_stored_configuration_is_the_one_that_was_checked(type_: str) -> None:
    templates = {} if type_ == "webhook" else {"templates": {"title": "{{ event }}"}}
    made, _ = check(CHANNELS[type_], {**config(type_, BASE), **templates})

    assert load(type_, {**to_json(made), "fromAnotherVersion": 1}) == made


@pytest.mark.parametrize("type_", CHANNELS)
def test_who_may_only_read_sees_no_secret(type_: str) -> None:
    cls = CHANNELS[type_]
    made, _ = check(cls, config(type_, BASE))
    whole = to_json(made)

    assert SEED not in str(masked(cls, whole))
    assert SEED not in str({name: value for name, value in whole.items() if name not in secret_fields(cls)})


@pytest.mark.parametrize("type_", HTTP)
async def test_every_kind_of_event_can_be_sent(transport: Transport, type_: str) -> None:
    async with receiving(always=answer(200, body=b"ok")) as receiver:
        sent = [await channel(type_, receiver).send(message(kind), transport, utc_now()) for kind in PARTS]

    assert len(receiver.received) == len(PARTS)
    assert not [one.note for one in sent if one.note]


@pytest.mark.parametrize("type_", HTTP)
@pytest.mark.parametrize(
    "broken", ["\r\nX-Forged: 1\r\n\r\n", "\0", "\u2028", "é\ud7ff", '"}]}', "a" * 20_000]
)
async def test_no_text_of_an_event_can_break_out_of_the_request(
    transport: Transport, type_: str, broken: str
) -> None:
    odd = {
        "id": broken,
        "name": broken,
        "url": broken,
        "lastError": broken,
        "title": broken,
        "severity": broken,
    }
    async with receiving() as receiver:
        for kind in ("monitor.down", "incident.acknowledged", "monitor.up"):
            said = message(kind, monitor=odd, incident=odd, links={"incident": broken}, timestamp=broken)
            await channel(type_, receiver).send(said, transport, utc_now())

    for request in receiver.received:
        assert b"X-Forged" not in request.raw_headers
        assert isinstance(request.json, dict)
        assert len(request.body) < 400_000


@pytest.mark.parametrize("type_", HTTP)
async def test_no_secret_is_in_an_error_or_a_log(
    transport: Transport, type_: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = b'{"message": "%b", "description": "%b", "errors": ["%b"], "error": "%b"}'
    secrets = " ".join(_strings(config(type_, BASE))).encode()
    scripts = (
        answer(400, body=echo % ((secrets,) * 4)),
        answer(404, body=secrets),
        answer(500, body=secrets),
        reset,
        hang_up,
    )
    lines = []
    async with receiving(*scripts) as receiver:
        with structlog.testing.capture_logs() as logs:
            for _ in scripts:
                with pytest.raises(Undelivered) as caught:
                    await channel(type_, receiver).send(message("monitor.down"), transport, utc_now())
                lines.append(str(caught.value))

    assert SEED not in " ".join(lines)
    assert SEED not in str(logs)
    assert SEED not in caplog.text.replace(str(secrets), "")


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("type_", [type_ for type_ in HTTP if type_ not in ("webhook", "apprise")])
@pytest.mark.parametrize(
    ("status", "lasting"),
    [
        *((status, True) for status in (301, 400, 401, 403, 404, 410, 422)),
        *((status, False) for status in (408, 429, 500, 502, 503)),
    ],
)
async def test_what_another_try_cannot_change_is_told_from_what_it_may(
    transport: Transport, type_: str, status: int, lasting: bool
) -> None:
    async with receiving(answer(status, {"Retry-After": "7"}, b"{}")) as receiver:
        with pytest.raises(Undelivered, match=f"^answered {status}$") as caught:
            await channel(type_, receiver).send(message("monitor.down"), transport, utc_now())

    assert (caught.value.status, caught.value.lasting, caught.value.retry_after_s) == (status, lasting, 7)


@pytest.mark.parametrize("type_", [type_ for type_ in CHANNELS if type_ != "webhook"])
def test_services_that_reach_people_are_tried_for_long_and_as_they_ask_to_be(type_: str) -> None:
    made, _ = check(CHANNELS[type_], config(type_, BASE))
    assert (made.policy.retry, made.policy.max_retries, made.policy.obliging) == (True, 8, True)


@pytest.mark.parametrize("type_", [type_ for type_ in CHANNELS if type_ != "webhook"])
def test_a_template_that_cannot_be_run_is_refused(type_: str) -> None:
    templates = {"title": "{{ 9 ** 9 }}", "body": 5}
    with pytest.raises(Invalid) as caught:
        check(CHANNELS[type_], {**config(type_, BASE), "templates": templates})
    assert "templates.body" in caught.value.details


@pytest.mark.parametrize("type_", ["slack", "discord", "telegram", "pagerduty", "opsgenie", "apprise"])
async def test_a_template_that_breaks_is_told_of_beside_the_delivery(
    transport: Transport, type_: str
) -> None:
    templates = {"title": "{{ monitor.owner.name }}"}
    async with receiving(answer(200, body=b"ok")) as receiver:
        made = channel(type_, receiver, templates=templates)
        sent = await made.send(message("monitor.down"), transport, utc_now())

    assert sent.note is not None
    assert "the channel's template of the title failed" in sent.note
    assert "Down: Shop checkout" in receiver.received[0].body.decode()


@pytest.mark.parametrize("type_", ["slack", "discord", "telegram", "pagerduty", "opsgenie", "apprise"])
async def test_a_team_s_own_words_are_what_is_sent(transport: Transport, type_: str) -> None:
    async with receiving(answer(200, body=b"ok")) as receiver:
        made = channel(type_, receiver, templates={"title": "Own title", "body": "Own words"})
        await made.send(message("monitor.down"), transport, utc_now())

    body = receiver.received[0].body.decode()
    assert "Own title" in body
    assert "Own words" in body


@pytest.mark.parametrize(
    "type_", ["slack", "discord", "telegram", "pagerduty", "opsgenie", "webhook", "apprise"]
)
async def test_where_private_addresses_are_forbidden_no_channel_reaches_one(type_: str) -> None:
    guarded = Transport(allow_private=False)
    try:
        async with receiving() as receiver:
            with pytest.raises(Undelivered):
                await channel(type_, receiver).send(message("monitor.down"), guarded, utc_now())
        assert receiver.connections == 0
    finally:
        await guarded.close()


async def test_a_long_event_is_cut_and_not_refused_by_what_its_service_takes(transport: Transport) -> None:
    long = "<&>_*" * 20_000
    said = message(
        "monitor.down",
        monitor={**MONITOR, "name": long, "url": long},
        incident={**INCIDENT, "lastError": long},
        locationStates=[{"location": long, "status": "down"}],
    )
    async with receiving() as receiver:
        for type_ in HTTP:
            await channel(type_, receiver).send(said, transport, utc_now())

    slack, discord, telegram, pagerduty, opsgenie, _, _ = (request.json for request in receiver.received)
    blocks = slack["attachments"][0]["blocks"]
    assert len(blocks[0]["text"]["text"]) <= 3000
    assert len(blocks[1]["fields"]) <= 10
    assert all(len(field["text"]) <= 2000 for field in blocks[1]["fields"])
    [embed] = discord["embeds"]
    assert len(embed["title"]) <= 256
    assert len(embed["description"]) <= 4096
    assert all(len(one["name"]) <= 256 and len(one["value"]) <= 1024 for one in embed["fields"])
    assert sum(len(one["name"]) + len(one["value"]) for one in embed["fields"]) <= 6000 - 256 - 2500
    assert len(pagerduty["payload"]["summary"]) <= 1024
    assert len(receiver.received[3].body) < 512_000
    assert len(opsgenie["message"]) <= 130
    assert len(opsgenie["description"]) <= 15_000
    assert len(opsgenie["entity"]) <= 512
    assert sum(len(name) + len(value) for name, value in opsgenie["details"].items()) <= 8000
    assert "…" in telegram["text"]


async def test_apprise_sends_to_each_of_its_services_and_again_only_to_those_that_failed(
    transport: Transport,
) -> None:
    async with receiving() as good, receiving(answer(500)) as bad:
        urls = [receiver.url("").replace("http", "json", 1) + "/x" for receiver in (good, bad)]
        made, _ = check(apprise.Apprise, {"urls": urls})
        with pytest.raises(Undelivered, match=r"could not deliver to urls\[1\]$") as caught:
            await made.send(message("monitor.down"), transport, utc_now())
        await made.send(message("monitor.down", reached=caught.value.reached), transport, utc_now())

    assert (len(good.received), len(bad.received)) == (1, 2)
    assert good.received[0].json["title"] == "Down: Shop checkout"


@pytest.mark.parametrize(
    "url", ["", "ntfy", "://x", "syslog://localhost", "dbus://", "windows://x", "KDE://x"]
)
def test_what_is_no_service_elsewhere_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(apprise.Apprise, {"urls": [url]})
    assert list(caught.value.details) == ["urls[0]"]


# What Apprise leaves half made is its own affair.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("service", ["discord://1234567890/token", "slack://Txxxxxxxx/Bxxxxxxxx/" + "x" * 24])
async def test_no_service_of_apprise_reads_a_file_that_its_url_names(service: str, tmp_path: Path) -> None:
    named = tmp_path / "secret.json"
    named.write_text('{"text": "SEEDED", "content": "SEEDED"}')
    guarded = Transport(allow_private=False)
    made, _ = check(apprise.Apprise, {"urls": [f"{service}?template={named}"]})
    try:
        with pytest.raises(Undelivered):
            await made.send(message("monitor.down"), guarded, utc_now())
    finally:
        await guarded.close()

    token = apprise._GUARD.set(True)
    try:
        with pytest.raises(PermissionError):
            named.read_text()
        with pytest.raises(PermissionError):
            subprocess.Popen(["/bin/true"])
    finally:
        apprise._GUARD.reset(token)
    assert "SEEDED" in named.read_text(), "and nobody else is kept from it"


async def test_a_stalling_service_holds_up_no_other_through_apprise(transport: Transport) -> None:
    async with receiving(stall) as slow, receiving() as quick:
        waits, _ = check(apprise.Apprise, {"urls": [slow.url("").replace("http", "json", 1)]})
        goes, _ = check(apprise.Apprise, {"urls": [quick.url("").replace("http", "json", 1)]})
        waiting = asyncio.create_task(waits.send(message("monitor.down"), transport, utc_now()))
        await slow.wait_for(1)
        await goes.send(message("monitor.down"), transport, utc_now())
        assert not waiting.done()
        with pytest.raises(Undelivered):
            await waiting
