"""The console's alert rules and alerts: made, tried over the past, changed, ended, as the API would."""

from typing import Any

import pytest

from tests.alerts.api.test_alerts import fired
from tests.console.client import Console
from tests.console.drawn import as_drawn

HERE = "/alerting/rules"
HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
SILENT = "No one will be notified"


async def channel(console: Console, **fields: Any) -> str:
    body = {"name": "mail", "type": "email", "config": {"recipients": ["ops@example.com"]}, **fields}
    answer = await console.api.post("/v1/alert-channels", body)
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


async def monitor(console: Console, **fields: Any) -> str:
    body = {"name": "shop", "type": "tcp", "config": {"host": "192.0.2.1", "port": 443}, **fields}
    return str((await console.api.post("/v1/monitors", body)).json["id"])


async def rule(console: Console, **fields: Any) -> str:
    answer = await console.api.post("/v1/alert-rules", {"name": "down", **fields})
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


async def shown(console: Console, id_: str) -> dict[str, Any]:
    answer = await console.api.get(f"/v1/alert-rules/{id_}")
    return dict(answer.json)


async def test_it_is_said_when_nothing_would_tell_anybody(console: Console) -> None:
    await console.sign_in()
    for path in (HERE, "/alerting/channels", "/alerting/alerts"):
        assert SILENT in (await console.get(path)).words
    mail = await channel(console)
    assert "no rule notifies an enabled channel" in (await console.get(HERE)).words
    id_ = await rule(console)
    assert "notifies nobody" in (await console.get(HERE)).words

    await console.api.put(f"/v1/alert-rules/{id_}", {"channels": [mail]})

    page = await console.get(HERE)
    assert SILENT not in page.words
    assert "notifies nobody" not in page.words
    await console.api.put(f"/v1/alert-channels/{mail}", {"enabled": False})
    assert SILENT in (await console.get(HERE)).words


async def test_with_a_webhook_alone_it_is_said_who_hears(console: Console) -> None:
    await channel(console, type="webhook", config={"url": "https://example.com/hook"})
    await console.sign_in()

    assert "only webhooks are notified of outages" in (await console.get(HERE)).words


async def test_a_rule_is_made_with_what_the_form_says(console: Console) -> None:
    mail, pager = await channel(console), await channel(console, name="pager")
    shop = await monitor(console)
    await console.sign_in()
    page = await console.get(f"{HERE}/new")
    assert "mail (email)" in page.words
    fields = as_drawn(page.text) | {
        "name": ["Slow"], "channels": ["", mail], "monitors": ["", shop], "tags": ["team:shop\ncritical"],
        "tagsMatch": ["any"], "conditions.latencyThresholdMs": ["800"], "repeatMinutes": ["30"],
        "escalationPolicy.delayMinutes": ["15"], "escalationPolicy.escalateToChannels": ["", pager],
    }  # fmt: skip

    page = await console.post(HERE, fields)

    assert page.path == HERE, page.words
    assert "is slower than 800 ms" in page.words
    [made] = (await console.api.get("/v1/alert-rules")).json["data"]
    assert (made["name"], made["enabled"], made["notifyOnRecovery"]) == ("Slow", True, True)
    assert (made["channels"], made["monitors"], made["repeatMinutes"]) == ([mail], [shop], 30)
    assert made["conditions"] == {"latencyThresholdMs": 800}
    assert made["tags"] == ["team:shop", "critical"]
    policy = {"delayMinutes": 15, "escalateToChannels": [pager], "maxEscalations": 1}
    assert made["escalationPolicy"] == policy


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tags": {"team": "shop", "tier": "1"}, "repeatMinutes": 5},
        {"tags": ["team:shop", "critical"], "enabled": False, "notifyOnRecovery": False},
        {"conditions": {"errorRatePercent": 12.5, "windowMinutes": 30, "statusCode": 503, "match": "all"}},
        {"conditions": {"consecutiveFailures": 3, "locations": "any"}},
    ],
    ids=str,
)
async def test_a_form_that_is_sent_as_it_is_drawn_changes_nothing(
    console: Console, fields: dict[str, Any]
) -> None:
    mail = await channel(console)
    policy = {"delayMinutes": 15, "escalateToChannels": [mail], "maxEscalations": 3}
    id_ = await rule(console, channels=[mail], escalationPolicy=policy, **fields)
    before = await shown(console, id_)
    await console.sign_in()

    page = await console.post(f"{HERE}/{id_}/edit", as_drawn((await console.get(f"{HERE}/{id_}/edit")).text))

    assert page.path == HERE, page.words
    assert await shown(console, id_) == before


