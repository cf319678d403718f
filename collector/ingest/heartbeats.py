"""Pings on their way in: those of many senders are one transaction, which moves and decides them all."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from collector.core import heartbeat
from collector.core.heartbeat import Finding
from collector.core.pace import Pace
from collector.ingest.gathering import Gathering
from collector.ingest.pushes import Pushed, Pushes
from collector.services.heartbeats import Arrived
from collector.storage import heartbeats
from collector.storage.db import Db, Tx
from collector.storage.heartbeats import Heartbeat, Moved
from shared.errors import Limited

_MOST: Final = 1_000
_PER_SECOND: Final = 10
_BURST: Final = 100


class Heartbeats:
    """One per collector."""

    def __init__(self, db: Db, pushes: Pushes, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._pushes = pushes
        self._now = now
        self._pace = Pace(_PER_SECOND, _BURST)
        self._waiting: Gathering[Arrived, bool] = Gathering(self._commit, most=_MOST)

    async def take(self, ping: Arrived) -> bool:
        """True once it is committed and decided about; False if nobody has that key. Raises Limited."""
        if not self._pace.admit(ping.key_hash, time.monotonic()):
            raise Limited(f"A monitor takes {_PER_SECOND} pings a second, {_BURST} at once", retry_after=1)
        return await self._waiting.add(ping)

    async def turn(self) -> bool:
        return await self._waiting.turn()

    async def late(self, tx: Tx, found: Sequence[tuple[int, Finding]]) -> Callable[[], None]:
        """Store what a look found late, (monitor, what) each; the answer is to be called after the commit."""
        try:
            written = await self._pushes.write(tx, [result(monitor, said) for monitor, said in found])
        except BaseException:
            self._pushes.forget()
            raise
        return partial(self._pushes.settle, written)

    async def _commit(self, group: Sequence[Arrived]) -> Sequence[bool]:
        try:
            async with self._db.transaction() as tx:
                known = await heartbeats.lock(tx, sorted({one.key_hash for one in group}))
                mine = [one for one in group if one.key_hash in known]
                if not mine:
                    return [False] * len(group)
                moved, pushed = _moves(mine, known, self._now())
                await heartbeats.save(tx, moved)
                written = await self._pushes.write(tx, pushed)
                await _keep_bodies(tx, mine, pushed, written.ties)
        except BaseException:
            self._pushes.forget()
            raise
        self._pushes.settle(written)
        return [one.key_hash in known for one in group]


def _moves(
    group: Sequence[Arrived], known: dict[bytes, Heartbeat], now: datetime
) -> tuple[list[Moved], list[Pushed]]:
    """The heartbeats after these pings, which come in their order, and the result of each ping."""
    beats = {key: one.beat for key, one in known.items()}
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)
    pushed = []
    for one in group:
        found = known[one.key_hash]
        beats[one.key_hash], said = heartbeat.take(beats[one.key_hash], one.ping, found.plan, now)
        pushed.append(result(found.monitor, said))
    moved = [
        Moved(found, beats[key], heartbeat.awaited(beats[key], found.plan)) for key, found in known.items()
    ]
    return moved, pushed


def result(monitor: int, said: Finding) -> Pushed:
    """What a ping or its absence says, as it is stored."""
    return Pushed(monitor, said.status, said.at, said.ms, said.code, said.error)


async def _keep_bodies(
    tx: Tx, group: Sequence[Arrived], pushed: Sequence[Pushed], ties: Sequence[int | None]
) -> None:
    bodies = [
        (result.monitor, result.at, n, clean_body(one.body))
        for one, result, n in zip(group, pushed, ties, strict=True)
        if one.body and n is not None
    ]
    if bodies:
        await heartbeats.keep_bodies(tx, bodies)


def clean_body(body: bytes) -> str:
    """Text that PostgreSQL takes: what is no UTF-8 is replaced, NUL too."""
    return body.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
