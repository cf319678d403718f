"""Paths that lead nowhere: a page for who browses, JSON for programs, and a section's own path."""

import pytest

from tests.console.client import Console

pytestmark = pytest.mark.shares_server

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nope", "/monitors/a/b/c", "/sign-out", "/favicon.png"])
async def test_a_browser_is_shown_a_page(console: Console, path: str) -> None:
    stranger = await console.get(path, headers=BROWSER)
    await console.sign_in()
    inside = await console.get(path, headers=BROWSER)

    for page, way_on in ((stranger, "/sign-in"), (inside, "/")):
        assert page.status == (405 if path == "/sign-out" else 404)
        assert page.headers["Content-Type"].startswith("text/html")
        assert "There is no page at this address" in page.words
        assert f'<a href="{way_on}">' in page.text
        assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    assert "Monitors" in inside.words
    assert "Monitors" not in stranger.words


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/nope", {}),
        ("GET", "/nope", {"Accept": "application/json"}),
        ("POST", "/nope", BROWSER),
        ("GET", "/v1/nope", BROWSER),
        ("GET", "/v1", BROWSER),
        ("GET", "/api/nope", BROWSER),
        ("GET", "/ping/nothing", BROWSER),
    ],
)
async def test_programs_and_the_api_keep_their_json(
    console: Console, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = await console.call(method, path, headers=headers)

    assert answer.status in {401, 404}
    assert answer.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize(
    ("path", "first"), [("/settings", "/settings/account"), ("/alerting", "/alerting/rules")]
)
async def test_a_section_leads_to_its_first_page(console: Console, path: str, first: str) -> None:
    assert (await console.get(path)).path.startswith("/sign-in?next=")
    await console.sign_in(await console.person("viewer"))

    assert (await console.get(path)).path == first
