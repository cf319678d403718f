"""What status pages cost, and how soon they tell of a change: on every replica, in every language."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from collector.platform.storage.db import Db
from collector.server import make, serve
from collector.status_pages.api import cache
from collector.status_pages.service import view
from collector.status_pages.service.view import PageView
from collector.status_pages.web import status
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page
from tests.status_pages.api.test_status_pages_public import visit

pytestmark = pytest.mark.races

SOON_S = 2.0


@pytest.fixture
async def replica(api: Api, database_url: str) -> AsyncIterator[Api]:
    """Another collector over the same database."""
    db = await Db.open(database_url)
    runner = await serve(make(replace(api.context, db=db), api.features), "127.0.0.1:0")
    yield replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    await runner.cleanup()
    await db.close()


async def test_a_change_is_soon_seen_on_each_replica(api: Api, replica: Api) -> None:
    made = await page(api, slug="example", components=[{"name": "Shop"}])
    for each in (api, replica):
        assert b"Smoke" not in (await visit(each, "example")).body

    await api.post(f"/v1/status-pages/{made['id']}/incidents", {"title": "Smoke", "message": "We look"})
    changed = time.monotonic()

    async def seen(each: Api) -> float:
        while b"Smoke" not in (await visit(each, "example")).body:
            await asyncio.sleep(0.05)
        return time.monotonic() - changed

    async with asyncio.timeout(20):
        assert max(await asyncio.gather(seen(api), seen(replica))) < SOON_S


async def test_who_changed_a_page_sees_the_change_at_once(api: Api) -> None:
    made = await page(api, slug="example", components=[{"name": "Shop"}])
    path, [shop] = f"/v1/status-pages/{made['id']}", made["components"]
    assert (await visit(api, "example")).status == 200

    await api.put(f"{path}/components/{shop['id']}", {"status": "major_outage"})
    assert b'"status":"major_outage"' in (await visit(api, "example.json")).body
    await api.post(f"{path}/incidents", {"title": "Smoke", "message": "We look"})
    assert b"Smoke" in (await visit(api, "example")).body
    await api.put(path, {"visibility": "private", "password": "open sesame"})
    assert (await visit(api, "example")).status == 401
    await api.put(path, {"visibility": "public", "slug": "other"})
    assert [(await visit(api, slug)).status for slug in ("example", "other")] == [404, 200]
    await api.delete(path)
    assert (await visit(api, "other")).status == 404
    await page(api, slug="other")
    assert (await visit(api, "other")).status == 200


async def test_what_was_asked_before_a_change_is_not_shown_after_it(api: Api) -> None:
    made = await page(api, slug="example")
    asked, before, let_go = view.load, asyncio.Event(), asyncio.Event()

    async def slowly(*args: Any) -> PageView | None:
        page_view = await asked(*args)
        before.set()
        await let_go.wait()
        return page_view

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(view, "load", slowly)
        early = asyncio.create_task(visit(api, "example"))
        await before.wait()
    await api.put(f"/v1/status-pages/{made['id']}", {"name": "Renamed"})
    assert b"Renamed" in (await visit(api, "example")).body
    let_go.set()
    assert (await early).status == 200
    assert b"Renamed" in (await visit(api, "example")).body


async def test_replicas_agree_on_what_is_the_same(
    api: Api, replica: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)
    monkeypatch.setattr(cache, "DRAWN_S", 0.0)
    await page(api, slug="example", components=[{"name": "Shop"}])
    for path in ("example", "example.json", "example/history", "example/feed.atom", "example/badge.svg"):
        tag = (await visit(api, path)).headers["ETag"]

        again = await visit(replica, path, headers={"If-None-Match": tag})

        assert (again.status, again.body) == (304, b""), path


async def test_each_language_is_kept_by_itself(api: Api) -> None:
    await page(api, slug="example")

    seen = {
        tag: await visit(api, "example", headers={"Accept-Language": tag})
        for tag in ("en", "de", "fr", "es", "pt", "zh", "ja")
    }

    assert len({answer.headers["ETag"] for answer in seen.values()}) == len(seen)
    for tag, answer in seen.items():
        assert f'<html lang="{tag}">' in answer.body.decode()
        assert "Accept-Language" in answer.headers["Vary"]
    style = await visit(api, "example/style.css", headers={"Accept-Language": "de"})
    assert "Accept-Language" not in style.headers["Vary"]


@pytest.mark.parametrize(
    ("accept", "packed"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("*", False),
        ("", False),
    ],
)
async def test_it_is_packed_for_whoever_takes_that(api: Api, accept: str, packed: bool) -> None:
    await page(api, slug="example")

    answer = await visit(api, "example", headers={"Accept-Encoding": accept})

    assert ("Content-Encoding" in answer.headers) == packed


async def test_visitors_who_come_at_once_cost_one_look(api: Api) -> None:
    await page(api, slug="example", components=[{"name": "Shop"}])
    await visit(api, "example")
    await asyncio.sleep(1.1)  # what is known is no longer fresh
    before = await looks(api)

    answers = await asyncio.gather(*(visit(api, "example") for _ in range(100)))

    assert {answer.status for answer in answers} == {200}
    assert await looks(api) - before <= 2


async def test_a_crowd_on_the_page_of_an_incident_is_served_from_the_cache(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await page(api, slug="example", components=[{"name": "Shop"}])
    answer = await api.post(
        f"/v1/status-pages/{made['id']}/incidents", {"title": "Smoke", "message": "We look"}
    )
    drawn: list[str] = []
    draw = status.incident

    def counted(*args: Any) -> str:
        drawn.append("incident")
        return draw(*args)

    monkeypatch.setattr(status, "incident", counted)
    path = f"example/incidents/{answer.json['id']}"
    before = await looks(api)

    answers = await asyncio.gather(*(visit(api, path) for _ in range(100)))

    assert {each.status for each in answers} == {200}
    assert all(b"Smoke" in each.body for each in answers)
    assert len(drawn) <= 3, "at most one drawing for each second that the crowd takes"
    assert await looks(api) - before <= 3


async def looks(api: Api) -> int:
    """How often the pages' addresses were looked up, as PostgreSQL counts it."""
    async with api.context.db.connection() as tx:
        await tx.execute("SELECT pg_stat_force_next_flush()")
        count: int = await tx.fetchval(
            "SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'status_page_addresses'"
        )
    return count
