"""Requests immediate checks: second opinions, and monitors that depend on a verdict."""

import secrets
from collections import deque
from datetime import datetime, timedelta

from collector.evaluation.evaluate import Evaluation
from collector.evaluation.storage import second_opinions
from collector.platform import metrics
from collector.platform.clock import Clock
from collector.platform.signals import Signals
from collector.platform.storage import signals
from collector.platform.storage.db import Db
from shared.loop import Bell
from shared.results import Run

# A check that cannot start within this time would come too late to matter.
WITHIN = timedelta(seconds=5)
# The same monitor is not checked again sooner.
AGAIN_AFTER = timedelta(seconds=5)
# Checks a second, and the burst: in an outage of everything the scheduled checks are enough.
A_SECOND = 200
SAVED_UP = 1000


class Opinions:
    """One per collector. Its state may be lost: what was not requested is checked at its scheduled time."""

    def __init__(self, db: Db, signals_: Signals, *, clock: Clock) -> None:
        self.bell = Bell()
        self._db = db
        self._signals = signals_
        self._clock = clock
        self._doubted: deque[int] = deque(maxlen=SAVED_UP)
        self._risen: deque[int] = deque(maxlen=SAVED_UP)
        self._asked: dict[int, datetime] = {}
        self._left = float(SAVED_UP)
        self._counted_at = clock.now()

    def request(self, evaluation: Evaluation) -> None:
        """Note the monitors that the next turn requests checks for."""
        if evaluation.doubted or evaluation.risen:
            self._doubted.extend(evaluation.doubted)
            self._risen.extend(evaluation.risen)
            self.bell.ring()

    async def turn(self) -> bool:
        now = self._clock.now()
        self._refill(now)
        doubted, risen = self._admit(self._doubted, now), self._admit(self._risen, now)
        if self._left < 1 or not (doubted or risen):
            return False
        async with self._db.transaction() as tx:
            places = await second_opinions.to_ask(tx, doubted, risen, int(self._left))
            wanted = [
                {
                    "session": at.session,
                    "id": secrets.randbits(63),
                    "run": Run.SECOND_OPINION,
                    "withinMs": WITHIN // timedelta(milliseconds=1),
                    "monitor": at.monitor,
                    "location": at.location,
                }
                for at in places
            ]
            if wanted:
                await signals.add_all(tx, "run", wanted, 2 * WITHIN)
        self._left -= len(places)
        metrics.second_opinions.inc(len(places))
        if places:
            self._signals.ring()
        return False

    def _refill(self, now: datetime) -> None:
        gained = max(0.0, (now - self._counted_at).total_seconds()) * A_SECOND
        self._left, self._counted_at = min(SAVED_UP, self._left + gained), now
        self._asked = {number: at for number, at in self._asked.items() if abs(now - at) < AGAIN_AFTER}

    def _admit(self, waiting: deque[int], now: datetime) -> list[int]:
        """All that wait, each once, except those requested just now."""
        admitted = [number for number in dict.fromkeys(waiting) if number not in self._asked]
        self._asked.update((number, now) for number in admitted)
        waiting.clear()
        return admitted
