"""How a probe's clocks lie to ours, so that no wall clock of its own bends the times of its results."""

from collections import deque

_BUCKET_US = 10_000_000
_BUCKETS = 6


class ProbeClock:
    """The least delayed message of the last minute tells how the probe's boot clock lies to Unix time."""

    def __init__(self, boot_id: str, sent_us: int, wall_us: int, received_us: int) -> None:
        self._boot_id = boot_id
        self._wall_behind_us = received_us - wall_us
        self._least: deque[tuple[int, int]] = deque(maxlen=_BUCKETS)
        self.heard(sent_us, received_us)

    def heard(self, sent_us: int, received_us: int) -> None:
        """A message with the boot time *sent_us* came at the Unix time *received_us*."""
        offset, bucket = received_us - sent_us, received_us // _BUCKET_US
        if self._least and self._least[-1][0] == bucket:
            self._least[-1] = (bucket, min(offset, self._least[-1][1]))
        else:
            self._least.append((bucket, offset))

    def offset_us(self, boot_id: str, base_us: int, wall_us: int) -> int:
        """What to add to boot times of a batch; one of an earlier boot has only its wall clock to go by."""
        if boot_id == self._boot_id:
            return min(offset for _, offset in self._least)
        return wall_us - base_us + self._wall_behind_us
