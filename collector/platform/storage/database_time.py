"""Reads the database's clock."""

from datetime import datetime

from collector.platform.storage.db import Db, Tx


async def read(tx: Tx) -> datetime:
    """Its wall clock at this moment, not that of the transaction's beginning."""
    found: datetime = await tx.fetchval("SELECT clock_timestamp()")
    return found


async def of(db: Db) -> datetime:
    """The same, for what asks once."""
    async with db.connection() as tx:
        return await read(tx)
