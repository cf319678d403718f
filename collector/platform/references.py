"""Validates ids in a request body; unknown ids are reported together with all other errors."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from shared import ids


def one(prefix: str, key: str, text: Any) -> dict[str, UUID]:
    """The parsed id by the field name of its errors; empty if *text* is not an id of that kind."""
    id_ = ids.read(prefix, text) if isinstance(text, str) else None
    return {} if id_ is None else {key: id_}


def many(prefix: str, key: str, listed: Any) -> dict[str, UUID]:
    """As `one`, for a list; keys are ``monitors[0]`` and so on."""
    found: dict[str, UUID] = {}
    for at, text in enumerate(listed if isinstance(listed, list) else []):
        found |= one(prefix, f"{key}[{at}]", text)
    return found


def strangers(named: Mapping[str, UUID], there: Collection[UUID], text: str) -> dict[str, str]:
    """The error *text* for each id that is not in *there*."""
    return {key: text for key, id_ in named.items() if id_ not in there}
