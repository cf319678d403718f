"""Who watches the watcher hears each minute that all is well, and nothing once anything is not."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import pytest
import structlog
from prometheus_client import REGISTRY

from collector.history.storage import partitions
from collector.ops.job_health import Pulse
from collector.ops.jobs.deadman import Deadman
from collector.platform.storage.db import Db
from collector.platform.transport import Transport
from collector.probes.storage import reads
from shared.clock import utc_now
from shared.errors import Unavailable
from tests.ports import free_port
from tests.probes.ground import connect, sign
from tests.receiver import Receiver, answer, receiving

NOW = utc_now()
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
SECRET = "hush-hush"


async def turn() -> bool:
    return False


class Ground:
    """A deployment of as many collectors as a test asks for, with one probe, whose clock the test moves."""

    def __init__(self, db: Db, receiver: Receiver, probe_id: UUID) -> None:
        self.db = db
        self.receiver = receiver
        self.probe_id: UUID | None = probe_id
        self.now = NOW
        self.transport = Transport(allow_private=True)
        self.switches: list[Deadman] = []
        self.pulses: list[Pulse] = []

    def collector(self, url: str | None = None) -> Deadman:
        pulse = Pulse(self._seconds)
        url = url or self.receiver.url(f"/ping/{SECRET}?team=ops")
        switch = Deadman(self.db, self.transport, url, pulse, now=self._clock)
        self.switches.append(switch)
        self.pulses.append(pulse)
        return switch

    async def passes(self, length: timedelta) -> int:
        """How many pings came in that time, in which all take their turns."""
        before, end = len(self.receiver.received), self.now + length
        while self.now < end:
            self.now += 5 * SECOND
            await self._lease_ages()
            if self.probe_id is not None:
                await sign(self.db, self.probe_id, self.now)
            await asyncio.gather(*(switch.turn() for switch in self.switches))
        return len(self.receiver.received) - before

    async def _lease_ages(self) -> None:
        """Leases go by the database's clock, which stands still here."""
        with suppress(Unavailable):
            async with self.db.transaction() as tx:
                await tx.execute("UPDATE leases SET until = until - $1::interval", 5 * SECOND)

    def _clock(self) -> datetime:
        return self.now

    def _seconds(self) -> float:
        return self.now.timestamp()


@pytest.fixture
async def ground(db: Db) -> AsyncIterator[Ground]:
    async with receiving() as receiver:
        made = Ground(db, receiver, await connect(db, "local", now=NOW))
        yield made
        await made.transport.close()


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    with structlog.testing.capture_logs() as entries:
        yield entries


def told(logged: list[Any]) -> list[str | None]:
    """Why no ping was sent, in turn; None: pings are sent."""
    return [entry.get("reason") for entry in logged if "all is well" in entry["event"]]


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("tocsin_deadman_pings_total", {"outcome": outcome}) or 0.0


async def test_while_all_is_well_it_is_pinged_each_minute(ground: Ground, logged: list[Any]) -> None:
    ground.collector()
    sent = counted("sent")

    assert await ground.passes(10 * SECOND) == 1
    assert await ground.passes(10 * MINUTE) == 10

    first = ground.receiver.received[0]
    assert (first.method, first.target, first.body) == ("GET", f"/ping/{SECRET}?team=ops", b"")
    assert counted("sent") - sent == 11
    assert told(logged) == [None]


async def test_one_of_several_collectors_pings_and_another_follows_when_it_is_gone(ground: Ground) -> None:
    for _ in range(3):
        ground.collector()
    assert await ground.passes(10 * MINUTE) in (10, 11)

    del ground.switches[0]
    assert await ground.passes(2 * MINUTE) >= 2
    del ground.switches[0]
    assert await ground.passes(2 * MINUTE) >= 2


async def test_a_database_that_takes_no_writes_stops_the_pings(
    ground: Ground, server_url: str, database_url: str, logged: list[Any]
) -> None:
    ground.collector()
    await ground.passes(MINUTE)
    ground.probe_id = None  # nobody can write that it is alive
    await _read_only(server_url, database_url, yes=True)

    assert await ground.passes(3 * MINUTE) == 0
    assert told(logged) == [None, "the database cannot be written to"]

    await _read_only(server_url, database_url, yes=False)
    async with ground.db.connection() as tx:
        [probe] = await reads.all_(tx)
    ground.probe_id = probe.probe_id
    assert await ground.passes(MINUTE) == 1
    assert told(logged)[2:] == [None]


