"""Reads the rows behind the explanation of a monitor's state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.evaluation.core.decision import EvaluatedMonitor
from collector.evaluation.storage.states import StateAtLocation
from collector.history.core.certificate import OF_TYPES
from collector.monitors.core.explain import MonitorFacts, Trace, VotingLocation
from collector.platform.storage.db import Tx

# A streak with more results than this is not traced.
_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class ExplanationRow:
    """A monitor's row, with its newest automatic incident; *routed*: no event awaits routing."""

    monitor: int
    locations: Sequence[str]
    failure_threshold: int
    recovery_threshold: int
    depends_on: Sequence[UUID]
    incident_id: UUID | None
    incident_status: str | None
    parent_incident_id: UUID | None
    routed: bool
    facts: MonitorFacts


@dataclass(frozen=True, slots=True)
class CheckedLocation:
    """A location, the probe that checks there, and the trace of its checks.

    *checkpoint*: of the certificate that is seen there.
    """

    place: VotingLocation
    trace: Trace
    probe: str | None
    session: bool
    seen_at: datetime | None
    blind_since: datetime | None = None
    checkpoint: bytes | None = None


@dataclass(frozen=True, slots=True)
class ParentRow:
    """A monitor that this one depends on; *last_at*: the start of its newest check."""

    id: UUID
    name: str
    down: bool
    paused_at: datetime | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class ListenerRow:
    """An enabled channel with subscriptions of its own, and their filter: empty means no filter."""

    events: Sequence[str]
    monitors: Sequence[str]


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """One event and one channel it went to; *channel_id* None if it went to none.

    *attempts*: their number; *status*, *error* and *due_at* are the delivery's.
    """

    event_id: UUID
    kind: str
    at: datetime
    channel_id: UUID | None
    channel: str | None
    status: int | None
    attempts: int
    error: str | None
    due_at: datetime | None


async def freeze(tx: Tx) -> None:
    """Make all reads of the transaction see the same moment; it must be the first statement."""
    await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


async def monitor(tx: Tx, team_id: int, id_: UUID) -> ExplanationRow | None:
    row = await tx.fetchrow(
        """
        SELECT m.monitor, m.name, m.quorum, m.down, m.told, m.silenced_until, m.silence_reason, m.paused_at,
            m.locations, m.failure_threshold, m.recovery_threshold, m.depends_on,
            i.id AS incident_id, i.status AS incident_status, i.parent_incident_id,
            CASE WHEN i.resolved_by ->> 'id' IS NOT NULL AND i.resolved_at >= m.changed_at
                THEN i.resolved_at END AS ended_by_hand_at,
            coalesce(CASE WHEN m.down THEN o.started_at ELSE o.ended_at END, m.changed_at) AS changed_at,
            coalesce(s.routed >= s.sequence, true) AS routed
        FROM monitors m
        LEFT JOIN streams s ON s.team_id = m.team_id AND s.stream_id = m.id
        LEFT JOIN LATERAL (
            SELECT i.id, i.status, i.resolved_at, i.resolved_by, i.parent_incident_id FROM incidents i
            WHERE i.team_id = m.team_id AND i.monitor_id = m.id AND i.automatic
            ORDER BY i.resolved_at IS NOT NULL, coalesce(i.reopened_at, i.created_at) DESC LIMIT 1
        ) i ON true
        LEFT JOIN LATERAL (
            SELECT o.started_at, o.ended_at FROM outages o WHERE o.monitor = m.monitor AND o.location = 0
            ORDER BY o.started_at DESC LIMIT 1
        ) o ON true
        WHERE m.team_id = $1 AND m.id = $2
        """,
        team_id,
        id_,
    )
    return _explained(row) if row else None


async def places(tx: Tx, located: Sequence[StateAtLocation], since: datetime) -> list[CheckedLocation]:
    """Return a monitor's locations, with the outages and streaks around what was measured *since*."""
    rows = await tx.fetch(
        f"""
        SELECT s.location, p.name AS probe, p.seen_at, p.blind_since,
            p.session IS NOT NULL AND p.ended_at IS NULL AND p.revoked_at IS NULL AS session,
            o.began, o.ended, c.counted, c.looked_at,
            CASE WHEN m.type IN {OF_TYPES} THEN s.checkpoint END AS checkpoint
        FROM states s
        JOIN monitors m USING (monitor)
        LEFT JOIN probes p USING (probe_id)
        CROSS JOIN LATERAL (
            SELECT coalesce(array_agg(o.started_at), '{{}}') AS began,
                coalesce(array_agg(o.ended_at) FILTER (WHERE o.ended_at IS NOT NULL), '{{}}') AS ended
            FROM outages o
            WHERE o.monitor = s.monitor AND o.location = s.location AND o.started_at >= coalesce((
                SELECT max(f.started_at) FROM outages f
                WHERE f.monitor = s.monitor AND f.location = s.location AND f.started_at < $2
            ), $2)
        ) o
        CROSS JOIN LATERAL (
            SELECT count(*) AS looked_at,
                coalesce(array_agg(r.ts ORDER BY r.ts, r.n) FILTER (WHERE r.status = 2), '{{}}') AS counted
            FROM (
                SELECT r.ts, r.n, r.status FROM results r
                WHERE s.fails > 0 AND r.monitor = s.monitor AND r.location = s.location
                    AND r.ts >= s.failed_since
                ORDER BY r.ts, r.n LIMIT $3
            ) r
        ) c
        WHERE s.monitor = ANY($1)
        """,
        list({one.monitor for one in located}),
        since,
        _LOOKED_AT,
    )
    beside = {row["location"]: row for row in rows}
    return [_at(one, beside[one.location]) for one in located]


