"""Flattens the batches of a transaction into columns: rows to copy, and the last result of each key."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any
from uuid import UUID

from collector.evaluation.storage.checkpoints import CheckpointKey
from collector.evaluation.storage.states import Latest
from shared.clock import EPOCH
from shared.results import Status
from shared.wire.convert import SPOOL_AGE_S, Batch

# PostgreSQL counts microseconds from 2000-01-01.
_PG_EPOCH_US = 946_684_800_000_000
# Results older than any spool, or from the future, are clamped to these bounds around now.
OLDEST = timedelta(seconds=SPOOL_AGE_S)
NEWEST = timedelta(minutes=5)
# A prime above the number of results in a batch.
_APART = 10_007

_HEAD = struct.Struct(">h iq ii ii ii ih ih ih ih").pack
_HEAD_NO_ERROR = struct.Struct(">h iq ii ii i ih ih ih ih").pack
_NULL = struct.pack(">i", -1)
_CODE = struct.Struct(">ih").pack
_LENGTH = struct.Struct(">i").pack
_CODES = [_NULL, *(_CODE(2, code) for code in range(1, 1000))]
_LENGTHS = [_NULL, *(_LENGTH(length) for length in range(1, 64))]


@dataclass(frozen=True, slots=True)
class Part:
    """One batch and its origin; *ordinal* is its incarnation's position among the probe's.

    *places*: the positions of its results in the batch as it was sent; empty when all are still there.
    """

    probe_id: UUID
    ordinal: int
    offset_us: int
    batch: Batch
    places: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """All results of a transaction, in the order in which they count; *key* is monitor << 16 | location."""

    parts: Sequence[Part]
    key: list[int]
    part: list[int]
    ordinal: list[int]
    assignment: list[int]
    revision: list[int]
    at_ms: list[int]
    error: list[int | None]
    rows: list[bytes]


def kept_by(part: Part, i: int) -> CheckpointKey:
    """Return the key of the checkpoint that the i-th result of *part* carries."""
    batch = part.batch
    return CheckpointKey(
        batch.monitor[i], batch.location[i], batch.assignment[i], part.probe_id, part.ordinal
    )


def key_of(monitor: int, location: int) -> int:
    return monitor << 16 | location


def flatten(parts: Sequence[Part], errors: Mapping[str, int], now: datetime) -> Columns:
    """Return columns over *parts*, which are sorted by (ordinal, seq); *errors*: the number of each text."""
    columns = Columns(parts, [], [], [], [], [], [], [], [])
    for index, part in enumerate(parts):
        batch = part.batch
        at_ms = times(part, now)
        numbers = [None, *(errors[text] for text in batch.errors)]
        error = [numbers[index] for index in batch.error]
        columns.key.extend([m << 16 | at for m, at in zip(batch.monitor, batch.location, strict=True)])
        columns.part.extend([index] * len(at_ms))
        columns.ordinal.extend([part.ordinal] * len(at_ms))
        columns.assignment.extend(batch.assignment)
        columns.revision.extend(batch.revision)
        columns.at_ms.extend(at_ms)
        columns.error.extend(error)
        columns.rows.extend(_rows(part, at_ms, error))
    return columns


def times(part: Part, now: datetime) -> list[int]:
    """Return when the results began, in Unix milliseconds, clamped to plausible times."""
    earliest, latest = _ms(now - OLDEST), _ms(now + NEWEST)
    base = part.batch.base_us + part.offset_us
    at_ms = [(base + start) // 1000 for start in part.batch.start_us]
    if at_ms and (min(at_ms) < earliest or max(at_ms) > latest):
        return [min(max(at, earliest), latest) for at in at_ms]
    return at_ms


def ties(part: Part) -> list[int]:
    """Return the n of each result, which distinguishes results of the same instant.

    Consecutive batches share no n, however many results each has: clamped times may be the same.
    """
    salt = part.batch.seq * _APART + part.batch.incarnation
    return [(salt + place) & 0x7FFF for place in part.places or range(len(part.batch.monitor))]


def mixed(columns: Columns) -> bool:
    """Whether some key has results of more than one incarnation or plan."""
    if len(set(columns.key)) == len(columns.key):
        return False
    plans = set(zip(columns.key, columns.assignment, columns.revision, columns.ordinal, strict=True))
    return len(plans) != len(set(columns.key))


def latest(columns: Columns, counting: Sequence[int] | None = None) -> Latest:
    """Return the last result of each key, in key order; *counting*: the places that count, None for all."""
    keys = columns.key
    if counting is None:
        last = dict(zip(keys, range(len(keys)), strict=True))
    else:
        last = {keys[i]: i for i in counting}
    order = sorted(last)
    pick = _picker([last[key] for key in order])
    batches = [part.batch for part in columns.parts]
    bad = _troubled(columns, counting)
    return Latest(
        probes=[part.probe_id for part in columns.parts],
        monitor=[key >> 16 for key in order],
        location=[key & 0xFFFF for key in order],
        part=pick(columns.part),
        assignment=pick(columns.assignment),
        revision=pick(columns.revision),
        ordinals=[part.ordinal for part in columns.parts],
        at_ms=pick(columns.at_ms),
        status=pick([status for batch in batches for status in batch.outcome]),
        ms=[(us + 500) // 1000 for us in pick([us for batch in batches for us in batch.duration_us])],
        error=pick(columns.error),
        troubled=[key in bad for key in order],
    )


def _troubled(columns: Columns, counting: Sequence[int] | None) -> set[int]:
    """Keys with a result that is not good."""
    outcome = [status for part in columns.parts for status in part.batch.outcome]
    places = range(len(outcome)) if counting is None else counting
    good = int(Status.UP)
    return {columns.key[i] for i in places if outcome[i] != good}


def _picker(indexes: Sequence[int]) -> Any:
    """Return a getter of these places of a column; itemgetter is fast, but returns no tuple for one place."""
    if len(indexes) == 1:
        return lambda column: [column[indexes[0]]]
    return itemgetter(*indexes) if indexes else lambda _: []


def _rows(part: Part, at_ms: Sequence[int], error: Sequence[int | None]) -> list[bytes]:
    """One row each in PostgreSQL's binary COPY format; raises struct.error for values out of range."""
    batch = part.batch
    return [
        (
            _HEAD_NO_ERROR(
                10, 8, at * 1000 - _PG_EPOCH_US, 4, m, 4, (us + 500) // 1000, -1,
                2, where, 2, n, 2, run, 2, status,
            )
            if e is None
            else _HEAD(
                10, 8, at * 1000 - _PG_EPOCH_US, 4, m, 4, (us + 500) // 1000, 4, e,
                2, where, 2, n, 2, run, 2, status,
            )
        )
        + (_CODES[code] if code < 1000 else _CODE(2, code))
        + (_LENGTHS[len(phases)] if len(phases) < 64 else _LENGTH(len(phases)))
        + phases
        for n, at, m, where, us, run, status, code, phases, e in zip(
            ties(part), at_ms, batch.monitor, batch.location, batch.duration_us,
            batch.run, batch.outcome, batch.code, batch.phases, error, strict=True,
        )
    ]  # fmt: skip


def _ms(moment: datetime) -> int:
    return int((moment - EPOCH).total_seconds() * 1000)
