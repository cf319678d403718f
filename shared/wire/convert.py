"""Converts batches of results to and from the wire, with validation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from google.protobuf.message import DecodeError

from shared import evidence
from shared.errors import TocsinError
from shared.evidence import Evidence
from shared.findings import Finding, Findings, bounded
from shared.phases import MAX_BYTES
from shared.results import Run, Status
from shared.wire.v1 import probe_pb2

MAX_RESULTS: Final = 10_000
MAX_TEXT: Final = 512
MAX_STATE: Final = 65_536
MAX_FOUND: Final = 50_000  # findings of all results in a batch
MAX_BATCH_BYTES: Final = 4 * 1024 * 1024
# A probe drops results that it could not deliver for this long: older ones never arrive.
SPOOL_AGE_S: Final = 72 * 3600

# Bounds match PostgreSQL's columns; clocks stay below 2**53 us, the year 2255.
_SMALL: Final = 2**15 - 1
_INT: Final = 2**31 - 1
_BIG: Final = 2**63 - 1
_CLOCK: Final = 2**53
_RUNS: Final = frozenset({int(Run.SCHEDULED), int(Run.RECHECK), int(Run.SECOND_OPINION)})
_STATUSES: Final = frozenset(map(int, Status))
_FOUND: Final = frozenset(map(int, Findings))


class BadBatch(TocsinError):
    """The bytes are not a valid batch; the message says why."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The number of lost results, and the reason."""

    results: int
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Results in columns: the i-th value of each belongs to the i-th result; or a gap and no results.

    *incarnation* is signed here, as in PostgreSQL. *start_us* counts from *base_us* on the boot clock;
    *error* is 1 + an index into *errors*, 0 for none; by result index, *state* has new checkpoints,
    *evidence* what failed checks saw, *found* other findings.
    """

    incarnation: int
    first_seq: int
    seq: int
    boot_id: str
    base_us: int
    wall_us: int
    monitor: Sequence[int] = ()
    location: Sequence[int] = ()
    assignment: Sequence[int] = ()
    revision: Sequence[int] = ()
    run: Sequence[int] = ()
    start_us: Sequence[int] = ()
    duration_us: Sequence[int] = ()
    outcome: Sequence[int] = ()
    code: Sequence[int] = ()
    phases: Sequence[bytes] = ()
    error: Sequence[int] = ()
    errors: Sequence[str] = ()
    state: Mapping[int, bytes] = field(default_factory=dict)
    evidence: Mapping[int, Evidence] = field(default_factory=dict)
    found: Mapping[int, Sequence[Finding]] = field(default_factory=dict)
    gap: Gap | None = None


def signed(wire: int) -> int:
    """Reinterpret an unsigned 64-bit number of the wire as PostgreSQL's bigint."""
    return wire - 2**64 if wire > _BIG else wire


def unsigned(number: int) -> int:
    """The inverse of `signed`."""
    return number % 2**64


def encode(batch: Batch) -> bytes:
    """The bytes of *batch*, used unchanged in the spool and on the wire."""
    gap = None if batch.gap is None else probe_pb2.Gap(results=batch.gap.results, reason=batch.gap.reason)
    return probe_pb2.Batch(
        incarnation=unsigned(batch.incarnation),
        first_seq=batch.first_seq,
        seq=batch.seq,
        boot_id=batch.boot_id,
        base_us=batch.base_us,
        wall_us=batch.wall_us,
        monitor=batch.monitor,
        location=batch.location,
        assignment=batch.assignment,
        revision=batch.revision,
        run=batch.run,
        start_us=batch.start_us,
        duration_us=batch.duration_us,
        outcome=batch.outcome,
        code=batch.code,
        phases=batch.phases,
        error=batch.error,
        errors=batch.errors,
        state=batch.state,
        evidence={index: _encode_evidence(seen) for index, seen in batch.evidence.items()},
        found={index: encode_findings(findings) for index, findings in batch.found.items()},
        gap=gap,
    ).SerializeToString()


def decode(data: bytes) -> Batch:
    """Decode an untrusted batch. Raises BadBatch unless every column is valid."""
    if len(data) > MAX_BATCH_BYTES:
        msg = f"batch of {len(data)} bytes"
        raise BadBatch(msg)
    try:
        wire = probe_pb2.Batch.FromString(data)
    except DecodeError as error:
        raise BadBatch("not a batch") from error
    _demand(sum(len(findings.finding) for findings in wire.found.values()) <= MAX_FOUND, "too many findings")
    # Slicing a packed field creates a list in C.
    batch = Batch(
        incarnation=signed(wire.incarnation),
        first_seq=wire.first_seq,
        seq=wire.seq,
        boot_id=wire.boot_id,
        base_us=wire.base_us,
        wall_us=wire.wall_us,
        monitor=wire.monitor[:],
        location=wire.location[:],
        assignment=wire.assignment[:],
        revision=wire.revision[:],
        run=wire.run[:],
        start_us=wire.start_us[:],
        duration_us=wire.duration_us[:],
        outcome=wire.outcome[:],
        code=wire.code[:],
        phases=wire.phases[:],
        error=wire.error[:],
        errors=wire.errors[:],
        state=dict(wire.state),
        evidence={index: _decode_evidence(seen) for index, seen in wire.evidence.items()},
        found={index: decode_findings(findings) for index, findings in wire.found.items()},
        gap=Gap(wire.gap.results, wire.gap.reason) if wire.HasField("gap") else None,
    )
    _check_header(batch)
    _check_columns(batch)
    _check_texts(batch)
    return batch