async def parents(tx: Tx, team_id: int, wanted: Sequence[UUID]) -> list[ParentRow]:
    """Return the *wanted* monitors of the team, by name."""
    rows = await tx.fetch(
        """
        SELECT m.id, m.name, m.down, m.paused_at,
            (SELECT max(s.last_at) FROM states s WHERE s.monitor = m.monitor) AS last_at
        FROM monitors m WHERE m.team_id = $1 AND m.id = ANY($2) ORDER BY m.name, m.id
        """,
        team_id,
        list(wanted),
    )
    return [ParentRow(**row) for row in rows]


async def listening(tx: Tx, team_id: int) -> list[ListenerRow]:
    """Return the enabled channels of the team that have subscriptions of their own, not locked."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT coalesce(config -> 'events', '[]') AS events,
            coalesce(config -> 'monitors', '[]') AS monitors
        FROM channels WHERE team_id = $1 AND enabled AND type = 'webhook'
        """,
        team_id,
    )
    return [ListenerRow(**row) for row in rows]


async def notifications(
    tx: Tx, team_id: int, id_: UUID, unheard: Sequence[str], events: int, channels: int
) -> list[DeliveryRow]:
    """Return the newest *events* but *unheard* kinds, newest first; at most *channels* deliveries each."""
    rows = await tx.fetch(
        """
        SELECT e.id AS event_id, e.kind, e.created_at AS at, d.channel_id, c.name AS channel, d.status,
            coalesce(t.attempts, 0) AS attempts, t.error,
            CASE WHEN d.status = 0 AND NOT d.leased THEN d.due_at END AS due_at
        FROM (
            SELECT team_id, id, kind, created_at, sequence FROM events
            WHERE team_id = $1 AND stream_id = $2 AND kind <> ALL($3::text[])
            ORDER BY sequence DESC LIMIT $4
        ) e
        LEFT JOIN LATERAL (
            SELECT d.id, d.channel_id, d.status, d.leased, d.due_at, d.created_at FROM deliveries d
            WHERE d.team_id = e.team_id AND d.event_id = e.id ORDER BY d.created_at, d.id LIMIT $5
        ) d ON true
        LEFT JOIN channels c ON c.team_id = e.team_id AND c.id = d.channel_id
        LEFT JOIN LATERAL (
            SELECT count(*) AS attempts, (array_agg(a.error ORDER BY a.attempt DESC))[1] AS error
            FROM delivery_attempts a WHERE a.team_id = e.team_id AND a.delivery_id = d.id
        ) t ON true
        ORDER BY e.sequence DESC, d.created_at, d.id
        """,
        team_id,
        id_,
        list(unheard),
        events,
        channels,
    )
    return [DeliveryRow(**row) for row in rows]


def _explained(row: Any) -> ExplanationRow:
    facts = MonitorFacts(
        monitor=EvaluatedMonitor(row["name"], row["quorum"], row["down"], row["told"], row["silenced_until"]),
        changed_at=row["changed_at"],
        paused_at=row["paused_at"],
        silence_reason=row["silence_reason"],
        ended_by_hand_at=row["ended_by_hand_at"],
    )
    return ExplanationRow(
        row["monitor"],
        row["locations"],
        row["failure_threshold"],
        row["recovery_threshold"],
        row["depends_on"],
        row["incident_id"],
        row["incident_status"],
        row["parent_incident_id"],
        row["routed"],
        facts,
    )


def _at(one: StateAtLocation, row: Any) -> CheckedLocation:
    # If the numbers differ, the streak's time has other failed checks, and it is unknown which ones.
    whole = row["looked_at"] < _LOOKED_AT and len(row["counted"]) == one.state.fails
    counted = row["counted"] if whole else []
    trace = Trace(frozenset(row["began"]), frozenset(row["ended"]), counted)
    place = VotingLocation(one.vote, one.state, one.last_at, one.error)
    return CheckedLocation(
        place, trace, row["probe"], row["session"], row["seen_at"], row["blind_since"], row["checkpoint"]
    )
