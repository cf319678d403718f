"""Takes updates for subscribers from their queue, at the pace that receivers accept."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

import structlog

from collector.platform import metrics
from collector.platform.storage.db import Db
from collector.status_pages.storage import news as table
from collector.status_pages.storage.news import SubscriberAttemptOutcome, SubscriberDelivery, Via
from shared import ids
from shared.clock import UtcClock
from shared.errors import Unavailable
from shared.loop import Bell

log = structlog.get_logger()

_SHORTEST_REST_S: Final = 1.0
_LONGEST_REST_S: Final = 30.0
_AGAIN: Final = timedelta(seconds=30)
# How often the event loop's delay is checked, and how large it may be.
_LOOK_S: Final = 0.02
_LATE_S: Final = 0.01
_FEWEST: Final = 4


@dataclass(frozen=True, slots=True)
class TryOutcome:
    """The result of an attempt: delivered if *error* is None; *wait*: until the next one, None: give up.

    *rest*: the error affects all letters, so pause sending.
    """

    wait: timedelta | None = None
    error: str | None = None
    rest: bool = False


class NoticeTransport(Protocol):
    """Takes letters to their receivers by one way, mail or webhook."""

    async def carry(self, letter: SubscriberDelivery, now: datetime) -> TryOutcome:
        """Make one attempt to deliver *letter*; return its result instead of raising it."""


class PageSender:
    """Sends letters. Any number may run. `shared.loop.forever` runs `turn` with *bell*; then call `close`.

    *most*: how many letters are under way at once; fewer while they slow down the rest of this process,
    because alerts come first.
    """

    def __init__(
        self,
        db: Db,
        via: Via,
        carrier: NoticeTransport,
        *,
        most: int,
        now: UtcClock,
    ) -> None:
        self._db = db
        self.via: Via = via
        self._carrier = carrier
        self._most = most
        self._share = min(_FEWEST, most)
        self._looked = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._now = now
        self.bell = Bell()
        self._flying: dict[tuple[UUID, int], tuple[SubscriberDelivery, asyncio.Task[None]]] = {}
        self._done: list[SubscriberAttemptOutcome] = []
        self._faults = 0
        self._rested_at = 0.0

    async def turn(self) -> bool:
        """Record finished attempts and start due ones. Return whether more are due."""
        done, self._done = self._done, []
        try:
            async with self._db.transaction() as tx:
                await table.finish(tx, done)
                room = self._room()
                claimed = await table.claim(tx, self.via, room) if room else []
        except BaseException:
            self._done[:0] = done
            raise
        if claimed and self._watch is None:
            self._look_later()
        for letter in claimed:
            task = asyncio.create_task(self._send(letter))
            self._flying[letter.id, letter.attempt] = (letter, task)
        if self.via == "webhook" or len(claimed) >= room:
            return False
        async with self._db.transaction() as tx:
            return await table.spread(tx)

    async def close(self, grace_s: float = 3.0) -> None:
        """Let attempts under way finish within *grace_s*, leave the rest to others, record everything."""
        if self._watch is not None:
            self._watch.cancel()
        tasks = [task for _, task in self._flying.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        left = [
            SubscriberAttemptOutcome(one.team_id, one.id, one.attempt, timedelta())
            for one, _ in self._flying.values()
        ]
        self._flying.clear()
        try:
            async with self._db.transaction() as tx:
                await table.finish(tx, [*self._done, *left])
        except Unavailable:
            log.warning("letter outcomes not recorded; will be retried", letters=len(self._done))

    def _room(self) -> int:
        """How many may start; after a general failure, one at a time tests whether it is over."""
        if time.monotonic() < self._rested_at:
            return 0
        return max((1 if self._faults else self._share) - len(self._flying), 0)

    def _look_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._looked = loop.time() + _LOOK_S
        self._watch = loop.call_at(self._looked, self._look)

    def _look(self) -> None:
        """Measure the event loop's delay and adapt the number of letters that may be under way."""
        late = asyncio.get_running_loop().time() - self._looked > _LATE_S
        self._share = (
            max(self._share - 1, min(_FEWEST, self._most)) if late else min(self._share + 1, self._most)
        )
        self._watch = None
        if self._flying:
            self._look_later()

    async def _send(self, letter: SubscriberDelivery) -> None:
        try:
            outcome = await self._carrier.carry(letter, self._now())
        except Exception:
            log.exception(
                "delivery attempt raised an exception", subscriber=ids.show("sub", letter.subscriber_id)
            )
            outcome = TryOutcome(_AGAIN, "something went wrong here")
        self._count(letter, outcome)
        del self._flying[letter.id, letter.attempt]
        self._done.append(SubscriberAttemptOutcome(letter.team_id, letter.id, letter.attempt, outcome.wait))
        self.bell.ring()

    def _count(self, letter: SubscriberDelivery, outcome: TryOutcome) -> None:
        if outcome.rest:
            rest_s = min(_SHORTEST_REST_S * 2 ** min(self._faults, 10), _LONGEST_REST_S)
            if time.monotonic() >= self._rested_at:
                self._faults += 1
                self._rested_at = time.monotonic() + rest_s
        else:
            self._faults = 0
        result = "sent" if outcome.error is None else "failed" if outcome.wait is None else "pending"
        metrics.page_letters.labels(self.via, result).inc()
        if outcome.error is not None:
            log.info(
                "subscriber not notified",
                subscriber=ids.show("sub", letter.subscriber_id),
                attempt=letter.attempt,
                again=outcome.wait is not None,
                error=outcome.error,
            )


async def close_all(senders: Sequence[PageSender]) -> None:
    await asyncio.gather(*(sender.close() for sender in senders))
