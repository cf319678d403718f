"""Channels that are chosen in a monitor's form: plain rules, which other rules do not notice."""

import re
from typing import Any

import pytest

from tests.alerts.console.test_console_rules import channel, monitor, rule
from tests.console.client import Console, Page

pytestmark = pytest.mark.shares_server

FIELDS = {"type": "tcp", "config.host": "192.0.2.1", "config.port": "443", "severity": "high"}


async def rules(console: Console) -> list[dict[str, Any]]:
    return list((await console.api.get("/v1/alert-rules")).json["data"])


async def created(console: Console, name: str, *channels: str) -> str:
    """A monitor that was made by its form with these channels."""
    await console.get("/monitors/new?type=tcp")
    page = await console.post("/monitors", {**FIELDS, "name": name, "notify": ["", *channels]})
    assert page.status == 200, page.words
    return page.path.rpartition("/")[2]


async def edited(console: Console, id_: str, *channels: str) -> Page:
    return await console.post(f"/monitors/{id_}/edit", {**FIELDS, "name": "shop", "notify": ["", *channels]})


def chosen(page: Page) -> list[str]:
    return re.findall(r'name="notify" value="(\w+)" checked', page.text)


async def test_channels_of_a_monitor_are_a_rule_that_monitors_share(console: Console) -> None:
    mail, pager = await channel(console, name="Ops"), await channel(console, name="Lead")
    await rule(console, channels=[mail], conditions={"latencyThresholdMs": 100})
    await console.sign_in()

    shop = await created(console, "shop", mail)
    till = await created(console, "till", mail)
    both = await created(console, "both", mail, pager)
    await created(console, "none")

    found = {one["name"]: (one["channels"], one["monitors"]) for one in await rules(console)}
    assert found == {
        "down": ([mail], []),
        "Outages to Ops": ([mail], [shop, till]),
        "Outages to Ops, Lead": ([mail, pager], [both]),
    }
    assert chosen(await console.get(f"/monitors/{both}/edit")) == [pager, mail]


async def test_what_is_chosen_anew_replaces_and_never_widens_a_rule(console: Console) -> None:
    mail, pager = await channel(console, name="Ops"), await channel(console, name="Lead")
    await rule(console, name="other", channels=[pager], tags=["critical"])
    await console.sign_in()
    shop, till = await created(console, "shop", mail), await created(console, "till", mail)

    await edited(console, shop, pager)
    [ops] = [one for one in await rules(console) if one["name"] == "Outages to Ops"]
    assert ops["monitors"] == [till]
    await edited(console, shop, mail, pager)
    changed = {tuple(one["channels"]): one["monitors"] for one in await rules(console)}
    assert changed == {(pager,): [], (mail,): [till], (mail, pager): [shop]}
    await edited(console, shop)
    await edited(console, till)

    assert [one["name"] for one in await rules(console)] == ["other"]


async def test_a_form_without_the_field_leaves_the_channels_alone(console: Console) -> None:
    mail = await channel(console)
    await console.sign_in()
    shop = await created(console, "shop", mail)

    await console.post(f"/monitors/{shop}/edit", {**FIELDS, "name": "renamed"})

    assert [rule["monitors"] for rule in await rules(console)] == [[shop]]


async def test_a_rule_with_conditions_of_its_own_is_left_alone(console: Console) -> None:
    mail = await channel(console)
    shop = await monitor(console)
    id_ = await rule(console, channels=[mail], monitors=[shop], repeatMinutes=30)
    await console.sign_in()

    page = await console.get(f"/monitors/{shop}/edit")
    await edited(console, shop, mail)

    assert chosen(page) == []
    assert sorted(one["id"] == id_ for one in await rules(console)) == [False, True]


async def test_without_any_rule_every_channel_is_proposed_that_needs_one(console: Console) -> None:
    mail = await channel(console)
    await channel(console, name="hook", type="webhook", config={"url": "https://example.com/hook"})
    await channel(console, name="off", enabled=False)
    await console.sign_in()

    before = await console.get("/monitors/new")
    await rule(console, channels=[mail], name="all")
    after = await console.get("/monitors/new")

    assert chosen(before) == [mail]
    assert chosen(after) == []
    assert "When any monitor goes down, notify mail, and on recovery." in after.words


async def test_channels_for_new_monitors_are_proposed_whatever_the_rules(console: Console) -> None:
    await channel(console, name="Ops")
    lead = await channel(console, name="Lead", forNewMonitors=True)
    await rule(console, channels=[lead], tags=["critical"])
    await channel(console, name="off", enabled=False, forNewMonitors=True)
    await console.sign_in()

    assert chosen(await console.get("/monitors/new")) == [lead]


async def test_a_channel_is_marked_for_new_monitors_in_its_form(console: Console) -> None:
    ops = await channel(console, name="Ops")
    await console.sign_in()
    here = f"/alerting/channels/{ops}"
    fields = {"type": "email", "name": "Ops", "enabled": "on", "config.recipients": "ops@example.com"}

    await console.get(f"{here}/edit")
    marked = await console.post(f"{here}/edit", {**fields, "forNewMonitors": "on"})
    shown = (await console.api.get(f"/v1/alert-channels/{ops}")).json["forNewMonitors"]
    await console.get(f"{here}/edit")
    await console.post(f"{here}/edit", {**fields, "forNewMonitors": ""})

    assert "New monitors notify this channel unless others are chosen" in marked.words
    assert shown is True
    assert (await console.api.get(f"/v1/alert-channels/{ops}")).json["forNewMonitors"] is False


async def test_without_channels_the_form_leads_to_the_first(console: Console) -> None:
    await console.sign_in()

    page = await console.get("/monitors/new")

    assert "No one will be notified: there is no channel yet." in page.words
    assert 'name="notify"' not in page.text


async def test_a_deleted_channel_is_reported_and_the_monitor_is_kept(console: Console) -> None:
    gone = await channel(console)
    await console.sign_in()
    await console.get("/monitors/new")
    await console.api.delete(f"/v1/alert-channels/{gone}")

    page = await console.post("/monitors", {**FIELDS, "name": "shop", "notify": ["", gone]})

    assert "Its channels were not saved" in page.words
    assert (await console.api.get(f"/v1{page.path}")).json["name"] == "shop"
