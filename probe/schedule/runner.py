"""Runs one check: the only place where its exceptions become an outcome."""

import time
from dataclasses import dataclass
from functools import partial

import structlog

from probe.checks import Check
from probe.net.engine import Net
from probe.net.errors import ProbeError, TargetError
from probe.schedule import evidence
from shared.clock import boot_us
from shared.results import Outcome, Status

log = structlog.get_logger()


# Not frozen: that would cost half a microsecond a field, and each check makes one.
@dataclass(slots=True)
class CheckRun:
    """The result of a check, its start on the boot clock, and the response time."""

    outcome: Outcome
    start_us: int
    duration_us: int


async def run(check: Check, net: Net, timeout_s: float) -> CheckRun:
    """Run *check* to its end or its deadline; never raises for a bad target."""
    start_us = boot_us()
    try:
        outcome = await check(net, time.monotonic() + timeout_s)
    except TargetError as error:
        saw = error.evidence or (partial(evidence.of_connection, error.spent) if error.spent else None)
        address = error.spent.address if error.spent else ""
        outcome = Outcome(Status.DOWN, error.code, str(error), error.phases, evidence=saw, address=address)
        error.__traceback__ = None  # its frames reference the error: breaking the cycle frees all at once
    except ProbeError as error:
        outcome = Outcome(Status.UNKNOWN, error=str(error))
    except Exception as error:
        log.exception("check raised an exception")
        outcome = Outcome(Status.UNKNOWN, error=f"internal: {type(error).__name__}")
    took_us = boot_us() - start_us if outcome.took_us is None else outcome.took_us
    return CheckRun(outcome, start_us, took_us)
