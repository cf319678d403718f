"""The history of a status page: all past incidents are in it, a part at a time."""

import re
from collections.abc import Sequence
from datetime import timedelta

import pytest

from collector.status_pages.api import cache
from collector.status_pages.service import view
from collector.status_pages.service.view import MOST
from collector.status_pages.storage import incidents as table
from collector.status_pages.storage.incidents import PageIncident, Update
from shared import ids
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page
from tests.status_pages.api.test_status_pages_public import enter, visit

OLD = 2 * MOST + 3


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each visit of these tests looks anew."""
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


async def told(api: Api, page_id: str, titles: Sequence[str], *, resolved: bool = True) -> None:
    """Incidents of the page, an hour apart, the last of them now."""
    now, of_page = api.clock(), ids.read("sp", page_id)
    assert of_page is not None
    async with api.context.db.transaction() as tx:
        for number, title in enumerate(titles):
            at, id_ = now - timedelta(hours=len(titles) - 1 - number), ids.uuid7()
            incident = PageIncident(
                team_id=api.team_id, id=id_, page_id=of_page, title=title,
                status="resolved" if resolved else "monitoring", severity="minor", components=[],
                component_status=None, scheduled_start=None, scheduled_end=None, published_at=at,
                updated_at=at, resolved_at=at if resolved else None,
            )  # fmt: skip
            await table.insert(tx, incident)
            update = Update(
                team_id=api.team_id, id=ids.uuid7(), incident_id=id_, status=incident.status,
                message=f"Of {title}", at=at,
            )  # fmt: skip
            await table.add_update(tx, update)


def titles(body: bytes) -> list[str]:
    return re.findall(r"Of (\w+)", body.decode())


async def test_links_lead_through_all_that_was_told_newest_first(api: Api) -> None:
    made = await page(api, slug="long")
    names = [f"n{number}" for number in range(OLD)]
    await told(api, made["id"], names)

    seen, path = list[str](), "long/history"
    for _ in range(3):
        answer = await visit(api, path)
        assert answer.status == 200
        seen += titles(answer.body)
        [*older] = re.findall(r'rel="next" href="/status/(long/history\?page=\d+)"', answer.body.decode())
        path = older[0] if older else ""

    assert path == ""
    assert seen == names[::-1]
    assert b'rel="prev" href="/status/long/history?page=2"' in answer.body


async def test_a_short_history_is_one_part(api: Api) -> None:
    made = await page(api, slug="short")
    await told(api, made["id"], [f"n{number}" for number in range(MOST)])

    answer = await visit(api, "short/history")

    assert len(titles(answer.body)) == MOST
    assert b"page=" not in answer.body


# What is asked for, and the newest that is shown then.
PARTS = {
    "1": OLD - 1,
    "3": 2,
    "999999": 2,
    "0": OLD - 1,
    "-2": OLD - 1,
    "9" * 40: OLD - 1,
    "2%00": OLD - 1,
    "%D9%A2": OLD - 1,
}


async def test_whatever_part_is_asked_for_there_is_one(api: Api) -> None:
    made = await page(api, slug="long")
    await told(api, made["id"], [f"n{number}" for number in range(OLD)])

    for asked, newest in PARTS.items():
        answer = await visit(api, f"long/history?page={asked}")

        assert (answer.status, titles(answer.body)[0]) == (200, f"n{newest}"), asked


async def test_no_visitor_has_more_parts_drawn_than_there_are_to_be(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "PARTS", 2)
    made = await page(api, slug="long")
    await told(api, made["id"], [f"n{number}" for number in range(OLD)])

    answer = await visit(api, "long/history?page=3")

    assert titles(answer.body)[-1] == "n3"
    assert b'rel="next"' not in answer.body


async def test_what_is_still_open_stands_in_the_newest_part_however_old_it_is(api: Api) -> None:
    made = await page(api, slug="long")
    await told(api, made["id"], ["still"], resolved=False)
    api.clock.ahead = timedelta(days=30)
    await told(api, made["id"], [f"n{number}" for number in range(MOST)])

    assert "still" in titles((await visit(api, "long/history")).body)
    assert titles((await visit(api, "long/history?page=2")).body) == ["still"]


async def test_an_older_part_is_read_once_for_many_and_told_as_unchanged(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 60.0)
    made = await page(api, slug="long")
    await told(api, made["id"], [f"n{number}" for number in range(OLD)])
    first = await visit(api, "long/history?page=2")
    async with api.context.db.transaction() as tx:
        await tx.execute("DELETE FROM status_incidents")

    again = await visit(api, "long/history?page=2", headers={"If-None-Match": first.headers["ETag"]})
    german = await visit(api, "long/history?page=2", headers={"Accept-Language": "de"})

    assert (again.status, again.body) == (304, b"")
    assert titles(german.body) == titles(first.body)
    assert "Ältere" in german.body.decode()


async def test_of_a_private_page_older_parts_are_behind_its_password(api: Api) -> None:
    made = await page(api, slug="inner", visibility="private", password="open sesame")
    await told(api, made["id"], [f"n{number}" for number in range(OLD)])

    outside = await visit(api, "inner/history?page=2")
    cookie = (await enter(api, "inner", "open sesame")).headers["Set-Cookie"].partition(";")[0]
    inside = await visit(api, "inner/history?page=2", headers={"Cookie": cookie})

    assert outside.status == 401
    assert b"Of n" not in outside.body
    assert len(titles(inside.body)) == MOST