async def test_work_that_stands_still_stops_the_pings_and_is_named(ground: Ground, logged: list[Any]) -> None:
    ground.collector()
    stuck = ground.pulses[0].felt("writer", turn, 1.0)
    await ground.passes(2 * MINUTE)

    assert await ground.passes(5 * MINUTE) <= 1
    assert told(logged) == [None, "work stands still: writer"]

    await stuck()
    assert await ground.passes(MINUTE) == 1
    assert told(logged)[2:] == [None]


async def test_work_that_stands_still_in_any_process_stops_the_pings(
    ground: Ground, logged: list[Any]
) -> None:
    ground.collector()
    ground.collector()
    stuck = [pulse.felt("writer", turn, 1.0) for pulse in ground.pulses]
    await ground.passes(2 * MINUTE)
    await stuck[0]()
    assert await ground.passes(MINUTE) <= 1  # the one that stands still may have been the one to ping

    await stuck[0]()
    assert await ground.passes(MINUTE) == 0
    assert "work stands still: writer" in told(logged)

    del ground.switches[1]  # restarted, or stopped for good
    await stuck[0]()
    assert await ground.passes(2 * MINUTE) >= 1


async def test_without_a_live_probe_there_are_no_pings(ground: Ground, logged: list[Any]) -> None:
    ground.collector()
    await ground.passes(MINUTE)
    probe_id, ground.probe_id = ground.probe_id, None

    await ground.passes(10 * SECOND)
    assert await ground.passes(5 * MINUTE) == 0
    assert told(logged) == [None, "no probe is live"]  # said once a ping was due

    ground.probe_id = probe_id
    assert await ground.passes(5 * SECOND) == 1


async def test_results_outside_of_every_day_stop_the_pings_until_they_have_one(
    ground: Ground, logged: list[Any]
) -> None:
    ground.collector()
    assert await ground.passes(MINUTE) >= 1
    async with ground.db.transaction() as tx:
        await tx.execute(
            "INSERT INTO results (ts, monitor, ms, location, n, run, status) VALUES ($1, 1, 1, 1, 1, 1, 1)",
            NOW,
        )
    assert await ground.passes(2 * MINUTE) == 0
    assert told(logged) == [None, "results are stored outside of every day"]

    async with ground.db.transaction() as tx:
        await partitions.make(tx, NOW.date())
    assert await ground.passes(MINUTE) >= 1


async def test_a_probe_that_drains_or_is_revoked_keeps_no_pings_up(ground: Ground) -> None:
    ground.collector()
    assert ground.probe_id is not None
    async with ground.db.transaction() as tx:
        await reads.drain(tx, ground.probe_id, NOW)
    assert await ground.passes(2 * MINUTE) == 0

    async with ground.db.transaction() as tx:
        await reads.drain(tx, ground.probe_id, None)
    assert await ground.passes(5 * SECOND) == 1

    async with ground.db.transaction() as tx:
        await reads.revoke(tx, ground.probe_id, NOW)
    assert await ground.passes(2 * MINUTE) == 0


async def test_pings_that_fail_are_told_once_and_hide_the_secret(ground: Ground, logged: list[Any]) -> None:
    ground.collector()
    failed = counted("failed")
    ground.receiver.always = answer(503)
    assert await ground.passes(3 * MINUTE) == 3
    ground.receiver.always = answer(302, {"Location": ground.receiver.url("/elsewhere")})
    assert await ground.passes(2 * MINUTE) == 2
    ground.receiver.always = answer()
    await ground.passes(2 * MINUTE)

    assert counted("failed") - failed == 5
    assert told(logged) == ["the ping failed: answered 503", "the ping failed: answered 302", None]
    assert SECRET not in str(logged)


async def test_nobody_there_is_a_failed_ping(ground: Ground, logged: list[Any], unused_port: int) -> None:
    ground.collector(f"http://user:{SECRET}@127.0.0.1:{unused_port}/{SECRET}")

    await ground.passes(2 * MINUTE)

    assert told(logged) == ["the ping failed: connection refused"]
    assert SECRET not in str(logged)


@pytest.fixture
def unused_port() -> int:
    return free_port()


async def test_a_clock_that_is_set_back_stops_no_pings(ground: Ground) -> None:
    ground.collector()
    await ground.passes(MINUTE)
    ground.now -= timedelta(hours=1)

    assert await ground.passes(2 * MINUTE) >= 2


async def _read_only(server_url: str, database_url: str, *, yes: bool) -> None:
    """As of a primary that became a standby: its sessions end, new ones may only read."""
    name = urlsplit(database_url).path[1:]
    admin = await asyncpg.connect(server_url)
    try:
        await admin.execute(
            f"ALTER DATABASE {name} SET default_transaction_read_only = {'on' if yes else 'off'}"
        )
        await admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
    finally:
        await admin.close()
