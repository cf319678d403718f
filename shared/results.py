"""What one check came to: the numbers here are on the wire and in the tables, so they never change."""

from dataclasses import dataclass
from enum import IntEnum


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
    """What a check found. *error* is for people and empty when it is up; *code* is 0 where there is none."""

    status: Status
    code: int = 0
    error: str = ""
    phases: Phases = Phases()
    state: bytes | None = None
