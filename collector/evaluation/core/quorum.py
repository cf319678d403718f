"""The verdict of a monitor's locations: who votes, and how many failures make it down."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.platform.deadlines import SETTLING

# A location that fell silent counts in the quorum for this long.
SILENCE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Vote:
    """One location of a monitor; *seen_at* is when its probe last reached the Internet, None without a probe.

    *known*: something was measured there. A location without data counts in the quorum but confirms nothing.
    *receives*: no probe checks there; the results were pushed to the collectors, which evaluate silence.
    *stale*: its state is from before a silence. It neither fails nor confirms, and counts in the quorum.
    """

    location: str
    failing: bool
    seen_at: datetime | None
    known: bool = True
    receives: bool = False
    stale: bool = False

    def counts(self, now: datetime) -> bool:
        """Whether it votes. A *seen_at* in the future means that a clock was set back, and does not count."""
        return self.receives or (self.seen_at is not None and abs(now - self.seen_at) <= SILENCE)

    def fails(self, now: datetime) -> bool:
        """Whether it votes and is known to fail."""
        return self.failing and not self.stale and self.counts(now)


def outlived(known_at: datetime | None, seen_at: datetime | None, apart: timedelta) -> bool:
    """Whether its newest conclusive check began too long before its probe last reached the Internet.

    *apart*: how far apart the ends of two checks can be. As *seen_at* stands still in a silence, the state at
    its start stays valid for as long as the location votes; afterwards only a new check counts.
    """
    if seen_at is None:
        return False
    return known_at is None or seen_at - known_at > max(SILENCE, apart)


def verdict(votes: Sequence[Vote], quorum: str, now: datetime, *, down: bool = False) -> bool | None:
    """Whether the monitor is down; None without voters: then nothing changes.

    *down*: its present state. A stale failure helps to keep it down, but does not help to take it down.
    """
    voters = [vote for vote in votes if vote.counts(now)]
    if not voters:
        return None
    bad = sum(vote.failing and (down or not vote.stale) for vote in voters)
    return bad >= needed(quorum, len(voters))


def failing(votes: Sequence[Vote], now: datetime) -> bool:
    """Whether any voter finds the monitor failing."""
    return any(vote.fails(now) for vote in votes)


def vouched(votes: Sequence[Vote], now: datetime) -> bool:
    """Whether some location has confirmed that the monitor is up."""
    return any(vote.known and not (vote.failing or vote.stale) and vote.counts(now) for vote in votes)


def needed(quorum: str, voters: int) -> int:
    """How many failing voters take a monitor down: ``majority``, ``any``, ``all`` or a number in digits."""
    if quorum == "majority":
        return voters // 2 + 1
    if quorum == "any":
        return 1
    if quorum == "all":
        return voters
    return max(1, min(int(quorum), voters))


def settled(votes: Sequence[Vote], started_at: datetime, now: datetime) -> bool:
    """Whether an outage may open, in a collector that has run since *started_at*."""
    if now - started_at >= SETTLING:
        return True
    recent = [
        vote.seen_at for vote in votes if vote.seen_at is not None and started_at - vote.seen_at <= SILENCE
    ]
    return all(seen_at >= started_at for seen_at in recent)
