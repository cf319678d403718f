"""Explains in words which holds suppress a monitor's notifications, by the table that decides it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from collector.evaluation.core import holds as table
from collector.evaluation.core import quorum
from collector.evaluation.core.decision import standing
from collector.evaluation.core.holds import MonitorContext
from collector.monitors.core.explain import MonitorFacts, VotingLocation, silenced_until, tally
from shared.clock import iso

_WHAT: Mapping[table.Hold, tuple[str, str | None]] = {
    table.Hold.PAUSED: ("checks, the verdict, and all that would be told", None),
    table.Hold.UNMEASURED: ("the verdict, and all that would be told", "Nothing was measured since."),
    table.Hold.NO_VOTERS: (
        "the verdict: it stays as it was",
        "No location's probe was heard, and saw out, in the last 2 minutes.",
    ),
    table.Hold.SILENCED: ("monitor.down", None),
    table.Hold.MAINTENANCE: ("the incident, and monitor.down", "A maintenance window is in force."),
    table.Hold.PARENT_DOWN: ("monitor.down", None),
    table.Hold.PARENT_AWAITED: ("monitor.down", "What it depends on is being checked, or was just down."),
    table.Hold.FLAPPING: (
        "monitor.down and monitor.up",
        "Its state changed more than 6 times in 30 minutes; it is told of once one has held for 10.",
    ),
    table.Hold.ACKNOWLEDGED: ("reminders and escalation", "Somebody has taken its incident on."),
    table.Hold.SNOOZED: ("reminders and escalation", "Its incident is snoozed."),
    table.Hold.RESOLVED_BY_HAND: (
        "monitor.down",
        "Somebody resolved its incident; System opens it again if the monitor stays down.",
    ),
}
_NOT_TOLD: Mapping[table.Hold, str] = {
    table.Hold.PAUSED: "It is paused: nothing is checked, and nothing new is told.",
    table.Hold.MAINTENANCE: "It is under maintenance: an incident opens at the end, if it is still down.",
    table.Hold.PARENT_DOWN: "Something it depends on is down: it is told of when that is up and this is not.",
    table.Hold.PARENT_AWAITED: "What it depends on is being checked first.",
    table.Hold.FLAPPING: "It is flapping: it is told of once its state has held for 10 minutes.",
    table.Hold.RESOLVED_BY_HAND: ("Its incident was resolved by hand: it is told of again if it stays down."),
}


@dataclass(frozen=True, slots=True)
class ActiveHold:
    """Something that suppresses *what*; an unknown or missing moment or reason is None."""

    name: str
    what: str
    since: datetime | None = None
    until: datetime | None = None
    reason: str | None = None


def holds(facts: MonitorFacts, places: Sequence[VotingLocation], now: datetime) -> list[ActiveHold]:
    """Return all holds that apply now, even if they have nothing to suppress."""
    active_holds = [_shown(hold, facts) for hold in _holding(facts, places, now)]
    return [*active_holds, *_of_the_verdict(facts, places, now)]


def not_told(facts: MonitorFacts, now: datetime, *, heard: bool, routed: bool) -> list[str]:
    """Return why nobody is, or would be, notified of its outage.

    *heard*: some enabled channel receives monitor.down of it; *routed*: no event awaits its channels.
    """
    held = [hold for hold in table.holding(_standing(facts), now) if hold in _NOT_TOLD]
    reasons = [_NOT_TOLD[hold] for hold in held if not facts.monitor.announced or hold in _ALWAYS]
    until = silenced_until(facts, now)
    if until is not None and not facts.monitor.announced:
        reasons.append(f"It is silenced until {iso(until)}: that it is down is told then, if it still is.")
    if not heard:
        reasons.append("No one will be notified: no enabled channel receives monitor.down of this monitor.")
    elif not routed:
        reasons.append("The newest events have not been handed to the channels yet.")
    return reasons


_ALWAYS = frozenset({table.Hold.PAUSED, table.Hold.RESOLVED_BY_HAND, table.Hold.FLAPPING})


def _standing(facts: MonitorFacts) -> MonitorContext:
    by_hand = facts.monitor.down and facts.ended_by_hand_at is not None
    return replace(standing(facts.monitor), paused=facts.paused_at is not None, by_hand=by_hand)


def _holding(facts: MonitorFacts, places: Sequence[VotingLocation], now: datetime) -> Iterator[table.Hold]:
    """Return the table's holds; on a paused monitor, and a new one that is up, votes suppress nothing."""
    votes = [place.vote for place in places]
    whole = replace(
        _standing(facts),
        votes=facts.paused_at is not None or any(vote.counts(now) for vote in votes),
        measured=any(vote.known for vote in votes) or not _in_doubt(facts, places, now),
    )
    return iter(table.holding(whole, now))


def _in_doubt(facts: MonitorFacts, places: Sequence[VotingLocation], now: datetime) -> bool:
    return bool(facts.monitor.down or tally(facts, places, now).down)


def _shown(hold: table.Hold, facts: MonitorFacts) -> ActiveHold:
    what, reason = _WHAT[hold]
    monitor = facts.monitor
    since = {
        table.Hold.PAUSED: facts.paused_at,
        table.Hold.FLAPPING: monitor.flapping_since,
        table.Hold.RESOLVED_BY_HAND: facts.ended_by_hand_at,
    }.get(hold)
    until = {
        table.Hold.SILENCED: monitor.silenced_until,
        table.Hold.MAINTENANCE: monitor.around.maintenance_until,
        table.Hold.SNOOZED: monitor.around.snoozed_until,
    }.get(hold)
    if hold is table.Hold.SILENCED:
        reason = facts.silence_reason
    elif hold is table.Hold.PARENT_DOWN:
        reason = f"{facts.parent} is down."
    return ActiveHold(hold.value, what, since, until, reason)


def _of_the_verdict(
    facts: MonitorFacts, places: Sequence[VotingLocation], now: datetime
) -> Iterator[ActiveHold]:
    """Yield why the verdict differs from the stored state."""
    counted = tally(facts, places, now)
    if facts.paused_at is not None or counted.down in {None, facts.monitor.down}:
        return
    if counted.down:
        reason = "It is being decided, or a collector has just started and waits for probes, 30 s at most."
        yield ActiveHold("settling", "the incident, and monitor.down", reason=reason)
    elif not quorum.vouched([place.vote for place in places], now):
        reason = "No location that votes has measured it as well."
        yield ActiveHold("unvouched", "the recovery, and monitor.up", reason=reason)
    else:
        reason = "It is being decided, or a collector's clock was just set."
        yield ActiveHold("deciding", "the recovery, and monitor.up", reason=reason)
