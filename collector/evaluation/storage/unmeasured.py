"""Monitors whose checks are all unknown, and those that are measured again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from collector.evaluation.core.quorum import SILENCE
from collector.platform.storage.db import Tx
from shared.kinds import RECEIVING
from shared.results import Status

# How far back to search for the last check that measured something.
_SEARCHED: Final = "1 day"


@dataclass(frozen=True, slots=True)
class MeasurementChange:
    """A monitor that is no longer measured, or is again. *since*: when it was measured last, or was made.

    *error*: of its newest unknown check.
    """

    monitor: int
    measured: bool
    since: datetime
    error: str


# A location counts while its probe is live and online: for others the probe's owner is notified.
_TURNS: Final = f"""
    WITH doubtful AS (
        SELECT s.monitor FROM states s WHERE s.last_status = $3
        UNION SELECT m.monitor FROM monitors m WHERE m.unmeasured_since IS NOT NULL
    )
    SELECT m.monitor, s.measured, coalesce(m.unmeasured_since, k.known_at, m.created_at) AS since,
        coalesce(e.text, '') AS error
    FROM doubtful JOIN monitors m USING (monitor)
    CROSS JOIN LATERAL (
        SELECT coalesce(bool_or(
                s.last_status <> $3 AND (s.last_at > m.unmeasured_since OR m.unmeasured_since = m.created_at)
            ), false) AS measured,
            bool_and(s.last_status = $3) FILTER (WHERE s.live) AS unknown,
            (array_agg(s.last_error ORDER BY s.last_at DESC) FILTER (WHERE s.live))[1] AS last_error
        FROM (
            SELECT s.*, p.seen_at > $1::timestamptz - $5::interval AND p.blind_since IS NULL AS live
            FROM states s LEFT JOIN probes p USING (probe_id)
            WHERE s.monitor = m.monitor AND s.last_at IS NOT NULL
        ) s
    ) s
    LEFT JOIN errors e ON e.error = s.last_error
    LEFT JOIN LATERAL (
        SELECT max(r.ts) AS known_at FROM states s CROSS JOIN LATERAL (
            SELECT r.ts FROM results r WHERE r.monitor = s.monitor AND r.location = s.location
                AND r.ts > $1::timestamptz - interval '{_SEARCHED}' AND r.status <> $3
            ORDER BY r.ts DESC LIMIT 1
        ) r
        WHERE s.monitor = m.monitor
    ) k ON m.unmeasured_since IS NULL AND s.unknown
    WHERE m.paused_at IS NULL AND m.type <> ALL ($4) AND ($2::int[] IS NULL OR m.monitor = ANY ($2)) AND CASE
        WHEN m.unmeasured_since IS NOT NULL THEN s.measured
        ELSE s.unknown AND EXISTS (
            SELECT FROM states s CROSS JOIN LATERAL (
                SELECT count(*) AS checks, bool_and(status = $3) AS unknown FROM (
                    SELECT r.status FROM results r WHERE r.monitor = s.monitor AND r.location = s.location
                        AND r.ts > $1::timestamptz
                            - (m.failure_threshold + 2) * (m.interval_s + m.timeout_s) * interval '1 s'
                    ORDER BY r.ts DESC, r.n DESC LIMIT m.failure_threshold
                ) newest
            ) r
            WHERE s.monitor = m.monitor AND r.unknown AND r.checks = m.failure_threshold
        )
        END
    ORDER BY m.monitor
"""


async def turns(tx: Tx, now: datetime, monitors: Sequence[int] | None = None) -> list[MeasurementChange]:
    """Return unrecorded changes of all or of these monitors, in key order, not locked."""
    named = None if monitors is None else list(monitors)
    rows = await tx.fetch(_TURNS, now, named, Status.UNKNOWN, list(RECEIVING), SILENCE)
    return [MeasurementChange(**row) for row in rows]


async def save(tx: Tx, turned: Sequence[MeasurementChange]) -> None:
    """Record them; the rows of their monitors are locked."""
    await tx.execute(
        """
        UPDATE monitors m SET unmeasured_since = CASE WHEN u.measured THEN NULL ELSE u.since END
        FROM unnest($1::int[], $2::boolean[], $3::timestamptz[]) AS u (monitor, measured, since)
        WHERE m.monitor = u.monitor
        """,
        [turn.monitor for turn in turned],
        [turn.measured for turn in turned],
        [turn.since for turn in turned],
    )
