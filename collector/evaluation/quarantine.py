"""Finds the results of a batch that PostgreSQL refuses, so that the others are stored."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from collector.evaluation.error_texts import Interner, clean
from collector.evaluation.ingest.columns import Part, flatten, ties, times
from collector.evaluation.ingest.probe_batches import Submission
from collector.history.storage import results
from collector.platform.data_errors import DATA_ERRORS
from collector.platform.storage.db import Db, Tx
from shared.wire.convert import Batch


async def guilty(db: Db, submission: Submission, interner: Interner, now: datetime) -> list[tuple[int, str]]:
    """Return positions in the batch that cannot be stored, each with the reason; nothing is written."""
    errors = await interner.numbers(set(submission.batch.errors))
    batch = submission.batch
    part = Part(submission.probe_id, 0, submission.offset_us, batch, submission.places)
    async with db.transaction() as tx:
        there = await results.stored(tx, batch.monitor, batch.location, times(part, now), ties(part))
        left = [position for position in range(len(batch.monitor)) if position not in there]
        bad = await _among(tx, submission, left, errors, now)
    return [*((position, "is there already") for position in sorted(there)), *bad]


async def _among(
    tx: Tx, submission: Submission, positions: Sequence[int], errors: dict[str, int], now: datetime
) -> list[tuple[int, str]]:
    """Return the refused ones among *positions*: all are tried at once, then halves of what fails."""
    try:
        batch = only(submission.batch, positions)
        part = Part(submission.probe_id, 0, submission.offset_us, batch, tuple(positions))
        rows = flatten([part], errors, now).rows
        await results.try_copy(tx, rows)
    except DATA_ERRORS as error:
        if len(positions) == 1:
            return [(positions[0], f"{type(error).__name__}: {error}"[:1000])]
        middle = len(positions) // 2
        first = await _among(tx, submission, positions[:middle], errors, now)
        return first + await _among(tx, submission, positions[middle:], errors, now)
    return []


def without(submission: Submission, bad: Collection[tuple[int, str]]) -> Submission:
    """Return the submission without its bad results, which are added as refusals."""
    positions = {position for position, _ in bad}
    kept = [i for i in range(len(submission.batch.monitor)) if i not in positions]
    places = submission.places or range(len(submission.batch.monitor))
    refused = ((places[position], reason, _shown(submission.batch, position)) for position, reason in bad)
    return replace(
        submission,
        batch=only(submission.batch, kept),
        places=tuple(places[i] for i in kept),
        refusals=(*submission.refusals, *refused),
    )


def _shown(batch: Batch, position: int) -> dict[str, Any]:
    """Return a refused result as it is stored for users."""
    error = batch.error[position]
    return {
        "monitor": batch.monitor[position],
        "location": batch.location[position],
        "assignment": batch.assignment[position],
        "revision": batch.revision[position],
        "run": batch.run[position],
        "startUs": batch.base_us + batch.start_us[position],
        "durationUs": batch.duration_us[position],
        "outcome": batch.outcome[position],
        "code": batch.code[position],
        "phases": batch.phases[position].hex(),
        "error": clean(batch.errors[error - 1]) if 0 < error <= len(batch.errors) else "",
    }


def only(batch: Batch, positions: Sequence[int]) -> Batch:
    """Return the batch with only the results at *positions*."""
    return replace(
        batch,
        monitor=[batch.monitor[i] for i in positions],
        location=[batch.location[i] for i in positions],
        assignment=[batch.assignment[i] for i in positions],
        revision=[batch.revision[i] for i in positions],
        run=[batch.run[i] for i in positions],
        start_us=[batch.start_us[i] for i in positions],
        duration_us=[batch.duration_us[i] for i in positions],
        outcome=[batch.outcome[i] for i in positions],
        code=[batch.code[i] for i in positions],
        phases=[batch.phases[i] for i in positions],
        error=[batch.error[i] for i in positions],
        state={at: batch.state[i] for at, i in enumerate(positions) if i in batch.state},
        evidence={at: batch.evidence[i] for at, i in enumerate(positions) if i in batch.evidence},
        found={at: batch.found[i] for at, i in enumerate(positions) if i in batch.found},
    )
