"""A monitor's form: types as cards, basics first, the rest folded, and nothing to know by heart."""

import re
from html import unescape
from typing import Any

import pytest

from collector.monitors.console import kind_cards
from collector.monitors.console import types as monitor_types
from shared.kinds import RECEIVING
from tests.console.client import Console, Page
from tests.monitors.monitors import make, probe

TYPES = sorted(name for names in monitor_types.GROUPS.values() for name in names)


def body(page: Page) -> str:
    return page.text.partition('<form method="post" action="/monitors')[2].partition("</form>")[0]


def basics(page: Page) -> list[str]:
    """The names of the fields that are not folded."""
    first = body(page).partition('class="advanced"')[0]
    return list(dict.fromkeys(re.findall(r'(?<!hidden") name="([^"]*)"', first)))


async def test_each_type_is_a_card_with_an_icon_and_a_sentence(console: Console) -> None:
    await console.sign_in()

    page = await console.get("/monitors/new")

    cards = re.findall(
        r'<a class="card kind" href="/monitors/new\?type=(\w+)"(.*?)</a>', page.text, re.DOTALL
    )
    assert sorted(type_ for type_, _ in cards) == sorted(TYPES)
    for _, card in cards:
        assert '<svg class="icon"' in card
        assert re.search(r'<small class="soft">[A-Z][^<]{15,}[.?]</small>', card)


def test_a_type_without_a_text_has_the_question_of_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind_cards, "_TEXTS", {})

    card = kind_cards.card("redis")

    assert (card.icon, card.name) == ("database", "Redis")
    assert card.sentence.endswith("?")


@pytest.mark.parametrize("type_", TYPES)
async def test_what_must_be_filled_in_is_never_folded(console: Console, type_: str) -> None:
    await console.sign_in()

    page = await console.get(f"/monitors/new?type={type_}")

    folded = body(page).partition('class="advanced"')[2]
    assert not re.findall(r'<(?:input|textarea) [^>]*name="([^"#]*)"[^>]* required', folded)
    assert basics(page)[0] == "name"
    unwanted = {"timeout", "locations", "quorum", "failureThreshold", "recoveryThreshold"}
    fields = set(re.findall(r'name="([^"]*)"', body(page)))
    assert (unwanted & fields == set()) if type_ in RECEIVING else unwanted <= fields


async def test_a_website_takes_name_and_url_and_no_more(console: Console) -> None:
    await console.sign_in()

    page = await console.get("/monitors/new")
    made = await console.post(
        "/monitors", {"type": "http", "name": "Shop", "config.url": "shop.example.com/a"}
    )

    assert basics(page) == ["name", "config.url", "interval", "locations"]
    assert 'id="f-name"' in page.text
    assert re.search(r'id="f-name"[^>]* autofocus', page.text)
    config = (await console.api.get(f"/v1{made.path}")).json["config"]
    assert config["url"] == "https://shop.example.com/a"


@pytest.mark.parametrize(
    ("type_", "target", "name"),
    [
        ("http", {"url": "https://shop.example.com:8443/a"}, "shop.example.com"),
        ("tcp", {"host": "db.example.com", "port": "5432"}, "db.example.com:5432"),
        ("tcp", {"host": "2001:db8::1", "port": "22"}, "[2001:db8::1]:22"),
        ("tls", {"domain": "shop.example.com"}, "shop.example.com"),
        ("icmp", {"host": "router.example.com"}, "router.example.com"),
    ],
)
async def test_a_monitor_without_a_name_is_named_after_its_target(
    console: Console, type_: str, target: dict[str, str], name: str
) -> None:
    await console.sign_in()

    made = await console.post(
        "/monitors",
        {"type": type_, "name": "", **{f"config.{field}": text for field, text in target.items()}},
    )

    assert (await console.api.get(f"/v1{made.path}")).json["name"] == name


async def test_a_monitor_without_name_and_target_needs_both(console: Console) -> None:
    await console.sign_in()

    page = await console.post("/monitors", {"type": "http", "name": "", "config.url": "https://["})

    assert page.status == 400
    assert "Name is required" in page.words