async def test_what_is_emptied_is_gone(console: Console) -> None:
    mail = await channel(console)
    policy = {"delayMinutes": 15, "escalateToChannels": [mail]}
    conditions = {"latencyThresholdMs": 800, "windowMinutes": 30}
    id_ = await rule(
        console, channels=[mail], escalationPolicy=policy, conditions=conditions, repeatMinutes=9
    )
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/{id_}/edit")).text) | {
        "conditions.latencyThresholdMs": [""], "conditions.windowMinutes": [""], "repeatMinutes": [""],
        "escalationPolicy.delayMinutes": [""], "escalationPolicy.escalateToChannels": [""],
        "escalationPolicy.maxEscalations": [""], "channels": [""],
    }  # fmt: skip

    page = await console.post(f"{HERE}/{id_}/edit", fields)

    assert "nobody is told" in page.words
    after = await shown(console, id_)
    assert (after["conditions"], after["escalationPolicy"], after["repeatMinutes"]) == ({}, None, None)
    assert after["channels"] == []


async def test_a_rule_whose_monitors_are_gone_stays_for_none(console: Console) -> None:
    id_ = await rule(console, monitors=[await monitor(console)])
    [named] = (await shown(console, id_))["monitors"]
    await console.api.delete(f"/v1/monitors/{named}")
    await monitor(console, name="another")
    await console.sign_in()
    assert "the selected ones were deleted" in (await console.get(HERE)).words

    fields = as_drawn((await console.get(f"{HERE}/{id_}/edit")).text)
    await console.post(f"{HERE}/{id_}/edit", {**fields, "name": "renamed"})

    page = await console.get(HERE)
    assert "renamed" in page.words
    assert "the selected ones were deleted" in page.words


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("conditions.statusCode", "9"),
        ("conditions.errorRatePercent", "many"),
        ("repeatMinutes", "0"),
        ("channels", "chan_00000000000000000000000000"),
        ("monitors", "nothing"),
        ("tags", ":"),
        ("escalationPolicy.maxEscalations", "99"),
    ],
)
@pytest.mark.parametrize("to", [HERE, f"{HERE}/preview"])
async def test_what_is_wrong_stands_at_its_field(console: Console, field: str, value: str, to: str) -> None:
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/new")).text) | {"name": ["x"], field: [value]}

    page = await console.post(to, fields)

    assert page.status == 400
    assert "Please fix these fields" in page.words
    assert 'class="fault"' in page.text


async def test_a_rule_needs_a_name(console: Console) -> None:
    await console.sign_in()

    page = await console.post(HERE, as_drawn((await console.get(f"{HERE}/new")).text))

    assert page.status == 400
    assert "Name is required" in page.words


async def test_all_of_some_tags_need_their_values(console: Console) -> None:
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/new")).text)

    page = await console.post(HERE, {**fields, "name": "x", "tags": "critical", "tagsMatch": "all"})

    assert page.status == 400
    assert "each needs its value" in page.words


async def test_a_preview_says_what_it_would_have_done_and_keeps_nothing(console: Console) -> None:
    mail, shop = await channel(console), await monitor(console)
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/new")).text)

    page = await console.post(
        f"{HERE}/preview", {**fields, "name": HOSTILE, "channels": ["", mail], "monitors": ["", shop]}
    )

    assert page.status == 200
    assert "It would have fired 0 times for 1 monitor" in page.words
    assert f'value="{mail}" checked' in page.text
    assert "<img" not in page.text
    assert (await console.api.get("/v1/alert-rules")).json["data"] == []


