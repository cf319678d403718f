"""What visitors of a status page see: who may, what is on it, and what it costs."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest
from yarl import URL

from collector.status_pages.api import cache
from shared import ids
from shared.clock import utc_now
from tests.browser.status_world import measured, planned
from tests.http.client import Answer, Api
from tests.monitors.monitors import change, number
from tests.status_pages.api.test_status_pages import down, monitor, page
from tests.status_pages.core.test_pictures import OPENED, PNG, data

SAVED = "a{color:red}"
NASTY = ['"><img src=x onerror=alert(1)>', "</title><script>alert(1)</script>", "{{ 7 * 7 }}", "\u2028'`"]


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each visit of these tests looks anew."""
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


async def visit(api: Api, path: str, **options: Any) -> Answer:
    return await api.with_token(None).get(f"/status/{path}", **options)


async def enter(api: Api, slug: str, password: str, **headers: str) -> Answer:
    body = urlencode({"password": password}).encode()
    headers |= {"Content-Type": "application/x-www-form-urlencoded"}
    return await api.with_token(None).post(f"/status/{slug}", body, headers=headers)


async def test_anyone_sees_how_all_is(api: Api) -> None:
    id_ = await monitor(api)
    components = [{"name": "Shop", "monitorId": id_}, {"name": "Billing", "group": "Money"}]
    made = await page(api, slug="example", components=components)
    before = await visit(api, "example")
    await down(api, id_)
    body = {"title": "Shop is gone", "message": "We look"}
    await api.post(f"/v1/status-pages/{made['id']}/incidents", body)

    after = await visit(api, "example")

    assert (before.status, before.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "All systems operational" in before.body.decode()
    text = after.body.decode()
    for said in ("Partial outage", "Shop is gone", "We look", "Major outage", "Money"):
        assert said in text
    assert id_ not in text
    assert "X-Robots-Tag" not in after.headers


async def test_what_nothing_measures_is_not_called_well(api: Api) -> None:
    never, unknown, well = [await monitor(api) for _ in range(3)]
    for id_, since in ((unknown, utc_now()), (well, None)):
        await change(api, "monitors", "id", ids.read("mon", id_), unmeasured_since=since)
        await change(api, "states", "monitor", await number(api, id_), last_at=utc_now(), last_status=1)
    components = [{"name": "Never", "monitorId": never}, {"name": "Unknown", "monitorId": unknown}]
    await page(api, slug="unmeasured", components=components)
    await page(api, slug="partly", components=[*components, {"name": "Well", "monitorId": well}])

    text, badge = [
        (await visit(api, f"unmeasured{path}")).body.decode() for path in ("", "/badge.svg?kind=status")
    ]
    partly = (await visit(api, "partly")).body.decode()

    assert "All systems operational" not in text
    assert (text.count("No measurements yet"), text.count("Not measured</span>")) == (2, 2)
    assert "status: unknown" in badge
    assert ("All systems operational" in partly, partly.count("Not measured</span>")) == (True, 2)
    german = await visit(api, "unmeasured", headers={"Accept-Language": "de"})
    assert "Noch keine Messungen" in german.body.decode()


async def test_an_open_incident_is_in_the_first_line_though_no_component_shows_it(api: Api) -> None:
    made = await page(api, slug="example", components=[{"name": "Shop"}])
    path = f"/v1/status-pages/{made['id']}/incidents"
    told = (await api.post(path, {"title": "a", "message": "a", "severity": "critical"})).json["id"]
    during = await visit(api, "example")
    await api.put(f"{path}/{told}", {"status": "resolved", "message": "Mended"})

    assert b"Major outage" in during.body
    assert b"All systems operational" in (await visit(api, "example")).body


async def test_a_critical_incident_is_as_wide_as_its_components(api: Api) -> None:
    made = await page(api, slug="example", components=[{"name": "Shop", "essential": True}, {"name": "Wiki"}])
    path, (shop, wiki) = (
        f"/v1/status-pages/{made['id']}/incidents",
        [component["id"] for component in made["components"]],
    )

    async def status_with(*components: str) -> str:
        body = {"title": "a", "message": "a", "severity": "critical", "affectedComponents": components}
        incident = (await api.post(path, body)).json["id"]
        shown = (await visit(api, "example.json")).json["status"]
        await api.delete(f"{path}/{incident}")
        return str(shown)

    assert await status_with(wiki) == "partial_outage"
    assert await status_with(shop) == "major_outage"
    assert await status_with(shop, wiki) == "major_outage"
    assert await status_with() == "major_outage"


async def test_a_component_may_keep_its_uptime_to_itself(api: Api) -> None:
    shop = await measured(api, bad={3: 0.5})
    made = await page(api, slug="example", components=[{"name": "Shop", "monitorId": shop}])
    assert b'class="days"' in (await visit(api, "example")).body
    assert b"unknown" not in (await visit(api, "example/badge.svg?kind=uptime")).body

    path = f"/v1/status-pages/{made['id']}/components/{made['components'][0]['id']}"
    changed = (await api.put(path, {"showUptime": False})).json

    assert (changed["showUptime"], changed["essential"]) == (False, False)
    assert b'class="days"' not in (await visit(api, "example")).body
    assert (await visit(api, "example.json")).json["components"][0]["uptime90d"] is None
    assert b"unknown" in (await visit(api, "example/badge.svg?kind=uptime")).body


async def test_nothing_on_a_page_runs_or_is_taken_for_markup(api: Api) -> None:
    made = await page(api, name=NASTY[0], slug="nasty", components=[{"name": text} for text in NASTY])
    for text in NASTY:
        body = {"title": text, "message": text, "affectedComponents": [made["components"][1]["id"]]}
        await api.post(f"/v1/status-pages/{made['id']}/incidents", body)

    for path in ("nasty", "nasty/history"):
        answer = await visit(api, path)
        text = answer.body.decode()
        assert text.count("<script") == 1
        assert '<script src="/status/nasty/status.js" defer></script>' in text
        assert "<img" not in text
        assert " style=" not in text
        assert "49" not in text.replace("T", "").split("<title>")[1][:200]
        policy = answer.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_the_owners_stylesheet_is_served_by_itself(api: Api) -> None:
    await page(api, slug="example", branding={"customCss": SAVED, "primaryColor": "#fe0"})

    custom, style = await visit(api, "example/custom.css"), await visit(api, "example/style.css")

    assert (custom.body.decode(), custom.headers["Content-Type"]) == (SAVED, "text/css; charset=utf-8")
    assert style.body.startswith(b":root{--brand:#ffee00;--on-brand:#000000}")
    assert SAVED not in (await visit(api, "example")).body.decode()


async def test_a_private_page_wants_its_password(api: Api) -> None:
    components = [{"name": "Hidden thing"}]
    made = await page(api, slug="inner", visibility="private", password="sesame", components=components)

    outside = await visit(api, "inner")
    wrong = await enter(api, "inner", "open")
    right = await enter(api, "inner", "sesame")
    cookie = {"Cookie": right.headers["Set-Cookie"].partition(";")[0]}
    inside = await visit(api, "inner", headers=cookie)

    assert (outside.status, wrong.status, right.status) == (401, 403, 303)
    assert b"Hidden thing" not in outside.body + wrong.body + (await visit(api, "inner/history")).body
    assert b"Hidden thing" in inside.body
    for attribute in ("HttpOnly", "Secure", "SameSite=Lax", "Path=/status/inner"):
        assert attribute in right.headers["Set-Cookie"]
    assert inside.headers["X-Robots-Tag"] == "noindex"
    assert "private" in inside.headers["Cache-Control"]
    await api.put(f"/v1/status-pages/{made['id']}", {"password": "another"})
    assert (await visit(api, "inner", headers=cookie)).status == 401


async def test_who_typed_the_password_sees_all_that_the_page_has(api: Api) -> None:
    for slug in ("one", "two"):
        await page(api, slug=slug, visibility="private", password="sesame")
    shown = ("one", "one.json", "one/history", "one/feed.atom", "one/badge.svg")
    jar = aiohttp.CookieJar(unsafe=True, treat_as_secure_origin=URL(api.url))
    async with aiohttp.ClientSession(api.url, cookie_jar=jar) as browser:
        await browser.post("/status/one", data={"password": "sesame"})

        statuses = [(await browser.get(f"/status/{path}")).status for path in (*shown, "two", "two.json")]

    assert statuses == [200, 200, 200, 200, 200, 401, 401]


async def test_a_cookie_is_for_its_page_and_not_for_ever(api: Api) -> None:
    for slug in ("one", "other"):
        await page(api, slug=slug, visibility="private", password="sesame")
    cookie = (await enter(api, "one", "sesame")).headers["Set-Cookie"].partition(";")[0]

    assert (await visit(api, "other", headers={"Cookie": cookie})).status == 401
    for forged in ("tocsin_page=9999999999.00", "tocsin_page=x", "tocsin_page=99.é", cookie + "0"):
        assert (await visit(api, "one", headers={"Cookie": forged})).status == 401
    api.clock.ahead = timedelta(days=8)
    assert (await visit(api, "one", headers={"Cookie": cookie})).status == 401


async def test_tries_are_limited(api: Api) -> None:
    await page(api, slug="inner", visibility="private", password="sesame")

    seen = [(await enter(api, "inner", "x")).status for _ in range(6)]

    assert seen == [403] * 5 + [429]
    late = await enter(api, "inner", "sesame")
    assert (late.status, 0 < int(late.headers["Retry-After"]) <= 60) == (429, True)


async def test_an_open_page_takes_no_password(api: Api) -> None:
    await page(api, slug="example", password="sesame")

    for password in ("sesame", "x"):
        answer = await enter(api, "example", password)
        assert (answer.status, answer.headers["Location"]) == (303, "/status/example")
        assert "Set-Cookie" not in answer.headers


async def test_a_private_page_without_a_password_is_shut(api: Api) -> None:
    await page(api, slug="inner", visibility="private")

    assert (await visit(api, "inner")).status == 401
    assert (await enter(api, "inner", "")).status == 403


async def test_an_unlisted_page_is_not_to_be_indexed(api: Api) -> None:
    await page(api, slug="quiet", visibility="unlisted")

    answer = await visit(api, "quiet")

    assert (answer.status, answer.headers["X-Robots-Tag"]) == (200, "noindex")
    assert b'<meta name="robots" content="noindex">' in answer.body


@pytest.mark.parametrize("path", ["nothing", "no..thing", "%00", "nothing/history", "nothing/style.css"])
async def test_there_is_no_such_page(api: Api, path: str) -> None:
    answer = await visit(api, path)

    assert answer.status == 404
    assert answer.headers["Content-Type"].startswith("text/html")


async def test_what_did_not_change_is_not_sent_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 60.0)
    await page(api, slug="example")
    first = await visit(api, "example")

    again = await visit(api, "example", headers={"If-None-Match": first.headers["ETag"]})

    assert (again.status, again.body) == (304, b"")


