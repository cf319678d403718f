"""Collects the evidence of failed checks for the incidents that they cause."""

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from collector.evaluation.error_texts import clean
from collector.evaluation.ingest.columns import Columns
from collector.incidents.storage import evidence
from collector.incidents.storage.evidence import FailedCheck
from collector.platform.storage.db import Tx
from shared.clock import EPOCH
from shared.evidence import Evidence, redacted
from shared.phases import unpack
from shared.results import Phases, Run, Status
from shared.wire.convert import Batch

# Per transaction: each takes up to some milliseconds to process, and everybody's results wait.
_MOST: Final = 200


async def remember(
    tx: Tx, columns: Columns, counting: Sequence[int] | None, wanting: Collection[tuple[int, int]]
) -> None:
    """Store the evidence of failed checks of each (monitor, location) in *wanting*, for an incident to use.

    *counting*: the places of the results that may move a state, None for all.
    """
    failures = list(islice(_failures(columns, counting, wanting), _MOST))
    if failures:
        await evidence.remember(tx, failures)


def _failures(
    columns: Columns, counting: Sequence[int] | None, wanting: Collection[tuple[int, int]]
) -> Iterator[FailedCheck]:
    places = None if counting is None else set(counting)
    start = 0
    for part in columns.parts:
        for i in sorted(part.batch.evidence):
            place = start + i
            key = part.batch.monitor[i], part.batch.location[i]
            counts = key in wanting and (places is None or place in places)
            if counts and part.batch.outcome[i] == Status.DOWN:
                at = EPOCH + timedelta(milliseconds=columns.at_ms[place])
                saw = _shown(part.batch, i, part.batch.evidence[i])
                yield FailedCheck(*key, at, saw)
        start += len(part.batch.monitor)


def _shown(batch: Batch, i: int, seen: Evidence) -> dict[str, Any]:
    """Return the evidence as the interface shows it; the probe redacted it, and it is redacted again here."""
    seen = redacted(seen)
    phases = unpack(batch.phases[i])
    return {
        "run": Run(batch.run[i]).name.lower(),
        "address": seen.address or None,
        "statusCode": batch.code[i] or None,
        "error": clean(batch.errors[batch.error[i] - 1]) if batch.error[i] else None,
        "responseTime": (batch.duration_us[i] + 500) // 1000,
        "phases": _phases(phases),
        "headers": [{"name": name, "value": value} for name, value in seen.headers],
        "body": seen.body or None,
    }


def _phases(phases: Phases) -> dict[str, float | None]:
    spent = (phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us)
    names = ("dns", "connect", "tls", "firstByte", "transfer")
    return {name: None if us is None else us / 1000 for name, us in zip(names, spent, strict=True)}
