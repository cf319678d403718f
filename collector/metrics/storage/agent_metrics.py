"""Hourly results of each probe's internal monitor."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.metrics.core.agent_metrics import Sample
from collector.platform.storage.db import Tx
from collector.probes.core.assignment import LIVE


@dataclass(frozen=True, slots=True)
class ProbeVitals:
    """A live probe and its latest vitals; *counters* are those of its last sample."""

    probe_id: UUID
    blind: bool
    vitals: dict[str, Any]
    counters: Sequence[int]


async def live(tx: Tx, now: datetime) -> list[ProbeVitals]:
    """Live probes that have reported vitals."""
    rows = await tx.fetch(
        """
        SELECT p.probe_id, p.blind_since IS NOT NULL AS blind, p.vitals,
            coalesce(a.counters, '{}') AS counters
        FROM probes p LEFT JOIN agent_metrics a USING (probe_id)
        WHERE p.revoked_at IS NULL AND p.ended_at IS NULL AND p.seen_at > $1 AND p.seen_at < $2
            AND p.vitals <> '{}'
        ORDER BY p.probe_id
        """,
        now - LIVE,
        now + LIVE,
    )
    return [ProbeVitals(**row) for row in rows]


async def add(tx: Tx, samples: Sequence[tuple[ProbeVitals, Sample]], now: datetime) -> None:
    """Add each sample to its probe's current hour."""
    await tx.executemany(
        """
        INSERT INTO agent_metrics (probe_id, changed_at, sampled_at, counters) VALUES ($1, $2, $2, $3)
        ON CONFLICT (probe_id) DO UPDATE SET sampled_at = $2, counters = excluded.counters
        """,
        [(report.probe_id, now, sample.counters) for report, sample in samples],
    )
    await tx.executemany(
        """
        INSERT INTO agent_metrics_hour AS h (probe_id, at, samples, blind, started, skipped, dropped, running,
            late_us, spool_bytes, spool_batches, rss_bytes, skew_ms_min, skew_ms_max)
        VALUES ($1, date_trunc('hour', $2::timestamptz, 'UTC'), 1, $3, $4, $5, $6, $7, $8, $9, $10, $11,
            $12, $12)
        ON CONFLICT (probe_id, at) DO UPDATE SET
            samples = h.samples + 1,
            blind = h.blind + excluded.blind,
            started = h.started + excluded.started,
            skipped = h.skipped + excluded.skipped,
            dropped = h.dropped + excluded.dropped,
            running = greatest(h.running, excluded.running),
            late_us = greatest(h.late_us, excluded.late_us),
            spool_bytes = greatest(h.spool_bytes, excluded.spool_bytes),
            spool_batches = greatest(h.spool_batches, excluded.spool_batches),
            rss_bytes = greatest(h.rss_bytes, excluded.rss_bytes),
            skew_ms_min = least(h.skew_ms_min, excluded.skew_ms_min),
            skew_ms_max = greatest(h.skew_ms_max, excluded.skew_ms_max)
        """,
        [
            (
                report.probe_id,
                now,
                int(report.blind),
                sample.started,
                sample.skipped,
                sample.dropped,
                sample.running,
                sample.late_us,
                sample.spool_bytes,
                sample.spool_batches,
                sample.rss_bytes,
                sample.skew_ms,
            )
            for report, sample in samples
        ],
    )