async def test_visitors_within_a_second_cost_the_database_one_look(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 60.0)
    await page(api, slug="example")
    await visit(api, "example")
    async with api.context.db.transaction() as tx:  # as another replica does
        await tx.execute("UPDATE status_pages SET name = 'Another name' WHERE slug = 'example'")

    assert b"Another name" not in (await visit(api, "example")).body
    monkeypatch.setattr(cache, "FRESH_S", 0.0)
    assert b"Another name" in (await visit(api, "example")).body


async def test_fifty_components_make_a_small_page(api: Api) -> None:
    id_ = await monitor(api)
    components = [{"name": f"System number {n}", "monitorId": id_} for n in range(50)]
    await page(api, slug="large", components=components)

    plain = await visit(api, "large", headers={"Accept-Encoding": "identity"})
    packed = await visit(api, "large", headers={"Accept-Encoding": "br, gzip"})

    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(plain.body) < 50_000
    assert int(packed.headers["Content-Length"]) < 10_000


async def test_a_visitor_chooses_a_language_which_is_kept(api: Api) -> None:
    await page(api, slug="example")

    chosen = await visit(api, "example?lang=ar", headers={"Accept-Language": "de"})

    assert b'<html lang="ar" dir="rtl">' in chosen.body
    kept = chosen.headers["Set-Cookie"].partition(";")[0]
    assert kept == "tocsin_language=ar"
    assert "HttpOnly" in chosen.headers["Set-Cookie"]
    again = await visit(api, "example/history", headers={"Accept-Language": "de", "Cookie": kept})
    assert b'<html lang="ar" dir="rtl">' in again.body
    assert "Cookie" in again.headers["Vary"]
    tag = {"If-None-Match": chosen.headers["ETag"]}
    same = await visit(api, "example?lang=ar", headers=tag)
    assert (same.status, "tocsin_language=ar" in same.headers["Set-Cookie"]) == (304, True)


