"""Explains a monitor's state in words, by the functions that decide it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from collector.evaluation.core import quorum
from collector.evaluation.core.decision import EvaluatedMonitor
from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import CheckStreak
from collector.platform import monitor as monitors
from shared.clock import iso
from shared.results import Status

Standing = Literal["failing", "well", "unknown", "silent"]
Did = Literal["began", "counted", "recovered", "nothing"]
_MOST_OF_AN_ERROR = 200


@dataclass(frozen=True, slots=True)
class VotingLocation:
    """A location of the monitor; *last_at* is the start of its newest check."""

    vote: Vote
    state: CheckStreak
    last_at: datetime | None
    last_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFacts:
    """The stored state of a monitor; *changed_at*: when *down* last changed.

    *ended_by_hand_at*: when a user resolved the incident of its present outage; *parent*: the name of a
    monitor that it depends on and that is down.
    """

    monitor: EvaluatedMonitor
    changed_at: datetime
    paused_at: datetime | None = None
    silence_reason: str | None = None
    ended_by_hand_at: datetime | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class VoteTally:
    """The votes, counted; *down* None: there is no verdict."""

    voters: int
    needed: int
    failing: int
    down: bool | None


@dataclass(frozen=True, slots=True)
class Trace:
    """A location's stored history beside its results: when outages began and ended there.

    *counted*: starts of the failed checks of its present streak, oldest first, if all are known.
    """

    began: frozenset[datetime] = frozenset()
    ended: frozenset[datetime] = frozenset()
    counted: Sequence[datetime] = ()


def tally(facts: MonitorFacts, places: Sequence[VotingLocation], now: datetime) -> VoteTally:
    """Count the votes; on a paused monitor there are none."""
    votes = [] if facts.paused_at is not None else [place.vote for place in places]
    voters = [vote for vote in votes if vote.counts(now)]
    return VoteTally(
        len(voters),
        quorum.needed(facts.monitor.quorum, len(voters)) if voters else 0,
        sum(vote.fails(now) for vote in voters),
        quorum.verdict(votes, facts.monitor.quorum, now, down=facts.monitor.down),
    )


def standing(vote: Vote, now: datetime) -> Standing:
    """Return a location's vote in words; one that no longer votes is silent."""
    if not vote.counts(now):
        return "silent"
    if vote.stale:
        return "unknown"
    if vote.failing:
        return "failing"
    return "well" if vote.known else "unknown"


def status(facts: MonitorFacts, places: Sequence[VotingLocation]) -> monitors.Shown:
    """Return the status as it is shown everywhere."""
    return monitors.status(paused_at=facts.paused_at, down=facts.monitor.down, last_at=_last_at(places))


def since(facts: MonitorFacts, places: Sequence[VotingLocation]) -> datetime | None:
    """Return since when it has its status; None if it was down, resumed, and not measured since."""
    if facts.paused_at is not None:
        return facts.paused_at
    return None if facts.monitor.down and _last_at(places) is None else facts.changed_at


def sentence(facts: MonitorFacts, places: Sequence[VotingLocation], now: datetime) -> str:
    """Return its state and the reasons in one line."""
    if facts.paused_at is not None:
        return f"Paused since {iso(facts.paused_at)}: nothing is checked and nothing is told."
    counted = tally(facts, places, now)
    parts = [_head(facts, places), _votes(counted, places, now)]
    if counted.down is not None and counted.down != facts.monitor.down:
        parts += [f"held {_word(down=facts.monitor.down)} for now"]
    parts += _errors(places, now)
    parts += _held(facts, now)
    return f"{parts[0]}: {'; '.join(parts[1:])}."


def did(result_status: Status, at: datetime, trace: Trace) -> tuple[Did | None, int | None]:
    """Return a result's effect on its location, and its number in the streak of failures; None if unknown.

    Arrival times and revisions of results are not stored, so only effects with a trace are returned.
    """
    if result_status is Status.UNKNOWN:
        return "nothing", None
    if result_status is Status.UP:
        return ("recovered" if at in trace.ended else None), None
    place = next((n for n, counted in enumerate(trace.counted, start=1) if counted == at), None)
    if at in trace.began:
        return "began", place
    return (None, None) if place is None else ("counted", place)


def silenced_until(facts: MonitorFacts, now: datetime) -> datetime | None:
    """Return the end of its silence, if it lasts."""
    until = facts.monitor.silenced_until
    return until if until is not None and until > now else None


def _last_at(places: Sequence[VotingLocation]) -> datetime | None:
    return max((place.last_at for place in places if place.last_at is not None), default=None)


def _word(*, down: bool) -> str:
    return "down" if down else "up"


def _head(facts: MonitorFacts, places: Sequence[VotingLocation]) -> str:
    if _last_at(places) is None:
        return "Not measured yet"
    return f"{_word(down=facts.monitor.down).capitalize()} since {iso(facts.changed_at)}"


def _votes(counted: VoteTally, places: Sequence[VotingLocation], now: datetime) -> str:
    if counted.down is None:
        return "no location votes, so nothing changes"
    if counted.failing:
        verb = "fails" if counted.failing == 1 else "fail"
        return (
            f"{counted.failing} of {counted.voters} voting locations {verb}, {counted.needed} needed for down"
        )
    well = sum(standing(place.vote, now) == "well" for place in places)
    verb = "finds" if well == 1 else "find"
    return f"{well} of {counted.voters} voting locations {verb} it well"


def _held(facts: MonitorFacts, now: datetime) -> list[str]:
    """Return in a few words what suppresses its notifications."""
    monitor, silent = facts.monitor, silenced_until(facts, now)
    window = monitor.around.maintenance_until
    said = {
        f"silenced until {iso(silent)}" if silent else "": silent is not None,
        f"under maintenance until {iso(window)}" if window else "": window is not None,
        f"{facts.parent} is down": monitor.down and facts.parent is not None,
        "flapping": monitor.flapping_since is not None,
    }
    return [words for words, so in said.items() if words and so]


def _errors(places: Sequence[VotingLocation], now: datetime) -> list[str]:
    """Return the error of the first failing voter, on one line."""
    for place in places:
        if standing(place.vote, now) == "failing" and place.last_error:
            text = " ".join(place.last_error.split())
            short = text if len(text) <= _MOST_OF_AN_ERROR else f"{text[:_MOST_OF_AN_ERROR]}..."
            return [f"{place.vote.location} says: {short.rstrip('.') if short is text else short}"]
    return []
