"""What the console's main pages may read and send, for a team of 10,000 monitors: counted, never timed."""

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asyncpg.connection import LoggedQuery

from collector.console import render
from collector.platform.storage.db import Db, Tx
from tests.console.client import Console, served, visiting
from tests.http.client import Api

_MONITORS = """
    INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, tags, severity,
        failure_threshold, recovery_threshold, group_name, down, changed_at, created_at, updated_at)
    SELECT $1, gen_random_uuid(), 'Service ' || n, 'tcp', '{"host": "db.example.com", "port": 5432}', 60, 10,
        '{here}', jsonb_build_object('team', (n % 9)::text), 'high', 1, 1, 'group ' || n % 20, n % 25 = 1,
        now(), now() + n * interval '1 ms', now()
    FROM generate_series(1, 10000) n
"""
_STATES = """
    INSERT INTO states (monitor, location, turn, revision, failing, last_at, last_status, last_ms)
    SELECT m.monitor, l.location, 0, 1, m.down, now(), 1, 20 + m.monitor % 100
    FROM monitors m JOIN locations l ON l.name = 'here'
"""


class ListeningDb(Db):
    """Keeps what was executed on its connections."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.executed: list[LoggedQuery] = []

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Tx]:
        async with super().connection() as tx:
            with tx.query_logger(self.executed.append):
                yield tx

    async def rows_read(self) -> int:
        """Return how many rows the reads so far take from tables and indexes, as PostgreSQL counts them."""
        reads = [each for each in self.executed if each.query.lstrip().startswith(("SELECT", "WITH"))]
        async with super().connection() as tx:
            plans = [
                await tx.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {each.query}", *each.args)
                for each in reads
            ]
        return sum(_scanned(plan[0]["Plan"]) for plan in plans)


def _scanned(node: dict[str, Any]) -> int:
    own = round(node["Actual Rows"] * node["Actual Loops"]) if node["Node Type"].endswith("Scan") else 0
    return own + sum(map(_scanned, node.get("Plans", [])))


@pytest.fixture
async def listening(api: Api, database_url: str) -> AsyncIterator[ListeningDb]:
    db = await ListeningDb.open(database_url, size=4)
    assert isinstance(db, ListeningDb)
    yield db
    await db.close()


@pytest.fixture
async def console(api: Api, listening: ListeningDb) -> AsyncIterator[Console]:
    async with served(api, db=listening) as url, visiting(url, api) as browser:
        yield browser


@pytest.fixture
async def fleet(console: Console) -> None:
    api = console.api
    async with api.context.db.transaction() as tx:
        await tx.execute("INSERT INTO locations (name) VALUES ('here') ON CONFLICT DO NOTHING")
        await tx.execute(_MONITORS, api.team_id)
        await tx.execute(_STATES)
        await tx.execute("ANALYZE monitors, states")


@pytest.mark.parametrize(
    ("path", "kilobytes", "statements", "rows"),
    [
        pytest.param("/", 60, 20, 60_000, id="overview"),
        pytest.param("/monitors", 60, 15, 60_000, id="list"),
        pytest.param("/monitors?page=200", 60, 15, 60_000, id="last page of the list"),
        pytest.param("/monitors?q=service+77", 60, 15, 60_000, id="search in the list"),
        pytest.param("/search?q=service+77", 10, 5, 11_000, id="search"),
        pytest.param("/search?q=nothing", 10, 5, 11_000, id="search without results"),
        pytest.param("/wall", 60, 15, 60_000, id="wall"),
    ],
)
@pytest.mark.usefixtures("fleet")
async def test_a_page_about_ten_thousand_monitors_is_small(
    console: Console, listening: ListeningDb, path: str, kilobytes: int, statements: int, rows: int
) -> None:
    await console.sign_in()
    await console.get(path)
    listening.executed.clear()

    page = await console.get(path)

    assert page.status == 200
    assert len(gzip.compress(page.text.encode())) < kilobytes * 1000
    assert len(listening.executed) <= statements
    assert await listening.rows_read() <= rows


def test_templates_of_the_first_pages_are_compiled_by_warming() -> None:
    render.compile_first_pages()

    compiled = {name for _, name in render._environment().cache or {}}

    assert {"base.html.j2", "ui.html.j2", "home.html.j2", "sign_in.html.j2", "monitors.html.j2"} <= compiled
