"""Renders contract logs in one short line for people."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

_MOST_ARGUMENTS: Final = 20
_MOST_OF_ONE: Final = 200
_MOST_OF_ALL: Final = 1_500


def arguments(args: Any) -> str:
    """``from: 0x..., value: 5``, truncated; empty if *args* is not an object."""
    if not isinstance(args, Mapping):
        return ""
    parts = [
        f"{one_line(str(name))}: {_value(value)}" for name, value in list(args.items())[:_MOST_ARGUMENTS]
    ]
    return ", ".join(parts)[:_MOST_OF_ALL]


def one_line(text: str) -> str:
    """One line, truncated: the emitter of an event controls its texts."""
    text = " ".join(text[: 2 * _MOST_OF_ONE].split())
    return text if len(text) <= _MOST_OF_ONE else text[: _MOST_OF_ONE - 1] + "…"


def _value(value: Any) -> str:
    return one_line(value if isinstance(value, str) else orjson.dumps(value).decode())
