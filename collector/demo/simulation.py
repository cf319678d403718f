"""Plays the past of a team: each part of the product acts at the moment that the simulation has come to."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.alerts.jobs.evaluator import Evaluator
from collector.alerts.jobs.watch import Watch
from collector.demo import probes
from collector.demo.probes import CheckReport, DemoProbe
from collector.evaluation.ingest.pushes import PushedResult, Pushes
from collector.evaluation.jobs.certificates import Certificates
from collector.evaluation.jobs.holds import Holds
from collector.evaluation.jobs.unmeasured import Unmeasured
from collector.evaluation.writer import ResultWriter
from collector.maintenance.jobs.news import MaintenanceNews
from collector.maintenance.jobs.windows import Maintenance
from collector.notifications.jobs.router import Router
from collector.platform.clock import Clock
from collector.platform.storage.db import Db
from collector.status_pages.jobs.pages import StatusPages
from collector.web3.jobs import Web3
from shared.kinds import ReceiverType
from shared.results import Status

MeasurementChange = Callable[[], Awaitable[bool]]
# So many results at most in a batch, as a probe sends them.
_BATCH: Final = 1_000
# Collectors are taken to have run for long.
_STEADY: Final = timedelta(hours=1)


def deciding_jobs(db: Db, clock: Clock) -> tuple[MeasurementChange, ...]:
    """The jobs that decide and announce what time or results have caused, in the order of their causes."""
    return (
        Holds(db, clock=clock).turn,
        Certificates(db, clock=clock).turn,
        MaintenanceNews(db, now=clock.now).turn,
        Web3(db, clock=clock).turn,
        Unmeasured(db, clock=clock).turn,
        StatusPages(db, now=clock.now).turn,
        Router(db).turn,
        Evaluator(db, now=clock.now).turn,
        Router(db).turn,
    )


async def exhaust(turns: Sequence[MeasurementChange]) -> None:
    """Let each job take turns until it has nothing to do at this moment."""
    for turn in turns:
        while await turn():
            pass


class Simulation:
    """A clock, which stands until `go_to`, and the jobs that go by it.

    *now* is the moment to begin at. *living*: the connected probes.
    """

    def __init__(self, db: Db, living: Sequence[DemoProbe], now: datetime) -> None:
        self._db = db
        self._moment = now
        self._living = {probe.id: probe for probe in living}
        self._watch = Watch(db)
        self._writer = ResultWriter(db, clock=self, watch=self._watch)
        self._pushes = Pushes(db, clock=self, watch=self._watch)
        jobs = deciding_jobs(db, self)
        # Of what a result or a person causes at once.
        self._soon = jobs[-3:]
        self._all = (Maintenance(db, now=self.now).turn, *jobs)

    def now(self) -> datetime:
        return self._moment

    def trusted_since(self) -> datetime:
        return self._moment - _STEADY

    async def go_to(self, moment: datetime) -> None:
        """Move on to *moment*; the probes are heard then."""
        self._moment = max(self._moment, moment)
        async with self._db.transaction() as tx:
            await probes.alive(tx, list(self._living.values()), self._moment)

    async def learn_rules(self) -> None:
        """Read which results the alert rules need."""
        await self._watch.turn()

    async def report(self, reports: Sequence[CheckReport]) -> None:
        """Store and evaluate results: those of checks through the writer, those of receivers as pushes."""
        checked: defaultdict[UUID, list[CheckReport]] = defaultdict(list)
        pushed: list[PushedResult] = []
        for one in reports:
            if one.check.probe_id is None:
                status = Status.DOWN if one.error else Status.UP
                samples = None if one.check.type == ReceiverType.HEARTBEAT else 40 + one.check.monitor % 200
                pushed.append(
                    PushedResult(one.check.monitor, status, one.at, one.ms, error=one.error, samples=samples)
                )
            else:
                checked[one.check.probe_id].append(one)
        for probe_id, theirs in checked.items():
            for start in range(0, len(theirs), _BATCH):
                part = theirs[start : start + _BATCH]
                done = self._writer.submit(probes.submission(self._living[probe_id], part))
                await self._writer.turn()
                await done
        if pushed:
            await asyncio.gather(self._pushes.push(pushed), self._pushes.turn())

    async def settle(self, *, whole: bool = False) -> None:
        """Let the product notify of what has just happened; *whole*: let all jobs look, too."""
        await exhaust(self._all if whole else self._soon)
