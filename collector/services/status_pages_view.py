"""All that a status page shows to the public, read at one moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.core.statuspage import MAINTENANCE, Status, meant, overall
from collector.core.statuspage_bars import DAYS
from collector.services import statistics, status_pages_components, status_pages_incidents
from collector.services.statistics import Daily
from collector.services.status_pages_components import Seen
from collector.services.status_pages_incidents import Told
from collector.storage import monitor_stats, status_pages
from collector.storage.db import Db, Tx
from collector.storage.status_pages import Page
from collector.storage.status_pages_incidents import Wanted

# So many of the newest incidents are kept at hand for the page, its history and its feeds.
_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class View:
    """*daily*: the last days of the monitors that the page may tell of, by their ids."""

    page: Page
    components: Sequence[Seen]
    daily: Mapping[UUID, Daily]
    incidents: Sequence[Told]
    at: datetime

    @property
    def status(self) -> Status:
        """The worst of what the components show, and of what is told that goes on."""
        told = [meant(told.row.severity) for told in self.open]
        return overall([*(seen.shown.status for seen in self.components), *told])

    @property
    def open(self) -> list[Told]:
        """What goes on; maintenance only from its start."""
        return [told for told in self.incidents if told.row.resolved_at is None and not self._ahead(told)]

    @property
    def planned(self) -> list[Told]:
        """Maintenance that is to come, soonest first."""
        ahead = [told for told in self.incidents if told.row.resolved_at is None and self._ahead(told)]
        return sorted(ahead, key=lambda told: told.row.scheduled_start or self.at)

    @property
    def past(self) -> list[Told]:
        """What is over, newest first."""
        return [told for told in self.incidents if told.row.resolved_at is not None]

    def _ahead(self, told: Told) -> bool:
        start = told.row.scheduled_start
        return told.row.severity == MAINTENANCE and start is not None and start > self.at


async def load(db: Db, slug: str, now: datetime) -> View | None:
    """The page with this slug, of whatever team."""
    async with db.connection() as tx:
        page = await status_pages.at(tx, "slug", slug)
        if page is None:
            return None
        components = await status_pages_components.seen(tx, page.team_id, page.id, now)
        daily = await _daily(tx, page.team_id, components, now)
        newest = await status_pages_incidents.told(tx, page.team_id, page.id, Wanted(), _MOST)
        # What is still open is shown however long ago it was told.
        still = await status_pages_incidents.told(tx, page.team_id, page.id, Wanted(open=True), _MOST)
    known = {told.row.id for told in newest}
    return View(page, components, daily, [*newest, *(old for old in still if old.row.id not in known)], now)


async def _daily(tx: Tx, team_id: int, components: Sequence[Seen], now: datetime) -> dict[UUID, Daily]:
    ids = list({seen.row.monitor_id for seen in components if seen.row.monitor_id})
    if not ids:
        return {}
    numbers_of = await monitor_stats.numbers(tx, team_id, ids)
    found = await statistics.daily(tx, list(numbers_of.values()), DAYS, now)
    return {id_: found[number] for id_, number in numbers_of.items() if number in found}