@pytest.mark.parametrize("language", ["xx", "", "ar%00", "english", "__class__"])
async def test_an_unknown_language_is_the_browsers(api: Api, language: str) -> None:
    await page(api, slug="example")

    for options in (
        {"path": f"example?lang={language}"},
        {"path": "example", "Cookie": f"tocsin_language={language}"},
    ):
        path = options.pop("path")
        answer = await visit(api, path, headers={"Accept-Language": "de", **options})
        assert b'<html lang="de">' in answer.body
        assert "Set-Cookie" not in answer.headers


async def test_branding_is_in_the_header_and_only_its_pictures_are_allowed(api: Api) -> None:
    branding = {
        "look": "plain",
        "logo": "https://a.example.com/logo.png",
        "logoDark": "https://b.example.com/dark.png",
        "favicon": "https://a.example.com/icon.png",
        "links": [{"label": "Docs & more", "url": "https://docs.example.com/?a=1&b=2"}],
        "supportUrl": "mailto:help@example.com",
    }
    await page(api, slug="example", branding=branding)

    answer = await visit(api, "example", headers={"Accept-Language": "de"})

    text = answer.body.decode()
    assert '<html lang="de" class="plain">' in text
    assert (
        '<a href="https://docs.example.com/?a=1&amp;b=2" rel="noopener" dir="auto">Docs &amp; more</a>'
        in text
    )
    assert '<a href="mailto:help@example.com" rel="noopener">Hilfe</a>' in text
    assert '<source media="(prefers-color-scheme: dark)" srcset="https://b.example.com/dark.png">' in text
    assert '<link rel="icon" href="https://a.example.com/icon.png"' in text
    policy = answer.headers["Content-Security-Policy"]
    assert "img-src 'self' https://a.example.com https://b.example.com;" in policy
    assert "docs.example.com" not in policy


