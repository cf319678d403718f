"""Forms in which monitors are chosen: any of very many is found, and what is chosen stays in sight."""

import re
from typing import Any

import pytest

from shared.clock import utc_now
from tests.console.client import Console
from tests.console.drawn import as_drawn
from tests.probes.ground import make_monitors

pytestmark = pytest.mark.shares_server

RULES, WINDOWS, CHANNELS = "/alerting/rules", "/alerting/maintenance", "/alerting/channels"
MANY = 60
HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
FIND = {"pick": "find"}
FORMS = [
    pytest.param(f"{RULES}/new", RULES, "monitors", id="a rule"),
    pytest.param(f"{WINDOWS}/new", WINDOWS, "monitors", id="a window"),
    pytest.param(f"{CHANNELS}/new?type=webhook", CHANNELS, "config.monitors", id="a webhook"),
]


async def monitor(console: Console, name: str, **fields: Any) -> str:
    body = {"name": name, "type": "tcp", "config": {"host": "192.0.2.1", "port": 443}, **fields}
    return str((await console.api.post("/v1/monitors", body)).json["id"])


async def crowd(console: Console) -> None:
    """More monitors than a form shows, all newer than what was made before."""
    await make_monitors(console.api.context.db, console.api.team_id, MANY, now=utc_now())


def offered(text: str, name: str) -> list[tuple[str, bool]]:
    """The monitors that the page offers, in its order, and whether each is ticked."""
    found = re.findall(rf'<input type="checkbox" name="{name}" value="(mon_\w+)"( checked)?>', text)
    return [(id_, bool(ticked)) for id_, ticked in found]


@pytest.mark.parametrize(("path", "_", "name"), FORMS)
async def test_few_monitors_are_all_there_without_a_search(
    console: Console, path: str, _: str, name: str
) -> None:
    ids = [await monitor(console, name) for name in ("shop", "till")]
    await console.sign_in()

    page = await console.get(path)

    assert offered(page.text, name) == [(id_, False) for id_ in reversed(ids)]
    assert 'name="find"' not in page.text


@pytest.mark.parametrize(("path", "send", "name"), FORMS)
async def test_one_of_many_is_found_by_its_name_and_what_was_ticked_stays_at_the_top(
    console: Console, path: str, send: str, name: str
) -> None:
    shop, till = await monitor(console, "Shop 100%"), await monitor(console, "till")
    await crowd(console)
    await console.sign_in()
    first = await console.get(path)
    assert shop not in first.text
    assert f"The newest 50 of {MANY + 2} monitors: search for others." in first.words
    fields = as_drawn(first.text) | {"name": ["mine"]}

    page = await console.post(send, {**fields, **FIND, name: ["", till], "find": "shop 100%"})

    assert page.status == 200
    assert offered(page.text, name) == [(till, True), (shop, False)]
    assert "1 monitor matches. 1 selected, at the top." in page.words
    assert 'value="mine"' in page.text
    ticked = as_drawn(page.text)
    page = await console.post(send, {**ticked, **FIND, name: ["", till, shop], "find": ""})
    assert offered(page.text, name)[:2] == [(till, True), (shop, True)]
    assert len(offered(page.text, name)) == 52


@pytest.mark.oldest
async def test_a_rule_is_made_and_changed_for_what_was_found(console: Console) -> None:
    shop, till = await monitor(console, "shop"), await monitor(console, "till")
    await crowd(console)
    await console.sign_in()
    fields = as_drawn((await console.get(f"{RULES}/new")).text) | {"name": ["down"]}

    page = await console.post(RULES, {**fields, **FIND, "find": "shop"})
    await console.post(RULES, {**as_drawn(page.text), "monitors": ["", shop]})

    [made] = (await console.api.get("/v1/alert-rules")).json["data"]
    assert made["monitors"] == [shop]
    edit = f"{RULES}/{made['id']}/edit"
    opened = await console.get(edit)
    assert offered(opened.text, "monitors")[0] == (shop, True)
    assert "shop" in opened.words
    page = await console.post(edit, {**as_drawn(opened.text), **FIND, "find": "till"})
    assert (await console.api.get("/v1/alert-rules")).json["data"] == [made]
    await console.post(edit, {**as_drawn(page.text), "monitors": ["", shop, till]})
    [changed] = (await console.api.get("/v1/alert-rules")).json["data"]
    assert sorted(changed["monitors"]) == sorted([shop, till])


