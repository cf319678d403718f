"""A collector and a probe report to a service manager: ready once they work, beats, and that they stop."""

import asyncio
import socket
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.fleet import fleet

pytestmark = [pytest.mark.database, pytest.mark.slow]


async def test_both_programs_report_readiness_beats_and_the_end(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def heard() -> str:
        async with asyncio.timeout(30):
            return (await asyncio.get_running_loop().sock_recv(manager, 4096)).decode()

    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "1500000")
        async with fleet(database_url, tmp_path) as made:
            collector = await made.collector()
            assert [await heard() for _ in range(3)] == ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]
            assert collector.stop() == 0
            while (last := await heard()) == "WATCHDOG=1":
                pass
            assert last == "STOPPING=1"

            monkeypatch.delenv("WATCHDOG_USEC")
            collector = await made.collector()
            assert await heard() == "READY=1"
            probe = await made.probe("eu", collector)
            assert await heard() == "READY=1"
            assert probe.stop() == 0
            assert await heard() == "STOPPING=1"
