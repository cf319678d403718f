"""Alerts: one for each time that a rule fired for a monitor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.alerts.core.status import AlertStatus
from collector.evaluation.storage.locked_monitors import LatestIncident
from collector.evaluation.storage.rule_triggers import Key
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """*told*: channels to notify of its end; the other fields are the table's columns."""

    team_id: int
    id: UUID
    rule_id: UUID
    rule_name: str
    monitor_id: UUID
    monitor_name: str
    status: AlertStatus = AlertStatus.FIRING
    reason: str
    value: float | None
    threshold: float | None
    fired_at: datetime
    notified_at: datetime | None = None
    reminded_at: datetime | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: Mapping[str, Any] | None = None
    recovered_at: datetime | None = None
    recovered_by: Mapping[str, Any] | None = None
    escalations: int = 0
    told: Sequence[UUID] = ()
    incident_id: UUID | None = None
    told_incident_id: UUID | None = None
    muted_until: datetime | None = None
    due_at: datetime | None = None


_COLUMNS = [field.name for field in fields(Alert)]
_NAMES = ", ".join(f"a.{name}" for name in _COLUMNS)
_PLACES = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
# These columns never change.
_FIXED = {"team_id", "id", "rule_id", "monitor_id", "fired_at"}
_TERMS = ", ".join(f"{name} = ${at}" for at, name in enumerate(_COLUMNS, start=1) if name not in _FIXED)


async def insert(tx: Tx, alerts: Sequence[Alert]) -> None:
    """Insert alerts. Raises UniqueViolationError if a rule already fires for its monitor."""
    await tx.executemany(
        f"INSERT INTO alerts ({', '.join(_COLUMNS)}) VALUES ({_PLACES})", [_values(alert) for alert in alerts]
    )


async def save(tx: Tx, alerts: Sequence[Alert]) -> None:
    ids = "team_id = $1 AND id = $2 AND rule_id = $3 AND monitor_id = $5 AND fired_at = $11"
    await tx.executemany(f"UPDATE alerts SET {_TERMS} WHERE {ids}", [_values(alert) for alert in alerts])


async def postpone(tx: Tx, key: Key, now: datetime) -> None:
    """Postpone the due alerts of a monitor whose evaluation failed."""
    await tx.execute(
        """
        UPDATE alerts SET due_at = $3::timestamptz + interval '1 minute'
        WHERE team_id = $1 AND monitor_id = $2 AND due_at <= $3
        """,
        *key,
        now,
    )


async def of_monitors(tx: Tx, keys: Sequence[Key]) -> list[Alert]:
    """Return the open alerts of these monitors, and those that keep their rule from firing; locked."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM unnest($1::int[], $2::uuid[]) AS u (team_id, monitor_id)
        JOIN alerts a USING (team_id, monitor_id)
        WHERE a.status <> 'recovered' OR a.due_at IS NOT NULL
        ORDER BY a.team_id, a.id FOR UPDATE OF a
        """,
        [team_id for team_id, _ in keys],
        [monitor_id for _, monitor_id in keys],
    )
    return [_alert(**row) for row in rows]


async def get(tx: Tx, team_id: int, id_: UUID) -> Alert | None:
    row = await tx.fetchrow(f"SELECT {_NAMES} FROM alerts a WHERE team_id = $1 AND id = $2", team_id, id_)
    return _alert(**row) if row else None


async def lock(tx: Tx, team_id: int, id_: UUID) -> Alert | None:
    """As `get`, and lock it until the transaction ends."""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM alerts a WHERE team_id = $1 AND id = $2 FOR UPDATE", team_id, id_
    )
    return _alert(**row) if row else None


async def acknowledge_of(
    tx: Tx, team_id: int, incident_id: UUID, by: Mapping[str, Any], now: datetime
) -> None:
    """Acknowledge the firing alerts of this incident."""
    await tx.execute(
        """
        WITH firing AS (
            SELECT id FROM alerts WHERE team_id = $1 AND incident_id = $2 AND status = 'firing'
            ORDER BY id FOR UPDATE
        )
        UPDATE alerts a SET status = 'acknowledged', acknowledged_at = $3, acknowledged_by = $4
        FROM firing WHERE a.team_id = $1 AND a.id = firing.id
        """,
        team_id,
        incident_id,
        now,
        by,
    )


async def unacknowledge_of(tx: Tx, team_id: int, incident_id: UUID, since: datetime, now: datetime) -> None:
    """Let the alerts of this incident fire that were acknowledged at *since* or later; evaluate them now."""
    await tx.execute(
        """
        WITH acknowledged AS (
            SELECT id FROM alerts WHERE team_id = $1 AND incident_id = $2 AND status = 'acknowledged'
                AND acknowledged_at >= $3
            ORDER BY id FOR UPDATE
        )
        UPDATE alerts a SET status = 'firing', acknowledged_at = NULL, acknowledged_by = NULL, due_at = $4
        FROM acknowledged k WHERE a.team_id = $1 AND a.id = k.id
        """,
        team_id,
        incident_id,
        since,
        now,
    )


async def told_incident(tx: Tx, alert: Alert) -> LatestIncident | None:
    """Return the incident that the alert's first notice named."""
    if alert.told_incident_id is None:
        return None
    row = await tx.fetchrow(
        """
        SELECT id, severity, started_at, span_from, spans_s, coalesce(last_error, '') AS last_error,
            resolved_at, resolved_by, status, parent_incident_id
        FROM incidents WHERE team_id = $1 AND id = $2
        """,
        alert.team_id,
        alert.told_incident_id,
    )
    return LatestIncident(**row) if row else None


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """None means any; *since* and *until*, both inclusive, bound the time of firing."""

    status: str | None = None
    rule_id: UUID | None = None
    monitor_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


_WHICH = """
    a.team_id = $1 AND ($2::text IS NULL OR a.status = $2) AND ($3::uuid IS NULL OR a.rule_id = $3)
    AND ($4::uuid IS NULL OR a.monitor_id = $4) AND ($5::timestamptz IS NULL OR a.fired_at >= $5)
    AND ($6::timestamptz IS NULL OR a.fired_at <= $6)
"""


async def newest(tx: Tx, team_id: int, wanted: AlertFilter, limit: int, offset: int) -> list[Alert]:
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM alerts a WHERE {_WHICH}
        ORDER BY a.fired_at DESC, a.id DESC LIMIT $7 OFFSET $8
        """,
        *_asked(team_id, wanted),
        limit,
        offset,
    )
    return [_alert(**row) for row in rows]


async def count(tx: Tx, team_id: int, wanted: AlertFilter) -> int:
    total: int = await tx.fetchval(f"SELECT count(*) FROM alerts a WHERE {_WHICH}", *_asked(team_id, wanted))
    return total


def _asked(team_id: int, wanted: AlertFilter) -> tuple[object, ...]:
    return team_id, wanted.status, wanted.rule_id, wanted.monitor_id, wanted.since, wanted.until


def _values(alert: Alert) -> list[object]:
    return [getattr(alert, name) for name in _COLUMNS]


def _alert(*, status: str, **columns: Any) -> Alert:
    return Alert(status=AlertStatus(status), **columns)
