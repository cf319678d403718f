"""Writes what three months of checks leave: the results of the last day, and the rollups before."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from random import Random
from typing import Final
from uuid import UUID

from collector.demo import storage
from collector.demo.core import numbers, past
from collector.demo.core.fleet import PlannedMonitor
from collector.demo.core.numbers import Span, ms_of
from collector.demo.core.past import ResponseTimes
from collector.demo.probes import CheckReport, batch_of
from collector.demo.storage import AssignedCheck
from collector.evaluation.error_texts import Interner
from collector.evaluation.ingest.columns import Part, flatten
from collector.history.core.rollup import Rollup
from collector.history.storage import partitions, results, rollups
from collector.platform.storage.db import Db

# A monitor's number, and its rollup.
Kept = tuple[int, Rollup]
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
# So long are single results there, and the rollups of hours.
RESULTS: Final = 26 * HOUR
HOURS: Final = timedelta(days=14)
_PART: Final = 5_000
_ROWS: Final = 50_000
_NOBODY: Final = UUID(int=0)
_FOREVER: Final = 2**53
# Hours of monitors that are rolled up in one transaction.
_PAIRS: Final = 2_000
_ALL: Final = 1_000_000


class History:
    """The history of one team until *now*, from its plan and from the outages that the product decided."""

    def __init__(
        self,
        db: Db,
        team_id: int,
        planned: Sequence[PlannedMonitor],
        times: ResponseTimes,
        now: datetime,
        random: Random,
    ) -> None:
        self._db = db
        self._team_id = team_id
        self._planned = planned
        self._times = times
        self._now = now
        self._random = random
        self._down: defaultdict[tuple[int, int], list[Span]] = defaultdict(list)
        # From here on single results are stored, and rolled up from them.
        self._since = now.replace(minute=0, second=0, microsecond=0) - RESULTS

    async def write(
        self, checks: Mapping[str, Sequence[AssignedCheck]], away: Mapping[str, Sequence[Span]]
    ) -> None:
        """Write it for *checks*, by the monitors' names; *away*: their maintenance."""
        async with self._db.transaction() as tx:
            for monitor, location, since, until in await storage.outages(tx, self._team_id):
                span = ms_of(since), _FOREVER if until is None else ms_of(until)
                self._down[monitor, location].append(span)
        await self._drop_old()
        await self._store(checks)
        await self._load(checks, away)
        await self._roll(checks)

    async def _drop_old(self) -> None:
        """Drop the days before single results begin, and the marks on hours that those alone could give."""
        async with self._db.transaction() as tx:
            for name in await partitions.before(tx, (self._since - DAY).date()):
                await partitions.drop(tx, name)
            await rollups.done(tx, self._since)
            while await rollups.take_marks(tx, self._now - 2 * past.HISTORY, self._now, _ALL):
                pass

    async def _store(self, checks: Mapping[str, Sequence[AssignedCheck]]) -> None:
        """Copy the results of the last day, as the writer does."""
        interner, seq, part = Interner(self._db), 0, list[CheckReport]()
        for one in self._planned:
            for check in checks.get(one.name, ()):
                part += self._reports(one, check)
            if len(part) >= _PART:
                seq += 1
                await self._copy(interner, part, seq)
                part = []
        await self._copy(interner, part, seq + 1)

    async def _copy(self, interner: Interner, part: Sequence[CheckReport], seq: int) -> None:
        if not part:
            return
        batch = batch_of(part, seq)
        errors = await interner.numbers(set(batch.errors))
        columns = flatten([Part(_NOBODY, 0, 0, batch)], errors, self._now)
        async with self._db.transaction() as tx:
            await results.copy(tx, columns.rows)

    def _reports(self, one: PlannedMonitor, check: AssignedCheck) -> Iterator[CheckReport]:
        interval = timedelta(seconds=one.interval_s)
        place = "" if one.received else check.place
        down = self._down[check.monitor, check.location]
        at = self._since - interval * self._random.random()
        while at < self._now - timedelta(seconds=30):
            ms = self._times.ms(one, at, place, self._random)
            moment = ms_of(at)
            fails = any(since <= moment < until for since, until in down)
            error = (check.error or past.error_of(one, self._random)) if fails else ""
            yield CheckReport(check, at, ms, error)
            at += interval

    async def _load(
        self, checks: Mapping[str, Sequence[AssignedCheck]], away: Mapping[str, Sequence[Span]]
    ) -> None:
        """Load the rollups of the hours and days for which there are no results."""
        hours: list[Kept] = []
        days: list[Kept] = []
        for one in self._planned:
            known = checks.get(one.name, ())
            if not known:
                continue
            of_hours, of_days = self._rollups(one, known, away.get(one.name, ()))
            hours += [(known[0].monitor, row) for row in of_hours]
            days += [(known[0].monitor, row) for row in of_days]
            if len(hours) >= _ROWS:
                await self._keep(hours, days)
        await self._keep(hours, days)

    async def _keep(self, hours: list[Kept], days: list[Kept]) -> None:
        async with self._db.transaction() as tx:
            await rollups.load(tx, "hour", hours)
            await rollups.load(tx, "day", days)
        hours.clear()
        days.clear()

    def _rollups(
        self, one: PlannedMonitor, known: Sequence[AssignedCheck], away: Sequence[Span]
    ) -> tuple[list[Rollup], list[Rollup]]:
        """The rollups of hours and days of a monitor before single results begin."""
        hours: list[Rollup] = []
        days: list[Rollup] = []
        first_hour = datetime.combine((self._now - HOURS).date(), time(), UTC)
        day = datetime.combine((self._now - past.HISTORY).date(), time(), UTC)
        while day < self._since:
            if day < first_hour:
                days += self._row(one, known, (day, day + DAY), away)
            else:
                count = min(24, (self._since - day) // HOUR)
                of_day = [
                    self._row(one, known, (day + n * HOUR, day + (n + 1) * HOUR), away) for n in range(count)
                ]
                hours += [row for rows in of_day for row in rows]
                if count == 24:
                    days += [numbers.of_day(rows) for rows in zip(*of_day, strict=True)]
            day += DAY
        return hours, days

    def _row(
        self,
        one: PlannedMonitor,
        known: Sequence[AssignedCheck],
        span: tuple[datetime, datetime],
        away: Sequence[Span],
    ) -> list[Rollup]:
        """Its locations' rows over *span*, and its own."""
        rows = [
            numbers.of_span(
                one,
                (check.location, "" if one.received else check.place),
                span,
                self._down[check.monitor, check.location],
                away,
                self._times,
                self._random,
            )
            for check in known
        ]
        return [*rows, numbers.together(rows, self._down[known[0].monitor, 0])]

    async def _roll(self, checks: Mapping[str, Sequence[AssignedCheck]]) -> None:
        """Roll up the hours of the single results, as the product's job does."""
        until = self._now.replace(minute=0, second=0, microsecond=0)
        monitors = sorted({check.monitor for known in checks.values() for check in known})
        pairs = [
            (monitor, self._since + n * HOUR)
            for monitor in monitors
            for n in range((until - self._since) // HOUR)
        ]
        for start in range(0, len(pairs), _PAIRS):
            async with self._db.transaction() as tx:
                await rollups.make(tx, pairs[start : start + _PAIRS])
        async with self._db.transaction() as tx:
            await rollups.done(tx, until)
