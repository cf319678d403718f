"""Reads what the first page shows: counts, monitors by group and state, newest events."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from collector.monitors.storage.board import EVERY, STATE, STATE_OF_FEW, possible
from collector.platform.storage.db import Tx
from shared.kinds import RECEIVING
from shared.results import Status

# Events are looked for among so many of the newest.
_NEWEST = 5_000
# The slowest monitors are looked for among those of so many of the longest latest responses.
_CANDIDATES = 200


@dataclass(frozen=True, slots=True)
class TeamCounts:
    """*live* are of *probes*; *incidents* are those not resolved."""

    monitors: int
    incidents: int
    probes: int
    live: int
    channels: int
    rules: int


async def counts(tx: Tx, team_id: int, now: datetime, live: timedelta) -> TeamCounts:
    """Probes are live that were heard of within *live*; channels and rules count while they are enabled."""
    row = await tx.fetchrow(
        """
        SELECT p.probes, p.live,
            (SELECT count(*) FROM monitors WHERE team_id = $1) AS monitors,
            (SELECT count(*) FROM incidents WHERE team_id = $1 AND status <> 'resolved') AS incidents,
            (SELECT count(*) FROM channels WHERE team_id = $1 AND enabled) AS channels,
            (SELECT count(*) FROM rules WHERE team_id = $1 AND enabled) AS rules
        FROM (
            SELECT count(*) AS probes,
                count(*) FILTER (
                    WHERE ended_at IS NULL
                        AND seen_at > $2::timestamptz - $3::interval AND seen_at < $2 + $3
                ) AS live
            FROM probes WHERE coalesce(team_id, $1) = $1 AND revoked_at IS NULL
        ) p
        """,
        team_id, now, live,
    )  # fmt: skip
    return TeamCounts(**row) if row else TeamCounts(0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class UnacknowledgedIncident:
    id: UUID
    title: str
    severity: str


async def open_counts(tx: Tx, team_id: int) -> tuple[int, int]:
    """Return how many incidents are not resolved, and how many of them are not acknowledged."""
    row = await tx.fetchrow(
        """
        SELECT count(*) AS unresolved, count(*) FILTER (WHERE status = 'open') AS unacknowledged
        FROM incidents WHERE team_id = $1 AND status <> 'resolved'
        """,
        team_id,
    )
    return (row["unresolved"], row["unacknowledged"]) if row else (0, 0)


async def newest_open(tx: Tx, team_id: int, limit: int) -> list[UnacknowledgedIncident]:
    """Return the newest incidents that are not acknowledged."""
    rows = await tx.fetch(
        """
        SELECT id, title, severity FROM incidents
        WHERE team_id = $1 AND status <> 'resolved' AND status = 'open'
        ORDER BY created_at DESC, id DESC LIMIT $2
        """,
        team_id,
        limit,
    )
    return [UnacknowledgedIncident(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class GroupCount:
    """*count* monitors of the group *name* are in *state*; the name is empty for those without a group."""

    name: str
    state: str
    count: int


@dataclass(frozen=True, slots=True)
class Tile:
    """A monitor and its state."""

    id: UUID
    name: str
    group: str
    state: str


@dataclass(frozen=True, slots=True)
class MonitorDowntime:
    id: UUID
    name: str
    down_s: float


@dataclass(frozen=True, slots=True)
class ResponseTime:
    """The mean over the locations of a monitor's latest good check, in ms."""

    id: UUID
    name: str
    ms: float


@dataclass(frozen=True, slots=True)
class ExpiringCertificate:
    id: UUID
    name: str
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class RecentEvent:
    """*subject* and *subject_id*: name and id of what the event is about; *ended*: that state is over."""

    kind: str
    at: datetime
    subject: str
    subject_id: str
    incident_id: UUID | None
    ended: bool


@dataclass(frozen=True, slots=True)
class AbsentProbe:
    """A probe that is not connected; *seen_at* None: it never was."""

    name: str
    seen_at: datetime | None


async def group_counts(tx: Tx, team_id: int) -> list[GroupCount]:
    """Of each group and state that has monitors, by name."""
    rows = await tx.fetch(
        f"""
        SELECT coalesce(m.group_name, '') AS name, {STATE} AS state, count(*)
        FROM monitors m WHERE m.team_id = $1 GROUP BY 1, 2 ORDER BY 1
        """,
        team_id,
    )
    return [GroupCount(**row) for row in rows]


async def tiles(tx: Tx, team_id: int, states: Collection[str], limit: int) -> list[Tile]:
    """Monitors in one of *states*, by group and name."""
    condition = possible(states)
    state = STATE if condition == EVERY else STATE_OF_FEW
    rows = await tx.fetch(
        f"""
        SELECT id, name, "group", state FROM (
            SELECT m.id, m.name, coalesce(m.group_name, '') AS "group", {state} AS state
            FROM monitors m WHERE m.team_id = $1 AND {condition}
        ) one WHERE state = ANY ($2) ORDER BY "group", lower(name), id LIMIT $3
        """,
        team_id,
        list(states),
        limit,
    )
    return [Tile(**row) for row in rows]


@dataclass(frozen=True, slots=True)
class TroubledMonitor:
    """*since*: when it came to be in *state*; *error*: of its last result, if that failed."""

    id: UUID
    name: str
    group: str
    state: str
    since: datetime | None
    error: str


