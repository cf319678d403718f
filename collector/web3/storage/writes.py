"""Writes Web3 findings: as the writer stores them and as they are announced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.web3.core.findings import FoundLog, RevertedBlocks
from collector.web3.core.web3 import ChainAlert
from shared.kinds import OF_CHAINS

Key = tuple[int, UUID, str]


@dataclass(frozen=True, slots=True)
class Owner:
    """The row of a monitor that checks a chain."""

    monitor: int
    team_id: int
    id: UUID


async def lock_monitors(tx: Tx, monitors: Sequence[int]) -> list[Owner]:
    """The chain monitors among *monitors*, locked in key order."""
    rows = await tx.fetch(
        """
        SELECT monitor, team_id, id FROM monitors WHERE monitor = ANY($1) AND type = ANY($2)
        ORDER BY monitor FOR NO KEY UPDATE
        """,
        list(monitors),
        OF_CHAINS,
    )
    return [Owner(**row) for row in rows]


async def alerts(tx: Tx, monitors: Sequence[tuple[int, UUID]]) -> dict[Key, ChainAlert]:
    """All stored alerts of these locked monitors, given by team and id."""
    rows = await tx.fetch(
        """
        SELECT a.team_id, a.monitor_id, a.key, a.locations, a.raised_at, a.data, a.recovery, a.told_at
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        JOIN web3_alerts a USING (team_id, monitor_id) ORDER BY a.team_id, a.monitor_id, a.key
        """,
        [team for team, _ in monitors],
        [id_ for _, id_ in monitors],
    )
    return {
        (row["team_id"], row["monitor_id"], row["key"]): ChainAlert(
            tuple(row["locations"]), row["raised_at"], row["data"], row["recovery"], row["told_at"]
        )
        for row in rows
    }


async def save_alerts(tx: Tx, after: Mapping[Key, ChainAlert | None]) -> None:
    """Store each alert; None deletes it."""
    kept = {key: alert for key, alert in after.items() if alert is not None}
    gone = [key for key, alert in after.items() if alert is None]
    if kept:
        await tx.execute(
            """
            INSERT INTO web3_alerts
                (team_id, monitor_id, key, locations, raised_at, data, recovery, told_at)
            SELECT team_id, monitor_id, key, string_to_array(locations, ',')::smallint[],
                raised_at, data, recovery, told_at
            FROM unnest($1::int[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::jsonb[],
                    $7::jsonb[], $8::timestamptz[])
                AS u (team_id, monitor_id, key, locations, raised_at, data, recovery, told_at)
            ON CONFLICT (team_id, monitor_id, key) DO UPDATE SET
                locations = excluded.locations, raised_at = excluded.raised_at, data = excluded.data,
                recovery = excluded.recovery, told_at = excluded.told_at
            """,
            *_columns(list(kept)),
            # PostgreSQL arrays cannot hold lists of different lengths.
            [",".join(map(str, alert.locations)) for alert in kept.values()],
            [alert.raised_at for alert in kept.values()],
            [alert.data for alert in kept.values()],
            [alert.recovery for alert in kept.values()],
            [alert.told_at for alert in kept.values()],
        )
    if gone:
        await tx.execute(
            """
            DELETE FROM web3_alerts a USING unnest($1::int[], $2::uuid[], $3::text[])
                AS u (team_id, monitor_id, key)
            WHERE a.team_id = u.team_id AND a.monitor_id = u.monitor_id AND a.key = u.key
            """,
            *_columns(gone),
        )


async def let_go(tx: Tx, monitor: int, kept: Sequence[int]) -> None:
    """Remove locations other than *kept* from alerts: the monitor is no longer checked there."""
    await tx.execute(
        """
        UPDATE web3_alerts a
        SET locations = ARRAY(SELECT one FROM unnest(a.locations) AS one WHERE one = ANY($2::smallint[]))
        FROM monitors m
        WHERE m.monitor = $1 AND a.team_id = m.team_id AND a.monitor_id = m.id
            AND NOT a.locations <@ $2::smallint[]
        """,
        monitor,
        list(kept),
    )


@dataclass(frozen=True, slots=True)
class ObservedLog:
    """A log found by a check at *location* that began *at*.

    *stands*: it is late, but no later reading there retracted it.
    """

    owner: Owner
    location: int
    at: datetime
    log: FoundLog
    stands: bool = False


async def add_logs(tx: Tx, observed: Sequence[ObservedLog]) -> None:
    """Store logs with unique keys; an existing log may have moved to another block.

    A retracted log is restored if it is in another block, or by the location that retracted it: others may
    not know yet of the retraction. A check older than the last one about it changes nothing, unless the log
    is known to stand: then the retraction concerned its previous block.
    """
    await tx.execute(
        """
        INSERT INTO web3_logs AS l
            (team_id, monitor_id, key, block, log_index, block_hash, found_at, location, data, said_at)
        SELECT u.team_id, u.monitor_id, u.key, u.block, u.log_index, u.block_hash, u.found_at, u.location,
            u.data, greatest(u.found_at, o.said_at)
        FROM unnest($1::int[], $2::uuid[], $3::text[], $4::bigint[], $5::int[], $6::text[],
                $7::timestamptz[], $8::smallint[], $9::jsonb[], $10::boolean[])
            AS u (team_id, monitor_id, key, block, log_index, block_hash, found_at, location, data, stands)
        LEFT JOIN web3_logs o ON u.stands AND o.team_id = u.team_id AND o.monitor_id = u.monitor_id
            AND o.key = u.key AND o.removed_by = u.location
        ON CONFLICT (team_id, monitor_id, key) DO UPDATE SET
            block = excluded.block, block_hash = excluded.block_hash, data = excluded.data,
            waits = CASE WHEN l.removed_at IS NULL THEN l.waits ELSE l.told_at IS NULL END,
            removed_at = NULL, removed_by = NULL, said_at = excluded.said_at
        WHERE l.said_at <= excluded.said_at AND (
            l.removed_at IS NULL OR l.block_hash <> excluded.block_hash OR l.removed_by = excluded.location
        )
        """,
        *_columns([(each.owner.team_id, each.owner.id, each.log.key) for each in observed]),
        [each.log.block for each in observed],
        [each.log.index for each in observed],
        [each.log.block_hash for each in observed],
        [each.at for each in observed],
        [each.location for each in observed],
        [each.log.data for each in observed],
        [each.stands for each in observed],
    )


@dataclass(frozen=True, slots=True)
class RetractedLog:
    """Blocks whose logs a check at *location*, begun *at*, found to be no longer on the chain."""

    owner: Owner
    location: int
    at: datetime
    gone: RevertedBlocks


async def take_back(tx: Tx, taken: Sequence[RetractedLog], now: datetime) -> None:
    """Retract logs, one entry per monitor. Retractions of unannounced logs are not announced."""
    await tx.execute(
        """
        UPDATE web3_logs l
        SET removed_at = $8, removed_by = u.location, said_at = u.at, waits = l.told_at IS NOT NULL
        FROM unnest($1::int[], $2::uuid[], $3::bigint[], $4::bigint[], $5::jsonb[], $6::timestamptz[],
                $7::smallint[])
            AS u (team_id, monitor_id, first, last, hashes, at, location)
        WHERE l.team_id = u.team_id AND l.monitor_id = u.monitor_id AND l.block BETWEEN u.first AND u.last
            AND l.removed_at IS NULL AND l.said_at <= u.at
            AND l.block_hash IS DISTINCT FROM u.hashes ->> l.block::text
        """,
        [each.owner.team_id for each in taken],
        [each.owner.id for each in taken],
        [each.gone.first for each in taken],
        [each.gone.last for each in taken],
        [each.gone.hashes for each in taken],
        [each.at for each in taken],
        [each.location for each in taken],
        now,
    )


def _columns(keys: Sequence[Key]) -> tuple[list[Any], ...]:
    return [team for team, _, _ in keys], [id_ for _, id_, _ in keys], [key for _, _, key in keys]
