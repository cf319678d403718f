"""A probe's vitals as a sample of its internal monitor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Upper bound of every value that a probe reports.
_MOST = 2**53


@dataclass(frozen=True, slots=True)
class Sample:
    """*counters* are the probe's totals; *started*, *skipped*, *dropped* their increases."""

    counters: Sequence[int]
    started: int
    skipped: int
    dropped: int
    running: int
    late_us: int
    spool_bytes: int
    spool_batches: int
    rss_bytes: int
    skew_ms: int


def sample(vitals: Mapping[str, Any], before: Sequence[int]) -> Sample:
    """A sample of *vitals*; *before*: the last counters, None at first; they restart with each process."""
    counters = [_number(vitals, name) for name in ("started", "skipped", "dropped")]
    started, skipped, dropped = [
        now - then if now >= then else now
        for now, then in zip(counters, before if len(before) == len(counters) else counters, strict=True)
    ]
    return Sample(
        counters=counters,
        started=started,
        skipped=skipped,
        dropped=dropped,
        running=_number(vitals, "running"),
        late_us=_number(vitals, "lateUsMax"),
        spool_bytes=_number(vitals, "spoolBytes"),
        spool_batches=_number(vitals, "spoolBatches"),
        rss_bytes=_number(vitals, "rssBytes"),
        skew_ms=_number(vitals, "skewMs"),
    )


def _number(vitals: Mapping[str, Any], name: str) -> int:
    value = vitals.get(name, 0)
    return max(-_MOST, min(value, _MOST)) if isinstance(value, int) else 0
