"""Reads the database's clock."""

from datetime import datetime

from collector.platform.storage.db import Db, Tx


async def read(tx: Tx) -> datetime:
    """The database's wall clock now, not at the start of the transaction."""
    moment: datetime = await tx.fetchval("SELECT clock_timestamp()")
    return moment


async def of(db: Db) -> datetime:
    """As `read`, on its own connection."""
    async with db.connection() as tx:
        return await read(tx)
