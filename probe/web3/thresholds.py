"""A check that compares values of a chain with thresholds."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from probe.checks._check import Check
from probe.net.engine import Net
from probe.net.spent import Limit, PhaseDurations
from probe.web3.checkpoint import CheckpointState
from probe.web3.crossings import MeasuredValue
from probe.web3.nodes import Look, Pool, Settle, alike
from shared.results import Outcome, Status

T = TypeVar("T")


def watching(
    pool: Pool,
    look: Look[T],
    measured: Callable[[T], Sequence[MeasuredValue]],
    standing: CheckpointState,
    settle: Settle[T] = alike,
) -> Check:
    """A check: *look* reads values, *measured* compares them; it continues from *standing*."""

    async def check(net: Net, deadline: float) -> Outcome:
        spent = PhaseDurations()
        seen = await pool.read(net, spent, Limit.until(deadline), look, settle)
        state, findings = standing.settle(measured(seen))
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address, state=state, found=findings)

    return check
