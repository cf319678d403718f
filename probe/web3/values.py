"""Validates numbers, addresses and blocks of JSON-RPC."""

import re
from dataclasses import dataclass
from typing import Any, Final

from probe.web3.rpc import NodeFault, Refusal

_QUANTITY: Final = re.compile(r"0x[0-9a-fA-F]{1,64}")
_HASH: Final = re.compile(r"0x[0-9a-fA-F]{64}")
# No block number or time of any chain is this large.
_BEYOND: Final = 2**63


@dataclass(frozen=True, slots=True)
class Block:
    """*at*: Unix time in seconds; *base_fee*: in wei, None if the chain has none."""

    number: int
    hash: str
    parent: str
    at: int
    base_fee: int | None = None


def result(value: Any, what: str) -> Any:
    """*value*. Raises NodeFault if it is a refusal."""
    if isinstance(value, Refusal):
        msg = f"{what}: {value.words}"
        raise NodeFault(msg)
    return value


def quantity(value: Any, what: str) -> int:
    """``"0x1a"`` -> 26. Raises NodeFault for anything else."""
    text = result(value, what)
    if not isinstance(text, str) or not _QUANTITY.fullmatch(text):
        msg = f"{what}: answers no number"
        raise NodeFault(msg)
    return int(text, 16)


def data(value: Any, what: str) -> bytes:
    """``"0x00ff"`` -> two bytes. Raises NodeFault for anything else."""
    text = result(value, what)
    read = _unhexed(text) if isinstance(text, str) else None
    if read is None:
        msg = f"{what}: answers no bytes"
        raise NodeFault(msg)
    return read


def words(value: Any, count: int, what: str) -> list[int]:
    """The first *count* words returned by a view call. Raises NodeFault if there is no contract."""
    returned = data(value, what)
    if len(returned) < 32 * count:
        # Likewise for a proxy without an implementation.
        none = "there is no such contract, or it has no such function"
        msg = f"{what}: {none if not returned else 'answers too little'}"
        raise NodeFault(msg)
    return [int.from_bytes(returned[at * 32 : at * 32 + 32]) for at in range(count)]


def block(value: Any, what: str) -> Block | None:
    """Parse a block header; None if there is no such block. Raises NodeFault for an invalid one."""
    header = result(value, what)
    if header is None:
        return None
    if not isinstance(header, dict):
        msg = f"{what}: answers no block"
        raise NodeFault(msg)
    base_fee = header.get("baseFeePerGas")
    number, at = quantity(header.get("number"), what), quantity(header.get("timestamp"), what)
    if max(number, at) >= _BEYOND:
        msg = f"{what}: answers no block"
        raise NodeFault(msg)
    return Block(
        number,
        hash32(header.get("hash"), what),
        hash32(header.get("parentHash"), what),
        at,
        None if base_fee is None else quantity(base_fee, what),
    )


def hash32(value: Any, what: str) -> str:
    """A hash in lower case. Raises NodeFault for anything else."""
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        msg = f"{what}: answers no hash"
        raise NodeFault(msg)
    return value.lower()


def signed(word: int) -> int:
    """An ``int256`` from its word."""
    return word - 2**256 if word >> 255 else word


def _unhexed(text: str) -> bytes | None:
    """The bytes; None if there are no pairs of digits after ``0x``."""
    if not text.startswith("0x"):
        return None
    try:
        read = bytes.fromhex(text[2:])
    except ValueError:
        return None
    # fromhex() ignores spaces.
    return read if 2 * len(read) == len(text) - 2 else None