@pytest.mark.parametrize(
    ("kind", "typed", "url"),
    [
        ("http", "example.com", "https://example.com"),
        ("http", "127.0.0.1:8080/x", "https://127.0.0.1:8080/x"),
        ("http", "http://example.com", "http://example.com"),
        ("http", "********/key", "********/key"),
        ("http", "", ""),
        ("websocket", "example.com/ws", "wss://example.com/ws"),
        ("tls", "example.com", "example.com"),
    ],
)
def test_a_url_is_completed_in_the_form(kind: str, typed: str, url: str) -> None:
    assert monitor_types.completed(kind, {"url": typed}) == {"url": url}


async def test_the_api_completes_no_url(console: Console) -> None:
    answer = await console.api.post(
        "/v1/monitors", {"name": "shop", "type": "http", "config": {"url": "example.com"}}
    )
    assert answer.status == 400


async def test_locations_are_picked_or_named(console: Console) -> None:
    await probe(console.api, "east", "west")
    id_ = await make(console.api, locations=["moon", "east"])
    await console.sign_in()

    page = await console.get(f"/monitors/{id_}/edit")

    boxes = re.findall(r'type="checkbox" name="locations" value="(\w+)"( checked)?', page.text)
    assert boxes == [("east", " checked"), ("moon", " checked"), ("west", "")]
    fields = {"name": "shop", "severity": "high", "config.url": "https://example.com/"}
    await console.post(f"/monitors/{id_}/edit", {**fields, "locations": ["", "west", " office "]})
    assert (await console.api.get(f"/v1/monitors/{id_}")).json["locations"] == ["west", "office"]


async def test_monitors_that_it_depends_on_are_picked_by_name(console: Console) -> None:
    router = await make(console.api, name="router")
    shop = await make(console.api, name="shop", dependsOn=[router])
    await console.sign_in()

    page = await console.get(f"/monitors/{shop}/edit")
    picked = re.findall(r'name="dependsOn" value="(\w+)"( checked)?> <span dir="auto">(\w+)<', page.text)

    assert picked == [(router, " checked", "router")]
    fields = {"type": "http", "name": "new", "config.url": "https://example.com/", "severity": "high"}
    made = await console.post("/monitors", {**fields, "dependsOn": ["", shop]})
    shown = (await console.api.get(f"/v1{made.path}")).json
    assert shown["dependsOn"] == [shop]


async def test_a_search_for_a_monitor_keeps_what_was_typed_and_saves_nothing(console: Console) -> None:
    for at in range(60):
        await make(console.api, name=f"till {at:02}")
    await console.sign_in()
    await console.get("/monitors/new")

    typed: dict[str, Any] = {"type": "http", "name": "typed", "config.url": "https://example.com/"}
    page = await console.post("/monitors", {**typed, "pick": "find", "find": "till 07"})

    assert page.status == 200
    assert 'value="typed"' in page.text
    assert [
        unescape(name)
        for name in re.findall(r'name="dependsOn" value="\w+"> <span dir="auto">([^<]*)', page.text)
    ] == ["till 07"]
    [fold] = re.findall(r'<details class="fold" id="[^"]*" open><summary>([^<]*)', page.text)
    assert fold == "Incidents and dependencies"
    assert (await console.api.get("/v1/monitors")).json["meta"]["total"] == 60


async def test_a_fold_with_a_fault_is_open(console: Console) -> None:
    await console.sign_in()
    await console.get("/monitors/new")

    fields = {"type": "http", "name": "x", "config.url": "https://example.com/", "severity": "high"}
    page = await console.post("/monitors", {**fields, "quorum": "most", "timeout": "10"})

    assert page.status == 400
    folds = re.findall(r'<details class="fold" id="[^"]*" open><summary>([^<]*)', page.text)
    assert folds == ["When it counts as down"]


async def test_fields_have_units_and_examples(console: Console) -> None:
    await console.sign_in()

    http = await console.get("/monitors/new?type=http")
    job = await console.get("/monitors/new?type=heartbeat")

    assert 'placeholder="https://example.com/health"' in http.text
    assert "Interval <small>(s)</small>" in http.text
    for name in ("expectedInterval", "cron", "timezone", "gracePeriod", "maxRunTime", "minInterval"):
        [field] = re.findall(rf'<input id="f-config-{name}"[^>]*>', job.text)
        assert "placeholder=" in field
