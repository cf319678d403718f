"""Results that could not be stored, with the reason, and gaps that probes report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class RefusedResult:
    """*position* of the result in its batch, -1 for the batch as a whole."""

    probe_id: UUID
    incarnation: int
    seq: int
    position: int
    result: dict[str, Any]
    reason: str


@dataclass(frozen=True, slots=True)
class LostBatches:
    """Batches that a probe no longer has."""

    probe_id: UUID
    incarnation: int
    first_seq: int
    last_seq: int
    results: int
    reason: str


async def keep(tx: Tx, refusals: Sequence[RefusedResult], now: datetime) -> None:
    await tx.executemany(
        """
        INSERT INTO refused_results (probe_id, incarnation, seq, position, result, reason, at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
        """,
        [(r.probe_id, r.incarnation, r.seq, r.position, r.result, r.reason, now) for r in refusals],
    )


async def keep_gaps(tx: Tx, gaps: Sequence[LostBatches], now: datetime) -> None:
    await tx.executemany(
        """
        INSERT INTO result_gaps (probe_id, incarnation, first_seq, last_seq, results, reason, at)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
        """,
        [(g.probe_id, g.incarnation, g.first_seq, g.last_seq, g.results, g.reason, now) for g in gaps],
    )
