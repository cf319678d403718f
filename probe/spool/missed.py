"""Marks chain readings that were lost before a collector had them, so that they are read again."""

from collections.abc import Iterable, Mapping, MutableMapping
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
class _Told:
    """A finding about blocks *first* to *last*."""

    found: Findings
    first: int
    last: int


def missed_in(data: bytes) -> dict[int, Missed]:
    """The lost chain findings of the sealed batch *data*, by assignment."""
    try:
        batch = probe_pb2.Batch.FromString(data)
    except DecodeError:
        return {}
    found: dict[int, Missed] = {}
    for index, findings in batch.found.items():
        blocks = [one for finding in findings.finding if (one := _told(finding)) is not None]
        if blocks and index < len(batch.assignment):
            join(found, {batch.assignment[index]: _missed(blocks)})
    return found


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
    return {str(number): [one.first, one.gone] for number, one in missed.items()}


def of(said: Mapping[str, Any]) -> dict[int, Missed]:
    """The inverse of `plain`. Raises ValueError, TypeError, AttributeError or IndexError for invalid data."""
    return {
        int(number): Missed(int(first), (int(gone[0]), int(gone[1])) if gone else None)
        for number, (first, gone) in said.items()
    }


def _missed(told: Iterable[_Told]) -> Missed:
    gone = [one for one in told if one.found is Findings.RETRACTED]
    return Missed(
        min(one.first for one in told),
        (min(one.first for one in gone), max(one.last for one in gone)) if gone else None,
    )


def _told(finding: probe_pb2.Finding) -> _Told | None:
    """The blocks of a finding; None if it names none, such as a threshold."""
    try:
        if finding.found == Findings.LOG:
            block = int(orjson.loads(finding.data)["blockNumber"])
            return _Told(Findings.LOG, block, block)
        if finding.found == Findings.RETRACTED:
            said = orjson.loads(finding.data)
            return _Told(Findings.RETRACTED, int(said["first"]), int(said["last"]))
    except (ValueError, TypeError, KeyError):
        pass
    return None
