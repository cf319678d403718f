"""Pings of the demonstration's jobs, through what receives all pings."""

import asyncio
from collections.abc import Iterable
from typing import Final

from collector.demo.storage import AssignedCheck
from collector.evaluation.ingest.pushes import Pushes
from collector.heartbeats import service
from collector.heartbeats.core.heartbeat import Ping, PingSignal
from collector.heartbeats.ingest import PingReceiver
from collector.heartbeats.service import ReceivedPing
from collector.platform.clock import TrustedClock
from collector.platform.storage.db import Db

# Pings of one moment that are taken together.
_AT_ONCE: Final = 8


async def ping(db: Db, team_id: int, jobs: Iterable[AssignedCheck], clock: TrustedClock) -> None:
    """Let each of *jobs* say that it is done."""
    receiver = PingReceiver(db, Pushes(db, clock=clock), clock=clock)
    arrived = [
        ReceivedPing(
            await service.key_of(db, team_id, job.id),
            Ping(PingSignal.GOOD, ms=1_000 * (20 + job.monitor % 90)),
            f"{job.name}: done, {job.monitor * 37 % 9_000} rows".encode(),
        )
        for job in jobs
    ]
    for start in range(0, len(arrived), _AT_ONCE):
        taken = asyncio.gather(
            *(receiver.take(received_ping) for received_ping in arrived[start : start + _AT_ONCE])
        )
        await receiver.turn()
        await taken
