"""Decides whether a failure is the target's or the probe's: it asks its canaries first.

If canaries have answered since the start and now all fail to answer, the probe is blind. While blind, it
reports every target except its own machine as unknown; and no failure is reported before a canary, asked
after it, has answered.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

import structlog

from probe.net.local import is_own
from probe.schedule.canaries import PATIENCE_S, Canary
from probe.schedule.runner import CheckRun
from shared.clock import MicrosecondClock
from shared.clock import boot_us as clock_boot_us
from shared.loop import Bell
from shared.results import Outcome, Status

log = structlog.get_logger()

_CALM_US: Final = 10_000_000
# However many checks fail, the canaries are not asked more often than this.
_LEAST_APART_S: Final = 0.1
# If a round exceeds its time limit by this much, the process was suspended; the round is ignored.
_HELD_UP_US: Final = int((PATIENCE_S + 0.5) * 1_000_000)
# How long a failure waits at most for the canaries.
_LONGEST_HOLD_S: Final = 3.0
_NOTHING_SEEN: Final = Outcome(Status.UNKNOWN, error="the probe is blind: none of its canaries answers")

BucketRequest = Callable[[Canary], Awaitable[bool]]


class Egress:
    """*find* returns the current canaries; *ask* returns within about a second whether one answers."""

    def __init__(
        self,
        find: Callable[[], Sequence[Canary]],
        ask: BucketRequest,
        boot_us: MicrosecondClock = clock_boot_us,
    ) -> None:
        self._find = find
        self._ask = ask
        self._boot_us = boot_us
        self._canaries = list(find())
        self._proven: set[Canary] = set()
        self._rounds = 0
        self._wanted = 0  # waiting for the next round
        self._asked_us = 0
        self._began_us = 0  # start of the last conclusive round
        self._blind_us = 0  # when the probe was last blind
        self._ended = asyncio.Event()
        self.bell = Bell()
        self.blind = False
        self.answering = 0

    @property
    def proven(self) -> int:
        """The number of canaries that have answered since the start."""
        return len(self._proven)

    async def turn(self) -> bool:
        """Ask now and then, every second while blind, and at once when a failure waits."""
        since_us = self._boot_us() - self._asked_us
        if self._rounds and not self.blind and not self._wanted and since_us < _CALM_US:
            return False
        if self.blind or not self._proven:
            self._canaries = list(dict.fromkeys([*self._find(), *self._proven]))
        await self._round(whole=not self._wanted or not self._rounds)
        await asyncio.sleep(_LEAST_APART_S)
        return self._wanted > 0

    async def downgrade_if_blind(self, ran: CheckRun) -> CheckRun:
        """The result to report: *ran* itself, or unknown. Successful checks do not wait."""
        outcome = ran.outcome
        if outcome.status is Status.UNKNOWN or (outcome.status is Status.UP and not self.blind):
            return ran
        if outcome.address and is_own(outcome.address):
            return ran
        if not self.blind:
            await self._look(ran.start_us + ran.duration_us)
        was_blind = outcome.status is Status.DOWN and ran.start_us < self._blind_us
        return replace(ran, outcome=_NOTHING_SEEN) if self.blind or was_blind else ran

    async def _look(self, since_us: int) -> None:
        """Wait until canaries asked after *since_us* have answered, or are known to be silent."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_HOLD_S):
                while (self._proven or not self._rounds) and not self.blind and self._began_us < since_us:
                    await self._next()

    async def _next(self) -> None:
        self._wanted += 1
        self.bell.ring()
        try:
            await self._ended.wait()
        finally:
            self._wanted -= 1

    async def _round(self, *, whole: bool) -> None:
        """Ask all canaries; unless *whole*, the first answer ends the round."""
        began_us = self._asked_us = self._boot_us()
        answered: set[Canary] = set()

        async def one(canary: Canary) -> None:
            if await self._ask(canary):
                answered.add(canary)
                self._see(canary, began_us)

        asking = {asyncio.create_task(one(canary)) for canary in self._canaries}
        try:
            while asking and (whole or not answered):
                done, asking = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            for task in asking:
                task.cancel()
        if whole:
            self.answering = len(answered)
        self._rounds += 1
        if answered or self._boot_us() - began_us < _HELD_UP_US:
            if not answered:
                self._miss()
            self._wake(began_us)

    def _see(self, canary: Canary, began_us: int) -> None:
        self._proven.add(canary)
        if self.blind:
            self.blind = False
            self._blind_us = self._boot_us()
            # Canaries that are silent since the network was reconfigured no longer count.
            self._proven = {canary}
            log.info("probe is no longer blind", canary=str(canary))
        self._wake(began_us)

    def _miss(self) -> None:
        if not self._proven:
            return
        self._blind_us = self._boot_us()
        if not self.blind:
            self.blind = True
            log.warning("probe is blind: no canary answers", canaries=sorted(map(str, self._proven)))

    def _wake(self, began_us: int) -> None:
        """Wake those who wait."""
        self._began_us = began_us
        ended, self._ended = self._ended, asyncio.Event()
        ended.set()