def _check_header(batch: Batch) -> None:
    _demand(1 <= batch.first_seq <= batch.seq <= _BIG, "seq out of order")
    _demand(batch.base_us < _CLOCK and batch.wall_us < _CLOCK, "clock out of range")
    _demand(_is_text(batch.boot_id, 64), "boot_id is no text for one")
    if batch.gap is None:
        _demand(batch.first_seq == batch.seq, "results of several batches in one")
        _demand(0 < len(batch.monitor) <= MAX_RESULTS, "number of results")
    else:
        _demand(not batch.monitor, "a gap with results")
        _demand(batch.gap.results <= _BIG, "gap out of range")
        _demand(_is_text(batch.gap.reason, MAX_TEXT), "reason is no text for one")


def _check_columns(batch: Batch) -> None:
    count = len(batch.monitor)
    columns = (
        ("monitor", batch.monitor, 1, _INT),
        ("location", batch.location, 1, _SMALL),
        ("assignment", batch.assignment, 0, _BIG),
        ("revision", batch.revision, 0, _INT),
        ("run", batch.run, min(_RUNS), max(_RUNS)),
        ("start_us", batch.start_us, -batch.base_us, _CLOCK - batch.base_us),
        ("duration_us", batch.duration_us, 0, 2**32),
        ("outcome", batch.outcome, min(_STATUSES), max(_STATUSES)),
        ("code", batch.code, 0, _SMALL),
        ("error", batch.error, 0, len(batch.errors)),
    )
    for name, column, least, most in columns:
        _demand(len(column) == count, f"{name} is ragged")
        _demand(not count or (min(column) >= least and max(column) <= most), f"{name} out of range")
    _demand(len(batch.phases) == count, "phases is ragged")
    _demand(max(map(len, batch.phases), default=0) <= MAX_BYTES, "phases out of range")


def _check_texts(batch: Batch) -> None:
    count = len(batch.monitor)
    _demand(len(batch.errors) <= count, "more errors than results")
    _demand(all(_is_text(text, MAX_TEXT) for text in batch.errors), "error is no text for one")
    _demand(all(index < count for index in batch.state), "state of no result")
    _demand(all(index < count for index in batch.evidence), "evidence of no result")
    _demand(all(map(_is_evidence, batch.evidence.values())), "evidence is none, or too large")
    _demand(all(index < count for index in batch.found), "findings of no result")
    _demand(all(map(bounded, batch.found.values())), "findings out of bounds")
    _demand(all(len(value) <= MAX_STATE for value in batch.state.values()), "state too large")


def _encode_evidence(seen: Evidence) -> probe_pb2.Evidence:
    return probe_pb2.Evidence(
        address=seen.address,
        names=[name for name, _ in seen.headers],
        values=[value for _, value in seen.headers],
        body=seen.body,
    )


def _decode_evidence(wire: probe_pb2.Evidence) -> Evidence:
    _demand(len(wire.names) == len(wire.values), "evidence is ragged")
    return Evidence(wire.address, tuple(zip(wire.names, wire.values, strict=True)), wire.body)


def encode_findings(findings: Sequence[Finding]) -> probe_pb2.Findings:
    """The inverse of `decode_findings`."""
    return probe_pb2.Findings(
        finding=[
            probe_pb2.Finding(found=finding.found, key=finding.key, data=finding.data) for finding in findings
        ]
    )


def decode_findings(wire: probe_pb2.Findings) -> Sequence[Finding]:
    """Decode findings, without checking their number. Raises BadBatch for an unknown kind."""
    _demand(all(finding.found in _FOUND for finding in wire.finding), "finding of an unknown kind")
    return tuple(Finding(Findings(finding.found), finding.key, finding.data) for finding in wire.finding)


def _is_evidence(seen: Evidence) -> bool:
    bounded = len(seen.headers) <= evidence.MAX_HEADERS and seen.size <= evidence.MAX_BYTES
    return bounded and not any("\0" in text for text in seen.texts)


def _is_text(text: str, most: int) -> bool:
    """Whether PostgreSQL accepts the text: no NUL."""
    return len(text) <= most and "\0" not in text


def _demand(holds: bool, fault: str) -> None:
    if not holds:
        raise BadBatch(fault)
