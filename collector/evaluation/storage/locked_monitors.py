"""Monitors with their open incident, locked by the transaction that decides about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.incidents.core.status import IncidentStatus
from collector.platform.monitor import Severity
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class LatestIncident:
    """The automatic incident of a monitor that was opened, or reopened, last; open unless *resolved_at*."""

    id: UUID
    severity: Severity
    started_at: datetime
    span_from: datetime
    spans_s: int
    last_error: str
    resolved_at: datetime | None
    resolved_by: dict[str, Any] | None
    status: IncidentStatus = IncidentStatus.OPEN
    parent_incident_id: UUID | None = None
    reopened_at: datetime | None = None
    snoozed_until: datetime | None = None

    def downtime_s(self, until: datetime) -> int:
        """Return the seconds of all its open spans, the present one up to *until*."""
        present = 0 if self.resolved_at else max(0, int((until - self.span_from).total_seconds()))
        return self.spans_s + present


@dataclass(frozen=True, slots=True)
class LockedMonitor:
    """The parts of a monitor's row that decisions need."""

    monitor: int
    team_id: int
    id: UUID
    name: str
    type: str
    url: str | None
    severity: Severity
    quorum: str
    timeout_s: int
    failure_threshold: int
    recovery_threshold: int
    depends_on: Sequence[UUID]
    down: bool
    changed_at: datetime
    announced: bool
    reannounce: bool
    silenced_until: datetime | None
    unrecorded_until: datetime | None
    degraded_since: datetime | None
    degraded_announced: bool
    flapping_since: datetime | None
    flapping_announced: bool
    turned_at: Sequence[datetime]
    incident: LatestIncident | None

    @property
    def open_incident(self) -> LatestIncident | None:
        return self.incident if self.incident and self.incident.resolved_at is None else None

    @property
    def by_hand(self) -> bool:
        """Whether a user resolved the incident of the present outage."""
        incident = self.incident
        if not self.down or incident is None or incident.resolved_at is None or incident.resolved_by is None:
            return False
        return incident.resolved_by.get("id") is not None and incident.resolved_at >= self.changed_at


_MONITORS = """
    SELECT m.monitor, m.team_id, m.id, m.name, m.type, m.config ->> 'url' AS url, m.severity, m.quorum,
        m.timeout_s, m.failure_threshold, m.recovery_threshold, m.depends_on, m.down, m.changed_at,
        m.told AS announced, m.owed AS reannounce, m.silenced_until, m.unrecorded_until, m.degraded_since,
        m.degraded_told AS degraded_announced, m.flapping_since, m.flapping_told AS flapping_announced,
        m.turned_at
    FROM monitors m
"""


async def lock(tx: Tx, monitors: Sequence[int]) -> list[LockedMonitor]:
    """Lock these monitors in key order; deleted and paused ones are left out."""
    rows = await tx.fetch(
        _MONITORS + "WHERE m.monitor = ANY($1) AND m.paused_at IS NULL ORDER BY m.monitor FOR NO KEY UPDATE",
        list(monitors),
    )
    return await _with_incidents(tx, rows)


async def read(tx: Tx, monitors: Sequence[int]) -> list[LockedMonitor]:
    """Read these monitors, paused ones too, without locks."""
    rows = await tx.fetch(_MONITORS + "WHERE m.monitor = ANY($1) ORDER BY m.monitor", list(monitors))
    return await _with_incidents(tx, rows)


async def doubtful(tx: Tx) -> list[LockedMonitor]:
    """Monitors with a location that disagrees with them, or whose state may change with time alone.

    Not locked, and without their incidents.
    """
    rows = await tx.fetch(
        _MONITORS
        + """
        WHERE m.paused_at IS NULL AND m.monitor IN (
            SELECT s.monitor FROM states s JOIN monitors o USING (monitor) WHERE s.failing <> o.down
            UNION
            SELECT monitor FROM monitors
            WHERE unrecorded_until IS NOT NULL OR degraded_since IS NOT NULL OR flapping_since IS NOT NULL
        )
        ORDER BY m.monitor
        """
    )
    return [LockedMonitor(**row, incident=None) for row in rows]


