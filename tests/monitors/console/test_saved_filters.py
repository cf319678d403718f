"""A user saves filters of the list of monitors under names."""

import re
from html import unescape
from urllib.parse import unquote

import pytest

from collector.monitors.console.saved_filters import normal
from tests.console.client import Console, Page, visiting

pytestmark = pytest.mark.shares_server

WANTED = "tag=env:live&status=down&sort=-name"
SAVED = "sort=-name&status=down&tag=env%3Alive"


def saved(page: Page) -> dict[str, str]:
    block = re.search(r'<div class="saved">(.*?)</div>', page.text, re.DOTALL)
    links = re.findall(r'<a href="/monitors\?([^"]*)"[^>]*>([^<]*)</a>', block[1] if block else "")
    return {unescape(name): unescape(query) for query, name in links}


@pytest.mark.oldest
async def test_a_filter_is_saved_used_and_deleted_by_its_user_alone(console: Console) -> None:
    await console.sign_in(await console.person("viewer"))
    assert "Save this filter" not in (await console.get("/monitors")).words
    assert "Save this filter" in (await console.get(f"/monitors?{WANTED}")).words

    page = await console.post("/monitors/filters", {"name": "Live & down", "query": WANTED})

    assert page.path == unquote(f"/monitors?{SAVED}")
    assert saved(page) == {"Live & down": SAVED}
    assert "Delete filter" in page.words
    async with visiting(console.url, console.api) as other:
        await other.sign_in()
        assert saved(await other.get("/monitors")) == {}
    await console.post("/monitors/filters", {"name": "Live & down", "query": "q=shop"})
    page = await console.get("/monitors")
    assert saved(page) == {"Live & down": "q=shop"}
    page = await console.post("/monitors/filters/delete", {"name": "Live & down", "query": "q=shop"})
    assert saved(page) == {}


async def test_a_bad_name_and_too_many_are_refused(console: Console) -> None:
    await console.sign_in()
    await console.get("/monitors")
    for name in ("", " ", "x" * 61):
        page = await console.post("/monitors/filters", {"name": name, "query": "q=a"})
        assert "The name must be 1 to 60 characters." in page.words
    for at in range(20):
        await console.post("/monitors/filters", {"name": f"Filter {at}", "query": f"q={at}"})

    page = await console.post("/monitors/filters", {"name": "One more", "query": "q=more"})

    assert "there are 20 saved filters already" in page.words
    assert len(saved(page)) == 20


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        pytest.param("status=down&page=7&q=a+b", "q=a+b&status=down", id="without the page"),
        pytest.param("q=%22%3E%3Cscript%3E&x=1", "q=%22%3E%3Cscript%3E", id="as text"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_of_a_query_the_filter_is_kept(query: str, kept: str) -> None:
    assert normal(query) == kept
