"""Outages as intervals: of a monitor by its quorum (location 0), and of each of its locations."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx

# A monitor, a location, and when it changed.
MeasurementChange = tuple[int, int, datetime]


async def open_(tx: Tx, turns: Sequence[MeasurementChange]) -> None:
    """Begin outages, each no earlier than the end of the last one; an open one continues."""
    await tx.execute(
        """
        INSERT INTO outages (monitor, location, started_at)
        SELECT u.monitor, u.location, greatest(u.at, (
            SELECT max(o.ended_at) FROM outages o WHERE o.monitor = u.monitor AND o.location = u.location
        ))
        FROM unnest($1::int[], $2::smallint[], $3::timestamptz[]) AS u (monitor, location, at)
        WHERE NOT EXISTS (
            SELECT FROM outages o
            WHERE o.monitor = u.monitor AND o.location = u.location AND o.ended_at IS NULL
        )
        ON CONFLICT (monitor, location, started_at) DO UPDATE SET ended_at = NULL
        """,
        *_columns(turns),
    )


async def close(tx: Tx, turns: Sequence[MeasurementChange]) -> None:
    """End the open outage of each."""
    await tx.execute(
        """
        UPDATE outages o SET ended_at = greatest(u.at, o.started_at)
        FROM unnest($1::int[], $2::smallint[], $3::timestamptz[]) AS u (monitor, location, at)
        WHERE o.monitor = u.monitor AND o.location = u.location AND o.ended_at IS NULL
        """,
        *_columns(turns),
    )


async def leave(tx: Tx, team_id: int, id_: UUID, now: datetime) -> None:
    """End outages at locations that no longer check the monitor."""
    await tx.execute(
        """
        UPDATE outages o SET ended_at = greatest($3::timestamptz, o.started_at)
        FROM monitors m
        WHERE m.team_id = $1 AND m.id = $2 AND m.paused_at IS NULL
            AND o.monitor = m.monitor AND o.location <> 0 AND o.ended_at IS NULL
            AND NOT EXISTS (
                SELECT FROM locations l WHERE l.location = o.location AND l.name = ANY(m.locations)
            )
        """,
        team_id,
        id_,
        now,
    )


async def between(
    tx: Tx, monitor: int, since: datetime, until: datetime
) -> list[tuple[datetime, datetime | None]]:
    """Return the outages of the monitor as a whole that overlap the window, oldest first; None: it lasts."""
    rows = await tx.fetch(
        """
        SELECT started_at, ended_at FROM outages
        WHERE monitor = $1 AND location = 0 AND started_at < $3 AND (ended_at IS NULL OR ended_at > $2)
        ORDER BY started_at LIMIT 500
        """,
        monitor,
        since,
        until,
    )
    return [(row["started_at"], row["ended_at"]) for row in rows]


def _columns(turns: Sequence[MeasurementChange]) -> tuple[list[int], list[int], list[datetime]]:
    return [turn[0] for turn in turns], [turn[1] for turn in turns], [turn[2] for turn in turns]
