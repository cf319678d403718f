"""Names of time zones, in any case of letters."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated
from zoneinfo import available_timezones

from annotated_types import Predicate

from shared.kinds.fields import ErrorText


def is_zone(name: str) -> bool:
    return name.lower() in _zones()


def canonical(name: str) -> str:
    """Return the zone's name as the time zone database writes it; raises KeyError for an unknown one."""
    return _zones()[name.lower()]


TimeZone = Annotated[str, Predicate(is_zone), ErrorText("must be an IANA time zone, such as Europe/Berlin")]


@cache
def names() -> tuple[str, ...]:
    """All zones by name, for a list to choose from."""
    return tuple(sorted(_zones().values()))


@cache
def _zones() -> Mapping[str, str]:
    return {name.lower(): name for name in available_timezones()}