async def test_a_search_does_not_hide_that_somebody_else_changed_the_rule(console: Console) -> None:
    await crowd(console)
    id_ = (await console.api.post("/v1/alert-rules", {"name": "down"})).json["id"]
    await console.sign_in()
    edit = f"{RULES}/{id_}/edit"
    fields = as_drawn((await console.get(edit)).text)
    await console.api.put(f"/v1/alert-rules/{id_}", {"name": "changed"})

    found = await console.post(edit, {**fields, **FIND, "find": "api"})
    page = await console.post(edit, {**as_drawn(found.text), "name": "mine"})

    assert page.status == 412
    assert (await console.api.get(f"/v1/alert-rules/{id_}")).json["name"] == "changed"


@pytest.mark.parametrize(
    ("find", "found"),
    [
        pytest.param("tag:env", ["live", "test"], id="a tag"),
        pytest.param(" tag: env:live ", ["live"], id="a tag and its value"),
        pytest.param("tag:", [], id="no tag"),
        pytest.param("LIV", ["live"], id="a part of a name"),
        pytest.param("%", [], id="what stands for anything elsewhere"),
        pytest.param("_", [], id="likewise"),
        pytest.param("\0", None, id="what no name holds"),
        pytest.param(HOSTILE, [], id="what would be markup"),
        pytest.param("x" * 5_000, [], id="too much"),
    ],
)
async def test_a_search_is_for_a_name_or_a_tag(console: Console, find: str, found: list[str] | None) -> None:
    made = {name: await monitor(console, name, tags={"env": name}) for name in ("live", "test")}
    await crowd(console)
    await console.sign_in()

    page = await console.post(WINDOWS, {**FIND, "find": find})

    assert page.status == 200
    assert "<img" not in page.text
    seen = [id_ for id_, _ in offered(page.text, "monitors")]
    if found is None:
        assert len(seen) == 50
    else:
        assert sorted(seen) == sorted(made[name] for name in found)


async def test_what_is_chosen_and_none_of_the_team_s_stays_what_it_was_called(console: Console) -> None:
    other = await console.api.other_team()
    body = {"name": "their secret", "type": "tcp", "config": {"host": "192.0.2.1", "port": 443}}
    theirs = (await other.post("/v1/monitors", body)).json["id"]
    await crowd(console)
    await console.sign_in()

    page = await console.post(RULES, {**FIND, "find": "secret", "monitors": ["", theirs, HOSTILE]})

    assert page.status == 200
    assert "their secret" not in page.text
    assert "<img" not in page.text
    assert offered(page.text, "monitors") == [(theirs, True)]


async def test_a_component_s_monitor_is_found_too(console: Console) -> None:
    shop, till = await monitor(console, "shop"), await monitor(console, "till")
    await crowd(console)
    made = (await console.api.post("/v1/status-pages", {"name": "Acme"})).json["id"]
    here = f"/status-pages/{made}/components"
    await console.sign_in()
    assert shop not in (await console.get(f"{here}/new")).text

    page = await console.post(here, {**FIND, "find": "shop", "name": "Shop", "monitorId": till})

    assert page.status == 200
    assert f'<option value="{till}" selected>till</option>' in page.text
    assert f'<option value="{shop}">shop</option>' in page.text
    await console.post(here, {"name": "Shop", "monitorId": shop})
    [component] = (await console.api.get(f"/v1/status-pages/{made}")).json["components"]
    assert component["monitorId"] == shop


async def test_who_only_reads_searches_nothing_in_a_form(console: Console) -> None:
    await crowd(console)
    await console.sign_in(await console.person("viewer"))

    assert (await console.post(RULES, {**FIND, "find": "api"})).status == 403
