"""Response times of the components of status pages, by the hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Hour:
    """The mean of the successful checks in the hour that began at *at*."""

    at: datetime
    mean_ms: float


async def hours(tx: Tx, monitors: Sequence[int], since: datetime) -> dict[int, list[Hour]]:
    """Hours by the monitors' numbers in rollups, in order; without hours that lack a successful check."""
    rows = await tx.fetch(
        """
        SELECT monitor, at, sum_ms::float8 / answers AS mean_ms FROM rollups_hour
        WHERE monitor = ANY ($1) AND location = 0 AND at >= $2 AND answers > 0
        ORDER BY monitor, at
        """,
        list(monitors),
        since,
    )
    hours_of: dict[int, list[Hour]] = {}
    for row in rows:
        hours_of.setdefault(row["monitor"], []).append(Hour(row["at"], row["mean_ms"]))
    return hours_of
