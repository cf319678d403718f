"""A monitor's checks one after the other, as a probe runs them: each goes on from what the last reported."""

from collections.abc import Callable
from typing import Any

import orjson

from probe.checks import prepare
from probe.checks._check import Kept
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.findings import Findings, bounded
from shared.results import Outcome, Status


class Watch:
    """*raised* and *recovered* are the alerts of the last check, *said* their data by key."""

    def __init__(self, type_: str, kind: Any) -> None:
        self._type = type_
        self.kept = Kept()
        self.change(kind)
        self.raised: list[str] = []
        self.recovered: list[str] = []
        self.said: dict[str, dict[str, Any]] = {}

    def change(self, kind: Any) -> None:
        """The configuration is another one; or the probe starts again, or another one takes over."""
        self.kind = kind
        self.kept = Kept(self.kept.state)
        self._check = prepare(self._type, kind, self.kept)

    def restart(self) -> None:
        self.change(self.kind)

    async def look(self, timeout_s: float = 10.0) -> Outcome:
        """Check once."""
        net = Net()
        try:
            outcome = (await run(self._check, net, timeout_s)).outcome
        finally:
            net.close()
        assert bounded(outcome.found)
        if outcome.state is not None:
            self.kept.keep(outcome.state)
        self.raised = [finding.key for finding in outcome.found if finding.found is Findings.RAISED]
        self.recovered = [finding.key for finding in outcome.found if finding.found is Findings.RECOVERED]
        self.said = {finding.key: orjson.loads(finding.data) for finding in outcome.found}
        return outcome

    async def well(self) -> None:
        """Check once, and see that it could be checked."""
        outcome = await self.look()
        assert outcome.status is Status.UP, outcome.error

    async def fault(self) -> str:
        """Check once, and see that it could not: why."""
        outcome = await self.look()
        assert outcome.status is Status.DOWN
        assert not outcome.found
        assert outcome.state is None
        return outcome.error

    async def tells(self, change: Callable[[], object]) -> tuple[list[str], list[str]]:
        """What is raised, and what has recovered, in the check after *change*."""
        change()
        await self.well()
        return self.raised, self.recovered
