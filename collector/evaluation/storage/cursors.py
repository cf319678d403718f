"""The last sequence number of each probe incarnation: decides whether a batch is new."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Advance:
    """A run of batches: the cursor must be between *low* and *high* and moves to *last*."""

    probe_id: UUID
    incarnation: int
    session: int
    low: int
    high: int
    last: int


@dataclass(frozen=True, slots=True)
class BatchCursor:
    """An incarnation's last sequence number, and the session that may move it."""

    session: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class Advanced:
    """Ordinals of the incarnations whose cursors moved; hours before *rolled_until* are rolled up."""

    ordinals: dict[tuple[UUID, int], int]
    rolled_until: datetime | None


async def advance(tx: Tx, runs: Sequence[Advance], now: datetime) -> Advanced:
    """Move the cursors that are within the bounds of their runs."""
    rows = await tx.fetch(
        """
        UPDATE probe_cursors c SET last_seq = u.last, moved_at = $7
        FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
            AS u (probe_id, incarnation, session, low, high, last)
        WHERE c.probe_id = u.probe_id AND c.incarnation = u.incarnation AND c.session = u.session
            AND c.last_seq BETWEEN u.low AND u.high
        RETURNING c.probe_id, c.incarnation, c.ordinal, (SELECT until FROM rollups_done) AS rolled_until
        """,
        [run.probe_id for run in runs],
        [run.incarnation for run in runs],
        [run.session for run in runs],
        [run.low for run in runs],
        [run.high for run in runs],
        [run.last for run in runs],
        now,
    )
    ordinals = {(row["probe_id"], row["incarnation"]): row["ordinal"] for row in rows}
    return Advanced(ordinals, rows[0]["rolled_until"] if rows else None)


async def read(tx: Tx, probe_id: UUID, incarnation: int) -> BatchCursor | None:
    row = await tx.fetchrow(
        "SELECT session, last_seq FROM probe_cursors WHERE probe_id = $1 AND incarnation = $2",
        probe_id,
        incarnation,
    )
    return BatchCursor(row["session"], row["last_seq"]) if row else None
