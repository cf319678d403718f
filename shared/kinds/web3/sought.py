"""Filters on the arguments of an event."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from shared.kinds.web3.abi import AbiEvent, Param
from shared.kinds.web3.fields import is_address

_MOST_VALUES: Final = 100
_MOST_LETTERS: Final = 4_096
_HEX: Final = re.compile(r"0[xX](?:[0-9a-fA-F]{2})*")
_INTEGER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})")
_EXACT: Final = 2**53
_HASH: Final = 32


def sought(event: AbiEvent, filters: Mapping[str, Any]) -> dict[str, list[str]]:
    """Accepted values by argument name, in canonical form: ``5``, ``0xab``, ``true``.

    Hexadecimal digits are in lower case. Raises ValueError for impossible arguments and values.
    """
    params = {param.name: param for param in event.inputs if param.name}
    found: dict[str, list[str]] = {}
    for name, said in filters.items():
        if name not in params:
            msg = f"{event.name} has no argument {name[:64]!r}"
            raise ValueError(msg)
        values = said if isinstance(said, list) else [said]
        if not 1 <= len(values) <= _MOST_VALUES:
            msg = f"{name}: 1 to {_MOST_VALUES} values"
            raise ValueError(msg)
        found[name] = [_plain(params[name], value) for value in values]
    return found


def told(param: Param, value: Any) -> str:
    """A decoded *value* in the form of `sought`."""
    text = str(value)
    return text if param.type == "string" and not param.arrays else text.lower()


def _plain(param: Param, value: Any) -> str:
    if param.arrays or param.type == "tuple":
        if param.indexed is False:
            msg = f"{param.name}: arrays and tuples can be looked for only where they are indexed, by hash"
            raise ValueError(msg)
        return _bytes(param, value, _HASH, exact=True)
    if param.type == "bool":
        return _flag(param, value)
    if param.type == "address":
        if not isinstance(value, str) or not is_address(value):
            raise _wrong(param, value)
        return value.lower()
    if param.type == "string":
        if not isinstance(value, str) or len(value) > _MOST_LETTERS:
            raise _wrong(param, value)
        return value
    if "int" in param.type:
        return _integer(param, value)
    size = 24 if param.type == "function" else int(param.type[5:] or _MOST_LETTERS)
    return _bytes(param, value, size, exact=False)


def _flag(param: Param, value: Any) -> str:
    text = str(value).lower()
    if text not in {"true", "false"}:
        raise _wrong(param, value)
    return text


def _integer(param: Param, value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        value = int(value)
    if isinstance(value, bool | float) or not _INTEGER.fullmatch(str(value)):
        raise _wrong(param, value)
    number = int(str(value), 16 if "x" in str(value).lower() else 10)
    bits = int(param.type.removeprefix("u").removeprefix("int"))
    least, most = (0, 2**bits) if param.type.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    if not least <= number < most:
        raise _wrong(param, value)
    return str(number)


def _bytes(param: Param, value: Any, most: int, *, exact: bool) -> str:
    """Canonical bytes; shorter values of a fixed size are padded with zeros on the right, as on the chain."""
    size = (len(value) - 2) // 2 if isinstance(value, str) and _HEX.fullmatch(value) else -1
    if not 0 <= size <= most or (exact and size != most):
        raise _wrong(param, value)
    digits: str = value[2:].lower()
    return "0x" + (digits if param.type == "bytes" else digits.ljust(2 * most, "0"))


def _wrong(param: Param, value: Any) -> ValueError:
    text = f"{param.name}: {str(value)[:64]!r} is no {param.canonical}"
    return ValueError(f"{text}; numbers this large as text" if isinstance(value, float) else text)


def fault(event: AbiEvent, filters: Mapping[str, Any]) -> str:
    """The error in *filters*; empty if they are valid."""
    try:
        sought(event, filters)
    except ValueError as error:
        return str(error)
    return ""


def listed(filters: Mapping[str, Sequence[str]]) -> list[tuple[str, list[str]]]:
    """The filters in canonical order, as part of an identity."""
    return sorted((name, sorted(values)) for name, values in filters.items())
