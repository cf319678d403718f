"""People in responses, as rows keep them."""

from collections.abc import Mapping
from typing import Any, Final

from collector.platform.answers import Person

# The service itself, as it acts.
SERVICE: Final = Person(id=None, name="System")


def person(stored: Mapping[str, Any] | None) -> Person | None:
    """Return the person of a row's ``{id, name}``; a missing part stops no decision."""
    return None if stored is None else Person(id=stored.get("id"), name=stored.get("name", ""))
