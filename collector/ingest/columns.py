"""The batches of one transaction as flat columns: the rows to copy, and the last result of each key."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any
from uuid import UUID

from collector.storage.states import Latest
from shared.clock import EPOCH
from shared.results import Status
from shared.wire.convert import Batch

# PostgreSQL counts microseconds from 2000-01-01.
_PG_EPOCH_US = 946_684_800_000_000
# Results older than any spool, or from a future, are clamped to these bounds around now.
OLDEST = timedelta(days=7)
NEWEST = timedelta(minutes=5)

_HEAD = struct.Struct(">h iq ii ii ii ih ih ih ih").pack
_HEAD_NO_ERROR = struct.Struct(">h iq ii ii i ih ih ih ih").pack
_NULL = struct.pack(">i", -1)
_CODE = struct.Struct(">ih").pack
_LENGTH = struct.Struct(">i").pack
_CODES = [_NULL, *(_CODE(2, code) for code in range(1, 1000))]
_LENGTHS = [_NULL, *(_LENGTH(length) for length in range(1, 64))]


@dataclass(frozen=True, slots=True)
class Part:
    """One batch with where it comes from; *ordinal* is its incarnation's place among the probe's.

    *places*: where its results stood in the batch as it was sent; empty when all are still there.
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
    at_ms: list[int]
    error: list[int | None]
    rows: list[bytes]


def key_of(monitor: int, location: int) -> int:
    return monitor << 16 | location


def flatten(parts: Sequence[Part], errors: Mapping[str, int], now: datetime) -> Columns:
    """Columns over *parts*, which stand in the order of (ordinal, seq); *errors*: the number of each text."""
    columns = Columns(parts, [], [], [], [], [])
    earliest, latest = _ms(now - OLDEST), _ms(now + NEWEST)
    for index, part in enumerate(parts):
        batch = part.batch
        base = batch.base_us + part.offset_us
        at_ms = [(base + start) // 1000 for start in batch.start_us]
        if at_ms and (min(at_ms) < earliest or max(at_ms) > latest):
            at_ms = [min(max(at, earliest), latest) for at in at_ms]
        numbers = [None, *(errors[text] for text in batch.errors)]
        error = [numbers[index] for index in batch.error]
        columns.key.extend([m << 16 | at for m, at in zip(batch.monitor, batch.location, strict=True)])
        columns.part.extend([index] * len(at_ms))
        columns.at_ms.extend(at_ms)
        columns.error.extend(error)
        columns.rows.extend(_rows(part, at_ms, error))
    return columns


def latest(columns: Columns) -> Latest:
    """The last result of each key, in key order."""
    keys = columns.key
    last = dict(zip(keys, range(len(keys)), strict=True))
    order = sorted(last)
    pick = _picker([last[key] for key in order])
    batches = [part.batch for part in columns.parts]
    bad = _troubled(columns)
    return Latest(
        probes=[part.probe_id for part in columns.parts],
        monitor=[key >> 16 for key in order],
        location=[key & 0xFFFF for key in order],
        part=pick(columns.part),
        assignment=pick([number for batch in batches for number in batch.assignment]),
        revision=pick([number for batch in batches for number in batch.revision]),
        ordinal=[columns.parts[index].ordinal for index in pick(columns.part)],
        at_ms=pick(columns.at_ms),
        status=pick([status for batch in batches for status in batch.outcome]),
        ms=pick([(us + 500) // 1000 for batch in batches for us in batch.duration_us]),
        error=pick(columns.error),
        troubled=[key in bad for key in order] if bad else [False] * len(order),
    )


def _troubled(columns: Columns) -> set[int]:
    bad: set[int] = set()
    start = 0
    for part in columns.parts:
        outcomes = part.batch.outcome
        if outcomes and max(outcomes) > Status.UP:
            keys = columns.key[start : start + len(outcomes)]
            bad.update(key for key, outcome in zip(keys, outcomes, strict=True) if outcome != Status.UP)
        start += len(outcomes)
    return bad


def _picker(indexes: Sequence[int]) -> Any:
    """Picks these places of a column; itemgetter does it in C, but gives no tuple for a single place."""
    if len(indexes) == 1:
        return lambda column: [column[indexes[0]]]
    return itemgetter(*indexes) if indexes else lambda _: []


def _rows(part: Part, at_ms: Sequence[int], error: Sequence[int | None]) -> list[bytes]:
    """One row each in PostgreSQL's binary COPY format; raises struct.error for what no column can hold."""
    batch = part.batch
    salt = batch.seq * 31 + batch.incarnation
    return [
        (
            _HEAD_NO_ERROR(
                10, 8, at * 1000 - _PG_EPOCH_US, 4, m, 4, (us + 500) // 1000, -1,
                2, where, 2, (salt + n) & 0x7FFF, 2, run, 2, status,
            )
            if e is None
            else _HEAD(
                10, 8, at * 1000 - _PG_EPOCH_US, 4, m, 4, (us + 500) // 1000, 4, e,
                2, where, 2, (salt + n) & 0x7FFF, 2, run, 2, status,
            )
        )
        + (_CODES[code] if code < 1000 else _CODE(2, code))
        + (_LENGTHS[len(phases)] if len(phases) < 64 else _LENGTH(len(phases)))
        + phases
        for n, at, m, where, us, run, status, code, phases, e in zip(
            part.places or range(len(at_ms)), at_ms, batch.monitor, batch.location, batch.duration_us,
            batch.run, batch.outcome, batch.code, batch.phases, error, strict=True,
        )
    ]  # fmt: skip


def _ms(moment: datetime) -> int:
    return int((moment - EPOCH).total_seconds() * 1000)
