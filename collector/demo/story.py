"""What happens to the team of the demonstration, step by step, up to now."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any, Final

import orjson

from collector.alerts.service.followers import FOLLOWERS
from collector.demo import team
from collector.demo.core import fleet, past, setup
from collector.demo.core.fleet import PlannedMonitor
from collector.demo.core.past import DemoOutage, ResponseTimes
from collector.demo.probes import CheckReport
from collector.demo.simulation import Simulation
from collector.demo.storage import AssignedCheck
from collector.demo.team import DemoTeam
from collector.incidents.service import actions
from collector.incidents.storage import monitor_incidents
from collector.monitors.service import monitors
from collector.platform.context import ServiceContext
from collector.platform.monitor import Silence
from shared.findings import Finding, Findings
from shared.kinds.tls import Expiry

Step = Callable[[], Awaitable[None]]

_MINUTE: Final = timedelta(minutes=1)
_DAY: Final = timedelta(days=1)
# A repeated check of a failing monitor follows so soon.
_AGAIN: Final = timedelta(seconds=20)
# After so long an escalation was due.
_ESCALATED: Final = timedelta(minutes=16)
_NEARS: Final = "tls: certificate expires in {} days, 14 are wanted"
# Name, days left, days since the warning.
_EXPIRING: Final = (("Certificate cdn.example.com", 9, 5), ("Certificate docs.example.com", 12, 2))
_GAS: Final = {"current": "251.3", "threshold": "50", "unit": "gwei", "message": "gas costs 251.3 gwei"}
# Name, how long ago it began to come and go, and how often it did: one is well again.
_FLAPPING: Final = (
    ("Build server API", timedelta(days=11), 10),
    (fleet.FLAPPING, timedelta(minutes=29), 9),
)
_RAISED: Final = (
    ("Customers report wrong prices", timedelta(days=64), True),
    ("Newsletter was sent twice", timedelta(days=23), True),
    ("Phone support is understaffed", timedelta(hours=3), False),
)
_ERROR: Final = "HTTP 502: expected 200-299"
# Monitors that are paused, and silenced.
PAUSED: Final = ("Till 020", "Careers website", "Press website")
SILENCED: Final = ("Wiki website", "Mail POP3 mail")
_QUIET: Final = frozenset(
    (*fleet.NEW, *PAUSED, *(name for name, _, _ in _FLAPPING), *(name for name, _, _ in _EXPIRING))
)


class Story:
    """All steps, which `play` takes one after the other. *checks*: by the monitors' names."""

    def __init__(
        self,
        made: DemoTeam,
        simulation: Simulation,
        times: ResponseTimes,
        checks: Mapping[str, Sequence[AssignedCheck]],
        random: Random,
    ) -> None:
        self._made = made
        self._db = made.team.db
        self._simulation = simulation
        self._times = times
        self._checks = checks
        self._random = random
        self._steps: list[tuple[datetime, Step]] = []
        self._planned: dict[str, PlannedMonitor] = {}
        # The present error at each monitor and location that has any.
        self._errors: dict[tuple[int, int], str] = {}

    async def play(self, planned: Sequence[PlannedMonitor], now: datetime) -> None:
        """Let everything happen up to *now*."""
        self._planned = {monitor.name: monitor for monitor in planned}
        reporting = [monitor.name for monitor in planned if monitor.name not in fleet.NEW]
        self._at(self._simulation.now() + 11 * _MINUTE, partial(self._report_all, reporting))
        self._plan(planned, now)
        past_steps = [(at, step) for at, step in self._steps if at <= now]
        for at, step in sorted(past_steps, key=lambda step: step[0]):
            await self._simulation.go_to(at)
            await step()
        await self._simulation.go_to(now)
        await self._silence()
        await self._report_all([name for name in reporting if name not in PAUSED])

    def is_well(self, check: AssignedCheck) -> bool:
        """Whether the check finds no fault at present."""
        return not self._errors.get((check.monitor, check.location))

    def _plan(self, planned: Sequence[PlannedMonitor], now: datetime) -> None:
        began = self._simulation.now()
        calm = [monitor for monitor in planned if monitor.name not in _QUIET]
        for trouble in past.troubles(calm, now, self._random):
            self._plan_trouble(trouble)
        for name, ago, turns in _FLAPPING:
            for turn in range(turns):
                self._at(
                    now - ago + turn * 3 * _MINUTE, partial(self._change, name, "" if turn % 2 else _ERROR)
                )
        for name, days, ago_days in _EXPIRING:
            self._at(now - ago_days * _DAY, partial(self._expire, name, days))
        self._at(now - 200 * _MINUTE, self._gas)
        self._at(now - 3 * _DAY, self._pause)
        for week in range(1, past.DAYS // 7 + 1):
            self._at(began + week * 7 * _DAY, partial(self._simulation.settle, whole=True))
        for title, ago, over in _RAISED:
            self._at(now - ago, partial(self._raise, title, over=over))
        for ago, body, updates in setup.page_incidents(now):
            self._at(now - ago, partial(self._publish, body, updates))

    def _plan_trouble(self, trouble: DemoOutage) -> None:
        began = trouble.started_at + 2 * _AGAIN
        name, place = trouble.monitor.name, trouble.place
        self._at(began, partial(self._change, name, trouble.error, place))
        if place is not None:
            self._at(began + _MINUTE, partial(self._simulation.settle, whole=True))
        if trouble.ended_at is None:
            self._at(began + _ESCALATED, self._simulation.settle)
        else:
            self._at(max(trouble.ended_at, began + 2 * _MINUTE), partial(self._change, name, "", place))
        if trouble.taken_after is not None and place is None:
            at = max(trouble.started_at + trouble.taken_after, began + _MINUTE)
            self._at(at, partial(self._take, trouble))

    def _at(self, moment: datetime, step: Step) -> None:
        self._steps.append((moment, step))

    def _set(self, name: str, error: str, place: str | None = None) -> list[AssignedCheck]:
        """From now on the monitor fails so, or is well again, everywhere or at *place*."""
        concerned = [check for check in self._checks[name] if place in (None, check.place)]
        for check in concerned:
            self._errors[check.monitor, check.location] = error
        return concerned

    def _report(self, check: AssignedCheck, ago: timedelta = timedelta(seconds=1)) -> CheckReport:
        """What a check finds at present."""
        monitor, now = self._planned[check.name], self._simulation.now()
        ms = self._times.ms(monitor, now, "" if monitor.received else check.place, self._random)
        return CheckReport(check, now - ago, ms, self._errors.get((check.monitor, check.location), ""))

    async def _report_all(self, names: Sequence[str]) -> None:
        checks = [check for name in names for check in self._checks[name]]
        await self._simulation.report([self._report(check) for check in checks])
        await self._simulation.settle(whole=True)

    async def _change(self, name: str, error: str, place: str | None = None) -> None:
        """Enough results that a failure is confirmed, or one that is good."""
        concerned = self._set(name, error, place)
        times = 3 if error and not self._planned[name].received else 1
        reports = [
            self._report(check, n * _AGAIN + timedelta(seconds=1))
            for check in concerned
            for n in reversed(range(times))
        ]
        await self._simulation.report(reports)
        await self._simulation.settle()

    async def _take(self, trouble: DemoOutage) -> None:
        """Somebody acknowledges the incident, and writes what they found."""
        id_ = self._made.monitors[trouble.monitor.name]
        who = self._made.people[self._random.choice(("Platform lead", "First on call", "Second on call"))]
        async with self._db.transaction() as tx:
            incident = await monitor_incidents.newest(tx, self._made.team.team_id, id_)
        if incident is None or incident.resolved_at is not None:
            return
        now = self._simulation.now()
        await actions.acknowledge(self._db, FOLLOWERS, who, incident.id, now)
        if trouble.note:
            await actions.add_note(self._db, who, incident.id, trouble.note, now + _MINUTE)
        await self._simulation.settle()

    async def _expire(self, name: str, days: int) -> None:
        """A certificate comes near its end, which its check says with each result."""
        concerned, now = self._set(name, _NEARS.format(days)), self._simulation.now()
        state = Expiry(only_near=True, ends=int((now + days * _DAY).timestamp())).pack()
        reports = [
            replace(self._report(check, n * _AGAIN + timedelta(seconds=1)), state=state)
            for check in concerned
            for n in (2, 1, 0)
        ]
        await self._simulation.report(reports)
        await self._simulation.settle(whole=True)

    async def _gas(self) -> None:
        """A price crosses its threshold."""
        findings = [Finding(Findings.RAISED, "high_gas", orjson.dumps(_GAS))]
        reports = [
            replace(self._report(check), found=findings, state=b'{"raised":[]}')
            for check in self._checks["Gas on Ethereum"]
        ]
        await self._simulation.report(reports)
        await self._simulation.settle(whole=True)

    async def _raise(self, title: str, *, over: bool) -> None:
        """Somebody reports an incident that no monitor saw."""
        now, who = self._simulation.now(), self._made.people["Second on call"]
        body = {"title": title, "description": "Seen in the mail of support.", "severity": "medium"}
        incident, _ = await actions.raise_(self._db, who, body, now)
        if over:
            await actions.acknowledge(self._db, FOLLOWERS, who, incident.id, now + 4 * _MINUTE)
            await actions.resolve(
                self._db, who, incident.id, "Corrected, customers were told.", now + 95 * _MINUTE
            )
        await self._simulation.settle()

    async def _publish(self, body: Mapping[str, Any], updates: Sequence[tuple[timedelta, str, str]]) -> None:
        """Customers are told on the status page."""
        now = self._simulation.now()
        id_ = await team.publish(self._made, body, now)
        for later, status, message in updates:
            await team.post_update(self._made, id_, status, message, now + later)

    async def _pause(self) -> None:
        """A few monitors are not wanted for now."""
        team_id, now = self._made.team.team_id, self._simulation.now()
        for name in PAUSED:
            await monitors.pause(self._means(), team_id, self._made.monitors[name], now)

    async def _silence(self) -> None:
        """Nobody wants to hear of two monitors today."""
        where, now = self._made.team, self._simulation.now()
        for name in SILENCED:
            silence = Silence(duration=6 * 3600, reason="Known, fixed tomorrow")
            id_ = self._made.monitors[name]
            await monitors.silence(self._means(), where.team_id, id_, silence, where.admin.name, now)

    def _means(self) -> ServiceContext:
        where = self._made.team
        return ServiceContext(where.db, where.keyring, where.signals, min_interval=1, who=where.admin)
