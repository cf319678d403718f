"""A collector that is cut off from its database: the other goes on, and what was under way is stored once."""

import sys
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.e2e.cable import cable
from tests.e2e.fleet import Fleet, fleet
from tests.e2e.product import eventually
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MONITORS = 20
# 7 s on an idle machine, after which its probe goes to the other one.
SEEN_WITHIN_S = 30.0


async def test_a_collector_cut_off_from_its_database_costs_no_result_and_no_outage(
    database_url: str, tmp_path: Path
) -> None:
    parts = urlsplit(database_url)
    folder = parse_qs(parts.query).get("host")
    at = f"{folder[0]}/.s.PGSQL.5432" if folder else f"{parts.hostname}:{parts.port or 5432}"
    async with receiving() as target, fleet(database_url, tmp_path) as made, cable(at) as line:
        login = parts.netloc.rpartition("@")[0]
        through = f"postgresql://{login}@127.0.0.1:{line.port}{parts.path}"
        first = await made.collector(DATABASE_URL=through)
        second = await made.collector()
        await made.probe("eu", first, second)
        monitors = await made.monitors(MONITORS, target.url("/"))
        await made.shared_by(1, MONITORS)

        line.whole.clear()
        cut_at = time.monotonic()
        target.always = answer(503)
        await eventually(lambda: _open(made, MONITORS), SEEN_WITHIN_S)
        seen_s = time.monotonic() - cut_at
        assert "database silent" in first.log
        assert "database silent" not in second.log
        line.whole.set()
        target.always = answer(200)
        await eventually(lambda: _open(made, 0), 60)
        await made.ready(first)

        made.collectors = [second, first]
        await made.pause_all(monitors)
        await made.assert_all_stored_once()
        rows = await made.rows("SELECT count(*) FROM incidents GROUP BY monitor_id")
        assert [row["count"] for row in rows] == [1] * MONITORS
        assert await made.rows("SELECT count(*) FROM refused_results") == [{"count": 0}]
    sys.stdout.write(f"cut off: outages seen after {seen_s:.0f} s\n")


async def _open(made: Fleet, count: int) -> bool:
    return await made.rows("SELECT count(*) FROM incidents WHERE status = 'open'") == [{"count": count}]
