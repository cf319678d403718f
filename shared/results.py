"""Outcomes of checks: the numbers are on the wire and in the tables, so they never change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from shared.evidence import Evidence
from shared.findings import Finding


class Status(IntEnum):
    """The status of a target according to a check."""

    UP = 1
    DOWN = 2
    UNKNOWN = 3


class Run(IntEnum):
    """Why a check was run; only scheduled ones count in rates."""

    SCHEDULED = 1
    RECHECK = 2
    SECOND_OPINION = 3
    TEST = 4


# Not frozen: that would cost half a microsecond a field, and each check makes one.
@dataclass(slots=True, unsafe_hash=True)
class Phases:
    """Durations of a check's phases in microseconds; None for a phase that did not occur."""

    dns_us: int | None = None
    connect_us: int | None = None
    tls_us: int | None = None
    first_byte_us: int | None = None
    transfer_us: int | None = None


_NO_PHASES: Final = Phases()


# Not frozen: that would cost half a microsecond a field, and each check makes one.
@dataclass(slots=True, unsafe_hash=True)
class Outcome:
    """The result of a check. *error* is human-readable and empty if up; *code* is 0 if there is none.

    *evidence* builds a failed check's evidence on demand: that costs more than the check. *address*: the one
    connected to, or attempted; may be empty. *took_us*: the response time if it differs from the check's
    duration, *loss_percent*: loss of several attempts, *ends*: Unix time at which the first of the received
    certificates expires, *found*: other findings.
    """

    status: Status
    code: int = 0
    error: str = ""
    phases: Phases = _NO_PHASES
    state: bytes | None = None
    evidence: Callable[[], Evidence] | None = field(default=None, compare=False, repr=False)
    address: str = field(default="", compare=False)
    took_us: int | None = field(default=None, compare=False)
    loss_percent: float | None = field(default=None, compare=False)
    ends: float | None = field(default=None, compare=False)
    found: Sequence[Finding] = field(default=(), compare=False)
