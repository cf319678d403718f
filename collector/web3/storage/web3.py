"""Crossed thresholds and logs of Web3 monitors."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class RaisedThreshold:
    """A threshold that some location finds crossed; *key* is the alert's type.

    *data*: current, threshold and unit as texts, message. *told_at*: None while it is held back.
    """

    team_id: int
    monitor_id: UUID
    key: str
    locations: Sequence[str]
    raised_at: datetime
    told_at: datetime | None
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class OneOff:
    """An announced log of a monitor."""

    team_id: int
    monitor_id: UUID
    told_at: datetime
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredLog:
    """*found_at* and *location* are those of the result that contains it.

    *data*: name, args, address, transactionHash, blockNumber, blockHash, logIndex, and perhaps error and
    alert. *removed*: the chain no longer contains it. *told_at*: None if it was not announced.
    """

    key: str
    found_at: datetime
    location: str
    removed: bool
    told_at: datetime | None
    data: dict[str, Any]


async def raised(tx: Tx, team_id: int, monitor_id: UUID) -> list[RaisedThreshold]:
    """The monitor's crossed thresholds, announced or not, by key."""
    return await _raised(tx, [(team_id, monitor_id)])


async def raised_and_announced(tx: Tx, monitors: Sequence[tuple[int, UUID]]) -> list[RaisedThreshold]:
    """The announced crossed thresholds of these monitors, given by team and id."""
    return [alert for alert in await _raised(tx, monitors) if alert.told_at is not None]


async def _raised(tx: Tx, monitors: Sequence[tuple[int, UUID]]) -> list[RaisedThreshold]:
    rows = await tx.fetch(
        """
        SELECT a.team_id, a.monitor_id, a.key,
            ARRAY(SELECT l.name FROM locations l WHERE l.location = ANY(a.locations) ORDER BY l.name)
                AS locations,
            a.raised_at, a.told_at, a.data
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        JOIN web3_alerts a USING (team_id, monitor_id)
        WHERE a.locations <> '{}' ORDER BY a.team_id, a.monitor_id, a.key
        """,
        *_columns(monitors),
    )
    return [RaisedThreshold(**row) for row in rows]


async def announced_lately(tx: Tx, monitors: Sequence[tuple[int, UUID]], since: datetime) -> list[OneOff]:
    """The latest log announced after *since* of each of these monitors, given by team and id."""
    rows = await tx.fetch(
        """
        SELECT u.team_id, u.monitor_id, l.told_at, l.data
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        CROSS JOIN LATERAL (
            SELECT g.told_at, g.data FROM web3_logs g
            WHERE g.team_id = u.team_id AND g.monitor_id = u.monitor_id AND g.told_at > $3
            ORDER BY g.told_at DESC, g.block DESC, g.log_index DESC LIMIT 1
        ) l
        """,
        *_columns(monitors),
        since,
    )
    return [OneOff(**row) for row in rows]


async def logs_between(
    tx: Tx,
    team_id: int,
    monitor_id: UUID,
    from_: datetime,
    to: datetime,
    limit: int,
    location: str | None = None,
) -> list[StoredLog]:
    """The newest *limit* logs found from *from_* to *to*, inclusive, at *location* or any, newest first."""
    rows = await tx.fetch(
        """
        SELECT g.key, g.found_at, l.name AS location, g.removed_at IS NOT NULL AS removed, g.told_at, g.data
        FROM web3_logs g JOIN locations l USING (location)
        WHERE g.team_id = $1 AND g.monitor_id = $2 AND g.found_at BETWEEN $3 AND $4
            AND ($6::text IS NULL OR l.name = $6)
        ORDER BY g.found_at DESC, g.block DESC, g.log_index DESC LIMIT $5
        """,
        team_id,
        monitor_id,
        from_,
        to,
        limit,
        location,
    )
    return [StoredLog(**row) for row in rows]


def _columns(monitors: Sequence[tuple[int, UUID]]) -> tuple[list[int], list[UUID]]:
    return [team for team, _ in monitors], [id_ for _, id_ in monitors]
