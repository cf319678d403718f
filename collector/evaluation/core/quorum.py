"""The verdict of a monitor's locations: who votes, and how many failures make it down."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.platform.deadlines import SETTLING

# A location that fell silent counts in the bar for this long.
SILENCE = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Vote:
    """One location of a monitor; *seen_at* is when its probe last saw out, None if there is none.

    *known*: was anything measured there? A location without data counts in the bar, but vouches for nothing.
    *receives*: nobody checks there; what is known came to the collectors by itself, and they judge silence.
    *stale*: what it says is of before a silence. It neither fails nor vouches, and counts in the bar.
    """

    location: str
    failing: bool
    seen_at: datetime | None
    known: bool = True
    receives: bool = False
    stale: bool = False

    def counts(self, now: datetime) -> bool:
        """Seen in the future means that a clock was set back since, and says nothing."""
        return self.receives or (self.seen_at is not None and abs(now - self.seen_at) <= SILENCE)

    def fails(self, now: datetime) -> bool:
        """Does it know the monitor to be failing?"""
        return self.failing and not self.stale and self.counts(now)


def outlived(known_at: datetime | None, seen_at: datetime | None, apart: timedelta) -> bool:
    """Did the newest check that said something begin too long before its probe last saw out?

    *apart*: how far apart the ends of two checks can be. As *seen_at* stands still in a silence, what was
    known when it began speaks for as long as the location votes; afterwards only a new check does.
    """
    if seen_at is None:
        return False
    return known_at is None or seen_at - known_at > max(SILENCE, apart)


def verdict(votes: Sequence[Vote], quorum: str, now: datetime, *, down: bool = False) -> bool | None:
    """Is the monitor down? None when nobody votes: then nothing changes.

    *down*: it is so far. What is stale keeps it down with the others, but takes it down with nobody.
    """
    voters = [vote for vote in votes if vote.counts(now)]
    if not voters:
        return None
    bad = sum(vote.failing and (down or not vote.stale) for vote in voters)
    return bad >= needed(quorum, len(voters))


def failing(votes: Sequence[Vote], now: datetime) -> bool:
    """Does any voter find the monitor failing?"""
    return any(vote.fails(now) for vote in votes)


def vouched(votes: Sequence[Vote], now: datetime) -> bool:
    """Does some location know the monitor to be well?"""
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
    """May an outage open yet, in a collector that has run since *started_at*?"""
    if now - started_at >= SETTLING:
        return True
    recent = [
        vote.seen_at for vote in votes if vote.seen_at is not None and started_at - vote.seen_at <= SILENCE
    ]
    return all(seen_at >= started_at for seen_at in recent)
