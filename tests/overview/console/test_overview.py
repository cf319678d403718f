"""The first page: it says what the API says, for a team of any size, and offers what the visitor may do."""

import json
import re
from collections import Counter
from html import unescape
from typing import Any

import pytest

from collector.overview.service import overview as service
from tests.console.client import Console, Page, served, visiting
from tests.console.fixtures import PUBLIC_URL
from tests.http.client import Api
from tests.world import everything_happened

pytestmark = pytest.mark.shares_server

TCP: dict[str, Any] = {"type": "tcp", "config": {"host": "192.0.2.1", "port": 443}}


def tiles(page: Page) -> dict[str, str]:
    """The state of each monitor that has a tile, by id."""
    found = re.findall(r'class="tile (\w+)" href="/monitors/(mon_\w+)"', page.text)
    return {id_: state for state, id_ in found}


async def test_without_monitors_it_leads_to_the_first_alert(console: Console) -> None:
    await console.sign_in()

    page = await console.get("/")

    assert "No monitors yet" in page.words
    assert "Finish setting up alerts" in page.words
    for path in ("/monitors/new", "/alerting/channels/new", "/alerting/rules/new"):
        assert f'href="{path}"' in page.text


async def test_every_count_leads_to_what_it_counts(console: Console) -> None:
    await console.api.post("/v1/monitors", {"name": "New one", **TCP})
    paused = (await console.api.post("/v1/monitors", {"name": "Paused one", **TCP})).json["id"]
    await console.api.post(f"/v1/monitors/{paused}/pause")
    await console.sign_in()

    links = re.findall(r'<li><a href="(/[^"]*)"><span class="mark', (await console.get("/")).text)

    assert links == ["/monitors?status=new", "/monitors?status=paused", "/settings/probes"]
    for path, name in zip(links, ("New one", "Paused one"), strict=False):
        page = await console.get(path)
        assert re.findall(r'class="name" dir="auto" href="[^"]*">([^<]*)<', page.text) == [name]


async def test_what_has_no_result_is_neither_up_nor_down(console: Console) -> None:
    await console.api.post("/v1/monitors", {"name": "shop", "group": "Web & more", **TCP})
    await console.sign_in()

    page = await console.get("/")

    assert list(tiles(page).values()) == ["new"]
    assert "1 no result yet" in page.words
    assert 'href="/monitors?group=Web%20%26%20more"' in page.text
    assert "shop" in (await console.get("/monitors?group=Web%20%26%20more")).words


async def test_a_part_is_drawn_alone(console: Console) -> None:
    await console.api.post("/v1/monitors", {"name": "shop", **TCP})
    await console.sign_in()

    for part in ("now", "beside"):
        page = await console.get("/", headers={"X-Part": part})
        assert page.status == 200
        assert "<html" not in page.text


async def test_of_many_monitors_only_those_that_need_somebody_have_a_tile(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_ALL_TILES", 1)
    for name in ("a", "b"):
        await console.api.post("/v1/monitors", {"name": name, **TCP})
    await console.sign_in()

    page = await console.get("/")

    assert not tiles(page)
    assert "2 monitors" in page.words


@pytest.mark.own_server
async def test_it_says_what_the_api_says_when_everything_has_happened(api: Api) -> None:
    async with (
        everything_happened(api) as here,
        served(here.api, public_url=PUBLIC_URL) as url,
        visiting(url, here.api) as admin,
        visiting(url, here.api) as viewer,
    ):
        monitors = {item["id"]: item for item in (await here.api.get("/v1/monitors?limit=100")).json["data"]}
        states = Counter(monitor["status"] for monitor in monitors.values())
        open_ = [
            item
            for status in ("open", "acknowledged")
            for item in (await here.api.get(f"/v1/incidents?status={status}&limit=100")).json["data"]
        ]
        await admin.sign_in()
        await viewer.sign_in(await viewer.person("viewer"))

        page, read_only = await admin.get("/"), await viewer.get("/")

        assert f"{states['down']} monitors are down" in page.words
        drawn = tiles(page)
        assert drawn.keys() == monitors.keys()
        for id_, state in drawn.items():
            status = monitors[id_]["status"]
            assert status == (state if state in ("down", "paused") else "up"), (id_, state)
        shown = re.findall(r'<li data-row class="(\w+)">\s*<div class="what"><a[^>]*>([^<]*)<', page.text)
        titles = {(item["status"], item["title"]) for item in open_}
        assert 0 < len(shown) < len(open_)
        assert {(status, unescape(title)) for status, title in shown} <= titles
        assert f"{len(shown)} of {len(open_)}" in page.words
        for heading in ("Maintenance", "Certificates that expire soon", "Probes offline", "Recent events"):
            assert heading in page.words
        assert page.text.count(">Acknowledge<") == sum(status == "open" for status, _ in shown)
        assert "Acknowledge" not in read_only.text
        assert ">Resolve<" not in read_only.text
        assert tiles(read_only) == drawn
        for path in set(re.findall(r'href="(/(?:monitors|incidents|alerting|settings)[^"]*)"', page.text)):
            assert (await admin.get(unescape(path))).status in (200, 404), path
        assert here.monitors["Shop"] in drawn


@pytest.mark.oldest
@pytest.mark.own_server
async def test_the_tab_says_how_many_incidents_are_open(api: Api) -> None:
    async with (
        everything_happened(api) as here,
        served(here.api, public_url=PUBLIC_URL) as url,
        visiting(url, here.api) as console,
    ):
        await console.sign_in()
        every = (await here.api.get("/v1/incidents?limit=100")).json["data"]
        open_ = [incident for incident in every if incident["status"] != "resolved"]
        state = json.loads((await console.get("/state")).text)

        page = await console.get("/")
        part = await console.get("/", headers={"X-Part": "now"})

    assert f"<title>({len(open_)}) Overview · Tocsin</title>" in page.text
    assert f'data-tab-title="({len(open_)}) Overview · Tocsin"' in part.text
    assert state["count"] == len(open_) > 0
    unacknowledged = [incident["id"] for incident in open_ if incident["status"] == "open"]
    assert state["unacknowledged"] == len(unacknowledged)
    assert [incident["id"] for incident in state["newest"]] == unacknowledged[:5]
    assert re.search(r'rel="icon"[^>]*bell-bad\.svg', page.text)
    assert "bell-bad.svg" in part.text


async def test_runs_of_jobs_are_no_response_times(console: Console) -> None:
    body = {"name": "job", "type": "heartbeat", "config": {"expectedInterval": 3600}}
    id_ = (await console.api.post("/v1/monitors", body)).json["id"]
    key = (await console.api.get(f"/v1/monitors/{id_}")).json["config"]["pingUrl"].rpartition("/")[2]
    pushed = await console.api.get(f"/api/push/{key}?status=up&ping=60000")
    assert (pushed.status, pushed.json["ok"]) == (200, True)
    await console.sign_in()

    assert "Slowest now" not in (await console.get("/")).words
