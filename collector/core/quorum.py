"""How the locations of a monitor make one verdict: who votes, and how many failing ones it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

# A location that fell silent counts in the bar for this long.
SILENCE = timedelta(minutes=2)
# After a start nothing opens before every recent location is back, or this is over.
SETTLING = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Vote:
    """One location of a monitor; *seen_at* is when its probe was last heard, None if there is none.

    *known*: was anything measured there? A location without data counts in the bar, but vouches for nothing.
    """

    location: str
    failing: bool
    seen_at: datetime | None
    known: bool = True

    def counts(self, now: datetime) -> bool:
        """Seen in the future means that a clock was set back since, and says nothing."""
        return self.seen_at is not None and abs(now - self.seen_at) <= SILENCE


def verdict(votes: Sequence[Vote], quorum: str, now: datetime) -> bool | None:
    """Is the monitor down? None when nobody votes: then nothing changes."""
    voters = [vote for vote in votes if vote.counts(now)]
    if not voters:
        return None
    return sum(vote.failing for vote in voters) >= needed(quorum, len(voters))


def vouched(votes: Sequence[Vote], now: datetime) -> bool:
    """Does some location know the monitor to be well?"""
    return any(vote.known and not vote.failing and vote.counts(now) for vote in votes)


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
    """May an outage open yet, in a collector that has run since *started_at*?"""
    if now - started_at >= SETTLING:
        return True
    recent = [
        vote.seen_at for vote in votes if vote.seen_at is not None and started_at - vote.seen_at <= SILENCE
    ]
    return all(seen_at >= started_at for seen_at in recent)
