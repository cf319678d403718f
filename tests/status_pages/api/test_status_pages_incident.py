"""The page of one incident: found by its id, however old it is, and linked from page and feeds."""

import re
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest

from collector.status_pages.service import view
from tests.browser.status_world import said, told
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page
from tests.status_pages.api.test_status_pages_public import always_fresh, visit

__all__ = ["always_fresh"]

HOST = "status.example.org"


async def test_it_has_all_updates_and_leads_back(api: Api) -> None:
    made = await page(api, slug="example", components=[{"name": "Shop"}])
    incident = await told(api, made, affectedComponents=[made["components"][0]["id"]])
    await said(api, made, incident, status="resolved", message="It is over.")

    answer = await visit(api, f"example/incidents/{incident}")

    text = answer.body.decode()
    assert answer.status == 200
    assert "<title>Checkout is slow" in text
    assert all(part in text for part in ("We look into it.", "It is over.", "Shop"))
    assert 'href="/status/example"' in text
    assert answer.headers["ETag"]
    again = await api.with_token(None).get(
        f"/status/example/incidents/{incident}", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status == 304


async def test_the_page_and_its_history_link_to_it(api: Api) -> None:
    made = await page(api, slug="example")
    incident = await told(api, made)

    for path in ("example", "example/history"):
        assert f'<a href="/status/example/incidents/{incident}">'.encode() in (await visit(api, path)).body


async def test_feeds_link_to_it_and_keep_the_identity_of_their_entries(api: Api) -> None:
    made = await page(api, slug="example")
    start = api.clock() + timedelta(hours=1)
    incident = await told(api, made, severity="maintenance", scheduledStart=start.isoformat())

    atom = ET.fromstring((await visit(api, "example/feed.atom")).body)
    rss = ET.fromstring((await visit(api, "example/feed.rss")).body)
    calendar = (await visit(api, "example/maintenance.ics")).body.decode().replace("\r\n ", "")

    [entry] = atom.findall("{*}entry")
    link = entry.find("{*}link")
    assert link is not None
    url = link.get("href") or ""
    assert url.endswith(f"/status/example/incidents/{incident}")
    assert (rss.findtext("channel/item/link"), f"URL:{url}\r\n" in calendar) == (url, True)
    old = url.replace("/incidents/", "/history#")
    assert (entry.findtext("{*}id"), rss.findtext("channel/item/guid")) == (old, old)
    assert (await visit(api, url.partition("/status/")[2])).status == 200


async def test_an_old_one_is_found_too(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "MOST", 2)
    made = await page(api, slug="example")
    incidents = [await told(api, made, title=f"Number {number}", status="resolved") for number in range(5)]

    for number, incident in enumerate(incidents):
        answer = await visit(api, f"example/incidents/{incident}")
        assert (answer.status, f"Number {number}".encode() in answer.body) == (200, True)


@pytest.mark.parametrize("path", ["nothing", "spi_0", "", "spi_01kahb5m7q8x9t3v2c4d6e0f1g"])
async def test_what_is_no_incident_of_the_page_is_missing(api: Api, path: str) -> None:
    await page(api, slug="example")
    other = await page(api, slug="other")
    incident = await told(api, other, title="Of another page")

    for name in (path, incident):
        answer = await visit(api, f"example/incidents/{name}")
        assert (answer.status, b"Of another page" in answer.body) == (404, False)


async def test_a_private_one_asks_for_the_password_first(api: Api) -> None:
    made = await page(api, slug="example", visibility="private", password="sesame")
    incident = await told(api, made)

    for name in (incident, "nothing"):
        answer = await visit(api, f"example/incidents/{name}")
        assert (answer.status, b"Checkout" in answer.body) == (401, False)


async def test_at_the_domain_of_the_page_it_is_there_too(api: Api) -> None:
    made = await page(api, slug="example", domain=HOST)
    incident = await told(api, made)
    stranger = api.with_token(None)

    home = await stranger.get("/", headers={"Host": HOST})
    [link] = re.findall('href="(/incidents/[^"]+)"', home.body.decode())
    answer = await stranger.get(link, headers={"Host": HOST})
    posted = await stranger.call("POST", link, headers={"Host": HOST})
    nowhere = await stranger.get(f"/incidents/of/{incident}", headers={"Host": HOST})

    assert link == f"/incidents/{incident}"
    assert (answer.status, b"Checkout is slow" in answer.body, posted.status) == (200, True, 405)
    assert nowhere.status == 404


async def test_markdown_is_html_on_the_page_and_text_in_feeds_and_data(api: Api) -> None:
    made = await page(api, slug="example")
    message = "Back in **40 minutes**: [details](https://example.com/blog)\n\n- <b>one</b>"
    incident = await told(api, made, message=message)

    shown = (await visit(api, f"example/incidents/{incident}")).body.decode()
    assert "<strong>40 minutes</strong>" in shown
    assert '<a href="https://example.com/blog" rel="nofollow noopener noreferrer">details</a>' in shown
    assert "<b>" not in shown
    feed = (await visit(api, "example/feed.atom")).body.decode()
    assert "Back in 40 minutes: details (https://example.com/blog)\n\n- &lt;b&gt;one&lt;/b&gt;" in feed
    data = (await visit(api, "example.json")).json
    assert data["incidents"][0]["updates"][0]["message"] == message
