"""Live senders, so that the deliveries of a dead one are taken over at once."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from collector.platform.storage.db import Tx


async def beat(tx: Tx, sender: UUID, alive_for: timedelta) -> bool:
    """Renew this sender's lease. Return whether another sender's lease has expired."""
    await tx.execute(
        """
        INSERT INTO leases (name, owner, epoch, until) VALUES ('sender ' || $1::uuid, $1, 0, now() + $2)
        ON CONFLICT (name) DO UPDATE SET until = excluded.until
        """,
        sender,
        alive_for,
    )
    gone = await tx.fetch(
        """
        DELETE FROM leases
        WHERE name LIKE 'sender %'
            AND until NOT BETWEEN clock_timestamp() AND clock_timestamp() + $1::interval
        RETURNING owner
        """,
        alive_for,
    )
    return bool(gone)


async def adopt(tx: Tx, sender: UUID, mine: Sequence[UUID]) -> None:
    """If no other sender is alive, make abandoned leases due now: all except those of *mine*."""
    await tx.execute(
        """
        UPDATE deliveries SET due_at = now()
        WHERE status = 0 AND leased AND due_at > now() AND id <> ALL($2::uuid[])
          AND NOT EXISTS (
            SELECT FROM leases WHERE name LIKE 'sender %' AND owner <> $1 AND until >= now()
          )
        """,
        sender,
        mine,
    )


async def retire(tx: Tx, sender: UUID) -> None:
    """Release this sender's lease; it leaves no deliveries behind."""
    await tx.execute("DELETE FROM leases WHERE name = 'sender ' || $1::uuid", sender)
