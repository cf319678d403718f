"""Keeps the demonstration alive: its probes report, its jobs ping, and now and then something fails."""

from datetime import datetime, timedelta
from random import Random
from typing import Final
from uuid import uuid4

from collector.demo import heartbeats, probes, storage
from collector.demo.core import fleet
from collector.demo.core.past import ResponseTimes
from collector.demo.fill import SEED
from collector.demo.probes import CheckReport, DemoProbe
from collector.demo.simulation import Simulation
from collector.demo.storage import AssignedCheck
from collector.platform.storage import leases
from collector.platform.storage.db import Db
from shared.clock import EPOCH, UtcClock
from shared.kinds import ReceiverType

_LEASE: Final = "demonstration"
_LEASE_FOR: Final = timedelta(seconds=15)
# How often it is read what there is to report.
_READ_EVERY: Final = timedelta(seconds=30)
# In each such span some monitor fails, for less than the span.
_TROUBLE_EVERY: Final = timedelta(minutes=12)
_TROUBLE: Final = timedelta(minutes=4)
_FLAPS_EVERY: Final = timedelta(minutes=3)
_FLAPS: Final = "HTTP 502: expected 200-299"
# No planned outage has this one.
_ERROR: Final = "HTTP 500: expected 200-299"


class LiveWorld:
    """One per collector; the holder of the lease reports. Where nothing was filled, none does."""

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now
        self._id = uuid4()
        self._random = Random()  # noqa: S311 - noise of response times
        self._planned = {monitor.name: monitor for monitor in fleet.monitors(Random(SEED))}  # noqa: S311 - as it was filled
        self._times = ResponseTimes([])
        self._epoch: int | None = None
        self._living: list[DemoProbe] = []
        self._simulation: Simulation | None = None
        self._team_id: int | None = None
        self._checks: list[AssignedCheck] = []
        self._read_at = EPOCH
        self._reported_at = EPOCH

    async def turn(self) -> bool:
        """Report what has become due since the last turn."""
        now = self._now()
        async with self._db.transaction() as tx:
            epoch = await leases.take(tx, _LEASE, self._id, _LEASE_FOR)
        if epoch is None:
            self._epoch = None
            return False
        if epoch != self._epoch:
            await self._begin(now)
            # Looked for again until it is there: another collector may be filling it.
            self._epoch = epoch if self._simulation is not None else None
        if self._simulation is None:
            return False
        await self._simulation.go_to(now)
        if now - self._read_at >= _READ_EVERY:
            await self._read(now)
        await self._report(now)
        return False

    async def _begin(self, now: datetime) -> None:
        """Connect the probes, each with a new session."""
        async with self._db.connection() as tx:
            enrolled = await storage.demo_probes(tx, fleet.LOCATIONS)
        self._living = [DemoProbe(id_, place) for _, id_, place in enrolled]
        self._team_id = enrolled[0][0] if enrolled else None
        self._simulation = Simulation(self._db, self._living, now) if enrolled else None
        # Everything is due: nobody has reported for a while.
        self._read_at = self._reported_at = EPOCH
        for probe in self._living:
            await probes.connect(self._db, probe, now)

    async def _read(self, now: datetime) -> None:
        """Learn what is assigned, and let the jobs of this minute ping."""
        if self._team_id is None or self._simulation is None:
            return
        await self._simulation.learn_rules()
        known = {probe.id for probe in self._living}
        async with self._db.connection() as tx:
            checks = await storage.assigned(tx, self._team_id)
        mine = [check for check in checks if check.name in self._planned and check.name not in fleet.NEW]
        self._checks = [check for check in mine if check.probe_id in known or self._pushes(check)]
        self._read_at = now
        jobs = [
            check
            for check in mine
            if check.type == ReceiverType.HEARTBEAT and not check.failing and self._due(check, now)
        ]
        await heartbeats.ping(
            self._db, self._team_id, (check for check in jobs if self._due(check, now)), self._simulation
        )

    def _pushes(self, check: AssignedCheck) -> bool:
        return check.type in fleet.RECEIVED - {ReceiverType.HEARTBEAT}

    def _due(self, check: AssignedCheck, now: datetime) -> bool:
        """Whether the interval of the check has come round since the last report."""
        interval = self._planned[check.name].interval_s
        phase = check.monitor * 7_919 + check.location * 101
        since = self._read_at - _READ_EVERY if check.type == ReceiverType.HEARTBEAT else self._reported_at
        return (now.timestamp() + phase) // interval > (since.timestamp() + phase) // interval

    async def _report(self, now: datetime) -> None:
        due = [check for check in self._checks if self._due(check, now) or self._turns(check, now)]
        self._reported_at = now
        if self._simulation is not None and due:
            await self._simulation.report([self._result(check, now) for check in due])

    def _result(self, check: AssignedCheck, now: datetime) -> CheckReport:
        planned = self._planned[check.name]
        place = "" if planned.received else check.place
        ms = self._times.ms(planned, now, place, self._random)
        return CheckReport(check, now - timedelta(milliseconds=50), ms, self._error(check, now))

    def _error(self, check: AssignedCheck, now: datetime) -> str:
        """What was down when the world was filled stays so; something else fails for a while."""
        if check.name == fleet.FLAPPING:
            return _FLAPS if (now - EPOCH) // _FLAPS_EVERY % 2 else ""
        if check.failing and check.error != _ERROR:
            return check.error
        return _ERROR if self._unlucky(now) == check.name else ""

    def _turns(self, check: AssignedCheck, now: datetime) -> bool:
        """Whether a failing monitor is checked again at once, or has just recovered."""
        if check.name == fleet.FLAPPING:
            return (now - EPOCH) % _FLAPS_EVERY < _TROUBLE / 8
        return self._unlucky(now) == check.name or (check.failing and check.error == _ERROR)

    def _unlucky(self, now: datetime) -> str:
        """The monitor that fails at the moment; empty for none."""
        span, within = divmod(now - EPOCH, _TROUBLE_EVERY)
        if within >= _TROUBLE:
            return ""
        names = sorted(name for name, monitor in self._planned.items() if monitor.type == "http")
        return Random(span).choice(names)  # noqa: S311 - the same for this whole span
