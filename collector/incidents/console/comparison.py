"""What each location saw of an outage, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from collector.console.language import gettext
from collector.console.render import plural
from collector.incidents.core.postmortem import Checks
from collector.incidents.storage.evidence import EvidenceRow

# Fields of evidence, in milliseconds, with the headings of their columns.
PHASES = {"dns": "DNS", "connect": "Connect", "tls": "TLS", "firstByte": "First byte", "transfer": "Transfer"}


@dataclass(frozen=True, slots=True)
class LocationView:
    """What a location saw; *checks* and *failed* are 0 where no check is kept any more.

    *at*, *error*, *address*, *status_code* and *phases* (milliseconds by name) are of its newest evidence.
    """

    location: str
    checks: int = 0
    failed: int = 0
    at: datetime | None = None
    error: str | None = None
    address: str | None = None
    status_code: int | None = None
    phases: dict[str, float] = field(default_factory=dict)

    @property
    def failing(self) -> bool:
        return self.at is not None or self.failed > 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The locations, the failing ones first; *phases*: those that any of them measured."""

    locations: Sequence[LocationView]
    phases: dict[str, str]

    @property
    def summary(self) -> str:
        """``Failed at 2 of 3 locations, with the same error``."""
        failing = [view for view in self.locations if view.failing]
        places = plural(len(self.locations), "location")
        if len(failing) < 2:
            return gettext("Failed at %(count)s of %(places)s", count=len(failing), places=places)
        if len({view.error for view in failing}) == 1:
            return gettext(
                "Failed at %(count)s of %(places)s, with the same error", count=len(failing), places=places
            )
        return gettext(
            "Failed at %(count)s of %(places)s, with different errors", count=len(failing), places=places
        )


def compare(checks: Sequence[Checks], evidence: Sequence[EvidenceRow]) -> Comparison:
    """Compare the checks of each location, and its newest evidence; *evidence* is in order of time."""
    newest = {row.location: row for row in evidence}
    counted = {each.location: each for each in checks}
    views = [_view(name, counted.get(name), newest.get(name)) for name in sorted({*newest, *counted})]
    measured = {phase for view in views for phase in view.phases}
    return Comparison(
        sorted(views, key=lambda view: not view.failing),
        {phase: label for phase, label in PHASES.items() if phase in measured},
    )


def _view(name: str, counts: Checks | None, row: EvidenceRow | None) -> LocationView:
    checks, failed = (counts.checks, counts.failed) if counts else (0, 0)
    if row is None:
        return LocationView(name, checks, failed, error=counts.error if counts else None)
    saw = row.saw
    return LocationView(
        name,
        checks,
        failed,
        row.at,
        saw["error"],
        saw["address"],
        saw["statusCode"],
        {phase: ms for phase, ms in saw["phases"].items() if ms is not None},
    )
