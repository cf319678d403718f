"""What time the database has."""

from datetime import datetime

from collector.storage.db import Tx


async def read(tx: Tx) -> datetime:
    """Its wall clock at this moment, not that of the transaction's beginning."""
    found: datetime = await tx.fetchval("SELECT clock_timestamp()")
    return found
