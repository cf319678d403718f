"""The manual at /docs: for anybody, complete, linked, searched, and nothing but the manual."""

import re
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest
import yarl

from collector.manual import library
from collector.manual.library import BESIDE, manual
from tests.console.client import Console

pytestmark = pytest.mark.shares_server

ROOT = Path(__file__).parents[2]
LINK = re.compile(r'<a [^>]*href="([^"]*)"')
CONSOLE = ("/", "/v1/docs")


async def test_every_page_is_there_without_a_session_and_asks_nobody_else(console: Console) -> None:
    for address, page in manual().pages.items():
        shown = await console.get(address)
        assert shown.status == 200, address
        assert f"<title>{page.title}" in shown.text.replace("&#39;", "'").replace("&quot;", '"')
        assert "'unsafe" not in shown.headers["Content-Security-Policy"]
        assert shown.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert not re.search(r'(?:src|href)="(?:https?:)?//', shown.text), address
        assert "<script>" not in shown.text
        assert " style=" not in shown.text


def test_every_link_of_every_page_leads_to_a_page_and_a_heading() -> None:
    pages = manual().pages
    anchors = {address: {section.anchor for section in page.sections} for address, page in pages.items()}
    lost = []
    for address, page in pages.items():
        for link in (link for section in page.sections for link in LINK.findall(section.html)):
            to, _, anchor = link.partition("#")
            if (to or address) not in pages or (anchor and anchor not in anchors[to or address]):
                lost.append((address, link))
    assert lost == []


def test_the_contents_name_every_page_but_those_of_folders_with_contents_of_their_own() -> None:
    whole = manual()
    named = {page.address for group in whole.groups for page in group.pages}
    folders = ("/docs/monitors/", "/docs/channels/", "/docs/decisions/")
    assert {address for address in whole.pages if not address.startswith(folders)} - named == {"/docs"}
    assert [group.title for group in whole.groups if not group.pages] == []


@pytest.mark.parametrize(
    "path",
    [
        "/docs/nothing",
        "/docs/monitors/nothing",
        "/docs/readme",
        "/docs/..%2fREADME",
        "/docs/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/docs/..%5c..%5csetup.py",
        "/docs/monitors/..%2f..%2fsetup.py",
        "/docs/%00",
        "/docs/HTTP.MD",
        "/docs/.md",
        "/docs/monitors/.md",
        "/docs/when-is-it-down.md.md",
        "/docs/monitors/http/more",
        f"/docs/{quote('ä')}",
        f"/docs/{'a' * 3000}",
    ],
)
async def test_what_is_no_page_is_not_found(console: Console, path: str) -> None:
    address = yarl.URL(console.url + path, encoded=True)
    async with console.session.get(address) as answer:
        text = await answer.text()
    assert answer.status == 404
    assert "root:" not in text
    assert "setuptools" not in text


async def test_a_page_that_did_not_change_is_not_sent_again(console: Console) -> None:
    for path in ("/docs", "/docs/search?q=quorum", "/docs/monitors/http.md", "/docs/llms-full.txt"):
        first = await console.get(path)
        again = await console.get(path, headers={"If-None-Match": first.headers["ETag"]})
        other = await console.get(path, headers={"If-None-Match": 'W/"another"'})

        assert (again.status, again.text) == (304, "")
        assert first.headers["Cache-Control"] == "no-cache"
        assert (other.status, other.text) == (200, first.text)


async def test_a_visitor_sees_what_strangers_see(console: Console) -> None:
    before = (await console.get("/docs/api")).text
    await console.sign_in()
    assert (await console.get("/docs/api")).text == before


async def test_a_search_leads_to_headings_and_repeats_nothing_unescaped(console: Console) -> None:
    page = await console.get("/docs/search?q=trusted_proxies")
    assert 'href="/docs/operations#behind-a-reverse-proxy"' in page.text
    assert "<mark>TRUSTED_PROXIES</mark>" in page.text

    none = await console.get("/docs/search", params={"q": '<script>"xyzzy'})
    assert "No section has all of these words" in none.words
    assert "<script>&" not in none.text
    assert "&lt;script&gt;" in none.text


async def test_language_models_get_the_pages_as_they_are_written(console: Console) -> None:
    page = await console.get("/docs/monitors/http.md")
    assert page.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert page.text.startswith("# HTTP\n")

    overview = await console.get("/docs/llms.txt")
    named = re.findall(r"\]\((http[^)]*)\)", overview.text)
    assert overview.text.startswith("# ")
    assert "/docs/uptime.md): what is counted, and what is in no number\n" in overview.text
    for url in named:
        assert (await console.get(yarl.URL(url).path)).status == 200, url
    whole = await console.get("/docs/llms-full.txt")
    assert all(f"# {page.title}\n" in whole.text for group in manual().groups for page in group.pages)
    assert not re.search(r"\]\((?!http)", re.sub(r"(?s)`.*?`", "", whole.text))


def test_a_wheel_serves_the_pages_that_it_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in BESIDE:
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(library, "_PACKED", tmp_path)
    (tmp_path / "docs" / "uptime.md").write_text("# Uptime of the wheel\n")

    packed = library.manual.__wrapped__()

    assert packed.pages["/docs/uptime"].title == "Uptime of the wheel"
    assert packed.pages.keys() == manual().pages.keys()
