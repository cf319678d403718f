"""Leases for work that must run once: the holder and its epoch, by the database's clock."""

from datetime import timedelta
from uuid import UUID

from collector.platform.storage.db import Tx


async def take(tx: Tx, name: str, owner: UUID, length: timedelta) -> int | None:
    """The epoch under which *owner* holds *name* for *length* from now; None while another holds it.

    The row stays locked until the transaction ends, so two holders never work concurrently. A lease that
    ends later than *length* from now was taken while the database's clock was ahead, and is void.
    """
    epoch: int | None = await tx.fetchval(
        """
        INSERT INTO leases AS l (name, owner, epoch, until) VALUES ($1, $2, 1, now() + $3::interval)
        ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
            epoch = l.epoch + CASE WHEN l.owner = excluded.owner THEN 0 ELSE 1 END
        WHERE l.owner = excluded.owner OR l.until NOT BETWEEN clock_timestamp() AND clock_timestamp() + $3
        RETURNING epoch
        """,
        name,
        owner,
        length,
    )
    return epoch


async def held(tx: Tx, name: str, length: timedelta, *, besides: UUID) -> bool:
    """Whether anyone except *besides* holds *name*, whose leases have this *length*."""
    found: bool = await tx.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM leases
            WHERE name = $1 AND owner <> $2
                AND until BETWEEN clock_timestamp() AND clock_timestamp() + $3::interval
        )
        """,
        name,
        besides,
        length,
    )
    return found
