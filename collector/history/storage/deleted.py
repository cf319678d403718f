"""Deletes the history of deleted monitors."""

from collections.abc import Sequence

from collector.platform.storage.db import Tx

_HISTORY = ("results", "failures", "outages", "cadences", "rollups_dirty", "rollups_hour", "rollups_day")


async def forget(tx: Tx, monitors: Sequence[int]) -> None:
    """Delete the history of deleted monitors."""
    for table in _HISTORY:
        await tx.execute(f"DELETE FROM {table} WHERE monitor = ANY($1)", monitors)
