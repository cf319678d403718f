"""States of monitors that receive pushes instead of being checked by probes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class PushTarget:
    """The location to which a monitor's results go; hours before *rolled_until* are rolled up."""

    location: int
    revision: int
    paused: bool
    rolled_until: datetime | None


@dataclass(frozen=True, slots=True)
class NewestResult:
    """The newest result of a monitor; *error* is interned, *troubled*: some result was not good."""

    monitor: int
    location: int
    at: datetime
    status: int
    ms: int
    error: int | None
    troubled: bool


async def lock(tx: Tx, monitors: Sequence[int]) -> dict[int, PushTarget]:
    """Lock the states of these monitors, which are sorted; deleted ones are left out."""
    rows = await tx.fetch(
        """
        SELECT s.monitor, s.location, s.revision, m.paused_at IS NOT NULL AS paused,
            (SELECT until FROM rollups_done) AS rolled_until
        FROM unnest($1::int[]) AS u (monitor)
        JOIN states s ON s.monitor = u.monitor
        JOIN monitors m ON m.monitor = u.monitor
        ORDER BY s.monitor, s.location FOR NO KEY UPDATE OF s
        """,
        list(monitors),
    )
    return {
        row["monitor"]: PushTarget(row["location"], row["revision"], row["paused"], row["rolled_until"])
        for row in rows
    }


async def move(tx: Tx, newest: Sequence[NewestResult]) -> set[tuple[int, int]]:
    """Give each state its newest result; return the (monitor, location)s that need a decision."""
    rows = await tx.fetch(
        """
        UPDATE states s SET last_at = u.at, last_status = u.status, last_ms = u.ms, last_error = u.error
        FROM unnest($1::int[], $2::smallint[], $3::timestamptz[], $4::smallint[], $5::int[], $6::int[],
                $7::boolean[])
            AS u (monitor, location, at, status, ms, error, troubled)
        WHERE s.monitor = u.monitor AND s.location = u.location
        RETURNING s.monitor, s.location, u.troubled OR s.failing OR s.fails > 0 AS wanting
        """,
        [one.monitor for one in newest],
        [one.location for one in newest],
        [one.at for one in newest],
        [one.status for one in newest],
        [one.ms for one in newest],
        [one.error for one in newest],
        [one.troubled for one in newest],
    )
    return {(row["monitor"], row["location"]) for row in rows if row["wanting"]}
