"""Parses events of a contract's ABI."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

MOST_INPUTS: Final = 64
_MOST_DEPTH: Final = 8
_MOST_ENTRIES: Final = 5_000
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,127}")
_TYPE: Final = re.compile(r"(u?int)([1-9][0-9]{0,2})?|bytes([1-9][0-9]?)?|address|bool|string|function|tuple")
_ARRAYS: Final = re.compile(r"(?:\[(?:[1-9][0-9]{0,4})?\]){0,4}")


@dataclass(frozen=True, slots=True)
class Param:
    """*type* is canonical except for tuples, whose *parts* are their members; *arrays* as ``[2][]``.

    *indexed* is None if the signature says it of no parameter.
    """

    name: str
    type: str
    arrays: str = ""
    parts: "tuple[Param, ...]" = ()
    indexed: bool | None = False

    @property
    def canonical(self) -> str:
        """The type as used in signatures: ``(uint256,address)[]``."""
        inner = f"({','.join(part.canonical for part in self.parts)})" if self.type == "tuple" else self.type
        return inner + self.arrays

    @property
    def static(self) -> bool:
        """Whether a topic holds the value itself rather than its hash."""
        return not self.arrays and self.type not in {"tuple", "string", "bytes"}


@dataclass(frozen=True, slots=True)
class AbiEvent:
    """*signature* is the text whose hash is the topic."""

    name: str
    inputs: tuple[Param, ...]
    anonymous: bool = False

    @property
    def signature(self) -> str:
        return f"{self.name}({','.join(param.canonical for param in self.inputs)})"


def event_of(abi: Any, named: str) -> AbiEvent:
    """Find the event by name or full signature in *abi*: entries, a single one, or either as JSON text.

    Raises ValueError if there is none, or several of that name.
    """
    if abi in (None, "", []):
        return _parse(named)
    wanted = _parse(named) if "(" in named else None
    name = wanted.name if wanted else named.strip()
    # Other entries need not be valid.
    entries = [entry for entry in _entries(abi) if _is_event(entry) and entry.get("name") == name]
    events = [
        event for event in map(_event, entries) if wanted is None or event.signature == wanted.signature
    ]
    if not events:
        msg = f"there is no event {named.strip()[:128]} in the abi"
        raise ValueError(msg)
    if len({event.signature for event in events}) > 1:
        msg = f"there are several events {name}: say which by {events[0].signature[:256]}"
        raise ValueError(msg)
    return events[0]


def others(abi: Any, event: AbiEvent) -> list[str]:
    """The signatures of the other, not anonymous events in *abi*."""
    if abi in (None, "", []):
        return []
    found = []
    for entry in filter(_is_event, _entries(abi)):
        try:
            other = _event(entry)
        except ValueError:
            continue
        if not other.anonymous and other.signature != event.signature:
            found.append(other.signature)
    return found


def _entries(abi: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(abi, str):
        try:
            abi = orjson.loads(abi)
        except orjson.JSONDecodeError:
            raise ValueError("the abi is no JSON") from None
    entries = [abi] if isinstance(abi, Mapping) else abi
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise ValueError("the abi must be an array of entries, or one entry")
    if len(entries) > _MOST_ENTRIES:
        msg = f"the abi has more than {_MOST_ENTRIES} entries"
        raise ValueError(msg)
    return entries


def _is_event(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("type", "event") == "event")


def _event(entry: Mapping[str, Any]) -> AbiEvent:
    name, inputs = entry.get("name"), entry.get("inputs", [])
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("an event of the abi has no name")
    return AbiEvent(name, _params(inputs, _MOST_DEPTH), entry.get("anonymous") is True)


def _params(inputs: Any, depth: int) -> tuple[Param, ...]:
    if not isinstance(inputs, list) or len(inputs) > MOST_INPUTS or not depth:
        raise ValueError("an event of the abi has inputs that can't be read")
    return tuple(_param(entry, depth) for entry in inputs)


def _param(entry: Any, depth: int) -> Param:
    said = entry.get("type") if isinstance(entry, Mapping) else None
    name, (type_, arrays) = entry.get("name") if said else "", _type(str(said))
    parts = _params(entry.get("components"), depth - 1) if type_ == "tuple" else ()
    _demand_parts(type_, parts)
    named = name if isinstance(name, str) and _NAME.fullmatch(name) else ""
    return Param(named, type_, arrays, parts, entry.get("indexed") is True)


def _type(text: str) -> tuple[str, str]:
    """``uint[3]`` -> ``uint256``, ``[3]``. Raises ValueError for an invalid type."""
    base, bracket, rest = text.strip().partition("[")
    arrays = bracket + rest
    match = _TYPE.fullmatch(base)
    if match is None or not _ARRAYS.fullmatch(arrays):
        msg = f"no type: {text.strip()[:64]!r}"
        raise ValueError(msg)
    number, size, length = match.groups()
    if number:
        bits = int(size or 256)
        if not 8 <= bits <= 256 or bits % 8:
            msg = f"no type: {text.strip()!r}"
            raise ValueError(msg)
        return f"{number}{bits}", arrays
    if length and not 1 <= int(length) <= 32:
        msg = f"no type: {text.strip()!r}"
        raise ValueError(msg)
    return base, arrays


def _parse(signature: str) -> AbiEvent:
    """Parse ``Transfer(address indexed from, address to, uint256 value)``; names and ``indexed`` may lack."""
    head, _, rest = signature.partition("(")
    inputs, closed, tail = rest.rpartition(")")
    *event, name = head.split() or [""]
    after = tail.replace(";", " ").split()
    if (
        not closed
        or event not in ([], ["event"])
        or after not in ([], ["anonymous"])
        or not _NAME.fullmatch(name)
    ):
        raise ValueError(
            "without an abi eventName must be a full signature, like Transfer(address,address,uint256)"
        )
    params = tuple(_declared(part, _MOST_DEPTH) for part in _split(inputs))
    if len(params) > MOST_INPUTS:
        raise ValueError("an event with too many inputs")
    if not any(param.indexed for param in params):
        params = tuple(
            Param(param.name, param.type, param.arrays, param.parts, indexed=None) for param in params
        )
    return AbiEvent(name, params, bool(after))


def _demand_parts(type_: str, parts: Sequence[Param]) -> None:
    if type_ == "tuple" and not parts:
        raise ValueError("a tuple with nothing in it")


def _declared(text: str, depth: int) -> Param:
    """Parse a Solidity parameter; a tuple is in parentheses, with or without the keyword."""
    text = text.strip().removeprefix("tuple").strip()
    parts: tuple[Param, ...] = ()
    if text.startswith("("):
        if not depth:
            raise ValueError("tuples within tuples within tuples")
        inside, _, after = text[1:].rpartition(")")
        parts = tuple(_declared(part, depth - 1) for part in _split(inside))
        text = f"tuple{after}"
    head, *rest = text.split() or [""]
    type_, arrays = _type(head)
    _demand_parts(type_, parts)
    name = rest[-1] if rest and rest[-1] != "indexed" else ""
    if rest and rest not in (["indexed"], ["indexed", name], [name]):
        msg = f"no parameter: {text[:64]!r}"
        raise ValueError(msg)
    return Param(name if _NAME.fullmatch(name) else "", type_, arrays, parts, "indexed" in rest)


def _split(inputs: str) -> list[str]:
    """Split at commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(inputs):
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            raise ValueError("parentheses that don't match")
        if letter == "," and not depth:
            parts.append(inputs[start:at])
            start = at + 1
    if depth:
        raise ValueError("parentheses that don't match")
    last = inputs[start:]
    return [*parts, last] if parts or last.strip() else []
