"""Marks chain readings that were lost before a collector had them, so that they are read again."""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
from google.protobuf.message import DecodeError

from probe.checks._check import Kept, Missed
from shared.findings import Findings
from shared.results import Outcome
from shared.wire.v1 import probe_pb2

# Entries of assignments that moved to other probes are never used.
MOST_OWED: Final = 10_000


@dataclass(frozen=True, slots=True)
class _Blocks:
    """A finding about blocks *first* to *last*."""

    kind: Findings
    first: int
    last: int


def missed_in(data: bytes) -> dict[int, Missed]:
    """The lost chain findings of the sealed batch *data*, by assignment."""
    try:
        batch = probe_pb2.Batch.FromString(data)
    except DecodeError:
        return {}
    missed: dict[int, Missed] = {}
    for index, findings in batch.found.items():
        blocks = [span for finding in findings.finding if (span := _blocks(finding)) is not None]
        if blocks and index < len(batch.assignment):
            join(missed, {batch.assignment[index]: _missed(blocks)})
    return missed


def join(into: MutableMapping[int, Missed], more: Mapping[int, Missed]) -> None:
    """Merge *more* into *into*, by assignment."""
    for number, missed in more.items():
        into[number] = missed.joined(into[number]) if number in into else missed


def owe(owed: dict[int, Missed], more: Mapping[int, Missed]) -> None:
    """As `join`; of too many, the oldest are dropped."""
    join(owed, more)
    for number in list(owed)[: max(len(owed) - MOST_OWED, 0)]:
        del owed[number]


def settle(owed: dict[int, Missed], number: int, kept: Kept, outcome: Outcome) -> None:
    """After a result is stored: if its check reread what was missed, drop that, else the next check must."""
    missed = owed.get(number)
    if missed is None:
        return
    if kept.heeded == missed and outcome.state is not None:
        del owed[number]
        missed = None
    kept.back = missed


def plain(missed: Mapping[int, Missed]) -> dict[str, Any]:
    """The entries as JSON."""
    return {str(number): [blocks.first, blocks.gone] for number, blocks in missed.items()}


def of(entries: Mapping[str, Any]) -> dict[int, Missed]:
    """The inverse of `plain`. Raises ValueError, TypeError, AttributeError or IndexError for invalid data."""
    return {
        int(number): Missed(int(first), (int(gone[0]), int(gone[1])) if gone else None)
        for number, (first, gone) in entries.items()
    }


def _missed(blocks: Sequence[_Blocks]) -> Missed:
    gone = [span for span in blocks if span.kind is Findings.RETRACTED]
    return Missed(
        min(span.first for span in blocks),
        (min(span.first for span in gone), max(span.last for span in gone)) if gone else None,
    )


def _blocks(finding: probe_pb2.Finding) -> _Blocks | None:
    """The blocks of a finding; None if it names none, such as a threshold."""
    try:
        if finding.found == Findings.LOG:
            block = int(orjson.loads(finding.data)["blockNumber"])
            return _Blocks(Findings.LOG, block, block)
        if finding.found == Findings.RETRACTED:
            span = orjson.loads(finding.data)
            return _Blocks(Findings.RETRACTED, int(span["first"]), int(span["last"]))
    except (ValueError, TypeError, KeyError):
        pass
    return None
