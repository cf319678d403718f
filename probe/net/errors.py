"""How a check can fail: by its target, or by the probe itself."""

from collections.abc import Callable

from probe.net.spent import Spent
from shared.evidence import Evidence
from shared.results import Phases


class TargetError(Exception):
    """The target failed; the text says in which phase and how, for people. Never holds a secret."""

    def __init__(self, text: str, *, code: int = 0, spent: Spent | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.spent = spent
        self.evidence: Callable[[], Evidence] | None = None

    @property
    def phases(self) -> Phases:
        """What had been measured when it failed."""
        return Phases() if self.spent is None else self.spent.phases()


class ProbeError(Exception):
    """The probe could not run the check: this says nothing of the target."""
