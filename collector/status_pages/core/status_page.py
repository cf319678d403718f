"""The displayed status of components and of the page, and its words."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

Visibility = Literal["public", "private", "unlisted"]
Look = Literal["banner", "plain"]
Status = Literal["operational", "degraded_performance", "partial_outage", "major_outage", "maintenance"]
# Status as displayed to people, who need to distinguish "operational" from "unknown".
Displayed = Status | Literal["unknown"]
Phase = Literal["investigating", "identified", "monitoring", "resolved"]
StatusMode = Literal["auto", "manual"]
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
# From best to worst; maintenance comes first because it is planned.
_RANK: Final = ("operational", "maintenance", "degraded_performance", "partial_outage", "major_outage")
_SLUG: Final = re.compile(r"[a-z0-9](-?[a-z0-9])*")
_GAPS: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Health:
    """The current state of the monitor behind a component.

    *slow*: an alert is active; *maintained*: a window is in force; *unmeasured_since*: None while measured.
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
class PagePart:
    """A component in the status of its page; *incident*: an open critical incident affects it."""

    status: Status
    essential: bool = False
    incident: bool = False

    @property
    def out(self) -> bool:
        """Whether it is out of service."""
        return self.incident or self.status == "major_outage"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a component shows; *automatic*: what it would show without a manual status."""

    status: Status
    automatic: Status


def is_slug(text: str) -> bool:
    return len(text) <= MAX_SLUG and _SLUG.fullmatch(text) is not None


def slug_of(name: str) -> str:
    """``Café Müller`` -> ``cafe-muller``; empty where the name has nothing to make one of."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return _GAPS.sub("-", plain).strip("-")[:MAX_SLUG].rstrip("-")


def of_monitor(health: Health | None) -> Status:
    """The status that follows from the monitor's health; operational without a monitor."""
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
    """*held*: the manual status; *planned*: published maintenance is in progress."""
    automatic: Status = "maintenance" if planned else of_monitor(health)
    return Shown(held or automatic, automatic)


def held_after(
    held: Status | None, now: Shown, status: Status | None, mode: StatusMode | None
) -> Status | None:
    """The manual status of a component after an update with *status* and *mode*; None: not sent.

    Sending the displayed status changes nothing. Sending the monitor's status ends the manual status.
    """
    if mode is not None and mode != mode_of(held):
        return None if mode == "auto" else status or now.status
    if status is None or status == now.status:
        return held
    return None if status == now.automatic else status


def mode_of(held: Status | None) -> StatusMode:
    return "auto" if held is None else "manual"


def meant(severity: Severity) -> Status:
    """The overall status during an incident of this severity."""
    return _MEANT[severity]


def overall(statuses: Iterable[Status]) -> Status:
    """The worst of the statuses; operational for a page without components."""
    return max(statuses, key=_RANK.index, default="operational")


def of_page(parts: Sequence[PagePart], severities: Iterable[Severity] = ()) -> Status:
    """The status of a page with these components and open incidents of these *severities*.

    The worst of all, but a major outage only if every component is out, or an essential one.
    """
    worst = overall([*(part.status for part in parts), *(meant(severity) for severity in severities)])
    out = [part for part in parts if part.out]
    if worst != "major_outage" or len(out) == len(parts) or any(part.essential for part in out):
        return worst
    return "partial_outage"
