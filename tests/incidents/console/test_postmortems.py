"""The post-mortem of an incident begins as a draft, is kept as it was written, and is exported."""

import re
from html import unescape

import pytest

from tests.console.client import Console, Page, visiting
from tests.incidents.console.test_console_incidents import HOSTILE, raised

pytestmark = pytest.mark.shares_server


def text_of(page: Page) -> str:
    match = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert match
    return unescape(match[1])


def revision(page: Page) -> str:
    match = re.search(r'name="revision" value="(\d+)"', page.text)
    assert match
    return match[1]


async def test_the_draft_has_what_is_known(console: Console) -> None:
    id_ = await raised(console, title="Checkout is slow", severity="high")
    await console.api.post(f"/v1/incidents/{id_}/acknowledge")
    await console.api.post(f"/v1/incidents/{id_}/resolve", {"resolutionNote": "Restarted it"})
    await console.sign_in()

    draft = text_of(await console.get(f"/incidents/{id_}/postmortem/edit"))

    assert draft.startswith("# Post-mortem: Checkout is slow\n")
    acknowledged = r"\| Acknowledged \| [-\d]+ [:\d]+ UTC by .+, after \S+ \|"
    for line in (r"\| Severity \| high \|", acknowledged, "Restarted it"):
        assert re.search(line, draft), line


@pytest.mark.oldest
async def test_what_was_written_is_kept_exported_and_discarded(console: Console) -> None:
    id_ = await raised(console)
    here = f"/incidents/{id_}/postmortem"
    await console.sign_in()
    await console.get(f"{here}/edit")

    page = await console.post(f"{here}/edit", {"text": f"# Ours\r\n\r\n{HOSTILE}", "revision": "0"})

    assert "Post-mortem saved." in page.words
    assert text_of(page) == f"# Ours\n\n{HOSTILE}"
    assert "<img" not in page.text
    assert (await console.get(here)).text == f"# Ours\n\n{HOSTILE}"
    page = await console.post(f"{here}/edit", {"text": "# Second", "revision": revision(page)})
    assert text_of(page) == "# Second"
    page = await console.post(f"{here}/discard")
    assert text_of(page).startswith("# Post-mortem: It is slow")
    log = (await console.api.get("/v1/audit-log")).json["data"]
    assert [entry["action"] for entry in log[:3]] == ["delete", "update", "update"]


async def test_nobody_overwrites_unseen_what_another_saved(console: Console) -> None:
    id_ = await raised(console)
    here = f"/incidents/{id_}/postmortem/edit"
    await console.sign_in()
    await console.get(here)
    async with visiting(console.url, console.api) as other:
        await other.sign_in()
        await other.get(here)
        await other.post(here, {"text": "Theirs", "revision": "0"})

    page = await console.post(here, {"text": "Mine", "revision": "0"})

    assert page.status == 409
    assert "The admin saved another text meanwhile" in page.words
    assert text_of(page) == "Mine"
    page = await console.post(here, {"text": "Mine", "revision": revision(page)})
    assert text_of(page) == "Mine"
    assert page.status == 200


async def test_a_viewer_reads_it(console: Console) -> None:
    id_ = await raised(console)
    await console.sign_in(await console.person("viewer"))

    page = await console.get(f"/incidents/{id_}/postmortem/edit")

    assert "Post-mortem: It is slow" in page.words
    assert "<textarea" not in page.text
    assert (await console.post(f"/incidents/{id_}/postmortem/edit", {"text": "x"})).status == 403


async def test_an_empty_text_is_refused_and_an_unknown_incident_not_there(console: Console) -> None:
    id_ = await raised(console)
    await console.sign_in()
    await console.get(f"/incidents/{id_}/postmortem/edit")

    assert (await console.post(f"/incidents/{id_}/postmortem/edit", {"text": " "})).status == 400
    unknown = f"/incidents/inc_{'0' * 26}/postmortem"
    assert (await console.get(f"{unknown}/edit")).status == 404
    assert (await console.get(unknown)).status == 404
