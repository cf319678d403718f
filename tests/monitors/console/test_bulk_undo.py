"""A bulk action is taken back by the message that confirms it: for what it changed, by whoever ran it."""

import re

import pytest

from tests.console.client import Console, Page, visiting

pytestmark = pytest.mark.oldest


async def monitor(console: Console, name: str) -> str:
    body = {"name": name, "type": "http", "config": {"url": "https://example.com/"}}
    return str((await console.api.post("/v1/monitors", body)).json["id"])


async def paused(console: Console, *ids: str) -> list[bool]:
    states = [(await console.api.get(f"/v1/monitors/{id_}")).json["status"] for id_ in ids]
    return [state == "paused" for state in states]


def undo(page: Page) -> str:
    match = re.search(r'data-toast>.*?action="(/monitors/bulk/undo[^"]+)"', page.text, re.DOTALL)
    return match[1] if match else ""


async def run(console: Console, action: str, *ids: str, **more: str) -> Page:
    await console.get("/monitors")
    return await console.post("/monitors/bulk", {"id": list(ids), "action": action, **more})


async def test_a_pause_is_undone_for_those_that_it_paused(console: Console) -> None:
    one, two, before = [await monitor(console, name) for name in ("one", "two", "before")]
    await console.api.post(f"/v1/monitors/{before}/pause")
    await console.sign_in()

    page = await run(console, "pause", one, two, before)
    assert await paused(console, one, two, before) == [True, True, True]
    referer = {"Referer": f"{console.url}/monitors?status=paused"}
    done = await console.post(undo(page), headers=referer)

    assert (done.path, "Undone: 2 of 2 changed." in done.words) == ("/monitors?status=paused", True)
    assert await paused(console, one, two, before) == [False, False, True]
    assert undo(done) == ""


async def test_a_resume_and_a_mute_are_undone(console: Console) -> None:
    id_ = await monitor(console, "one")
    await console.api.post(f"/v1/monitors/{id_}/pause")
    await console.sign_in()

    await console.post(undo(await run(console, "resume", id_)))
    assert await paused(console, id_) == [True]
    await console.api.post(f"/v1/monitors/{id_}/resume")
    page = await run(console, "silence", id_)
    assert (await console.api.get(f"/v1/monitors/{id_}")).json["silencedUntil"]
    await console.post(undo(page))

    assert (await console.api.get(f"/v1/monitors/{id_}")).json["silencedUntil"] is None


async def test_what_cannot_be_undone_offers_nothing(console: Console) -> None:
    id_ = await monitor(console, "one")
    await console.sign_in()

    assert undo(await run(console, "unsilence", id_)) == ""
    assert undo(await run(console, "tag", id_, tag="shop")) == ""
    assert undo(await run(console, "resume", id_)) == ""
    assert undo(await run(console, "delete", id_)) == ""


async def test_only_who_ran_it_undoes_it_and_nothing_else_comes_of_it(console: Console) -> None:
    id_ = await monitor(console, "one")
    await console.sign_in()
    path = undo(await run(console, "pause", id_))

    async with visiting(console.url, console.api) as other:
        await other.sign_in()
        await other.get("/monitors")
        page = await other.post(path)
        assert "cannot be undone any more" in page.words
        assert page.path == "/monitors"
    headers = {"Referer": f"{console.url}/settings/account"}
    page = await console.post("/monitors/bulk/undo?request=nonsense", headers=headers)
    assert ("cannot be undone any more" in page.words, page.path) == (True, "/monitors")
    assert await paused(console, id_) == [True]


async def test_a_request_that_deleted_is_never_undone(console: Console) -> None:
    id_ = await monitor(console, "one")
    await console.sign_in()
    await console.get("/monitors")
    body = {"id": [id_], "action": "delete"}
    await console.post("/monitors/bulk", body, headers={"X-Request-Id": "request-8"})
    await console.get("/monitors")

    assert "cannot be undone any more" in (await console.post("/monitors/bulk/undo?request=request-8")).words
