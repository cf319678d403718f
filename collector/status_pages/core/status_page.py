"""The displayed status of components and of the page, and its words."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

Visibility = Literal["public", "private", "unlisted"]
Status = Literal["operational", "degraded_performance", "partial_outage", "major_outage", "maintenance"]
# What is displayed to people, for whom "well" and "nobody knows" are two things.
Displayed = Status | Literal["unknown"]
Phase = Literal["investigating", "identified", "monitoring", "resolved"]
Severity = Literal["none", "minor", "major", "critical", "maintenance"]

RESOLVED: Final = "resolved"
MAINTENANCE: Final = "maintenance"
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
_MEANT: Final[dict[Severity, Status]] = {
    "none": "operational",
    "minor": "degraded_performance",
    "major": "partial_outage",
    "critical": "major_outage",
    "maintenance": "maintenance",
}
MAX_SLUG: Final = 63
# From the best to the worst: maintenance is planned.
_RANK: Final = ("operational", "maintenance", "degraded_performance", "partial_outage", "major_outage")
_SLUG: Final = re.compile(r"[a-z0-9](-?[a-z0-9])*")
_GAPS: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Health:
    """What is known now of the monitor behind a component.

    *slow*: an alert says so; *maintained*: a window is in force; *unmeasured_since*: None while measured.
    *unknown*: it was never measured, or all its checks are unknown.
    """

    down: bool
    degraded: bool
    slow: bool
    maintained: bool
    paused: bool
    unmeasured_since: datetime | None
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What a component shows; *automatic*: what it would if nobody held it."""

    status: Status
    automatic: Status


def is_slug(text: str) -> bool:
    return len(text) <= MAX_SLUG and _SLUG.fullmatch(text) is not None


def slug_of(name: str) -> str:
    """``Café Müller`` -> ``cafe-muller``; empty where the name has nothing to make one of."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _GAPS.sub("-", plain).strip("-")[:MAX_SLUG].rstrip("-")


def of_monitor(health: Health | None) -> Status:
    """What the monitor says; without one all is well."""
    if health is None:
        return "operational"
    if health.maintained:
        return "maintenance"
    if health.paused:
        return "operational"
    if health.down:
        return "major_outage"
    if health.degraded:
        return "partial_outage"
    return "degraded_performance" if health.slow else "operational"


def shown(held: Status | None, health: Health | None, *, planned: bool) -> Shown:
    """*held*: what somebody set by hand; *planned*: maintenance that the page told of is under way."""
    automatic: Status = "maintenance" if planned else of_monitor(health)
    return Shown(held or automatic, automatic)


def held_after(held: Status | None, now: Shown, status: Status | None, mode: str | None) -> Status | None:
    """In what a component is held after somebody sent *status* and *mode*; None for what was not sent.

    What is sent as it is shown sets nothing. What the monitor says now gives the component back to it.
    """
    if mode is not None and mode != mode_of(held):
        return None if mode == "auto" else status or now.status
    if status is None or status == now.status:
        return held
    return None if status == now.automatic else status


def mode_of(held: Status | None) -> str:
    return "auto" if held is None else "manual"


def meant(severity: Severity) -> Status:
    """How all is while an incident as severe goes on."""
    return _MEANT[severity]


def overall(statuses: Iterable[Status]) -> Status:
    """The worst of them; a page without components is well."""
    return max(statuses, key=_RANK.index, default="operational")
