"""Warns when reading lags behind the chain, before anything is missed."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any, Final

from probe.net.spent import PhaseDurations
from probe.web3.crossings import MeasuredValue
from probe.web3.reader import Step
from shared.findings import Finding
from shared.results import Outcome, Status

READING: Final = "reading_behind"
CHAIN: Final = "chain_behind"
# Confirmations take minutes, so subscribers of events accept such a delay.
_WARN_S: Final = 600
# A reading that is this late and does not gain never catches up: it says nothing of the current chain.
_LOST_S: Final = 3_600
# More than nodes of one provider differ by.
_WARN_BLOCKS: Final = 100


def measured(step: Step[Any], raised: Collection[str], end: str = "") -> list[MeasuredValue]:
    """The lags that are alerts, or were; *end*: of a bridge, prefix of the alerts' types."""
    late = (
        f"{step.left} blocks are not read yet, {step.late_s} s of the chain: what happened there is told late"
    )
    away = f"the newest block is {step.short} blocks before the last that was read: until then none is read"
    both = [
        MeasuredValue(f"{end}{READING}", Decimal(step.late_s), Decimal(_WARN_S), "s", late),
        MeasuredValue(f"{end}{CHAIN}", Decimal(step.short), Decimal(_WARN_BLOCKS), "blocks", away),
    ]
    return [one for one in both if one.crossed or one.key in raised]


def fault(step: Step[Any], before_s: Any) -> str:
    """Why the check says nothing of the chain; empty if it does. *before_s*: lag of the previous check."""
    if not isinstance(before_s, int) or not _LOST_S <= before_s <= step.late_s:
        return ""
    return (
        f"rpc: reading does not keep up: {step.left} blocks are not read yet, {step.late_s} s of the chain "
        f"(at the check before {before_s} s); a node that gives more blocks at once, or faster, would help"
    )


def came_to(spent: PhaseDurations, fault: str, state: bytes | None, findings: Sequence[Finding]) -> Outcome:
    """The outcome; findings count even if the current state of the chain is unknown."""
    return Outcome(
        Status.UNKNOWN if fault else Status.UP,
        error=fault,
        phases=spent.phases(),
        address=spent.address,
        state=state,
        found=findings,
    )
