"""All that a status page shows to the public, read at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.history.core import window
from collector.history.core.window import DAY, HOUR
from collector.history.service import statistics
from collector.history.service.statistics import DailyUptime
from collector.history.storage import monitor_stats
from collector.platform.storage.db import Db, Tx
from collector.status_pages.core.access import PageAccess
from collector.status_pages.core.bars import DAYS
from collector.status_pages.core.status_page import MAINTENANCE, Displayed, Status, of_page
from collector.status_pages.service import components as status_pages_components
from collector.status_pages.service import incidents as status_pages_incidents
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.incidents import PageIncidentDetails
from collector.status_pages.storage import access, speed, status_pages
from collector.status_pages.storage import incidents as table
from collector.status_pages.storage.incidents import PageIncidentFilter
from collector.status_pages.storage.speed import Hour
from collector.status_pages.storage.status_pages import StatusPage
from shared.errors import NotFound

# How many of the newest incidents are cached for the page, its history and its feeds; older ones are read
# in parts of the same size.
MOST: Final = 100
# Anyone may request every part in every language: this limits how many are read and rendered.
PARTS: Final = 20
# Uptimes and response times change by the hour: they are cached for this long.
_MEASURED_FOR: Final = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class PageView:
    """*daily*: the last days of the monitors that the page shows, by their ids.

    *hours*: their response times in the last 24 hours, without the current hour.
    *incidents*: the newest, and older ones that are still open, of *total*. *access*: of a private page.
    """

    page: StatusPage
    components: Sequence[ComponentDetails]
    daily: Mapping[UUID, DailyUptime]
    hours: Mapping[UUID, Sequence[Hour]]
    measured_at: datetime
    incidents: Sequence[PageIncidentDetails]
    total: int
    at: datetime
    access: PageAccess

    @property
    def last(self) -> int:
        """The number of the oldest part of the history; the newest is 1."""
        return min(max(1, -(-self.total // MOST)), PARTS)

    @property
    def status(self) -> Status:
        """The overall status, of the components and open incidents."""
        severe = [incident.row.components for incident in self.open if incident.row.severity == "critical"]
        # An incident without components is one of all.
        parts = [
            replace(seen.part, incident=any(not ids or seen.row.id in ids for ids in severe))
            for seen in self.components
        ]
        return of_page(parts, [incident.row.severity for incident in self.open])

    def daily_of(self, component: ComponentDetails) -> DailyUptime | None:
        """The days of a component's monitor; None without one, or if the page does not show them."""
        monitor = component.row.monitor_id
        return self.daily.get(monitor) if monitor and component.row.show_uptime else None

    @property
    def uptimes(self) -> list[float]:
        """The known uptimes of the monitors whose uptime is shown, each once."""
        shown = {seen.row.monitor_id: self.daily_of(seen) for seen in self.components}
        return [daily.uptime for daily in shown.values() if daily and daily.uptime is not None]

    @property
    def displayed(self) -> Displayed:
        """The status as displayed: unknown if it is operational only for lack of data."""
        unmeasured = bool(self.components) and all(seen.unknown for seen in self.components)
        return "unknown" if unmeasured and self.status == "operational" else self.status

    def equals_but_for_time(self, other: "PageView") -> bool:
        """Whether *other* differs only in its time."""
        same = replace(other, at=self.at, measured_at=self.measured_at)
        return self == same and (self.open, self.planned) == (other.open, other.planned)

    @property
    def open(self) -> list[PageIncidentDetails]:
        """Open incidents; maintenance only from its start."""
        return [
            incident
            for incident in self.incidents
            if incident.row.resolved_at is None and not self._ahead(incident)
        ]

    @property
    def planned(self) -> list[PageIncidentDetails]:
        """Future maintenance, soonest first."""
        ahead = [
            incident
            for incident in self.incidents
            if incident.row.resolved_at is None and self._ahead(incident)
        ]
        return sorted(ahead, key=lambda incident: incident.row.scheduled_start or self.at)

    @property
    def past(self) -> list[PageIncidentDetails]:
        """Past incidents, newest first."""
        return [incident for incident in self.incidents if incident.row.resolved_at is not None]

    def _ahead(self, incident: PageIncidentDetails) -> bool:
        start = incident.row.scheduled_start
        return incident.row.severity == MAINTENANCE and start is not None and start > self.at


async def load(
    db: Db, kind: str, address: str, now: datetime, before: PageView | None = None
) -> PageView | None:
    """Load the page, of any team, with this *address* of this *kind* (slug, domain).

    *before*: the previous view, whose measurements may be reused.
    """
    async with db.connection() as tx:
        page = await status_pages.at(tx, kind, address)
        if page is None:
            return None
        private = page.visibility == "private"
        entrance = await access.get(tx, page.team_id, page.id) if private else PageAccess()
        components = await status_pages_components.seen(tx, page.team_id, page.id, now)
        if before is not None and before.page.id == page.id and _is_still_measured(before, components, now):
            daily, hours, measured_at = before.daily, before.hours, before.measured_at
        else:
            daily, hours = await _measured(tx, page.team_id, components, now)
            measured_at = now
        newest = await status_pages_incidents.newest(tx, page.team_id, page.id, PageIncidentFilter(), MOST)
        # Open incidents are shown however old they are.
        open_ = await status_pages_incidents.newest(
            tx, page.team_id, page.id, PageIncidentFilter(open=True), MOST
        )
        total = len(newest)
        if total == MOST:
            total = await table.count(tx, page.team_id, page.id, PageIncidentFilter())
    known = {incident.row.id for incident in newest}
    incidents = [*newest, *(old for old in open_ if old.row.id not in known)]
    return PageView(page, components, daily, hours, measured_at, incidents, total, now, entrance)


async def past(db: Db, page: StatusPage, number: int) -> list[PageIncidentDetails]:
    """That part of a page's incidents, newest first."""
    async with db.connection() as tx:
        return await status_pages_incidents.newest(
            tx, page.team_id, page.id, PageIncidentFilter(), MOST, (number - 1) * MOST
        )


async def incident(db: Db, page: StatusPage, id_: UUID) -> PageIncidentDetails | None:
    """The incident of *page* with this id, if there is one."""
    try:
        return await status_pages_incidents.one(db, page.team_id, page.id, id_)
    except NotFound:
        return None


def _is_still_measured(before: PageView, components: Sequence[ComponentDetails], now: datetime) -> bool:
    fresh = timedelta() <= now - before.measured_at < _MEASURED_FOR
    return fresh and _monitors(before.components) == _monitors(components)


def _monitors(components: Sequence[ComponentDetails]) -> set[UUID]:
    return {seen.row.monitor_id for seen in components if seen.row.monitor_id}


async def _measured(
    tx: Tx, team_id: int, components: Sequence[ComponentDetails], now: datetime
) -> tuple[Mapping[UUID, DailyUptime], Mapping[UUID, Sequence[Hour]]]:
    ids = list(_monitors(components))
    if not ids:
        return {}, {}
    numbers_of = await monitor_stats.numbers(tx, team_id, ids)
    daily = await statistics.daily(tx, list(numbers_of.values()), DAYS, now)
    since = window.floor(now, HOUR) - DAY
    hours = await speed.hours(tx, list(numbers_of.values()), since)
    return (
        {id_: daily[number] for id_, number in numbers_of.items() if number in daily},
        {id_: hours[number] for id_, number in numbers_of.items() if number in hours},
    )
