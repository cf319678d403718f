"""Probes of one location come, go, drain and hang under load: every check is made, none counts twice."""

import asyncio
import signal
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest

from shared import ids
from tests.e2e.cable import cable
from tests.e2e.fleet import Fleet, Part, fleet
from tests.e2e.product import eventually
from tests.receiver import receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]

MONITORS = 40
TAKEN_WITHIN_S = 10.0
INTERVAL_S = 2
ONE_WAY_S = 15.0


async def _gaps(made: Fleet) -> dict[int, list[float]]:
    """Seconds between the starts of a monitor's checks, by monitor."""
    rows = await made.rows("SELECT monitor, ts FROM results ORDER BY monitor, ts")
    times: dict[int, list[float]] = {}
    for row in rows:
        times.setdefault(row["monitor"], []).append(row["ts"].timestamp())
    return {
        monitor: [after - before for before, after in pairwise(starts)] for monitor, starts in times.items()
    }


async def _no_incident(made: Fleet) -> None:
    assert (await made.got("/v1/incidents"))["data"] == []
    assert await made.rows("SELECT count(*) FROM states WHERE failing OR fails > 0") == [{"count": 0}]


async def _nothing_missed(made: Fleet, gaps: list[float]) -> None:
    """But for what the probes say that they could not start in time: what is a second late is left out."""
    missed = sum(round(gap / INTERVAL_S) - 1 for gap in gaps if gap > INTERVAL_S + 1.0)

    async def told() -> bool:
        rows = await made.rows("SELECT coalesce(sum((vitals->>'skipped')::int), 0) AS skipped FROM probes")
        return bool(missed <= rows[0]["skipped"])

    await eventually(told)


def _id_of(part: Part) -> str:
    line = next(line for line in part.log.splitlines() if "probe starts" in line)
    return line.partition('"probe": "')[2].partition('"')[0]


async def _held_by(made: Fleet, probe: str, count: int) -> None:
    async def held() -> bool:
        return (await made.shares()).get(probe, 0) == count

    await eventually(held, timeout_s=30)


@pytest.mark.parametrize("loss", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_lost_probes_checks_are_made_by_the_other_within_ten_seconds_and_return_with_it(
    database_url: str, tmp_path: Path, loss: signal.Signals
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        lost, other = await made.probe("eu", collector), await made.probe("eu", collector)
        monitors = await made.monitors(MONITORS, target.url("/"))
        await made.shared_by(2, MONITORS)
        await asyncio.sleep(2)
        shares = await made.shares()

        lost.send(loss)
        await _held_by(made, _id_of(other), MONITORS)
        await asyncio.sleep(1.5)
        if loss is signal.SIGKILL:
            lost.start()
        else:
            lost.send(signal.SIGCONT)
        await _held_by(made, _id_of(lost), shares[_id_of(lost)])
        await asyncio.sleep(2)

        await made.pause_all(monitors)
        await made.assert_all_stored_once()
        await _no_incident(made)
        gaps = await _gaps(made)
        assert len(gaps) == MONITORS
        assert max(max(each) for each in gaps.values()) < TAKEN_WITHIN_S + 1.0


async def test_a_probe_that_is_cut_off_goes_on_checking_and_what_it_found_counts_as_history(
    database_url: str, tmp_path: Path
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        async with cable(collector.settings["GRPC_LISTEN"]) as line:
            far = await made.probe("eu", collector, COLLECTOR=f"127.0.0.1:{line.port}")
            near = await made.probe("eu", collector)
            monitors = await made.monitors(MONITORS, target.url("/"))
            await made.shared_by(2, MONITORS)
            await asyncio.sleep(2)
            shares = await made.shares()

            line.whole.clear()
            await _held_by(made, _id_of(near), MONITORS)
            await asyncio.sleep(3)
            line.whole.set()
            await _held_by(made, _id_of(far), shares[_id_of(far)])
            await asyncio.sleep(2)

            await made.pause_all(monitors)
            await made.assert_all_stored_once()
            await _no_incident(made)
            # It went on all the while, and told of it later: nowhere is a hole.
            assert max(gap for each in (await _gaps(made)).values() for gap in each) < 3.0


async def test_where_only_acknowledgements_are_lost_nothing_is_stored_twice_and_no_outage_is_seen(
    database_url: str, tmp_path: Path
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        async with cable(collector.settings["GRPC_LISTEN"]) as line:
            await made.probe("eu", collector, COLLECTOR=f"127.0.0.1:{line.port}")
            await made.probe("us", collector)
            monitors = await made.monitors(MONITORS, target.url("/"))
            monitors += await made.monitors(MONITORS, target.url("/"), location="us")
            await made.shared_by(2, 2 * MONITORS)
            await asyncio.sleep(2)
            sent = await _sent(made)

            line.answers.clear()
            await eventually(lambda: _more_sent(made, sent), timeout_s=20)
            await asyncio.sleep(ONE_WAY_S)
            await _no_incident(made)
            line.answers.set()
            await made.shared_by(2, 2 * MONITORS)
            await asyncio.sleep(3)

            await made.pause_all(monitors)
            await made.assert_all_stored_once()
            await _no_incident(made)
            assert await made.rows("SELECT count(*) FROM refused_results") == [{"count": 0}]
            gaps = await _gaps(made)
            assert len(gaps) == 2 * MONITORS
            assert max(gap for each in gaps.values() for gap in each) < 3.0


async def _sent(made: Fleet) -> int:
    rows = await made.rows("SELECT sum(last_seq)::bigint AS sent FROM probe_cursors")
    return int(rows[0]["sent"])


async def _more_sent(made: Fleet, before: int) -> bool:
    """Batches still arrive, of which one probe hears no acknowledgement."""
    return await _sent(made) > before


@pytest.mark.parametrize("collectors", [1, 2])
async def test_while_a_probe_is_drained_and_brought_back_no_check_is_missed_or_made_twice(
    database_url: str, tmp_path: Path, collectors: int
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        used = [await made.collector() for _ in range(collectors)]
        drained, other = await made.probe("eu", used[0]), await made.probe("eu", used[-1])
        monitors = await made.monitors(MONITORS, target.url("/"), interval=INTERVAL_S)
        await made.shared_by(2, MONITORS)
        await asyncio.sleep(3)
        shares = await made.shares()
        moved, rest = _id_of(drained), _id_of(other)
        id_ = ids.show("prb", UUID(moved))

        await made.made(f"/v1/probes/{id_}/drain")
        await _held_by(made, rest, MONITORS)
        await asyncio.sleep(5)
        await made.call("DELETE", f"/v1/probes/{id_}/drain")
        await _held_by(made, moved, shares[moved])
        await asyncio.sleep(5)

        await made.pause_all(monitors)
        await made.assert_all_stored_once()
        await _no_incident(made)
        # The first check runs at once and not at its place in the interval.
        gaps = [gap for each in (await _gaps(made)).values() for gap in each[1:]]
        await _nothing_missed(made, gaps)
        assert min(gaps) > 1.0
