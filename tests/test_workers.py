"""``TOCSIN_WORKERS``: one command, several processes that share the work; what dies comes back."""

import os
import signal
import socket
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from tests.e2e.fleet import Fleet, Part, fleet
from tests.e2e.product import eventually, running
from tests.receiver import receiving

pytestmark = [pytest.mark.races, pytest.mark.database, pytest.mark.slow]

MONITORS = 20


async def _workers(part: Part, count: int, without: int = 0) -> list[int] | None:
    """The processes of this part, once there are so many."""
    found = [pid for pid in part.workers() if pid != without and _is_worker(pid)]
    return found if len(found) == count else None


def _is_worker(pid: int) -> bool:
    try:
        return "shared.command" in psutil.Process(pid).cmdline()
    except psutil.NoSuchProcess:
        return False


async def test_workers_share_the_work_and_one_that_is_killed_comes_back(
    database_url: str, tmp_path: Path
) -> None:
    async with receiving() as target, fleet(database_url, tmp_path) as made:
        collector = await made.collector(WORKERS="2")
        probe = await made.probe("eu", collector, WORKERS="2")
        await made.monitors(MONITORS, target.url("/"))
        await made.shared_by(2, MONITORS)

        for part in (collector, probe):
            [first, _] = await eventually(lambda part=part: _workers(part, 2))
            os.kill(first, signal.SIGKILL)
            await eventually(lambda part=part, first=first: _workers(part, 2, first))
        await eventually(lambda: _both_at_work(made), timeout_s=30)
        await made.shared_by(2, MONITORS)
        assert len((await made.got("/v1/probes"))["data"]) == 2

        left = [
            *await eventually(lambda: _workers(probe, 2)),
            *await eventually(lambda: _workers(collector, 2)),
        ]
        began = time.monotonic()
        assert [probe.stop(), collector.stop()] == [0, 0]
        assert time.monotonic() - began < 20
        assert not [pid for pid in left if psutil.pid_exists(pid)]


async def _both_at_work(made: Fleet) -> bool:
    return await made.rows("SELECT count(*) FROM probes WHERE ended_at IS NULL") == [{"count": 2}]


async def test_tocsin_up_has_workers_too(tmp_path: Path) -> None:
    async with receiving() as target, running(tmp_path, WORKERS="2") as (product, caller):
        monitor = {"name": "shop", "type": "http", "interval": 1, "config": {"url": target.url("/")}}
        await caller.made("/v1/monitors", monitor)

        async def both() -> bool:
            probes = (await caller.got("/v1/probes"))["data"]
            return [probe["lastSeenAt"] is None for probe in probes] == [False, False]

        await eventually(both)
        await target.wait_for(3)
        began = time.monotonic()
        assert product.stop() == 0
        assert time.monotonic() - began < 10


async def test_workers_end_with_their_supervisor_however_it_ends(database_url: str, tmp_path: Path) -> None:
    async with fleet(database_url, tmp_path) as made:
        collector = await made.collector(WORKERS="2")
        workers = await eventually(lambda: _workers(collector, 2))
        collector.send(signal.SIGKILL)

        async def gone() -> bool:
            return not any(_is_worker(pid) for pid in workers)

        await eventually(gone)


async def test_a_port_that_another_has_is_not_shared_with_it(database_url: str, tmp_path: Path) -> None:
    async with fleet(database_url, tmp_path) as made:
        with closing(socket.socket()) as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            other.bind(("127.0.0.1", 0))
            other.listen()
            taken = f"127.0.0.1:{other.getsockname()[1]}"
            with pytest.raises(AssertionError, match="cannot listen on"):
                await made.collector(WORKERS="2", HTTP_LISTEN=taken)
        [collector] = made.collectors
        assert collector.process is not None
        assert collector.process.wait(timeout=10) == 2


async def test_a_join_token_for_too_few_is_told_and_ends_it(database_url: str, tmp_path: Path) -> None:
    async with fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        probe = await made.probe("eu", collector, WORKERS="2")
        probe.stop()
        token = await made.made("/v1/probe-tokens", {"location": "eu", "uses": 1})
        few = Part("probe", tmp_path / "few", {**probe.settings, "JOIN_TOKEN": token["token"]})
        made.probes.append(few)
        few.start()
        assert few.process is not None
        assert few.process.wait(timeout=20) == 2
        assert "this join token was used already, by a probe with another key" in few.log
