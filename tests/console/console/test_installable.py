"""The console is installable, and its worker keeps nothing; a form without a session leads back to it."""

import json

import pytest

from collector.console.assets import VERSION
from tests.console.client import Console, Page

pytestmark = pytest.mark.shares_server


async def test_the_manifest_and_all_that_it_names_are_there(console: Console) -> None:
    page = await console.get("/manifest.webmanifest")

    manifest = json.loads(page.text)
    assert page.headers["Content-Type"].startswith("application/manifest+json")
    assert (manifest["display"], manifest["start_url"]) == ("standalone", "/")
    for icon in manifest["icons"]:
        assert (await console.get(icon["src"])).headers["Content-Type"].startswith("image/svg+xml")
    await console.sign_in()
    for shortcut in manifest["shortcuts"]:
        assert (await console.get(shortcut["url"])).path == shortcut["url"]


async def test_the_worker_is_checked_for_changes_and_may_answer_for_every_page(console: Console) -> None:
    page = await console.get(f"/worker.js?v={VERSION}")

    assert page.headers["Cache-Control"] == "no-cache"
    assert page.headers["Content-Type"].startswith("text/javascript")
    policy = (await console.get("/offline")).headers["Content-Security-Policy"]
    assert "manifest-src 'self'" in policy
    assert "worker-src 'self'" in policy
    assert "'unsafe" not in policy


async def test_the_page_for_the_time_offline_says_nothing_of_a_visitor(console: Console) -> None:
    stranger = (await console.get("/offline")).text
    await console.sign_in()

    assert (await console.get("/offline")).text == stranger


async def sent_without_session(console: Console, referer: str) -> Page:
    headers = {"Referer": referer, "Origin": console.url}
    return await console.call("POST", "/monitors", data={"name": "shop"}, headers=headers)


async def test_a_form_that_is_sent_without_a_session_leads_back_to_where_it_stands(console: Console) -> None:
    page = await sent_without_session(console, f"{console.url}/monitors/new?type=tcp")

    assert page.path == "/sign-in?next=/monitors/new?type%3Dtcp"
    assert "Your session has ended, and nothing was saved." in page.words
    assert 'name="next" value="/monitors/new?type=tcp"' in page.text
    await console.sign_in()
    assert (await console.api.get("/v1/monitors")).json["data"] == []


@pytest.mark.parametrize(
    "referer",
    [
        "",
        "https://evil.example.com/monitors/new",
        "http://[",
        "{url}.evil.example.com/x",
        "javascript:alert(1)",
    ],
)
async def test_no_other_site_says_where_a_sign_in_leads(console: Console, referer: str) -> None:
    page = await sent_without_session(console, referer.format(url=console.url))

    assert page.path == "/sign-in"
