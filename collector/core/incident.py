"""What a monitor's verdict means for its incident, and for who must hear of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from collector.core import quorum
from collector.core.quorum import Vote
from collector.core.state import Change, LocationState

# A monitor that fails again this soon after an automatic resolve goes on with the same incident.
REOPEN_WITHIN = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Monitor:
    """A monitor as the decision sees it; *told* says that its being down was announced and not yet ended."""

    name: str
    quorum: str
    down: bool
    told: bool
    silenced_until: datetime | None


@dataclass(frozen=True, slots=True)
class Seen:
    """One location after this transaction's results; *error* is theirs, *last_error* what it said before."""

    vote: Vote
    state: LocationState
    change: Change | None = None
    changed_at: datetime | None = None
    failed_now: int = 0
    error: str = ""
    last_error: str = ""


class Deed(Enum):
    """What happens to the monitor's incident."""

    NONE = "none"
    OPEN = "open"
    RESOLVE = "resolve"


class Tell(Enum):
    """What is announced."""

    NOTHING = "nothing"
    DOWN = "down"
    UP = "up"


@dataclass(frozen=True, slots=True)
class Decision:
    """*since*: first failed check of the streak; *until*: the good check that ended it.

    *failures*: failed checks in a row over all locations, *failed_now* of them new.
    """

    down: bool
    deed: Deed
    tell: Tell
    since: datetime
    until: datetime
    failures: int
    failed_now: int
    error: str
    entries: tuple[tuple[str, str], ...] = ()


def decide(monitor: Monitor, seen: Sequence[Seen], since: datetime | None, now: datetime) -> Decision:
    """What follows from what all locations know now.

    *since*: when this collector started; None while its clock is not to be trusted, and nothing changes.
    """
    down = _down(monitor, [one.vote for one in seen], since, now)
    return Decision(
        down=down,
        deed=Deed.NONE if down == monitor.down else Deed.OPEN if down else Deed.RESOLVE,
        tell=announcement(monitor, down=down, now=now),
        since=_began(monitor, seen, now),
        until=max((one.changed_at for one in seen if one.changed_at is not None), default=now),
        failures=sum(one.state.fails for one in seen),
        failed_now=sum(one.failed_now for one in seen),
        error=next((error for error in _errors(seen) if error), ""),
        entries=tuple(entry for one in seen for entry in _entries(one)),
    )


def _down(monitor: Monitor, votes: Sequence[Vote], since: datetime | None, now: datetime) -> bool:
    """The verdict; what is held already when there is none, or it would come too early."""
    down = quorum.verdict(votes, monitor.quorum, now)
    if since is None or down is None or down == monitor.down:
        return monitor.down
    ripe = quorum.settled(votes, since, now) if down else quorum.vouched(votes, now)
    return down if ripe else monitor.down


def _began(monitor: Monitor, seen: Sequence[Seen], now: datetime) -> datetime:
    """The first failed check of the outage.

    That is of the locations that make the quorum; a streak that is much older was one location's own trouble.
    """
    streaks = sorted(one.state.failed_since or now for one in seen if one.state.failing)
    if not streaks:
        return now
    voters = sum(one.vote.counts(now) for one in seen)
    enough = streaks[min(quorum.needed(monitor.quorum, voters), len(streaks)) - 1]
    return next(streak for streak in streaks if enough - streak <= REOPEN_WITHIN)


def _errors(seen: Sequence[Seen]) -> list[str]:
    """What is wrong, news first."""
    return [one.error for one in seen] + [one.last_error for one in seen if one.state.failing]


def announcement(monitor: Monitor, *, down: bool, now: datetime) -> Tell:
    """Trouble is announced unless silenced; who was told of it is told of its end, silenced or not."""
    silenced = monitor.silenced_until is not None and monitor.silenced_until > now
    if down and not monitor.told and not silenced:
        return Tell.DOWN
    if not down and monitor.told:
        return Tell.UP
    return Tell.NOTHING


def _entries(one: Seen) -> list[tuple[str, str]]:
    if one.change is Change.FAILING:
        return [("location_failing", f"{one.vote.location}: {one.error}" if one.error else one.vote.location)]
    if one.change is Change.RECOVERED:
        return [("location_recovered", one.vote.location)]
    return []


def goes_on(resolved_at: datetime | None, resolved_by: Mapping[str, object] | None, now: datetime) -> bool:
    """Does a new outage belong to the incident that ended so? Only to one that System resolved just now."""
    if resolved_at is None or resolved_by is None or resolved_by.get("id") is not None:
        return False
    return now - resolved_at <= REOPEN_WITHIN
