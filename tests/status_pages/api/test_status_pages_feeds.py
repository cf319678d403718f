"""Status pages for programs: feeds, calendar, JSON, badges, widget."""

import re
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.browser.status_world import measured
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page
from tests.status_pages.api.test_status_pages_public import always_fresh, visit

__all__ = ["always_fresh"]

ATOM = "{http://www.w3.org/2005/Atom}"
TITLE = 'Disks; <new>, & "fast" \x0b\u2028ones'
KINDS = {
    ".json": "application/json",
    "/api/v2/summary.json": "application/json",
    "/feed.atom": "application/atom+xml",
    "/feed.rss": "application/rss+xml",
    "/maintenance.ics": "text/calendar",
    "/badge.svg": "image/svg+xml",
    "/badge.svg?kind=uptime": "image/svg+xml",
    "/badge.svg?kind=response": "image/svg+xml",
    "/widget": "text/html",
}


async def told(api: Api, **more: Any) -> dict[str, Any]:
    """A page with an incident, and maintenance to come."""
    made = await page(api, slug="example", components=[{"name": "Shop"}], **more)
    path, now = f"/v1/status-pages/{made['id']}/incidents", api.clock()
    affected = [made["components"][0]["id"]]
    incident = {"title": TITLE, "message": "We look", "affectedComponents": affected, "severity": "major"}
    await api.post(path, {**incident, "componentStatus": "partial_outage"})
    planned = {
        "title": TITLE * 3,
        "severity": "maintenance",
        "message": "Planned\nfor long",
        "scheduledStart": (now + timedelta(hours=1)).isoformat(),
        "scheduledEnd": (now + timedelta(hours=2)).isoformat(),
    }
    await api.post(path, planned)
    return made


@pytest.mark.parametrize(("path", "kind"), KINDS.items())
async def test_each_is_there_for_anyone_and_behind_the_password_where_there_is_one(
    api: Api, path: str, kind: str
) -> None:
    made = await told(api)

    open_ = await visit(api, f"example{path}")
    await api.put(f"/v1/status-pages/{made['id']}", {"visibility": "private", "password": "sesame"})
    shut = await visit(api, f"example{path}")

    assert (open_.status, open_.headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    assert (shut.status, b"Disks" in shut.body, b"Shop" in shut.body) == (401, False, False)
    assert "Access-Control-Allow-Origin" not in shut.headers


@pytest.mark.parametrize(("path", "items"), [("feed.atom", f"{ATOM}entry"), ("feed.rss", "channel/item")])
async def test_feeds_are_xml_whatever_a_title_holds(api: Api, path: str, items: str) -> None:
    await told(api)

    root = ET.fromstring((await visit(api, f"example/{path}")).body)

    elements = root.findall(items)
    titles = [element.findtext(f"{ATOM}title") or element.findtext("title") or "" for element in elements]
    assert len(titles) == 2
    assert all(title.startswith('Disks; <new>, & "fast" \ufffd') for title in titles)


async def test_the_calendar_has_the_maintenance_in_lines_that_any_reader_takes(api: Api) -> None:
    await told(api)

    body = (await visit(api, "example/maintenance.ics")).body

    lines = body.split(b"\r\n")
    assert all(len(line) <= 75 for line in lines)
    assert b"\n" not in body.replace(b"\r\n", b"")
    whole = body.replace(b"\r\n ", b"").decode()
    assert whole.count("BEGIN:VEVENT") == 1
    assert 'SUMMARY:Disks\\; <new>\\, & "fast"' in whole
    assert "Planned\\nfor long" in whole


@pytest.mark.oldest
async def test_json_tells_what_the_page_tells(api: Api) -> None:
    await told(api)

    own = (await visit(api, "example.json")).json

    assert own["status"] == "partial_outage"
    assert [component["name"] for component in own["components"]] == ["Shop"]
    assert [incident["title"] for incident in own["incidents"]] == [TITLE]
    assert [item["severity"] for item in own["maintenance"]] == ["maintenance"]


async def test_the_summary_has_the_shape_that_others_read(api: Api) -> None:
    await told(api)

    answer = await visit(api, "example/api/v2/summary.json")

    read = answer.json
    assert set(read) == {"page", "components", "incidents", "scheduled_maintenances", "status"}
    assert read["status"] == {"indicator": "major", "description": "Partial System Outage"}
    assert [component["status"] for component in read["components"]] == ["partial_outage"]
    assert [incident["impact"] for incident in read["incidents"]] == ["major"]
    assert [maintenance["status"] for maintenance in read["scheduled_maintenances"]] == ["scheduled"]
    assert answer.headers["Access-Control-Allow-Origin"] == "*"


async def test_badges_are_svg_that_runs_nothing(api: Api) -> None:
    await told(api)

    for kind, text in (("status", "partial outage"), ("uptime", "unknown"), ("response", "unknown")):
        body = (await visit(api, f"example/badge.svg?kind={kind}")).body
        root = ET.fromstring(body)
        assert text in (root.get("aria-label") or "")
        assert b"script" not in body


@pytest.mark.parametrize("kind", ["status", "uptime", "response"])
async def test_a_badge_has_a_square_and_a_round_style_that_say_the_same(api: Api, kind: str) -> None:
    await told(api)

    square, same, round_ = [
        (await visit(api, f"example/badge.svg?kind={kind}{style}")).body.decode()
        for style in ("", "&style=square", "&style=round")
    ]

    assert square == same
    assert ("clipPath" in square, "clipPath" in round_) == (False, True)
    assert ET.fromstring(square).get("aria-label") == ET.fromstring(round_).get("aria-label")
    odd = await visit(api, "example/badge.svg?style=odd")
    assert (odd.status, odd.json["details"]) == (400, {"style": "must be one of square, round"})


@pytest.mark.oldest
async def test_badges_say_what_was_measured(api: Api) -> None:
    component = {"name": "Shop", "monitorId": await measured(api, bad={1: 0.5})}
    await page(api, slug="example", components=[component])

    for kind, text in (("uptime", r"uptime 90d: 99\.\d\d %"), ("response", r"response 24h: \d+ ms")):
        label = ET.fromstring((await visit(api, f"example/badge.svg?kind={kind}")).body).get("aria-label")
        assert re.fullmatch(text, label or "")
    assert b'<svg class="chart"' in (await visit(api, "example")).body


async def test_the_widget_alone_may_stand_in_a_frame(api: Api) -> None:
    await told(api)

    policies = [
        (await visit(api, path)).headers["Content-Security-Policy"] for path in ("example", "example/widget")
    ]

    assert ["frame-ancestors 'none'" in policy for policy in policies] == [True, False]
    assert "frame-ancestors *" in policies[1]


async def test_a_badge_of_nothing_that_is_measured_is_a_400(api: Api) -> None:
    await page(api, slug="example")

    answer = await visit(api, "example/badge.svg?kind=nonsense")

    assert (answer.status, answer.json["details"]) == (
        400,
        {"kind": "must be one of status, uptime, response"},
    )
