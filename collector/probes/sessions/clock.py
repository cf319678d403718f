"""Estimates the offset of a probe's clock, so that results are stored by ours."""

from dataclasses import dataclass
from datetime import datetime

from shared.clock import EPOCH, boot_us

_BUCKET_US = 10_000_000
_BUCKETS = 6


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time on both of our clocks; the wall clock may be set between two of them."""

    wall: datetime
    boot_us: int

    @property
    def unix_us(self) -> int:
        since = self.wall - EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds

    @property
    def booted_us(self) -> int:
        """The Unix time of our boot, according to the current wall clock."""
        return self.unix_us - self.boot_us


def moment(wall: datetime) -> Moment:
    """The current time, at which the wall clock shows *wall*."""
    return Moment(wall, boot_us())


class ProbeClock:
    """Estimates the offset of the probe's boot clock from the least delayed message of the last minute."""

    __slots__ = ("_boot_id", "_least", "_wall_behind_us")

    def __init__(self, boot_id: str, sent_us: int, wall_us: int, received: Moment) -> None:
        self._boot_id = boot_id
        self._wall_behind_us = received.boot_us - wall_us
        self._least: list[tuple[int, int]] = []
        self.record(sent_us, received)

    def record(self, sent_us: int, received: Moment) -> None:
        """Record a message that was sent at the boot time *sent_us*."""
        offset, bucket = received.boot_us - sent_us, received.boot_us // _BUCKET_US
        if self._least and self._least[-1][0] == bucket:
            self._least[-1] = (bucket, min(offset, self._least[-1][1]))
        else:
            self._least.append((bucket, offset))
            del self._least[:-_BUCKETS]

    def offset_us(self, boot_id: str, base_us: int, wall_us: int, now: Moment) -> int:
        """The offset from boot times of a batch to Unix time, according to our current wall clock.

        For a batch of an earlier boot, only the probe's wall clock is known.
        """
        if boot_id == self._boot_id:
            return now.booted_us + min(offset for _, offset in self._least)
        return now.booted_us + wall_us - base_us + self._wall_behind_us
