"""Measures the phases of a check while it runs."""

import time
from dataclasses import dataclass

from shared.results import Phases


# Not frozen: that would cost half a microsecond a field, and each check makes one.
@dataclass(slots=True)
class Limit:
    """The time limit of a whole check, on `time.monotonic()`."""

    began: float
    deadline: float

    @classmethod
    def until(cls, deadline: float) -> "Limit":
        return cls(time.monotonic(), deadline)

    @property
    def words(self) -> str:
        """``2.0 s``: equal for each check of a monitor, so that its errors are equal."""
        return f"{self.deadline - self.began:.1f} s"

    @property
    def mostly_spent(self) -> bool:
        """Whether more than half of it has passed."""
        return time.monotonic() - self.began > (self.deadline - self.began) / 2


class PhaseDurations:
    """Seconds by phase, summed over connections (redirects). *address*: of the last one.

    *ends*: Unix time at which the first of the last connection's certificates expires.
    """

    __slots__ = ("address", "connect", "dns", "ends", "first_byte", "port", "tls", "transfer")

    def __init__(self) -> None:
        self.address = ""
        self.port = 0
        self.ends: float | None = None
        self.dns: float | None = None
        self.connect: float | None = None
        self.tls: float | None = None
        self.first_byte: float | None = None
        self.transfer: float | None = None

    @property
    def total(self) -> float:
        """The sum of all phases."""
        return sum(
            number or 0.0 for number in (self.dns, self.connect, self.tls, self.first_byte, self.transfer)
        )

    def take(self, other: "PhaseDurations") -> None:
        """Continue with the data of *other*."""
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))

    def phases(self) -> Phases:
        dns, connect, tls, first, last = self.dns, self.connect, self.tls, self.first_byte, self.transfer
        # Runs once per check; a call per field would double the cost.
        return Phases(
            None if dns is None else int(dns * 1_000_000),
            None if connect is None else int(connect * 1_000_000),
            None if tls is None else int(tls * 1_000_000),
            None if first is None else int(first * 1_000_000),
            None if last is None else int(last * 1_000_000),
        )
