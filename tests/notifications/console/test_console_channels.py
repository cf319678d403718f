"""The console's alert channels: made by type, masked, tested, and what was sent through each."""

import re
from typing import Any

import pytest

from collector.notifications.channels import CHANNELS
from collector.notifications.console import TYPES
from tests.console.client import Console
from tests.console.drawn import as_drawn
from tests.notifications.api.test_redelivery import sent
from tests.receiver import answer, receiving

HERE = "/alerting/channels"
HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
SECRET = "correct-horse-battery"
HOOK = "https://hooks.example.com/services/T000/B000/aVeryLongToken"


async def channel(console: Console, **fields: Any) -> str:
    body = {"name": "hook", "type": "webhook", "config": {"url": HOOK, "signingSecret": SECRET}, **fields}
    made = await console.api.post("/v1/alert-channels", body)
    assert made.status == 201, made.json
    return str(made.json["id"])


async def shown(console: Console, id_: str) -> dict[str, Any]:
    return dict((await console.api.get(f"/v1/alert-channels/{id_}")).json)


def test_every_type_is_offered() -> None:
    assert list(TYPES) == list(CHANNELS)


@pytest.mark.parametrize("type_", CHANNELS)
async def test_every_type_has_a_form_whose_faults_stand_at_their_fields(console: Console, type_: str) -> None:
    await console.sign_in()
    assert f"{HERE}/new?type={type_}" in (await console.get(f"{HERE}/new")).text
    form = await console.get(f"{HERE}/new?type={type_}")
    required = re.findall(r'<(?:input|textarea) [^>]*name="([^"]*)"[^>]* required', form.text)

    page = await console.post(HERE, as_drawn(form.text))

    assert page.status == 400
    assert required
    invalid = re.findall(r'<(?:input|textarea) [^>]*name="([^"]*)"[^>]* aria-invalid="true"', page.text)
    assert invalid == required


async def test_channels_without_a_name_are_named_after_their_type(console: Console) -> None:
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/new?type=slack")).text)

    for _ in range(3):
        await console.post(HERE, {**fields, "name": "", "config.webhookUrl": HOOK})

    named = [channel["name"] for channel in (await console.api.get("/v1/alert-channels")).json["data"]]
    assert sorted(named) == ["Slack", "Slack 2", "Slack 3"]


async def test_a_channel_is_made_with_what_the_form_says(console: Console) -> None:
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/new?type=slack")).text)

    page = await console.post(
        HERE,
        {
            **fields,
            "name": "ops",
            "config.webhookUrl": HOOK,
            "config.mentions": "@here\nU012AB3CD",
            "config.templates.title": "{{ monitor.name }}",
        },
    )

    assert "Channel created" in page.words
    assert "no rule sends here" in page.words
    made = await shown(console, page.path.rpartition("/")[2])
    assert (made["name"], made["type"], made["enabled"]) == ("ops", "slack", True)
    assert made["config"]["webhookUrl"] == HOOK
    assert made["config"]["mentions"] == ["@here", "U012AB3CD"]
    assert made["config"]["templates"]["title"] == "{{ monitor.name }}"


async def test_a_type_that_there_is_not_is_told(console: Console) -> None:
    await console.sign_in()
    assert "Choose where alerts go." in (await console.get(f"{HERE}/new?type=pigeon")).words

    assert (await console.post(HERE, {"type": "pigeon", "name": "x"})).status == 400


@pytest.mark.parametrize(
    ("type_", "config"),
    [
        (
            "webhook",
            {
                "url": HOOK,
                "signingSecret": SECRET,
                "headers": {"X-Key": SECRET},
                "events": ["web3.*"],
                "method": "PUT",
            },
        ),
        ("email", {"recipients": ["a@example.com", "b@example.com"], "templates": {"body": "{{ error }}"}}),
        ("pagerduty", {"integrationKey": SECRET, "severity": "high"}),
        ("telegram", {"botToken": SECRET, "chatId": "-100200"}),
        ("opsgenie", {"apiKey": SECRET}),
    ],
)
async def test_a_form_that_is_sent_as_it_is_drawn_changes_nothing_and_shows_no_secret(
    console: Console, type_: str, config: dict[str, Any]
) -> None:
    id_ = await channel(console, type=type_, config=config)
    before = await shown(console, id_)
    await console.sign_in()
    page = await console.get(f"{HERE}/{id_}/edit")
    assert SECRET not in page.text
    assert HOOK not in page.text

    page = await console.post(f"{HERE}/{id_}/edit", as_drawn(page.text))

    assert "Saved." in page.words
    assert await shown(console, id_) == before


