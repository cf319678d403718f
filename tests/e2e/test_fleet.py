"""Two collectors over one database: any probe hangs on any of them, and either may go without a loss."""

import asyncio
import shutil
import signal
from pathlib import Path
from uuid import UUID

import pytest

from shared import ids
from tests.e2e.fleet import Fleet, Part, fleet
from tests.e2e.product import eventually
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(150)]

MONITORS = 40


async def _crossed(made: Fleet) -> tuple[Part, Part, Part, Part]:
    """Two collectors, each with a probe that knows the other one, too."""
    first, second = await made.collector(), await made.collector()
    near, far = await made.probe("eu", first, second), await made.probe("eu", second, first)
    await eventually(lambda: _connected(near))
    await eventually(lambda: _connected(far))
    return first, second, near, far


async def _connected(probe: Part) -> bool:
    return '"message": "connected"' in probe.log


def probe_id(part: Part) -> UUID:
    line = next(line for line in part.log.splitlines() if "probe starts" in line)
    return UUID(line.partition('"probe": "')[2].partition('"')[0])


async def test_what_one_collector_decides_reaches_probes_that_hang_on_the_other(
    database_url: str, tmp_path: Path
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        first, second, near, far = await _crossed(made)
        id_ = ids.show("prb", probe_id(near))
        assert (await made.call("DELETE", f"/v1/probes/{id_}", at=first))[0] == 204
        await eventually(lambda: _said(near, "this probe was revoked"))

        body = {"type": "http", "config": {"url": target.url("/")}, "locations": ["eu"]}
        tested = await made.made("/v1/monitors/test", body, at=first)
        assert (tested["success"], tested["statusCode"]) == (True, 200)
        [monitor] = await made.monitors(1, target.url("/"), interval=3600)
        await eventually(lambda: _checked(made, second, monitor))
        seen = len(target.received)
        await made.made(f"/v1/monitors/{monitor}/pause", at=first)
        await made.made(f"/v1/monitors/{monitor}/resume", at=first)
        await target.wait_for(seen + 1)

        assert (await made.call("DELETE", f"/v1/probes/{ids.show('prb', probe_id(far))}", at=first))[0] == 204
        await eventually(lambda: _said(far, "this probe was revoked"), timeout_s=10)


async def test_a_copy_of_a_probe_is_refused_by_the_address_of_the_first_which_goes_on(
    database_url: str, tmp_path: Path
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        first = await made.probe("eu", await made.collector())
        await made.monitors(1, target.url("/"))
        await made.shared_by(1, 1)
        copy = Part("probe", tmp_path / "copy", first.settings)
        shutil.copytree(first.home / "probe", copy.home / "probe")
        made.probes.append(copy)
        copy.start()
        await eventually(lambda: _said(copy, "this probe is connected from ipv4:127.0.0.1:"))
        seen = len(target.received)
        await target.wait_for(seen + 2)

        assert not await _connected(copy)
        assert first.log.count('"message": "connected"') == 1


@pytest.mark.parametrize("loss", [signal.SIGKILL, signal.SIGSTOP])
async def test_the_probes_of_a_lost_collector_go_to_the_other_and_no_result_is_lost_or_doubled(
    database_url: str, tmp_path: Path, loss: signal.Signals
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        first, second, near, far = await _crossed(made)
        monitors = await made.monitors(MONITORS, target.url("/"))
        await made.shared_by(2, MONITORS)
        await asyncio.sleep(2)

        first.send(loss)
        came = near.log.count('"message": "connected"')
        await eventually(lambda: _reconnected(near, came), timeout_s=40)
        made.collectors.reverse()  # calls go to the one that is there
        await made.shared_by(2, MONITORS)
        target.always = answer(503)
        await eventually(lambda: _open(made, MONITORS), timeout_s=30)
        target.always = answer(200)
        await eventually(lambda: _open(made, 0), timeout_s=30)
        if loss is signal.SIGSTOP:
            first.send(signal.SIGCONT)
            await asyncio.sleep(2)
        await made.pause_all(monitors)
        await made.assert_all_stored_once()

        incidents = await made.rows("SELECT monitor_id, count(*) FROM incidents GROUP BY monitor_id")
        assert [row["count"] for row in incidents] == [1] * MONITORS
        assert far.log.count('"message": "connected"') == 1
        assert await made.rows("SELECT count(*) FROM refused_results") == [{"count": 0}]
        assert second.stop() == 0


async def _reconnected(probe: Part, before: int) -> bool:
    return probe.log.count('"message": "connected"') > before


async def _said(part: Part, words: str) -> bool:
    return words in part.log


async def _checked(made: Fleet, collector: Part, monitor: str) -> bool:
    return bool((await made.got(f"/v1/monitors/{monitor}/results", at=collector))["data"])


async def _open(made: Fleet, count: int) -> bool:
    return await made.rows("SELECT count(*) FROM incidents WHERE status = 'open'") == [{"count": count}]
