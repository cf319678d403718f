"""Makes an assignment's check when it is due, and keeps it only if making it again would take long."""

import time
from typing import Any, Final

import orjson
import structlog

from probe import checks
from probe.checks import REMEMBERING, Check
from probe.link.plan import ProbeAssignment
from probe.net import faults
from probe.net.engine import Net
from probe.net.errors import ProbeError
from shared.clock import SecondClock
from shared.kinds import load
from shared.results import Outcome

log = structlog.get_logger()

# A check takes 1 to 3 kB of memory, and some 50 microseconds to make: one that runs every minute is made for
# each run. The share of a processor that a monitor may take for that.
_MOST_SHARE: Final = 2e-6


class Unusable(Exception):
    """An assignment cannot be run here."""


def check_of(assigned: ProbeAssignment, cpu_s: SecondClock = time.thread_time) -> Check:
    """The check of *assigned*; if that cannot be run, a check that raises ProbeError.

    *cpu_s*: the processor time of this thread.
    """
    if assigned.check is not None:
        return assigned.check
    began_s = cpu_s()
    try:
        check = make(assigned)
    except ProbeError as error:
        return _failing(str(error))
    except Unusable as error:
        if not assigned.fault:  # else it was logged when it came
            monitor, revision = assigned.monitor, assigned.revision
            log.warning("assignment cannot be run", monitor=monitor, revision=revision, fault=str(error))
        check = assigned.check = _failing(str(error))
        return check
    took_us = (cpu_s() - began_s) * 1_000_000
    if assigned.type in REMEMBERING or took_us > assigned.interval_us * _MOST_SHARE:
        assigned.check = check
    return check


def make(assigned: ProbeAssignment) -> Check:
    """Make the check of *assigned*.

    Raises Unusable, and ProbeError if the machine cannot load the type now: the next run tries again.
    """
    if assigned.fault:
        raise Unusable(assigned.fault)
    try:
        config: Any = orjson.loads(assigned.config)
        return checks.prepare(assigned.type, load(assigned.type, config), assigned.kept)
    except OSError as error:
        raise faults.of_machine(error) from None
    except Exception as error:  # noqa: BLE001 - one bad assignment must not stop the others
        # The error's text may quote the configuration, which contains secrets.
        fault = f"the probe does not understand this configuration ({type(error).__name__})"
        raise Unusable(fault) from None


def _failing(fault: str) -> Check:
    async def check(_net: Net, _deadline: float) -> Outcome:
        raise ProbeError(fault)

    return check