async def test_what_is_emptied_is_gone_and_a_faulty_form_shows_no_secret(console: Console) -> None:
    config = {"url": HOOK, "signingSecret": SECRET, "headers": {"X-One": SECRET, "X-Two": SECRET}}
    id_ = await channel(console, config=config)
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/{id_}/edit")).text)
    [headers] = fields["config.headers"]
    page = await console.post(f"{HERE}/{id_}/edit", {**fields, "config.timeout": "0"})
    assert page.status == 400
    assert SECRET not in page.text

    fields = {**fields, "config.headers": [headers.partition("\n")[2]], "config.signingSecret": [""]}
    page = await console.post(f"{HERE}/{id_}/edit", fields)

    after = (await shown(console, id_))["config"]
    assert (after["headers"], after["signingSecret"], after["url"]) == ({"X-Two": SECRET}, None, HOOK)


async def test_a_test_goes_out_and_what_came_of_it_is_said(console: Console) -> None:
    async with receiving(answer(202), answer(500)) as receiver:
        id_ = await channel(console, config={"url": receiver.url()})
        await console.sign_in()
        await console.get(f"{HERE}/{id_}")

        assert "the receiver answered 202" in (await console.post(f"{HERE}/{id_}/test")).words
        assert "was not delivered: answered 500" in (await console.post(f"{HERE}/{id_}/test")).words


async def test_what_was_sent_is_listed_and_sent_again(console: Console) -> None:
    id_, delivery = await sent(console.api, 2)
    await console.sign_in()
    page = await console.get(f"{HERE}/{id_}")
    assert "monitor.down" in page.words
    assert "failed" in page.words
    again = f"{HERE}/{id_}/deliveries/{delivery['id']}/again"
    assert again in page.text

    page = await console.post(again)

    assert "Queued for delivery again." in page.words
    log = (await console.api.get(f"/v1/alert-channels/{id_}/deliveries")).json["data"]
    assert [item["status"] for item in log] == ["pending", "failed"]
    page = await console.post(f"{HERE}/{id_}/deliveries/{log[0]['id']}/again")
    assert "still being tried" in page.words


async def test_one_that_fails_stands_out(console: Console) -> None:
    await channel(console, name="fine")
    id_ = await channel(console, name="broken")
    async with console.api.context.db.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO channel_faults (team_id, channel_id, failing_since, last_error, flagged_at)
            SELECT team_id, id, now(), 'answered 410', now() FROM channels WHERE name = 'broken'
            """
        )
    await console.sign_in()

    page = await console.get(HERE)

    assert page.words.index("broken") < page.words.index("fine")
    assert "answered 410" in page.words
    assert "have failed since" in (await console.get(f"{HERE}/{id_}")).words


async def test_a_channel_goes(console: Console) -> None:
    id_ = await channel(console)
    await console.sign_in()
    await console.get(f"{HERE}/{id_}")

    assert "Channel deleted" in (await console.post(f"{HERE}/{id_}/delete")).words
    assert (await console.api.get(f"/v1/alert-channels/{id_}")).status == 404


async def test_nothing_that_is_said_of_a_channel_becomes_markup(console: Console) -> None:
    config = {"webhookUrl": HOOK, "channel": HOSTILE, "mentions": [HOSTILE]}
    id_ = await channel(console, name=HOSTILE, type="slack", config=config)
    await console.sign_in()

    for path in (HERE, f"{HERE}/{id_}", f"{HERE}/{id_}/edit"):
        page = await console.get(path)
        assert page.status == 200
        assert "onerror=alert" in page.text
        assert "<img" not in page.text


async def test_a_viewer_sees_all_but_secrets_and_does_nothing(console: Console) -> None:
    id_ = await channel(console)
    await console.sign_in(await console.person("viewer"))

    for path in (HERE, f"{HERE}/{id_}"):
        page = await console.get(path)
        assert page.status == 200
        assert 'method="post" action="/alerting' not in page.text
        assert SECRET not in page.text
    assert (await console.get(f"{HERE}/{id_}/edit")).status == 403


async def test_another_team_s_channel_is_like_none(console: Console) -> None:
    other = await console.api.other_team()
    body = {"name": "x", "type": "email", "config": {"recipients": ["a@example.com"]}}
    theirs = (await other.post("/v1/alert-channels", body)).json["id"]
    await console.sign_in()

    for path in (f"{HERE}/{theirs}", f"{HERE}/{theirs}/edit"):
        assert (await console.get(path)).status == 404
    assert (await console.post(f"{HERE}/{theirs}/test")).status == 404
