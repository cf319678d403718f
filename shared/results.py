"""Outcomes of checks: the numbers are on the wire and in the tables, so they never change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from shared.evidence import Evidence
from shared.findings import Finding


class Status(IntEnum):
    """What a check says of its target."""

    UP = 1
    DOWN = 2
    UNKNOWN = 3


class Run(IntEnum):
    """Why a check was run; only scheduled ones count in rates."""

    SCHEDULED = 1
    RECHECK = 2
    SECOND_OPINION = 3
    TEST = 4


@dataclass(frozen=True, slots=True)
class Phases:
    """Where the time of a check went, each in microseconds; None where there was no such phase."""

    dns_us: int | None = None
    connect_us: int | None = None
    tls_us: int | None = None
    first_byte_us: int | None = None
    transfer_us: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found. *error* is for people and empty when it is up; *code* is 0 where there is none.

    *evidence* makes what a failed one saw, if it is wanted: that costs more than the check. *address* is the
    one that was connected to, or should have been; empty where there is none. *took_us* is the response time
    where that is not the length of the check, *loss_percent* what was lost of several tries,
    *ends* the Unix time at which the first of the certificates that were sent ends, *found* what else it has
    to tell.
    """

    status: Status
    code: int = 0
    error: str = ""
    phases: Phases = Phases()
    state: bytes | None = None
    evidence: Callable[[], Evidence] | None = field(default=None, compare=False, repr=False)
    address: str = field(default="", compare=False)
    took_us: int | None = field(default=None, compare=False)
    loss_percent: float | None = field(default=None, compare=False)
    ends: float | None = field(default=None, compare=False)
    found: Sequence[Finding] = field(default=(), compare=False)
