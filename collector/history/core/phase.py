"""The phase of an event for those it pages, and where its payload holds what."""

from collections.abc import Mapping
from enum import Enum
from typing import Any


class Phase(Enum):
    """What a paging service does with it: open an alert, take it on, close it; news is none of those."""

    PROBLEM = "problem"
    TAKEN = "taken"
    OVER = "over"
    NEWS = "news"


def text(event: Mapping[str, Any], *path: str) -> str:
    """What lies at *path*, as text; empty where there is nothing, or no plain value."""
    value: Any = event
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return str(value) if isinstance(value, str | int | float) else ""