async def test_planned_maintenance_is_below_the_systems(api: Api) -> None:
    made = await page(api, slug="example", components=[{"name": "Shop"}])
    await planned(api, made)

    text = (await visit(api, "example")).body.decode()

    assert text.index('id="systems"') < text.index('id="planned"') < text.index('id="recent"')


async def test_an_uploaded_logo_is_served_with_the_page(api: Api) -> None:
    made = await page(api, slug="example", visibility="private", branding={"logo": data(PNG)})
    svg = f'{OPENED}<script>alert(1)</script><path d="M0 0"/></svg>'.encode()
    path = f"/v1/status-pages/{made['id']}"
    await api.put(path, {"password": "sesame", "branding": {"favicon": data(svg, "image/svg+xml")}})

    login = await visit(api, "example")

    assert b'<img class="logo" src="/status/example/picture?kind=logo"' in login.body
    assert b'<link rel="icon" href="/status/example/picture?kind=favicon"' in login.body
    assert b"data:" not in login.body
    assert "img-src 'self';" in login.headers["Content-Security-Policy"]
    logo = await visit(api, "example/picture?kind=logo")
    assert (logo.status, logo.headers["Content-Type"], logo.body) == (200, "image/png", PNG)
    again = await visit(api, "example/picture?kind=logo", headers={"If-None-Match": logo.headers["ETag"]})
    assert again.status == 304
    icon = await visit(api, "example/picture?kind=favicon")
    assert b"script" not in icon.body
    assert "sandbox" in icon.headers["Content-Security-Policy"]
    assert (await visit(api, "example/picture?kind=logo-dark")).status == 404
    assert (await api.put(path, {"branding": {"logo": data(b"<html>")}})).status == 400