async def troubled(tx: Tx, team_id: int, states: Collection[str], limit: int) -> list[TroubledMonitor]:
    """Monitors in one of *states*, by the order of these, then the newest first."""
    rows = await tx.fetch(
        f"""
        SELECT id, name, "group", state,
            CASE state WHEN 'down' THEN down_since WHEN 'degraded' THEN degraded_since
                WHEN 'flapping' THEN flapping_since ELSE unmeasured_since END AS since, (
                SELECT coalesce(max(e.text), '') FROM states s JOIN errors e ON e.error = s.last_error
                WHERE s.monitor = one.monitor
            ) AS error
        FROM (
            SELECT m.monitor, m.id, m.name, coalesce(m.group_name, '') AS "group", m.degraded_since,
                m.flapping_since, m.unmeasured_since, {STATE_OF_FEW} AS state, coalesce((
                    SELECT max(o.started_at) FROM outages o
                    WHERE o.monitor = m.monitor AND o.location = 0 AND o.ended_at IS NULL
                ), m.changed_at) AS down_since
            FROM monitors m WHERE m.team_id = $1 AND {possible(states)}
        ) one
        WHERE state = ANY ($2)
        ORDER BY array_position($2::text[], state), since DESC NULLS LAST, lower(name) LIMIT $3
        """,
        team_id,
        list(states),
        limit,
    )
    return [TroubledMonitor(**row) for row in rows]


async def most_down(
    tx: Tx, team_id: int, since: datetime, now: datetime, limit: int
) -> list[MonitorDowntime]:
    """Monitors that were down longest between *since* and *now*, the longest first."""
    rows = await tx.fetch(
        """
        SELECT m.id, m.name, extract(epoch FROM sum(
            least(coalesce(o.ended_at, $3), $3) - greatest(o.started_at, $2)
        ))::float AS down_s
        FROM monitors m JOIN outages o ON o.monitor = m.monitor AND o.location = 0
        WHERE m.team_id = $1 AND o.started_at < $3 AND (o.ended_at IS NULL OR o.ended_at > $2)
        GROUP BY m.id, m.name ORDER BY down_s DESC, m.name LIMIT $4
        """,
        team_id, since, now, limit,
    )  # fmt: skip
    return [MonitorDowntime(**row) for row in rows]


async def slowest(tx: Tx, team_id: int, limit: int) -> list[ResponseTime]:
    """Monitors that are up with the longest response times, the longest first; those of jobs are none.

    They are looked for among those with the longest latest response at any location, as means of all
    monitors would take twice as long.
    """
    rows = await tx.fetch(
        """
        SELECT m.id, m.name, mean.ms
        FROM (
            SELECT DISTINCT monitor FROM (
                SELECT s.monitor FROM monitors m JOIN states s ON s.monitor = m.monitor
                WHERE m.team_id = $1 AND m.paused_at IS NULL AND NOT m.down AND m.type <> ALL ($4)
                    AND s.last_status = $2 AND s.last_ms > 0
                ORDER BY s.last_ms DESC LIMIT $5
            ) longest
        ) candidates
        JOIN monitors m ON m.monitor = candidates.monitor
        CROSS JOIN LATERAL (
            SELECT avg(s.last_ms)::float AS ms FROM states s
            WHERE s.monitor = m.monitor AND s.last_status = $2 AND s.last_ms > 0
        ) mean
        ORDER BY mean.ms DESC, m.name LIMIT $3
        """,
        team_id, Status.UP, limit, list(RECEIVING), _CANDIDATES,
    )  # fmt: skip
    return [ResponseTime(**row) for row in rows]


async def ending_certificates(tx: Tx, team_id: int, now: datetime, limit: int) -> list[ExpiringCertificate]:
    """Certificates of which a warning was given and that have not ended, the earliest first."""
    rows = await tx.fetch(
        """
        SELECT m.id, m.name, w.ends_at
        FROM certificate_warnings w JOIN monitors m ON m.team_id = w.team_id AND m.id = w.monitor_id
        WHERE w.team_id = $1 AND w.ends_at > $2 AND m.paused_at IS NULL
        ORDER BY w.ends_at, m.name LIMIT $3
        """,
        team_id, now, limit,
    )  # fmt: skip
    return [ExpiringCertificate(**row) for row in rows]


async def recent_events(tx: Tx, team_id: int, kinds: Collection[str], limit: int) -> list[RecentEvent]:
    """The newest events of *kinds*, newest first."""
    rows = await tx.fetch(
        """
        SELECT kind, created_at AS at, incident_id,
            coalesce(about ->> 'name', payload #>> '{incident,title}', '') AS subject,
            coalesce(about ->> 'id', '') AS subject_id,
            coalesce(payload ->> 'degraded', payload ->> 'flapping') IS NOT DISTINCT FROM 'false' AS ended
        FROM events, LATERAL (
            SELECT coalesce(
                nullif(payload -> 'monitor', 'null'), payload -> 'probe', payload -> 'channel',
                payload -> 'maintenanceWindow', '{}'
            ) AS about
        ) named
        WHERE team_id = $1 AND kind = ANY ($2)
            AND position > (SELECT last FROM event_positions WHERE team_id = $1) - $3
        ORDER BY position DESC LIMIT $4
        """,
        team_id, list(kinds), _NEWEST, limit,
    )  # fmt: skip
    return [RecentEvent(**row) for row in rows]


async def absent_probes(
    tx: Tx, team_id: int, now: datetime, live: timedelta, limit: int
) -> list[AbsentProbe]:
    """Probes that serve the team and were not heard of within *live*, those seen last first."""
    rows = await tx.fetch(
        """
        SELECT name, seen_at FROM probes
        WHERE coalesce(team_id, $1) = $1 AND revoked_at IS NULL AND (
            ended_at IS NOT NULL OR seen_at IS NULL
            OR seen_at <= $2::timestamptz - $3::interval OR seen_at >= $2 + $3
        )
        ORDER BY seen_at DESC NULLS LAST, name LIMIT $4
        """,
        team_id, now, live, limit,
    )  # fmt: skip
    return [AbsentProbe(**row) for row in rows]
