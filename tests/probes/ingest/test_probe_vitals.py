"""What the collector keeps of a blind probe, and how it tells one that stopped from one that is lost."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from collector.platform.storage.db import Db
from probe.link import credentials as files
from shared.ids import uuid7
from shared.wire.v1 import probe_pb2
from tests.pki import certified
from tests.probes.ground import enrol, eventually
from tests.probes.peer import Collector, collecting, connected, hello

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[3]


@pytest.fixture
async def collector(db: Db) -> AsyncIterator[Collector]:
    async with collecting(db) as one:
        yield one


async def row(collector: Collector) -> dict[str, Any]:
    await collector.sessions.turn()
    [found] = await collector.fetch("SELECT ended_at, stopped, blind_since FROM probes")
    return found


async def test_blindness_is_kept_from_its_first_word_to_the_first_of_sight(collector: Collector) -> None:
    async def blind_since() -> Any:
        return (await row(collector))["blind_since"]

    async with connected(collector, hello()) as peer:
        await peer.say(vitals=probe_pb2.Vitals(wall_us=1, blind=True))
        await eventually(blind_since)
        first = await blind_since()
        await peer.say(vitals=probe_pb2.Vitals(wall_us=2, blind=True))
        await asyncio.sleep(0.1)
        assert await blind_since() == first
        await peer.say(vitals=probe_pb2.Vitals(wall_us=3))

        async def sees() -> bool:
            return await blind_since() is None

        await eventually(sees)


async def _ended(collector: Collector) -> bool:
    return (await row(collector))["ended_at"] is not None


@pytest.mark.parametrize(
    ("number", "stopped"), [(signal.SIGTERM, True), (signal.SIGKILL, False)], ids=["stopped", "killed"]
)
async def test_a_probe_that_is_killed_is_lost(
    collector: Collector, tmp_path: Path, number: signal.Signals, stopped: bool
) -> None:
    probe_id = uuid7()
    await enrol(collector.db, probe_id, ["eu"])
    made = certified(collector.credentials.trust, ["eu"], probe_id=probe_id)
    files.own_key(tmp_path / "probe")
    (tmp_path / "probe" / "key.pem").write_bytes(made.key)
    files.save(tmp_path / "probe", made)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "probe", "--data-dir", str(tmp_path), "--collector",
        f"127.0.0.1:{collector.port}", "--canaries", "none", "--log-level", "error",
        cwd=ROOT, env={name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")},
    )  # fmt: skip
    try:

        async def connected_() -> bool:
            [found] = await collector.fetch("SELECT session FROM probes")
            return found["session"] is not None

        await eventually(connected_)
        process.send_signal(number)
        await process.wait()
        await eventually(lambda: _ended(collector))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (await row(collector))["stopped"] is stopped
