"""Work that must run once: who holds it, and since which epoch."""

from datetime import datetime, timedelta
from uuid import UUID

from collector.storage.db import Tx


async def take(tx: Tx, name: str, owner: UUID, now: datetime, length: timedelta) -> int | None:
    """The epoch under which *owner* holds *name* for *length* from now; None while another one does.

    The row stays locked until the transaction ends, so two holders never work side by side.
    """
    epoch: int | None = await tx.fetchval(
        """
        INSERT INTO leases AS l (name, owner, epoch, until) VALUES ($1, $2, 1, $3::timestamptz + $4::interval)
        ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
            epoch = l.epoch + CASE WHEN l.owner = excluded.owner THEN 0 ELSE 1 END
        WHERE l.owner = excluded.owner OR l.until < $3
        RETURNING epoch
        """,
        name,
        owner,
        now,
        length,
    )
    return epoch


async def held(tx: Tx, name: str, now: datetime, *, besides: UUID) -> bool:
    """Whether anybody holds *name*, other than that owner."""
    found: bool = await tx.fetchval(
        "SELECT EXISTS (SELECT FROM leases WHERE name = $1 AND owner <> $2 AND until >= $3)",
        name,
        besides,
        now,
    )
    return found
