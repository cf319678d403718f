"""The interface of a check: made once from a configuration, run again and again."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from probe.net.engine import Net
from shared.results import Outcome

# The float is the deadline, on time.monotonic(). Faults of the target are raised as TargetError.
Check = Callable[[Net, float], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Missed:
    """Of a chain the blocks from *first* on: what was told of them was lost on its way.

    *gone*: the first and the last block of which was told, and lost too, what still stands.
    """

    first: int
    gone: tuple[int, int] | None = None

    def joined(self, other: "Missed") -> "Missed":
        """Both of them."""
        gone = [one for one in (self.gone, other.gone) if one is not None]
        return Missed(
            min(self.first, other.first),
            (min(one[0] for one in gone), max(one[1] for one in gone)) if gone else None,
        )


class Kept:
    """The *state* of the newest result of an assignment that was reported, from which its next check goes on.

    A check reads it, and says in its outcome what it should be; who reports the result keeps that. So what
    was found on the way to a state goes up with it, or is found again.
    """

    __slots__ = ("back", "heeded", "own", "state")

    def __init__(self, state: bytes = b"") -> None:
        """*state* as the collector has it."""
        self.state = state
        self.own = False  # was anything reported from here?
        self.back: Missed | None = None  # where the next check goes back to
        self.heeded: Missed | None = None  # where the last one did

    def keep(self, state: bytes) -> None:
        """A result with that *state* was reported."""
        self.state, self.own = state, True

    def follow(self, before: "Kept") -> None:
        """Go on from *before*, of the same assignment: the collector may not have it all yet."""
        if before.own:
            self.keep(before.state)
