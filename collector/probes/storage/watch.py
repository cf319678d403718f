"""Presence of probes, and who owns them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.probes.core.presence import Presence


@dataclass(frozen=True, slots=True)
class WatchedProbe:
    """A probe that was connected at least once and is not revoked. *team_id* None: it serves every team.

    *offline*: why it is offline, since *changed_at*; None: it is online.
    """

    probe_id: UUID
    team_id: int | None
    name: str
    locations: Sequence[str]
    version: str
    offline: str | None
    changed_at: datetime | None
    presence: Presence


_SELECT = """
    SELECT p.probe_id, p.team_id, p.name, p.locations, p.version, p.seen_at, p.ended_at, p.stopped,
        p.blind_since, p.draining_at IS NOT NULL AS draining, a.offline, a.changed_at
    FROM probes p LEFT JOIN agent_metrics a USING (probe_id)
    WHERE p.revoked_at IS NULL AND p.seen_at IS NOT NULL
"""


async def all_(tx: Tx) -> list[WatchedProbe]:
    """Every probe of the deployment, ordered by id."""
    return await _fetch(tx, f"{_SELECT} ORDER BY p.probe_id")


async def lock(tx: Tx, probe_ids: Sequence[UUID], now: datetime) -> list[WatchedProbe]:
    """Lock these probes until the transaction ends."""
    await tx.execute(
        """
        INSERT INTO agent_metrics (probe_id, changed_at)
        SELECT probe_id, $2 FROM unnest($1::uuid[]) AS u (probe_id) ORDER BY probe_id
        ON CONFLICT DO NOTHING
        """,
        probe_ids,
        now,
    )
    await tx.execute(
        "SELECT FROM agent_metrics WHERE probe_id = ANY($1) ORDER BY probe_id FOR NO KEY UPDATE", probe_ids
    )
    return await _fetch(tx, f"{_SELECT} AND p.probe_id = ANY($1) ORDER BY p.probe_id", probe_ids)


async def save(tx: Tx, probe_id: UUID, offline: str | None, now: datetime) -> None:
    """Store the probe's state from *now* on."""
    await tx.execute(
        "UPDATE agent_metrics SET offline = $2, changed_at = $3 WHERE probe_id = $1", probe_id, offline, now
    )


async def audience(tx: Tx, watched: WatchedProbe) -> dict[int, int]:
    """The affected teams, each with the number of its active monitors that are assigned to the probe.

    Always the owner of a team's probe; for a shared probe, teams with monitors at its locations.
    """
    rows = await tx.fetch(
        """
        WITH held AS (SELECT DISTINCT monitor FROM states WHERE probe_id = $1)
        SELECT m.team_id, count(*) FILTER (WHERE h.monitor IS NOT NULL AND m.paused_at IS NULL) AS monitors
        FROM monitors m LEFT JOIN held h USING (monitor)
        WHERE coalesce($2, m.team_id) = m.team_id AND (m.locations && $3 OR h.monitor IS NOT NULL)
        GROUP BY m.team_id ORDER BY m.team_id
        """,
        watched.probe_id,
        watched.team_id,
        watched.locations,
    )
    own = {} if watched.team_id is None else {watched.team_id: 0}
    return own | {row["team_id"]: row["monitors"] for row in rows}


async def note_notified(tx: Tx, probe_id: UUID, teams: Sequence[int], now: datetime) -> None:
    """Record that these teams were notified that it is offline."""
    await tx.execute(
        """
        INSERT INTO probe_notices (team_id, probe_id, told_at)
        SELECT team_id, $2, $3 FROM unnest($1::int[]) AS u (team_id) ON CONFLICT DO NOTHING
        """,
        teams,
        probe_id,
        now,
    )


async def forget_notified(tx: Tx, probe_id: UUID) -> list[int]:
    """Delete and return the teams that were notified that it is offline; they must learn that it is back."""
    rows = await tx.fetch("DELETE FROM probe_notices WHERE probe_id = $1 RETURNING team_id", probe_id)
    return sorted(row["team_id"] for row in rows)


async def _fetch(tx: Tx, sql: str, *args: Sequence[UUID]) -> list[WatchedProbe]:
    rows = await tx.fetch(sql, *args)
    return [
        WatchedProbe(
            row["probe_id"],
            row["team_id"],
            row["name"],
            row["locations"],
            row["version"],
            row["offline"],
            row["changed_at"],
            Presence(
                row["seen_at"],
                row["ended_at"],
                row["stopped"],
                row["blind_since"],
                row["draining"],
                row["offline"] is not None,
            ),
        )
        for row in rows
    ]
