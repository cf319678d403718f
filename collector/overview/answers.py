"""What scripts of the console are answered."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIncidentTitle:
    """An incident that nobody has acknowledged."""

    id: str
    title: str
    severity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIncidents:
    """*count*: incidents that are not resolved, *unacknowledged* of them; *newest* of the latter."""

    count: int
    unacknowledged: int
    newest: list[OpenIncidentTitle]
