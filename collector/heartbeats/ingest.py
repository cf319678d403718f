"""Receives pings and commits those of many senders in one transaction."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from collector.evaluation.ingest.pushes import PushedResult, Pushes
from collector.evaluation.storage import locks
from collector.heartbeats.core import heartbeat
from collector.heartbeats.core.heartbeat import HeartbeatResult, PingSignal
from collector.heartbeats.service import ReceivedPing
from collector.heartbeats.storage import heartbeats, ping_bodies
from collector.heartbeats.storage.heartbeats import GoodPing, HeartbeatRow, MovedHeartbeat
from collector.platform import pace
from collector.platform.clock import Clock
from collector.platform.group_commit import FirstCome, GroupCommit
from collector.platform.pace import PaceLimit, PaceLimiter
from collector.platform.storage.db import Db, Tx
from shared.errors import Limited

_MOST: Final = 1_000
_RATE: Final = PaceLimit(10, 100)


@dataclass(frozen=True, slots=True)
class _PingOutcome:
    """The outcome of pings, and what to write."""

    answers: "Sequence[_Answer]"
    moved: Sequence[MovedHeartbeat]
    pings: Sequence[ReceivedPing]
    pushed: Sequence[PushedResult]


# Per ping: how far it is ahead of the pace, None for an unknown key, or the error.
_Answer: TypeAlias = float | Exception | None


class PingReceiver:
    """Receives pings; one per collector."""

    def __init__(self, db: Db, pushes: Pushes, *, clock: Clock, ordered: Db | None = None) -> None:
        """*ordered*: the same database, by connections with the settings `locks.INDEX_JOINS`."""
        self._db = db
        self._ordered = ordered
        self._pushes = pushes
        self._clock = clock
        # The limit of one collector; the rows of the heartbeats limit all of them together.
        self._pace = PaceLimiter(_RATE.per_second, _RATE.burst)
        self._waiting: GroupCommit[ReceivedPing, float | None] = GroupCommit(
            self._carry_out, FirstCome(_MOST)
        )
        self._others: GroupCommit[ReceivedPing, float | None] = GroupCommit(self._commit, FirstCome(_MOST))

    async def take(self, ping: ReceivedPing) -> float | None:
        """Return, once it is committed and evaluated, how many seconds the key's pings are ahead of the pace.

        None for an unknown key. Raises Limited.
        """
        if not self._pace.admit(ping.key_hash, time.monotonic()):
            raise _too_many()
        return await self._waiting.add(ping)

    async def turn(self) -> bool:
        return await self._waiting.turn()

    async def store_overdue(
        self, tx: Tx, findings: Sequence[tuple[int, HeartbeatResult]]
    ) -> Callable[[], None]:
        """Store overdue findings, (monitor, finding) each; return the function to call after the commit."""
        try:
            written = await self._pushes.write(
                tx, [result(monitor, finding) for monitor, finding in findings]
            )
        except BaseException:
            self._pushes.forget()
            raise
        return partial(self._pushes.settle, written)

    async def _carry_out(self, group: Sequence[ReceivedPing]) -> Sequence[_Answer]:
        """Commit good pings of healthy jobs together, then all others, of which bad ones fail alone."""
        good = await self._commit_good([ping for ping in group if ping.ping.sign is PingSignal.GOOD])
        others = {id(ping): self._others.add(ping) for ping in group if id(ping) not in good}
        with suppress(Exception):  # the failure is the answer of those pings
            while not all(done.done() for done in others.values()):
                await self._others.turn()
        return [good[id(ping)] if id(ping) in good else _answer(others[id(ping)]) for ping in group]

    async def _commit_good(self, group: Sequence[ReceivedPing]) -> dict[int, float]:
        """Take pings that affect only their own rows, one per key, by one statement.

        Return how far each is ahead, by the identity of the ping.
        """
        if not group:
            return {}
        first = {ping.key_hash: ping for ping in reversed(group)}
        good = [GoodPing(key, heartbeat.run_time(first[key].ping)) for key in sorted(first)]
        alone = not self._pushes.watches and not any(ping.body for ping in first.values())
        async with self._for_good(alone=alone) as tx:
            now = self._moment()
            taken = await heartbeats.take_good(tx, good, _RATE, secrets.randbits(15), now)
            bodies = [
                (beat.monitor, now, beat.n, clean_body(body))
                for beat in taken
                if (body := first[beat.key_hash].body)
            ]
            if bodies:
                await ping_bodies.keep(tx, bodies)
            await self._pushes.mark_good(tx, [(beat.monitor, beat.ms) for beat in taken])
        self._pushes.count(len(taken))
        return {id(first[beat.key_hash]): beat.ahead_s for beat in taken}

    @asynccontextmanager
    async def _for_good(self, *, alone: bool) -> AsyncIterator[Tx]:
        """A transaction whose joins use indexes; *alone*: of one statement, which needs no BEGIN and COMMIT.

        Each of those costs a round trip, for which all pings that have come meanwhile wait.
        """
        if self._ordered is None:
            async with self._db.transaction() as tx:
                await locks.begin(tx)
                yield tx
        else:
            async with self._ordered.connection() if alone else self._ordered.transaction() as tx:
                yield tx

    async def _commit(self, group: Sequence[ReceivedPing]) -> Sequence[_Answer]:
        try:
            async with self._db.transaction() as tx:
                known = await heartbeats.lock(tx, sorted({ping.key_hash for ping in group}))
                taken = _taken(group, known, self._moment())
                if not taken.pings:
                    return taken.answers
                await heartbeats.save(tx, taken.moved)
                written = await self._pushes.write(tx, taken.pushed)
                await _keep_bodies(tx, taken, written.ties)
        except BaseException:
            self._pushes.forget()
            raise
        self._pushes.settle(written)
        return taken.answers

    def _moment(self) -> datetime:
        """Return now in whole milliseconds, as results are stored."""
        now = self._clock.now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)


def _taken(group: Sequence[ReceivedPing], known: Mapping[bytes, HeartbeatRow], now: datetime) -> _PingOutcome:
    """Apply these pings in their order."""
    beats = {key: before.beat for key, before in known.items()}
    ahead = {key: before.ahead_s for key, before in known.items()}
    answers: list[_Answer] = []
    pings, pushed = [], []
    for ping in group:
        key = ping.key_hash
        stepped = pace.step(ahead[key], _RATE) if key in known else None
        answers.append(_too_many() if stepped is None and key in known else stepped)
        if stepped is None:
            continue
        ahead[key] = stepped
        beats[key], finding = heartbeat.take(beats[key], ping.ping, known[key].plan, now)
        pings.append(ping)
        pushed.append(result(known[key].monitor, finding))
    moved = [
        MovedHeartbeat(before, beats[key], heartbeat.awaited(beats[key], before.plan), ahead[key])
        for key, before in known.items()
    ]
    return _PingOutcome(answers, moved, pings, pushed)


def _answer(done: "asyncio.Future[float | None]") -> _Answer:
    error = done.exception()
    return error if isinstance(error, Exception) else done.result()


def _too_many() -> Limited:
    limit = f"A monitor takes {_RATE.per_second:g} pings a second, {_RATE.burst} at once"
    return Limited(limit, retry_after=1)


def result(monitor: int, finding: HeartbeatResult) -> PushedResult:
    """Return a finding as a result to store."""
    return PushedResult(monitor, finding.status, finding.at, finding.ms, finding.code, finding.error)


async def _keep_bodies(tx: Tx, taken: _PingOutcome, ties: Sequence[int | None]) -> None:
    bodies = [
        (result.monitor, result.at, n, clean_body(ping.body))
        for ping, result, n in zip(taken.pings, taken.pushed, ties, strict=True)
        if ping.body and n is not None
    ]
    if bodies:
        await ping_bodies.keep(tx, bodies)


def clean_body(body: bytes) -> str:
    """Return text that PostgreSQL accepts: invalid UTF-8 and NUL are replaced."""
    return body.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
