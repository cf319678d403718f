"""A process whose loop stands still is ended and started again; the check that did it is not run again."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from shared import watcher
from tests.e2e.fleet import Fleet, fleet
from tests.e2e.product import eventually
from tests.probe.targets import sends, target
from tests.receiver import receiving

pytestmark = [pytest.mark.database, pytest.mark.slow]

TOLD = "this check stopped a probe"

# No check of ours does this: so each process of the product is given one that does, from outside.
STANDS = """
import sys
if sys.orig_argv[-1:] == ["probe"]:
    import re
    from probe.net import banner

    class Standing(banner.Banner):
        def feed(self, data):
            while data == b"stand in Python":
                pass
            if data == b"stand in C":
                re.match("(a+)+$", "a" * 60 + "b")
            return super().feed(data)

    banner.Banner = Standing
"""


@pytest.fixture(autouse=True)
def wrapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrapped").mkdir()
    (tmp_path / "wrapped" / "sitecustomize.py").write_text(STANDS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "wrapped"))


async def standing(made: Fleet, port: int) -> str:
    config = {"host": "127.0.0.1", "port": port, "expect": "fine"}
    body = {"type": "tcp", "interval": 1, "timeout": 1, "locations": ["eu"], "name": "standing"}
    return str((await made.made("/v1/monitors", {**body, "config": config}))["id"])


async def last_error(made: Fleet, monitor: str) -> str:
    results = (await made.got(f"/v1/monitors/{monitor}/results?limit=1"))["data"]
    return f"{results[0]['status']}: {results[0]['error']}" if results else ""


@pytest.mark.parametrize("where", ["Python", "C"])
async def test_what_stopped_a_probe_is_told_and_run_by_none(
    database_url: str, tmp_path: Path, where: str
) -> None:
    async with receiving() as good, fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        probe = await made.probe("eu", collector, WORKERS="2")
        await made.monitors(10, good.url("/"))
        await made.shared_by(2, 10)
        with target(sends(f"stand in {where}".encode())) as bad:
            monitor = await standing(made, bad.port)

            async def told() -> bool:
                return await last_error(made, monitor) == f"unknown: {TOLD}"

            await eventually(told, timeout_s=40)
            await made.shared_by(2, 11)
            assert probe.log.count("died; starting it again") == 1, "the other probe never had it"
            assert "stands still since" in probe.log
            assert "in feed" in probe.log, "the stack of what stood"
        with target(sends(b"fine")) as mended:
            config = {"host": "127.0.0.1", "port": mended.port, "expect": "fine"}
            await made.call("PUT", f"/v1/monitors/{monitor}", {"config": config})

            async def up() -> bool:
                return (await last_error(made, monitor)).startswith("up")

            await eventually(up, timeout_s=20)
        assert probe.stop() == 0


async def test_a_test_that_stopped_a_probe_is_not_run_again(database_url: str, tmp_path: Path) -> None:
    async with fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        probe = await made.probe("eu", collector)
        await eventually(lambda: _connected(made))
        with target(sends(b"stand in C")) as bad:
            config = {"host": "127.0.0.1", "port": bad.port, "expect": "fine"}
            asked = {"type": "tcp", "timeout": 1, "config": config}
            status, _ = await made.call("POST", "/v1/monitors/test", asked)
            assert status == 503
            assert probe.process is not None
            assert probe.process.wait(timeout=15) == -signal.SIGABRT
            probe.start()

            async def answered() -> str:
                status, answer = await made.call("POST", "/v1/monitors/test", asked)
                return str(answer["message"]) if status == 200 else ""

            assert await eventually(answered, timeout_s=30) == TOLD


async def _connected(made: Fleet) -> bool:
    return await made.rows("SELECT FROM probes WHERE session IS NOT NULL AND ended_at IS NULL") != []


LOOP = """
import asyncio, sys, time
from shared.watchdog import Watchdog
async def main():
    dog = Watchdog()
    print("begins", flush=True)
    await asyncio.sleep(2)
    if sys.argv[1] == "stands":
        time.sleep(60)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def test_who_stands_is_ended_and_who_was_stopped_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    stands, stopped, busy = (
        subprocess.Popen(
            [sys.executable, "-c", LOOP, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for how in ("stands", "stopped", "busy")
    )
    try:
        for each in (stands, stopped, busy):
            assert each.stdout is not None
            assert each.stdout.readline() == "begins\n"
        watchers = [child for each in (stopped, busy) for child in psutil.Process(each.pid).children()]
        assert len(watchers) == 2
        stopped.send_signal(signal.SIGSTOP)
        _, text = stands.communicate(timeout=30)
        time.sleep(2 * watcher.LONGEST_IN_A_CHECK_S)
        stopped.send_signal(signal.SIGCONT)
        with suppress(subprocess.TimeoutExpired):
            stopped.wait(timeout=3)

        assert stands.returncode == -signal.SIGABRT
        assert "stands still since 10 s" in text
        assert "line 9 in main" in text
        assert (stopped.poll(), busy.poll()) == (None, None)
        busy.kill()
        assert psutil.wait_procs(watchers[1:], timeout=5)[1] == [], "a watcher ends with whom it watches"
    finally:
        for each in (stands, stopped, busy):
            each.kill()
            each.communicate()
