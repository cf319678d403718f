"""Deletes the history of deleted monitors."""

from collections.abc import Sequence

from collector.platform.storage.db import Tx

# Packed results after those that may be packed meanwhile. Rollups are last: by them the rest is found.
_HISTORY = (
    "results", "packed_results", "failures", "outages", "cadences", "rollups_dirty", "rollups_hour",
    "rollups_day",
)  # fmt: skip
# As many as one transaction should delete.
AT_ONCE = 10


async def forget(tx: Tx, monitors: Sequence[int]) -> None:
    """Delete the history of deleted monitors."""
    for table in _HISTORY:
        await tx.execute(f"DELETE FROM {table} WHERE monitor = ANY($1)", monitors)
