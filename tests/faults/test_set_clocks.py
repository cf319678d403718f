"""The clock of a probe, or of a collector, is set while it works: nobody is alarmed and nothing is lost."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.fleet import Fleet, fleet
from tests.e2e.product import eventually
from tests.faults.faketime import WallClock, library
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.races, pytest.mark.timeout(240)]

MONITORS = 10
# How long an outage may take to be seen: two checks a second apart, and what others take of the processor.
SEEN_WITHIN_S = 20.0
# Between the attempts of a webhook, and how late each may be.
WAITS_S = (1.0, 5.0, 30.0)
LATE_S = 3.0


@pytest.fixture(autouse=True)
def _faketime() -> None:
    library()


async def _is_off_by(made: Fleet, seconds: float) -> bool:
    """Whether the probe is shown with a clock that is wrong by so much."""
    [probe] = (await made.got("/v1/probes"))["data"]
    skew_ms = probe["clockSkewMs"]
    return skew_ms is not None and abs(skew_ms / 1000 - seconds) < 10


async def _open(made: Fleet, count: int) -> bool:
    return await made.rows("SELECT count(*) FROM incidents WHERE status = 'open'") == [{"count": count}]


async def _assert_history(made: Fleet, began: datetime, longest_gap_s: float) -> None:
    """Each result is stored once, at the time when its check was, and no check is missing."""
    await made.assert_all_stored_once()
    assert await made.rows("SELECT count(*) FROM refused_results") == [{"count": 0}]
    odd = await made.rows("SELECT count(*) FROM results WHERE ts < $1 OR ts > now()", began)
    assert odd == [{"count": 0}]
    rows = await made.rows("SELECT array_agg(ts ORDER BY ts) AS at FROM results GROUP BY monitor")
    gaps = [after - before for row in rows for before, after in pairwise(row["at"])]
    assert len(rows) == MONITORS
    assert max(gaps) < timedelta(seconds=longest_gap_s)


async def test_a_probes_clock_is_set_and_drifts_and_its_results_are_where_they_belong(
    database_url: str, tmp_path: Path
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        probe = await made.probe("eu", await made.collector())
        clock = WallClock(probe)
        began = datetime.now(UTC)
        monitors = await made.monitors(MONITORS, target.url("/"))
        await made.shared_by(1, MONITORS)

        for offset, seconds in (("+3600", 3600.0), ("-3600", -3600.0), ("+0 x1.0005", 0.0)):
            clock.set(offset)
            await eventually(lambda seconds=seconds: _is_off_by(made, seconds), 30)
            await asyncio.sleep(3)
            assert await _open(made, 0)
        clock.set("-3600")
        target.always = answer(503)
        await eventually(lambda: _open(made, MONITORS), SEEN_WITHIN_S)
        started = await made.rows("SELECT min(started_at) AS at FROM incidents")
        assert timedelta() <= datetime.now(UTC) - started[0]["at"] < timedelta(seconds=SEEN_WITHIN_S + 5)
        target.always = answer(200)
        await eventually(lambda: _open(made, 0), SEEN_WITHIN_S)

        await made.pause_all(monitors)
        await _assert_history(made, began, 4.0)
        rows = await made.rows("SELECT count(*) FROM incidents GROUP BY monitor_id")
        assert [row["count"] for row in rows] == [1] * MONITORS


@pytest.mark.parametrize("offset", ["+3600", "-3600"])
async def test_a_probe_that_starts_with_a_wrong_clock_works(
    database_url: str, tmp_path: Path, offset: str
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        probe = await made.probe("eu", await made.collector())
        clock = WallClock(probe)
        began = datetime.now(UTC)
        monitors = await made.monitors(MONITORS, target.url("/"))
        await made.shared_by(1, MONITORS)
        probe.stop()
        clock.set(offset)
        probe.start()
        seen = len(target.received)
        await target.wait_for(seen + 5 * MONITORS, 60)
        await eventually(lambda: _is_off_by(made, float(offset)), 30)
        assert await _open(made, 0)

        await made.pause_all(monitors)
        await _assert_history(made, began, 15.0)


async def test_a_collectors_clock_is_set_between_tries_and_they_come_when_they_are_due(
    database_url: str, tmp_path: Path
) -> None:
    async with (
        receiving() as target,
        receiving(always=answer(503)) as broken,
        receiving(answer(500), answer(500), answer(500)) as hook,
        fleet(database_url, tmp_path) as made,
    ):
        collector = await made.collector()
        clock = WallClock(collector)
        await made.ready(collector)
        await made.probe("eu", collector)
        began = datetime.now(UTC)
        monitors = await made.monitors(MONITORS, target.url("/"))
        await made.shared_by(1, MONITORS)
        channel: dict[str, Any] = {"name": "hook", "type": "webhook", "config": {"url": hook.url()}}
        await made.made("/v1/alert-channels", channel)
        await made.monitors(1, broken.url("/"))

        for number, offset in enumerate(("-300", "+3600", "+0"), 1):
            await hook.wait_for(number, 60)
            clock.set(offset)
        await hook.wait_for(4, 60)
        await asyncio.sleep(3)

        assert len(hook.received) == 4, "none is sent twice"
        waits = [after.at - before.at for before, after in pairwise(hook.received)]
        for wait, due in zip(waits, WAITS_S, strict=True):
            assert due - 0.5 < wait < due + LATE_S, waits
        assert await _open(made, 1), "of what is broken, and of nothing else"
        await made.pause_all(monitors)
        stored = await made.rows("SELECT count(*) FROM results WHERE ts < $1 OR ts > now()", began)
        assert stored == [{"count": 0}]
        assert time.monotonic() - hook.received[0].at < sum(WAITS_S) + 30
