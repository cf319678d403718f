"""Parses findings that probes send: they may say anything; only what is plausible is stored."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from shared.errors import TocsinError
from shared.findings import Finding, Findings

_ALERT: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_LOG: Final = re.compile(r"0x[0-9a-f]{64}:(?:[0-9]{1,10}|native)")
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_HASH: Final = re.compile(r"0x[0-9a-f]{64}")
_AMOUNT: Final = re.compile(r"-?[0-9]{1,90}(?:\.[0-9]{1,40})?")
_MOST_WORDS: Final = 500
_MOST_NAME: Final = 128
_MOST_BYTES: Final = 64 * 1024
_MOST_DEPTH: Final = 32
# As many as a probe remembers; each late log is compared with all of them.
_MOST_OVER: Final = 32
_BIG: Final = 2**63 - 1
_INT: Final = 2**31 - 1


class Unreadable(TocsinError):
    """An invalid finding; the message is one of a few."""


@dataclass(frozen=True, slots=True)
class ThresholdCrossing:
    """A threshold was crossed, or recovered; *data*: current, threshold, unit, message, as far as known."""

    key: str
    raised: bool
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FoundLog:
    """A single event; *data* is in human-readable form."""

    key: str
    block: int
    index: int | None
    block_hash: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RevertedBlocks:
    """Of blocks *first* to *last*, only logs in those with these *hashes* (by decimal number) still stand."""

    first: int
    last: int
    hashes: dict[str, str]


@dataclass(frozen=True, slots=True)
class RereadBlocks:
    """Blocks *first* to *last* were reread after the *nth* fork of the line with that id."""

    line: str
    nth: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ChainReading:
    """A continuous reading of a chain from block *first* on, by one process of one probe.

    *forks*: number of forks so far; *over*: blocks reread because of them, and of those of earlier lines.
    """

    id: str
    first: int
    forks: int = 0
    over: tuple[RereadBlocks, ...] = ()


def line(state: bytes | None) -> ChainReading | None:
    """The reading that the checkpoint *state* belongs to; None if it does not say."""
    try:
        more = orjson.loads(state or b"{}")["more"]
        id_, first, *rest = more["line"]
    except (ValueError, TypeError, KeyError):
        return None
    if not isinstance(id_, str) or type(first) is not int:
        return None
    forks = rest[2] if len(rest) > 2 and type(rest[2]) is int else 0
    return ChainReading(id_, first, forks, _reread(more.get("over")))


def _reread(listed: Any) -> tuple[RereadBlocks, ...]:
    """The latest valid entries of *listed*."""
    shape = (str, int, int, int)
    return tuple(
        RereadBlocks(*entry)
        for entry in (listed[-_MOST_OVER:] if isinstance(listed, list) else ())
        if isinstance(entry, list) and tuple(map(type, entry)) == shape
    )


def is_covered(late: ChainReading | None, kept: ChainReading | None, block: int) -> bool:
    """Whether *kept*, the current reading, covers *block* itself, so that the *late* finding is redundant.

    *late*: the reading of the finding: another one, or the same before a fork.
    """
    if kept is None:
        return False
    if late is None or late.id != kept.id:
        if block >= kept.first:
            return True
        if late is None:
            return False
    return any(
        blocks.line == late.id and late.forks < blocks.nth and blocks.first <= block <= blocks.last
        for blocks in kept.over
    )


def uncovered(
    late: ChainReading | None, kept: ChainReading | None, gone: RevertedBlocks
) -> RevertedBlocks | None:
    """The part of *gone*, reported *late* by a former assignee, that the *kept* reading does not cover.

    The new reading covers no blocks before its start, and no forks that the line had met before.
    """
    if kept is None:
        return None
    if late is not None and late.id == kept.id and late.forks <= kept.forks:
        return gone
    last = min(gone.last, kept.first - 1)
    return replace(gone, last=last) if gone.first <= last else None


def same_line(late: ChainReading | None, kept: ChainReading | None) -> bool:
    """Whether both belong to the same line, so that *kept* includes every change to *late* findings."""
    return late is not None and kept is not None and late.id == kept.id


def read(finding: Finding) -> ThresholdCrossing | FoundLog | RevertedBlocks:
    """Parse a finding. Raises Unreadable."""
    if finding.found in {Findings.RAISED, Findings.RECOVERED}:
        _demand(_ALERT.fullmatch(finding.key), "key")
        return ThresholdCrossing(
            finding.key, finding.found is Findings.RAISED, _measured(_object(finding.data))
        )
    if finding.found is Findings.LOG:
        return _log(finding)
    return _gone(_object(finding.data))


def _log(finding: Finding) -> FoundLog:
    _demand(_LOG.fullmatch(finding.key), "key")
    data = _object(finding.data)
    block = _number(data.get("blockNumber"), _BIG)
    index = None if data.get("logIndex") is None else _number(data["logIndex"], _INT)
    block_hash = _hash(data.get("blockHash"))
    args, fault = _arguments(data, len(finding.data))
    shown = {
        "name": _text(data.get("name"), _MOST_NAME),
        "args": args,
        "address": _text(data.get("address"), _MOST_NAME) or None,
        "transactionHash": finding.key.partition(":")[0],
        "blockNumber": block,
        "blockHash": block_hash,
        "logIndex": index,
    }
    if fault:
        shown["error"] = fault
    alert = data.get("alert")
    if isinstance(alert, dict):
        type_ = _text(alert.get("type"), _MOST_NAME)
        _demand(_ALERT.fullmatch(type_), "alert")
        shown["alert"] = {"type": type_, **_measured(alert)}
    return FoundLog(finding.key, block, index, block_hash, shown)


def _gone(data: Mapping[str, Any]) -> RevertedBlocks:
    first, last, hashes = (
        _number(data.get("first"), _BIG),
        _number(data.get("last"), _BIG),
        data.get("hashes"),
    )
    if not isinstance(hashes, dict) or first > last:
        raise Unreadable("range")
    _demand(all(map(_NUMBER.fullmatch, hashes)), "range")
    return RevertedBlocks(first, last, {number: _hash(hash_) for number, hash_ in hashes.items()})


def _arguments(data: Mapping[str, Any], size: int) -> tuple[Any, str]:
    """The arguments, and an error if they are too large: the event counts anyway."""
    fault = _text(data.get("error"), _MOST_WORDS)
    if size > _MOST_BYTES:
        return {}, "its arguments are too large to be kept"
    try:
        return _kept(data.get("args", {}), _MOST_DEPTH), fault
    except Unreadable:
        return {}, "its arguments are nested too deeply to be kept"


def _measured(data: Mapping[str, Any]) -> dict[str, Any]:
    """The valid parts of a measurement; possibly none."""
    shown = {}
    for name in ("current", "threshold"):
        value = data.get(name)
        if isinstance(value, str) and _AMOUNT.fullmatch(value):
            shown[name] = value
    for name, most in (("unit", 32), ("message", _MOST_WORDS)):
        if text := _text(data.get(name), most):
            shown[name] = text
    return shown


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(data or b"{}")
    except ValueError as error:
        raise Unreadable("json") from error
    _demand(isinstance(value, dict), "json")
    return dict(value)


def _kept(value: Any, depth: int) -> Any:
    """The value without NULs, which PostgreSQL rejects."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if not isinstance(value, dict | list):
        return value
    _demand(depth > 0, "nested too deeply")
    if isinstance(value, dict):
        return {name.replace("\0", "\ufffd"): _kept(part, depth - 1) for name, part in value.items()}
    return [_kept(part, depth - 1) for part in value]


def _text(value: Any, most: int) -> str:
    """The text in one line, for mails and logs."""
    return (
        " ".join(value[: most * 2].replace("\0", "\ufffd").split())[:most] if isinstance(value, str) else ""
    )


def _hash(value: Any) -> str:
    text = _text(value, _MOST_NAME).lower()
    _demand(_HASH.fullmatch(text), "block hash")
    return text


def _number(value: Any, most: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    raise Unreadable("number")


def _demand(holds: object, fault: str) -> None:
    if not holds:
        raise Unreadable(fault)
