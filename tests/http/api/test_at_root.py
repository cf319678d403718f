"""What browsers and crawlers ask for unasked: the icon of a host, and what of it may be indexed."""

import pytest

from collector.status_pages.api import cache
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page

HOST = "status.example.org"


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


async def test_an_icon_is_found_at_the_root(api: Api) -> None:
    await page(api, slug="own", domain=HOST)
    stranger = api.with_token(None)

    for headers in ({}, {"Host": HOST}):
        answer = await stranger.get("/favicon.ico", headers=headers)
        assert answer.status == 302
        icon = await stranger.get(answer.headers["Location"], headers=headers)
        assert (icon.status, icon.headers["Content-Type"]) == (200, "image/svg+xml; charset=utf-8")


async def test_crawlers_are_let_to_status_pages_alone(api: Api) -> None:
    await page(api, slug="hidden", visibility="unlisted")

    answer = await api.with_token(None).get("/robots.txt")

    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.body.decode().split("\n") == ["User-agent: *", "Allow: /status/", "Disallow: /", ""]
    for path in ("/status/hidden", "/status/hidden.json", "/sign-in"):
        assert (await api.with_token(None).get(path)).headers["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize(
    ("visibility", "allowed"), [("public", True), ("unlisted", False), ("private", False)]
)
async def test_at_a_domain_of_its_own_a_public_page_may_be_indexed(
    api: Api, visibility: str, *, allowed: bool
) -> None:
    await page(api, slug="own", domain=HOST, visibility=visibility)

    lines = (await api.with_token(None).get("/robots.txt", headers={"Host": HOST})).body.decode().split("\n")

    assert ("Disallow: /" in lines) is not allowed
    assert ("Allow: /" in lines) is allowed