async def test_who_is_late_is_told_and_a_rule_goes(console: Console) -> None:
    id_ = await rule(console)
    await console.sign_in()
    fields = as_drawn((await console.get(f"{HERE}/{id_}/edit")).text)
    await console.api.put(f"/v1/alert-rules/{id_}", {"name": "changed"})

    page = await console.post(f"{HERE}/{id_}/edit", {**fields, "name": "mine"})

    assert page.status == 412
    assert "someone else changed this meanwhile" in page.words
    await console.post(f"{HERE}/{id_}/delete")
    assert (await console.api.get(f"/v1/alert-rules/{id_}")).status == 404


async def test_alerts_are_taken_on_and_ended(console: Console) -> None:
    id_ = await fired(console.api)
    await console.sign_in()
    here = "/alerting/alerts"
    assert "answered after 900 ms" in (await console.get(here)).words

    assert "Acknowledged" in (await console.post(f"{here}/{id_}/acknowledge")).words
    assert "already acknowledged" in (await console.post(f"{here}/{id_}/acknowledge")).words
    assert "Alert resolved." in (await console.post(f"{here}/{id_}/resolve")).words

    assert (await console.api.get(f"/v1/alerts/{id_}")).json["status"] == "recovered"
    assert "answered after" not in (await console.get(here)).words
    assert "answered after" in (await console.get(f"{here}?status=recovered")).words
    assert (await console.get(f"{here}?status=nonsense&page=99")).status == 200


async def test_nothing_that_is_said_of_a_rule_or_an_alert_becomes_markup(console: Console) -> None:
    mail = await channel(console, name=HOSTILE)
    shop = await monitor(console, name=HOSTILE)
    id_ = await rule(console, name=HOSTILE, channels=[mail], monitors=[shop], tags=[HOSTILE])
    await fired(console.api, rule_name=HOSTILE, monitor_name=HOSTILE)
    await console.sign_in()

    for path in (HERE, f"{HERE}/new", f"{HERE}/{id_}/edit", "/alerting/alerts"):
        page = await console.get(path)
        assert page.status == 200
        assert "onerror=alert" in page.text
        assert "<img" not in page.text
        assert "{{7*7}}" in page.words


async def test_a_viewer_sees_all_and_does_nothing(console: Console) -> None:
    id_ = await rule(console, channels=[await channel(console)])
    await fired(console.api)
    await console.sign_in(await console.person("viewer"))

    for path in (HERE, "/alerting/alerts"):
        page = await console.get(path)
        assert page.status == 200
        assert 'method="post" action="/alerting' not in page.text
        assert "/new" not in page.text
    assert (await console.get(f"{HERE}/{id_}/edit")).status == 403


async def test_another_team_s_rule_is_like_none(console: Console) -> None:
    other = await console.api.other_team()
    theirs = (await other.post("/v1/alert-rules", {"name": "theirs"})).json["id"]
    await console.sign_in()

    assert (await console.get(f"{HERE}/{theirs}/edit")).status == 404
    assert (await console.post(f"{HERE}/preview", {"rule": theirs})).status == 404


async def test_a_rule_is_a_sentence_in_the_list_and_in_its_form(console: Console) -> None:
    mail, pager = await channel(console, name="Ops"), await channel(console, name=HOSTILE)
    shop = await monitor(console)
    id_ = await rule(
        console,
        channels=[mail],
        monitors=[shop],
        conditions={"consecutiveFailures": 3},
        escalationPolicy={"delayMinutes": 15, "escalateToChannels": [pager]},
    )
    await console.sign_in()

    page = await console.get(HERE)
    form = await console.get(f"{HERE}/{id_}/edit")
    preview = await console.post(
        f"{HERE}/preview", {"name": "Slow", "conditions.latencyThresholdMs": "800", "channels": ["", mail]}
    )

    text = "When shop is down for 3 checks , notify Ops , then after 15 min <img"
    assert text in page.words
    assert "When shop is down for 3 checks , notify Ops (email) , then after 15 min <img" in form.words
    assert "When any monitor is slower than 800 ms , notify Ops (email)" in preview.words
    assert "<img" not in page.text + form.text
