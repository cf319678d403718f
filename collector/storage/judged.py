"""Monitors under judgement: locked, with their incident, by the transaction that decides about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Incident:
    """The newest automatic incident of a monitor; open unless *resolved_at* is set."""

    id: UUID
    severity: str
    started_at: datetime
    span_from: datetime
    spans_s: int
    last_error: str
    resolved_at: datetime | None
    resolved_by: dict[str, Any] | None

    def downtime_s(self, until: datetime) -> int:
        """Seconds of all its open spans, the present one up to *until*."""
        present = 0 if self.resolved_at else max(0, int((until - self.span_from).total_seconds()))
        return self.spans_s + present


@dataclass(frozen=True, slots=True)
class Judged:
    """What the decision needs of a monitor's row."""

    monitor: int
    team_id: int
    id: UUID
    name: str
    type: str
    url: str | None
    severity: str
    quorum: str
    timeout_s: int
    failure_threshold: int
    recovery_threshold: int
    down: bool
    told: bool
    silenced_until: datetime | None
    incident: Incident | None

    @property
    def open_incident(self) -> Incident | None:
        return self.incident if self.incident and self.incident.resolved_at is None else None


_MONITORS = """
    SELECT m.monitor, m.team_id, m.id, m.name, m.type, m.config ->> 'url' AS url, m.severity, m.quorum,
        m.timeout_s, m.failure_threshold, m.recovery_threshold, m.down, m.told, m.silenced_until
    FROM monitors m
"""


async def lock(tx: Tx, monitors: Sequence[int]) -> list[Judged]:
    """Lock these monitors in key order; those that are gone or paused are left out."""
    rows = await tx.fetch(
        _MONITORS + "WHERE m.monitor = ANY($1) AND m.paused_at IS NULL ORDER BY m.monitor FOR NO KEY UPDATE",
        list(monitors),
    )
    return await _with_incidents(tx, rows)


async def doubtful(tx: Tx) -> list[Judged]:
    """Monitors of which some location thinks otherwise, not locked and without their incidents."""
    rows = await tx.fetch(
        _MONITORS
        + """
        WHERE m.paused_at IS NULL
            AND EXISTS (SELECT FROM states s WHERE s.monitor = m.monitor AND s.failing <> m.down)
        ORDER BY m.monitor
        """
    )
    return [Judged(**row, incident=None) for row in rows]


async def lock_untold(tx: Tx, now: datetime, limit: int) -> list[Judged]:
    """Lock monitors whose state and what was told of it differ, with nothing that holds the news back.

    Of one that is down there is nothing to tell when its incident is over: somebody resolved it.
    """
    rows = await tx.fetch(
        _MONITORS
        + """
        WHERE m.down <> m.told AND m.paused_at IS NULL
            AND (NOT m.down OR (
                (m.silenced_until IS NULL OR m.silenced_until <= $1)
                AND EXISTS (
                    SELECT FROM incidents i
                    WHERE i.team_id = m.team_id AND i.monitor_id = m.id AND i.automatic
                        AND i.status <> 'resolved'
                )
            ))
        ORDER BY m.monitor LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        """,
        now,
        limit,
    )
    return await _with_incidents(tx, rows)


async def _with_incidents(tx: Tx, rows: Sequence[Any]) -> list[Judged]:
    if not rows:
        return []
    newest = await tx.fetch(
        """
        SELECT i.* FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id),
        LATERAL (
            SELECT i.monitor_id, i.id, i.severity, i.started_at, i.span_from, i.spans_s,
                coalesce(i.last_error, '') AS last_error, i.resolved_at, i.resolved_by
            FROM incidents i
            WHERE i.team_id = u.team_id AND i.monitor_id = u.monitor_id AND i.automatic
            ORDER BY i.resolved_at IS NOT NULL, i.created_at DESC LIMIT 1
        ) i
        """,
        [row["team_id"] for row in rows],
        [row["id"] for row in rows],
    )
    incidents = {}
    for row in newest:
        fields = dict(row)
        monitor_id = fields.pop("monitor_id")
        incidents[monitor_id] = Incident(**fields)
    return [Judged(**row, incident=incidents.get(row["id"])) for row in rows]


async def save(tx: Tx, after: Sequence[tuple[Judged, bool, bool]], now: datetime) -> None:
    """Write *down* and *told* of each monitor."""
    await tx.execute(
        """
        UPDATE monitors m SET
            changed_at = CASE WHEN m.down = u.down THEN m.changed_at ELSE $5 END, down = u.down, told = u.told
        FROM unnest($1::int[], $2::uuid[], $3::boolean[], $4::boolean[]) AS u (team_id, id, down, told)
        WHERE m.team_id = u.team_id AND m.id = u.id
        """,
        [judged.team_id for judged, _, _ in after],
        [judged.id for judged, _, _ in after],
        [down for _, down, _ in after],
        [told for _, _, told in after],
        now,
    )
