"""Collects certificates near expiry from batches of results."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

from collector.evaluation.ingest.columns import Columns
from collector.evaluation.storage import certificates
from collector.evaluation.storage.certificates import CertificateFinding
from collector.history.core.certificate import ends_at, expiry
from collector.platform.storage.db import Tx
from shared.clock import EPOCH
from shared.results import Status


async def note(
    tx: Tx,
    columns: Columns,
    counting: Sequence[int] | None,
    wanting: Collection[tuple[int, int]],
    now: datetime,
) -> None:
    """Store what must be announced, after the evaluation: it locked the monitors.

    *counting*, *wanting*: see `evidence.remember`.
    """
    findings = sorted(
        _near(columns, counting, wanting), key=lambda finding: (finding.monitor, finding.ends_at)
    )
    if findings:
        await certificates.note(tx, findings, now)


def _near(
    columns: Columns, counting: Sequence[int] | None, wanting: Collection[tuple[int, int]]
) -> Iterator[CertificateFinding]:
    places = None if counting is None else set(counting)
    start = 0
    for part in columns.parts:
        batch = part.batch
        for i, state in batch.state.items():
            at = start + i
            counts = (batch.monitor[i], batch.location[i]) in wanting and (places is None or at in places)
            # Other kinds keep other data in their state.
            seen = expiry(state) if counts and batch.outcome[i] == Status.DOWN else None
            if seen is not None and seen.only_near:
                ended = timedelta(milliseconds=columns.at_ms[at], microseconds=batch.duration_us[i])
                yield CertificateFinding(batch.monitor[i], ends_at(seen), EPOCH + ended)
        start += len(batch.monitor)
