"""Parses a target's JSON document, unless that would block other checks."""

from typing import Any, Final

import orjson

# To make so many takes 50 ms at the worst, in which no other code can run.
MOST_VALUES: Final = 200_000
_BEGINS: Final = (b",", b"[", b"{")


class NotJson(Exception):
    """The body is none."""


class TooManyValues(Exception):
    """It is too large to be read."""


def document(body: bytes) -> Any:
    """Raises NotJson and TooManyValues."""
    # Whatever stands in texts is counted, too: to know better costs as much as to read it.
    if len(body) > MOST_VALUES and sum(map(body.count, _BEGINS)) > MOST_VALUES:
        raise TooManyValues(f"more than {MOST_VALUES} values")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotJson from None
