"""A team's state in numbers, for the first page of its console."""

from datetime import datetime

from collector.monitors.storage import overview as table
from collector.monitors.storage.overview import Overview
from collector.platform.storage.db import Db
from collector.probes.core.assignment import LIVE


async def look(db: Db, team_id: int, now: datetime) -> Overview:
    async with db.connection() as tx:
        return await table.look(tx, team_id, now, LIVE)
