"""How a check can fail: by its target, or by the probe itself."""

from collections.abc import Callable

from probe.net.spent import PhaseDurations
from shared.evidence import Evidence
from shared.results import Phases


class TargetError(Exception):
    """The target failed; the text names the phase and the error. It never contains a secret."""

    def __init__(self, text: str, *, code: int = 0, spent: PhaseDurations | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.spent = spent
        self.evidence: Callable[[], Evidence] | None = None

    @property
    def phases(self) -> Phases:
        """The phases measured before the failure."""
        return Phases() if self.spent is None else self.spent.phases()


class ProbeError(Exception):
    """The probe could not run the check, so the target's status is unknown."""
