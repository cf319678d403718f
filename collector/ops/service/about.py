"""Facts about this deployment for admins: the database and the team's probes."""

from dataclasses import dataclass
from datetime import datetime

from collector.ops.storage import about as table
from collector.ops.storage.about import DatabaseFacts
from collector.overview.storage import overview
from collector.overview.storage.overview import TeamCounts
from collector.platform.storage.db import Db
from collector.probes.core.assignment import LIVE


@dataclass(frozen=True, slots=True)
class AboutDetails:
    database: DatabaseFacts
    team: TeamCounts


async def read(db: Db, team_id: int, now: datetime) -> AboutDetails:
    async with db.connection() as tx:
        return AboutDetails(await table.read(tx), await overview.counts(tx, team_id, now, LIVE))
