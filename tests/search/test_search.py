"""The search finds monitors, incidents, pages and actions, and shows only what the visitor may open."""

import re
import time
from html import unescape
from typing import Any

import pytest

from collector.search import service, storage
from shared.clock import utc_now
from tests.console.client import Console, Page
from tests.probes.ground import make_team

pytestmark = pytest.mark.shares_server

TCP: dict[str, Any] = {"type": "tcp", "config": {"host": "db.example.com", "port": 5432}}


def hits(page: Page) -> list[str]:
    """The titles of the results, in their order."""
    found = re.findall(r'<a href="/[^"]*" data-row>.*?<span dir="auto">(.*?)</span>', page.text, re.DOTALL)
    return [unescape(title) for title in found]


@pytest.mark.oldest
@pytest.mark.parametrize(
    "asked",
    [
        pytest.param("orders", id="name"),
        pytest.param("DB.example", id="host"),
        pytest.param("env:live", id="tag"),
        pytest.param("checkout", id="group"),
        pytest.param("base ord", id="words in any order"),
        pytest.param("ORDERS data", id="capitals"),
    ],
)
async def test_a_monitor_is_found_by(console: Console, asked: str) -> None:
    await console.api.post(
        "/v1/monitors", {"name": "Orders database", "group": "Checkout", "tags": {"env": "live"}, **TCP}
    )
    await console.sign_in()

    assert hits(await console.get("/search", params={"q": asked}))[0] == "Orders database"


async def test_what_is_named_exactly_so_comes_first(console: Console) -> None:
    for name in ("A shop", "Shop floor", "shop", "Window", "100% shop_"):
        tags = {"of": "shop"} if name == "Window" else {}
        await console.api.post("/v1/monitors", {"name": name, "tags": tags, **TCP})
    await console.sign_in()

    found = hits(await console.get("/search?q=shop"))

    assert found == ["shop", "Shop floor", "100% shop_", "A shop", "Window"]
    assert hits(await console.get("/search", params={"q": "0% shop_"})) == ["100% shop_"]


@pytest.mark.oldest
async def test_incidents_and_named_things_are_found(console: Console) -> None:
    for path, body in (
        ("/v1/incidents", {"title": "Payments are slow", "severity": "high"}),
        ("/v1/status-pages", {"name": "Payments status", "slug": "payments"}),
        (
            "/v1/alert-channels",
            {"name": "Payments team", "type": "webhook", "config": {"url": "https://example.com/"}},
        ),
    ):
        assert (await console.api.post(path, body)).status == 201
    await console.sign_in()

    found = hits(await console.get("/search?q=payments"))

    assert found == ["Payments are slow", "Payments team", "Payments status"]


async def test_pages_and_actions_are_those_that_the_role_may_open(console: Console) -> None:
    await console.sign_in(await console.person("viewer"))

    viewer = await console.get("/search")

    assert {"Monitors", "Incident statistics"} <= {*hits(viewer)}
    assert not {"New monitor", "New incident", "About", "Invite a user"} & {*hits(viewer)}
    for path in re.findall(r'<a href="([^"]*)" data-row>', viewer.text):
        assert (await console.get(path)).status == 200, path


async def test_an_admin_finds_an_action_by_the_beginnings_of_its_words(console: Console) -> None:
    await console.sign_in()

    assert hits(await console.get("/search?q=ne+mon")) == ["New monitor"]
    assert "No results" in (await console.get("/search?q=zzz")).words


async def test_another_teams_things_are_not_found(console: Console) -> None:
    other = await make_team(console.api.context.db, utc_now())
    await console.api.post("/v1/monitors", {"name": "Orders", **TCP})
    await console.api.post("/v1/incidents", {"title": "Orders fail"})

    results = await service.search(console.api.context.db, other, "orders")

    assert (results.monitors, results.incidents, results.named) == ([], [], [])


async def test_without_a_session_nothing_is_searched(console: Console) -> None:
    assert (await console.get("/search?q=shop", headers={"X-Part": "hits"})).status == 401


async def test_hostile_text_is_shown_as_text(console: Console) -> None:
    await console.sign_in()

    page = await console.get("/search", params={"q": '"><script>alert(1)</script>\0'})

    assert page.status == 200
    assert "<script>alert" not in page.text


@pytest.mark.races
async def test_it_answers_at_once_among_ten_thousand_monitors(console: Console) -> None:
    api = console.api
    config = '{"host": "h%s.example.com", "port": 443}'
    async with api.context.db.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, tags,
                severity, failure_threshold, recovery_threshold, changed_at, created_at, updated_at)
            SELECT $1, gen_random_uuid(), 'Service ' || n, 'tcp', format($2, n)::jsonb, 60, 10, '{here}',
                jsonb_build_object('env', n % 7), 'high', 1, 1, now(), now(), now()
            FROM generate_series(1, 10000) n
            """,
            api.team_id,
            config,
        )
        await tx.execute("ANALYZE monitors")
    async with api.context.db.connection() as tx:
        for words in (["service"], ["h777", "env:3"], ["nothing"]):
            began = time.perf_counter()
            await storage.monitors(tx, api.team_id, words, 8)
            assert time.perf_counter() - began < 0.5, words
    await console.sign_in()
    assert hits(await console.get("/search?q=h9999")) == ["Service 9999"]
