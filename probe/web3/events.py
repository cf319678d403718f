"""Decodes the logs of a contract's event; loaded with the first monitor that asks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from probe.web3.decode import checksummed, decoded, keccak, leaf, named
from probe.web3.logs import Log
from shared.findings import Finding, Findings
from shared.kinds.web3.abi import AbiEvent, Param

__all__ = ["arguments", "checksummed", "finding", "keccak", "topic", "topic_of"]

# Longer logs are truncated; the transaction leads to the full data.
_MOST_BYTES: Final = 24 * 1024
_MOST_DATA: Final = 64 * 1024
_CUTS: Final = (4_096, 512, 64)


def topic(event: AbiEvent) -> str | None:
    """The first topic of its logs; None for an anonymous event, which has none."""
    return None if event.anonymous else "0x" + keccak(event.signature.encode()).hex()


def arguments(event: AbiEvent, log: Log) -> dict[str, Any]:
    """The arguments by name (or position if unnamed): integers as decimal strings, bytes in hex.

    Of an indexed text, array or tuple, a log contains only the hash. Raises ValueError for a log of another
    event.
    """
    words = log.topics if event.anonymous else log.topics[1:]
    apart = _apart(event.inputs, len(words))
    if sum(apart) != len(words):
        msg = f"a log of {event.name} with {len(words)} indexed arguments, not {sum(apart)}"
        raise ValueError(msg)
    if len(log.data) > _MOST_DATA:
        msg = f"a log of {event.name} with {len(log.data)} bytes of data is not read"
        raise ValueError(msg)
    try:
        inside = iter(
            decoded([one for one, out in zip(event.inputs, apart, strict=True) if not out], log.data)
        )
        outside = iter(words)
        values = [
            _of_topic(param, next(outside)) if out else next(inside)
            for param, out in zip(event.inputs, apart, strict=True)
        ]
    except ValueError as error:
        msg = f"a log of {event.name} that can't be decoded: {error}"
        raise ValueError(msg) from error
    return named(event.inputs, values)


def finding(
    name: str, log: Log, said: Mapping[str, Any], error: str = "", more: Mapping[str, Any] | None = None
) -> Finding:
    """The finding for *log*; its arguments *said* are truncated to fit into a result."""
    shown = _fitting(said)
    told = {
        "name": name,
        "args": shown,
        "address": checksummed(log.address),
        "transactionHash": log.transaction,
        "blockNumber": log.block,
        "blockHash": log.block_hash,
        "logIndex": log.index,
        **(more or {}),
    }
    if shown is not said:
        error = "; ".join(filter(None, (error, "too long to be told whole")))
    return Finding(Findings.LOG, log.key, orjson.dumps({**told, "error": error} if error else told))


def raw(log: Log) -> dict[str, Any]:
    """Raw data in place of arguments that cannot be decoded."""
    return {
        "topics": ["0x" + topic.hex() for topic in log.topics],
        "data": "0x" + log.data[:_MOST_BYTES].hex(),
    }


def topic_of(param: Param, plain: str) -> str:
    """The topic of an indexed *param* with the value *plain* in the form of `shared.kinds.web3.sought`."""
    if param.arrays or param.type == "tuple":
        return plain
    if param.type in {"string", "bytes"}:
        return "0x" + keccak(plain.encode() if param.type == "string" else bytes.fromhex(plain[2:])).hex()
    if param.type == "bool" or "int" in param.type:
        number = plain == "true" if param.type == "bool" else int(plain)
        return f"0x{number % 2**256:064x}"
    return "0x" + (plain[2:].rjust(64, "0") if param.type == "address" else plain[2:].ljust(64, "0"))


def _apart(params: Sequence[Param], count: int) -> list[bool]:
    """Which parameters are topics; without the word ``indexed``, the first ones, as is usual."""
    return [at < count if param.indexed is None else param.indexed for at, param in enumerate(params)]


def _of_topic(param: Param, word: bytes) -> Any:
    return leaf(param, word) if param.static else "0x" + word.hex()


def _fitting(said: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(orjson.dumps(said)) <= _MOST_BYTES:
        return said
    for most in _CUTS:
        shown: dict[str, Any] = _cut(dict(said), most)
        if len(orjson.dumps(shown)) <= _MOST_BYTES:
            return shown
    return {}


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, dict):
        return {name: _cut(one, most) for name, one in value.items()}
    if isinstance(value, list):
        return [_cut(item, most) for item in value[: most // 4]]
    return value[:most] if isinstance(value, str) else value
