"""The phase of an event for those it pages, and where its payload holds what."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any


class Phase(StrEnum):
    """A paging service's action: open an alert, acknowledge it, close it; for NEWS none of these."""

    PROBLEM = "problem"
    TAKEN = "taken"
    OVER = "over"
    NEWS = "news"


def text(event: Mapping[str, Any], *path: str) -> str:
    """Return the value at *path* as text; empty without one, or if it is not plain."""
    value: Any = event
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return str(value) if isinstance(value, str | int | float) else ""
