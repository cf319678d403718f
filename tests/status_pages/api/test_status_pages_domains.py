"""A status page at a domain of its own: found by the Host header, and alone there."""

from urllib.parse import urlencode

import pytest

from collector.platform.access import Actor
from collector.status_pages.api import cache
from collector.status_pages.service import status_pages
from collector.status_pages.service.domains import ServiceNames
from shared import ids
from tests.http.client import Answer, Api
from tests.http.fixtures import PUBLIC_URL
from tests.status_pages.api.test_status_pages import page

HOST = "status.example.org"


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


async def visit(api: Api, path: str, host: str = HOST, method: str = "GET", **headers: str) -> Answer:
    return await api.with_token(None).call(method, path, headers={"Host": host, **headers})


@pytest.mark.parametrize("host", [HOST, HOST.upper(), f"{HOST}:8443", f"{HOST}."])
async def test_the_page_is_at_the_root_and_all_its_links_lead_there(api: Api, host: str) -> None:
    await page(api, name="Of its own", slug="own", domain=HOST)

    answer = await visit(api, "/", host)

    text = answer.body.decode()
    assert answer.status == 200
    assert "Of its own" in text
    assert "/status/own" not in text
    for path in ("/style.css", "/status.js", "/feed.atom", "/icon.svg", "/history", "/status.json"):
        assert f'"{path}"' in text
        assert (await visit(api, path, host)).status == 200


async def test_what_programs_read_names_the_domain(api: Api) -> None:
    await page(api, slug="own", domain=HOST)

    for path in ("/status.json", "/api/v2/summary.json", "/feed.atom", "/feed.rss"):
        body = (await visit(api, path)).body.decode()
        assert f"https://{HOST}" in body
        assert PUBLIC_URL not in body


async def test_nothing_else_that_a_person_could_open_is_there(api: Api) -> None:
    await page(api, slug="own", domain=HOST)
    await page(api, name="Not this one", slug="other")

    for path in ("/status/other", "/status/own/x", "/login", "/settings", "/subscriptions/x", "/%00"):
        answer = await visit(api, path)
        assert answer.status == 404
        assert b"Not this one" not in answer.body
    assert (await visit(api, "/", method="DELETE")).status == 405
    assert (await visit(api, "/", method="HEAD")).status == 200


async def test_programs_reach_us_by_whatever_name(api: Api) -> None:
    await page(api, slug="own", domain=HOST)

    assert (await visit(api, "/healthz")).status == 200
    assert (await api.get("/v1/me", headers={"Host": HOST})).status == 200


@pytest.mark.parametrize(
    "host", ["other.example.org", "127.0.0.1", "localhost", "[::1]:80", "tocsin.example.com", ""]
)
async def test_any_other_name_shows_what_is_there_without_it(api: Api, host: str) -> None:
    await page(api, slug="own", domain=HOST)

    assert (await visit(api, "/status/own", host)).status == 200
    assert b"Example" not in (await visit(api, "/", host)).body


async def test_no_page_takes_the_place_of_the_service_itself(api: Api) -> None:
    before = Actor(api.team_id, None, "Somebody")  # when the service itself was elsewhere
    thief = {"name": "Thief", "slug": "own", "domain": "tocsin.example.com"}
    await status_pages.create(
        api.context.db, before, thief, api.clock(), own=ServiceNames("https://other.example.com")
    )

    assert b"Thief" not in (await visit(api, "/", "tocsin.example.com")).body


@pytest.mark.parametrize("host", ["tocsin.example.com", "TOCSIN.example.com"])
async def test_the_host_of_the_service_itself_is_no_page_s_domain(api: Api, host: str) -> None:
    made = await page(api, slug="own", domain=HOST)

    for answer in (
        await api.post("/v1/status-pages", {"name": "x", "domain": host}),
        await api.put(f"/v1/status-pages/{made['id']}", {"domain": host}),
    ):
        assert answer.status == 409
        assert answer.json["message"] == "tocsin.example.com is a name of this service itself"
    assert (await api.get(f"/v1/status-pages/{made['id']}")).json["domain"] == HOST


async def test_a_page_that_had_the_host_before_us_can_still_be_changed(api: Api) -> None:
    before = Actor(api.team_id, None, "Somebody")
    known = await status_pages.create(
        api.context.db,
        before,
        {"name": "Early", "domain": "tocsin.example.com"},
        api.clock(),
        own=ServiceNames("https://other.example.com"),
    )
    path = f"/v1/status-pages/{ids.show('sp', known.page.id)}"

    assert (await api.put(path, {**(await api.get(path)).json, "name": "Later"})).status == 200
    assert (await api.put(path, {"domain": HOST})).json["domain"] == HOST


async def test_a_private_page_opens_with_its_password_there_too(api: Api) -> None:
    await page(
        api, slug="own", domain=HOST, visibility="private", password="sesame", components=[{"name": "Inner"}]
    )
    form = {"Host": HOST, "Content-Type": "application/x-www-form-urlencoded"}

    shut = await visit(api, "/")
    body = urlencode({"password": "sesame"}).encode()
    right = await api.with_token(None).post("/", body, headers=form)
    cookie = right.headers["Set-Cookie"]

    assert (shut.status, b"Inner" in shut.body, b'action="/"' in shut.body) == (401, False, True)
    assert (right.status, right.headers["Location"]) == (303, "/")
    assert {"HttpOnly", "Secure", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    inside = await visit(api, "/", Cookie=cookie.partition(";")[0])
    assert (inside.status, b"Inner" in inside.body) == (200, True)


async def test_a_domain_that_is_given_up_leads_nowhere(api: Api) -> None:
    made = await page(api, slug="own", domain=HOST)
    assert (await visit(api, "/")).status == 200

    await api.put(f"/v1/status-pages/{made['id']}", {"domain": None})

    assert b"Example" not in (await visit(api, "/")).body
