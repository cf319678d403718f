"""When checks start: the place in the interval, the pace of re-checks, and the hash of a plan.

Phases are based on Unix time, so that probes of different locations, which share no other clock, alternate
evenly and keep their phases after a restart. A scheduler itself uses a clock that never steps and calls
`following` after each start: after a wall-clock step, a monitor reaches its new phase within one and a half
intervals, with never less than half an interval between two starts.
"""

from collections.abc import Iterable
from typing import Final

_MASK: Final = 2**64 - 1
# A start may be this late whatever the interval.
ALWAYS_ALLOWED_US: Final = 1_000_000


def phase_us(monitor: int, interval_us: int, turn: int, turns: int) -> int:
    """The phase of *monitor* at the *turn*-th (from 0) of *turns* locations."""
    return (mix(monitor) + turn * interval_us // max(turns, 1)) % interval_us


def next_start(now_us: int, phase_us: int, interval_us: int) -> int:
    """The first time after *now_us* at the phase; both in Unix microseconds."""
    return now_us + interval_us - (now_us - phase_us) % interval_us


def following(start_us: int, phase_us: int, interval_us: int) -> int:
    """The start after one at *start_us*: at the phase, half to one and a half intervals later."""
    middle_us = start_us + interval_us // 2
    return middle_us + interval_us - (middle_us - phase_us) % interval_us


def late_allowed_us(interval_us: int) -> int:
    """The maximum delay of a start; a later one is skipped.

    So a machine that slept runs at most a sixtieth of its checks at once, and the rest keep their phases.
    """
    return max(ALWAYS_ALLOWED_US, interval_us // 60)


def recheck_delay(streak: int, interval_s: float) -> float:
    """Seconds between re-checks: after the *streak*-th check that needs confirmation 1, 2, 4, ..."""
    return min(2.0 ** min(streak - 1, 30), interval_s)


def plan_hash(assignments: Iterable[tuple[int, int]]) -> int:
    """A 64-bit hash of a set of (number, revision), independent of their order."""
    return sum(mix(number ^ mix(revision)) for number, revision in assignments) & _MASK


def mix(number: int) -> int:
    """64 well-mixed bits of *number*, stable across machines and versions (the finalizer of SplitMix64)."""
    z = (number + 0x9E3779B97F4A7C15) & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31
