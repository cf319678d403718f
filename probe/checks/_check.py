"""The interface of a check: made once from a configuration, run again and again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from probe.net.engine import Net
from shared.results import Outcome

# The float is the deadline, on time.monotonic(). Target errors are raised as TargetError.
Check = Callable[[Net, float], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Missed:
    """Blocks of a chain from *first* on whose findings were lost in transit.

    *gone*: the first and the last block of lost retractions.
    """

    first: int
    gone: tuple[int, int] | None = None

    def joined(self, other: "Missed") -> "Missed":
        """The union of both."""
        gone = [one for one in (self.gone, other.gone) if one is not None]
        return Missed(
            min(self.first, other.first),
            (min(one[0] for one in gone), max(one[1] for one in gone)) if gone else None,
        )


class Kept:
    """The *state* of an assignment's last reported result, from which its next check continues.

    A check reads it, and returns its successor in its outcome; whoever reports the result keeps that. So
    findings are reported together with the new state, or found again.
    """

    __slots__ = ("back", "heeded", "own", "state")

    def __init__(self, state: bytes = b"") -> None:
        """*state*: as the collector has it."""
        self.state = state
        self.own = False  # whether anything was reported from here
        self.back: Missed | None = None  # where the next check must go back to
        self.heeded: Missed | None = None  # where the last check went back to

    def keep(self, state: bytes) -> None:
        """Keep the *state* of a result that was reported."""
        self.state, self.own = state, True

    def follow(self, before: "Kept") -> None:
        """Continue from *before*, of the same assignment: the collector may not have all of it yet."""
        if before.own:
            self.keep(before.state)
