"""Parses a target's JSON document, unless that would block other checks."""

from typing import Any, Final

import orjson

# Creating this many takes at most 50 ms, which block the loop.
MOST_VALUES: Final = 200_000
_BEGINS: Final = (b",", b"[", b"{")


class NotJson(Exception):
    """The body is not JSON."""


class TooManyValues(Exception):
    """The body has too many values to be parsed."""


def document(body: bytes) -> Any:
    """Parse *body*. Raises NotJson and TooManyValues."""
    # Also counts characters within texts: excluding them would cost as much as parsing.
    if len(body) > MOST_VALUES and sum(map(body.count, _BEGINS)) > MOST_VALUES:
        raise TooManyValues(f"more than {MOST_VALUES} values")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotJson from None
