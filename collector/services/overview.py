"""How a team stands, for the first page of its console."""

from datetime import datetime

from collector.core.assignment import LIVE
from collector.storage import overview as table
from collector.storage.db import Db
from collector.storage.overview import Overview


async def look(db: Db, team_id: int, now: datetime) -> Overview:
    async with db.connection() as tx:
        return await table.look(tx, team_id, now, LIVE)