async def unannounced(
    tx: Tx, after: int, degraded_before: datetime, now: datetime, limit: int
) -> list[LockedMonitor]:
    """The next monitors after that key whose state differs from what was announced, not locked.

    A down monitor whose incident is over has nothing to announce: a user resolved it. What a
    silence or a parent suppresses is left out here too: it may be many, for long.
    """
    rows = await tx.fetch(
        _MONITORS
        + """
        WHERE m.monitor > $1 AND m.paused_at IS NULL
            AND (m.down <> m.told OR m.owed
                OR (m.degraded_since IS NOT NULL) <> m.degraded_told
                OR (m.flapping_since IS NOT NULL) <> m.flapping_told)
            AND (m.silenced_until IS NULL OR m.silenced_until <= $3
                OR (NOT m.down AND m.told)
                OR (m.degraded_told AND m.degraded_since IS NULL AND NOT m.down)
                OR (m.flapping_told AND m.flapping_since IS NULL)
                OR cardinality(m.depends_on) > 0)
            AND (coalesce(m.degraded_since <= $2, true) OR m.down <> m.told OR m.owed
                OR (m.flapping_since IS NOT NULL) <> m.flapping_told)
            AND NOT (m.down AND NOT m.told AND EXISTS (
                SELECT FROM monitors p WHERE p.team_id = m.team_id AND p.id = ANY(m.depends_on)
                    AND p.down AND p.paused_at IS NULL
            ) AND EXISTS (
                SELECT FROM incidents i WHERE i.team_id = m.team_id AND i.monitor_id = m.id AND i.automatic
                    AND i.status <> 'resolved' AND i.parent_incident_id IS NOT NULL
            ))
        ORDER BY m.monitor LIMIT $4
        """,
        after,
        degraded_before,
        now,
        limit,
    )
    return await _with_incidents(tx, rows)


async def _with_incidents(tx: Tx, rows: Sequence[Any]) -> list[LockedMonitor]:
    if not rows:
        return []
    newest = await tx.fetch(
        """
        SELECT i.* FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id),
        LATERAL (
            SELECT i.monitor_id, i.id, i.severity, i.started_at, i.span_from, i.spans_s,
                coalesce(i.last_error, '') AS last_error, i.resolved_at, i.resolved_by, i.status,
                i.parent_incident_id, i.reopened_at, i.snoozed_until
            FROM incidents i
            WHERE i.team_id = u.team_id AND i.monitor_id = u.monitor_id AND i.automatic
            ORDER BY i.resolved_at IS NOT NULL, coalesce(i.reopened_at, i.created_at) DESC LIMIT 1
        ) i
        """,
        [row["team_id"] for row in rows],
        [row["id"] for row in rows],
    )
    incidents = {}
    for row in newest:
        fields = dict(row)
        monitor_id, status = fields.pop("monitor_id"), IncidentStatus(fields.pop("status"))
        incidents[monitor_id] = LatestIncident(**fields, status=status)
    return [LockedMonitor(**row, incident=incidents.get(row["id"])) for row in rows]


async def save(tx: Tx, after: Sequence[LockedMonitor], now: datetime) -> None:
    """Write each monitor's state, when it changed, and what was announced."""
    await tx.execute(
        """
        UPDATE monitors m SET
            changed_at = CASE WHEN m.down = u.down THEN m.changed_at ELSE $12 END, down = u.down,
            told = u.told, owed = u.owed, unrecorded_until = u.unrecorded_until,
            degraded_since = u.degraded_since, degraded_told = u.degraded_told,
            flapping_since = u.flapping_since, flapping_told = u.flapping_told,
            turned_at = ARRAY(SELECT jsonb_array_elements_text(u.turned_at -> 'at')::timestamptz)
        FROM unnest($1::int[], $2::uuid[], $3::boolean[], $4::boolean[], $5::boolean[], $6::timestamptz[],
                $7::timestamptz[], $8::boolean[], $9::timestamptz[], $10::boolean[], $11::jsonb[])
            AS u (team_id, id, down, told, owed, unrecorded_until, degraded_since, degraded_told,
                flapping_since, flapping_told, turned_at)
        WHERE m.team_id = u.team_id AND m.id = u.id
        """,
        [monitor.team_id for monitor in after],
        [monitor.id for monitor in after],
        [monitor.down for monitor in after],
        [monitor.announced for monitor in after],
        [monitor.reannounce for monitor in after],
        [monitor.unrecorded_until for monitor in after],
        [monitor.degraded_since for monitor in after],
        [monitor.degraded_announced for monitor in after],
        [monitor.flapping_since for monitor in after],
        [monitor.flapping_announced for monitor in after],
        [{"at": list(monitor.turned_at)} for monitor in after],
        now,
    )
