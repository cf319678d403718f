"""Run one check: the only place where a check's exceptions become an outcome."""

import time
from dataclasses import dataclass

import structlog

from probe.checks import Check
from probe.net.engine import Net
from probe.net.errors import ProbeError, TargetError
from shared.clock import boot_us
from shared.results import Outcome, Status

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Ran:
    """What a check came to, and when it started, on the boot clock."""

    outcome: Outcome
    start_us: int
    duration_us: int


async def run(check: Check, net: Net, timeout_s: float) -> Ran:
    """Run *check* to its end or its deadline; never raises for a bad target."""
    start_us = boot_us()
    try:
        outcome = await check(net, time.monotonic() + timeout_s)
    except TargetError as error:
        outcome = Outcome(Status.DOWN, error.code, str(error), error.phases)
        error.__traceback__ = None  # its frames hold the error: without the cycle all goes at once
    except ProbeError as error:
        outcome = Outcome(Status.UNKNOWN, error=str(error))
    except Exception as error:
        log.exception("check failed by a fault of our own")
        outcome = Outcome(Status.UNKNOWN, error=f"internal: {type(error).__name__}")
    return Ran(outcome, start_us, boot_us() - start_us)
