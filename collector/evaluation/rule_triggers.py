"""Marks monitors for rule evaluation when a result arrives that a rule waits for."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from collector.evaluation.ingest.columns import Columns
from collector.evaluation.storage import rule_triggers
from collector.evaluation.storage.rule_triggers import Key
from collector.evaluation.watched_results import WatchedMonitor
from collector.platform.storage.db import Tx
from shared.clock import EPOCH

# As in the evaluation: a result that arrives later than its timeout and this triggers no rule.
_LATE_MS = 15_000
_MS = timedelta(milliseconds=1)


async def mark(tx: Tx, columns: Columns, watched: Mapping[int, WatchedMonitor], now: datetime) -> None:
    """Mark monitors in the transaction that stores the results, so that a stopping collector loses none."""
    if watched and (keys := set(_awaited(columns, watched, (now - EPOCH) // _MS))):
        await rule_triggers.add(tx, sorted(keys))


def _awaited(columns: Columns, watched: Mapping[int, WatchedMonitor], now_ms: int) -> Iterator[Key]:
    """Monitors with results that matter and are not late."""
    at_ms = iter(columns.at_ms)
    for part in columns.parts:
        batch = part.batch
        for monitor, status, us, code in zip(
            batch.monitor, batch.outcome, batch.duration_us, batch.code, strict=True
        ):
            began_ms = next(at_ms)
            rule = watched.get(monitor)
            if rule is None or not rule.matters(status, us // 1000, code):
                continue
            if began_ms + us // 1000 >= now_ms - rule.timeout_s * 1000 - _LATE_MS:
                yield rule.team_id, rule.id
