"""Certificates near expiry: found by checks, announced once, deleted after their end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.evaluation.core.state import LATE
from collector.history.core.certificate import NEARS, SEVERITY
from collector.platform.storage.db import Tx
from shared.results import Status

# Per monitor and day: limits a target that shows another certificate to each check.
_MOST = 10


@dataclass(frozen=True, slots=True)
class CertificateFinding:
    """A finding of a check that ended *at*: the certificate expires soon, and nothing else is wrong."""

    monitor: int
    ends_at: datetime
    at: datetime


@dataclass(frozen=True, slots=True)
class UnannouncedExpiry:
    """A certificate whose expiry is unannounced; *checkpoints*: the present ones of its locations."""

    team_id: int
    monitor_id: UUID
    monitor: int
    ends_at: datetime
    expiry_days: int
    checkpoints: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class SeverityIncrease:
    """An incident to raise to its monitor's severity, if something else is wrong by now."""

    team_id: int
    incident_id: UUID
    monitor: int
    severity: str


async def note(tx: Tx, findings: Sequence[CertificateFinding], now: datetime) -> None:
    """Store new findings, except late ones and those of paused monitors or of other types."""
    await tx.execute(
        """
        INSERT INTO certificate_warnings (team_id, monitor_id, ends_at, expiry_days, found_at)
        SELECT DISTINCT m.team_id, m.id, u.ends_at, coalesce((m.config ->> 'expiryDays')::int, 14),
            $4::timestamptz
        FROM unnest($1::int[], $2::timestamptz[], $3::timestamptz[]) AS u (monitor, ends_at, at)
        JOIN monitors m USING (monitor)
        WHERE m.type = 'tls' AND m.paused_at IS NULL AND u.ends_at > $4
            AND u.at > $4::timestamptz - m.timeout_s * interval '1 second' - $5::interval
            AND (
                SELECT count(*) FROM certificate_warnings w
                WHERE w.team_id = m.team_id AND w.monitor_id = m.id
                    AND w.found_at > $4::timestamptz - interval '1 day'
            ) < $6
        ON CONFLICT DO NOTHING
        """,
        [finding.monitor for finding in findings],
        [finding.ends_at for finding in findings],
        [finding.at for finding in findings],
        now,
        LATE,
        _MOST,
    )


async def waiting(tx: Tx, after: int, now: datetime, limit: int) -> list[int]:
    """The next monitors after that key with an unannounced certificate, not locked."""
    rows = await tx.fetch(
        """
        SELECT DISTINCT m.monitor
        FROM certificate_warnings w JOIN monitors m ON m.team_id = w.team_id AND m.id = w.monitor_id
        WHERE w.told_at IS NULL AND w.ends_at > $2 AND m.monitor > $1 AND m.paused_at IS NULL
            AND (m.silenced_until IS NULL OR m.silenced_until <= $2)
        ORDER BY m.monitor LIMIT $3
        """,
        after,
        now,
        limit,
    )
    return [row["monitor"] for row in rows]


async def unannounced(tx: Tx, monitors: Sequence[int], now: datetime) -> list[UnannouncedExpiry]:
    """Unannounced expiries of these locked monitors, without those found under another setting."""
    rows = await tx.fetch(
        """
        SELECT w.team_id, w.monitor_id, m.monitor, w.ends_at, w.expiry_days, ARRAY(
            SELECT s.checkpoint FROM states s WHERE s.monitor = m.monitor AND s.checkpoint IS NOT NULL
        ) AS checkpoints
        FROM certificate_warnings w JOIN monitors m ON m.team_id = w.team_id AND m.id = w.monitor_id
        WHERE m.monitor = ANY($1) AND w.told_at IS NULL AND w.ends_at > $2
            AND w.expiry_days = coalesce((m.config ->> 'expiryDays')::int, 14)
        ORDER BY w.ends_at
        """,
        list(monitors),
        now,
    )
    return [UnannouncedExpiry(**row) for row in rows]


async def mark_announced(tx: Tx, announced: Sequence[UnannouncedExpiry], now: datetime) -> None:
    """Mark these as announced."""
    await tx.execute(
        """
        UPDATE certificate_warnings w SET told_at = $5
        FROM unnest($1::int[], $2::uuid[], $3::timestamptz[], $4::int[])
            AS u (team_id, monitor_id, ends_at, expiry_days)
        WHERE w.team_id = u.team_id AND w.monitor_id = u.monitor_id AND w.ends_at = u.ends_at
            AND w.expiry_days = u.expiry_days
        """,
        [expiry.team_id for expiry in announced],
        [expiry.monitor_id for expiry in announced],
        [expiry.ends_at for expiry in announced],
        [expiry.expiry_days for expiry in announced],
        now,
    )


async def forget(tx: Tx, before: datetime) -> None:
    """Delete those that ended before that."""
    await tx.execute("DELETE FROM certificate_warnings WHERE ends_at < $1", before)


async def raise_severity(tx: Tx, graver: Sequence[SeverityIncrease]) -> list[SeverityIncrease]:
    """Raise incidents that were opened for an expiring certificate and now fail otherwise at some location.

    As many checks there as confirm a failure must agree, and no user may have set the severity.
    Return those raised.
    """
    rows = await tx.fetch(
        """
        UPDATE incidents i SET severity = u.severity
        FROM unnest($1::int[], $2::uuid[], $3::int[], $4::text[]) AS u (team_id, id, monitor, severity)
        WHERE i.team_id = u.team_id AND i.id = u.id AND i.severity = $5
            AND (
                SELECT t.type <> 'severity_changed' AND t.details ~ $6 FROM timeline t
                WHERE t.team_id = u.team_id AND t.incident_id = u.id
                    AND t.type IN ('created', 'reopened', 'severity_changed')
                ORDER BY t.n DESC LIMIT 1
            )
            AND EXISTS (
                SELECT FROM states s JOIN monitors m USING (monitor)
                CROSS JOIN LATERAL (
                    SELECT count(*) FILTER (WHERE r.status = $7 AND coalesce(e.text, '') !~ $6) AS others
                    FROM (
                        SELECT status, error FROM results
                        WHERE monitor = s.monitor AND location = s.location AND ts >= s.failed_since
                        ORDER BY ts DESC, n DESC LIMIT m.failure_threshold
                    ) r LEFT JOIN errors e USING (error)
                ) newest
                WHERE s.monitor = u.monitor AND s.failing AND newest.others >= m.failure_threshold
            )
        RETURNING u.team_id, u.id AS incident_id, u.monitor, u.severity
        """,
        [one.team_id for one in graver],
        [one.incident_id for one in graver],
        [one.monitor for one in graver],
        [one.severity for one in graver],
        SEVERITY,
        NEARS,
        Status.DOWN,
    )
    return [SeverityIncrease(**row) for row in rows]
