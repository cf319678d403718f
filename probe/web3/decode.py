"""Decodes the data of an event by its ABI, in time bounded by its length.

Offsets may point anywhere, so a few kilobytes can represent millions of values: data that needs more words
than it contains is rejected.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final

from Crypto.Hash import keccak as _keccak

from shared.kinds.web3.abi import Param

_WORD: Final = 32


def keccak(text: bytes) -> bytes:
    """Keccak-256, which is not SHA3-256."""
    return _keccak.new(digest_bits=256, data=text).digest()


@lru_cache(4096)
def checksummed(address: str) -> str:
    """The address with its EIP-55 checksum case."""
    bare = address.lower().removeprefix("0x")
    digits = keccak(bare.encode()).hex()
    return "0x" + "".join(
        letter.upper() if int(digit, 16) >= 8 else letter for letter, digit in zip(bare, digits, strict=False)
    )


def decoded(params: Sequence[Param], data: bytes) -> list[Any]:
    """The value of each of *params*: integers as decimal strings, bytes in hex, tuples by name.

    In texts, NUL and invalid UTF-8 become U+FFFD. Raises ValueError for bytes that do not match the types.
    """
    return _Words(data).sequence(params, 0)


def leaf(param: Param, word: bytes) -> Any:
    """Decode the value of a static type from one *word*. Raises ValueError."""
    number, type_ = int.from_bytes(word), param.type
    if type_ == "address":
        return checksummed(f"{_below(number, 160):040x}")
    if type_ == "bool":
        return bool(_below(number, 1))
    if type_.startswith("uint"):
        return str(_below(number, int(type_[4:])))
    if type_.startswith("int"):
        half = 1 << (int(type_[3:]) - 1)
        signed = number - 2**256 if number >> 255 else number
        if not -half <= signed < half:
            raise ValueError("an integer that is too large for its type")
        return str(signed)
    size = 24 if type_ == "function" else int(type_[5:])
    if any(word[size:]):
        raise ValueError("bytes that are too long for their type")
    return "0x" + word[:size].hex()


def named(params: Sequence[Param], values: Sequence[Any]) -> dict[str, Any]:
    """*values* by name, or by position if the name is missing or repeated."""
    said: dict[str, Any] = {}
    for at, (param, value) in enumerate(zip(params, values, strict=True)):
        said[str(at) if not param.name or param.name in said else param.name] = value
    return said


class _Words:
    """The bytes, and how many words may still be read."""

    __slots__ = ("_data", "_left")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = len(data) // _WORD + 1

    def sequence(self, params: Sequence[Param], base: int) -> list[Any]:
        """Values that are at *base*, directly or through offsets relative to it."""
        values, at = [], base
        for param in params:
            if _dynamic(param):
                values.append(self._value(param, base + self._number(at)))
                at += _WORD
            else:
                values.append(self._value(param, at))
                at += _width(param)
        return values

    def _value(self, param: Param, at: int) -> Any:
        if param.arrays:
            return self._array(param, at)
        if param.type == "tuple":
            return named(param.parts, self.sequence(param.parts, at))
        if param.type not in {"string", "bytes"}:
            return leaf(param, self._take(at, _WORD))
        raw = self._take(at + _WORD, self._number(at))
        return plain_text(raw) if param.type == "string" else "0x" + raw.hex()

    def _array(self, param: Param, at: int) -> list[Any]:
        start = param.arrays.rindex("[")
        inner = Param(param.name, param.type, param.arrays[:start], param.parts)
        length = param.arrays[start + 1 : -1]
        count = int(length) if length else self._number(at)
        if count > self._left:
            raise ValueError("more values than there are bytes")
        return self.sequence([inner] * count, at if length else at + _WORD)

    def _number(self, at: int) -> int:
        return int.from_bytes(self._take(at, _WORD))

    def _take(self, at: int, length: int) -> bytes:
        self._left -= length // _WORD
        if self._left < 0 or at + length > len(self._data):
            raise ValueError("more values than there are bytes")
        return self._data[at : at + length]


def plain_text(data: bytes) -> str:
    """The text as PostgreSQL accepts it."""
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")


def _dynamic(param: Param) -> bool:
    return param.type in {"string", "bytes"} or "[]" in param.arrays or any(map(_dynamic, param.parts))


def _width(param: Param) -> int:
    """The size of a static type in bytes."""
    counts = [int(text) for text in param.arrays.strip("[]").split("][") if text]
    return prod(counts) * (sum(map(_width, param.parts)) if param.parts else _WORD)


def _below(number: int, bits: int) -> int:
    if number >> bits:
        raise ValueError("a value that is too large for its type")
    return number
