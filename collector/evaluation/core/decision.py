"""Decides what a monitor's verdict means: open, resolve or keep its incident, and announce it or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from collector.evaluation.core import flapping, quorum
from collector.evaluation.core.holds import AllowedEffects, MonitorContext, allowed, holding
from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import CheckStreak, StateChange
from collector.events.core.timeline import TimelineType
from collector.history.core.certificate import only_nears

# A monitor that fails again this soon after an automatic resolve reopens the same incident.
REOPEN_WITHIN = timedelta(minutes=5)
# On the way down and up some locations fail for a moment: that alone is not announced.
DEGRADED_AFTER = timedelta(seconds=10)

_NOTHING_HOLDS = MonitorContext()


@dataclass(frozen=True, slots=True)
class EvaluatedMonitor:
    """A monitor as the decision sees it; *announced*: the present outage was, and its end was not.

    *reannounce*: it must be announced again, as its incident was reopened. *unrecorded_until*: it is down
    without an incident because of a maintenance window, which ends then. *turned_at*: the newest changes of
    *down*. *around*: everything else that may suppress its notifications.
    """

    name: str
    quorum: str
    down: bool
    announced: bool
    silenced_until: datetime | None
    reannounce: bool = False
    unrecorded_until: datetime | None = None
    degraded_since: datetime | None = None
    flapping_since: datetime | None = None
    turned_at: tuple[datetime, ...] = ()
    around: MonitorContext = _NOTHING_HOLDS


@dataclass(frozen=True, slots=True)
class EvaluatedLocation:
    """One location after this transaction's results; *error* is from them, *last_error* from before.

    *checked_at*: the start of its newest check.
    """

    vote: Vote
    state: CheckStreak
    change: StateChange | None = None
    changed_at: datetime | None = None
    failed_now: int = 0
    error: str = ""
    last_error: str = ""
    checked_at: datetime | None = None


class IncidentAction(StrEnum):
    """A decision's action on the monitor's incident."""

    NONE = "none"
    OPEN = "open"
    RESOLVE = "resolve"


class Announcement(StrEnum):
    """An outage, or its end."""

    NOTHING = "nothing"
    DOWN = "down"
    UP = "up"


@dataclass(frozen=True, slots=True)
class Decision:
    """*since*: first failed check of the streak; *until*: the good check that ended it.

    *failures*: failed checks in a row over all locations, *failed_now* of them new. *turned*: it went
    down, or came up. *nears*: the only fault is a certificate that expires soon. The last four are
    as in `EvaluatedMonitor`, after the decision.
    """

    down: bool
    action: IncidentAction
    announcement: Announcement
    since: datetime
    until: datetime
    failures: int
    failed_now: int
    error: str
    entries: tuple[tuple[TimelineType, str], ...] = ()
    turned: bool = False
    nears: bool = False
    unrecorded_until: datetime | None = None
    degraded_since: datetime | None = None
    flapping_since: datetime | None = None
    turned_at: tuple[datetime, ...] = ()


def decide(
    monitor: EvaluatedMonitor, seen: Sequence[EvaluatedLocation], since: datetime | None, now: datetime
) -> Decision:
    """Decide from the present state of all locations.

    *since*: when this collector started; None while its clock is not trusted, and then nothing changes.
    """
    change = _change(monitor, seen, since, now)
    down, turned, after = change.down, change.turned, change.after
    free = allowed(holding(standing(after), now))
    opens_late = down and not turned and monitor.unrecorded_until is not None
    began = _began(monitor, seen, now)
    return Decision(
        down=down,
        action=_action(monitor, after, free, down=down),
        announcement=announcement(after, down=down, now=now),
        since=max(began, min(monitor.unrecorded_until or now, now)) if opens_late else began,
        until=change.ended,
        failures=sum(location.state.fails for location in seen),
        failed_now=sum(location.failed_now for location in seen),
        error=next((error for error in _errors(seen) if error), ""),
        entries=tuple(entry for location in seen for entry in _entries(location)),
        turned=turned,
        nears=only_nears(
            [
                text
                for location in seen
                if location.state.failing and (text := location.error or location.last_error)
            ]
        ),
        unrecorded_until=_unrecorded(monitor, free, down=down, turned=turned),
        degraded_since=_degraded(monitor, [location.vote for location in seen], now, down=down),
        flapping_since=after.flapping_since,
        turned_at=after.turned_at,
    )


def needs_surroundings(
    monitor: EvaluatedMonitor, seen: Sequence[EvaluatedLocation], since: datetime | None, now: datetime
) -> bool:
    """Whether something would happen to this monitor, of which nothing *around* it is known.

    Only then can something around it suppress anything; else `decide` is right without.
    """
    change = _change(monitor, seen, since, now)
    if announcement(change.after, down=change.down, now=now) is not Announcement.NOTHING:
        return True
    free = allowed(holding(standing(change.after), now))
    return _action(monitor, change.after, free, down=change.down) is not IncidentAction.NONE


def announcement(monitor: EvaluatedMonitor, *, down: bool, now: datetime) -> Announcement:
    """Announce an outage unless a hold suppresses it, and the end of an outage that was announced."""
    free = allowed(holding(standing(monitor), now))
    if down and (not monitor.announced or monitor.reannounce) and free.openings:
        return Announcement.DOWN
    if not down and monitor.announced and free.recovery:
        return Announcement.UP
    return Announcement.NOTHING


def goes_on(resolved_at: datetime | None, resolved_by: Mapping[str, object] | None, now: datetime) -> bool:
    """Whether a new outage continues the incident that ended so: only if System resolved it just now."""
    if resolved_at is None or resolved_by is None or resolved_by.get("id") is not None:
        return False
    return now - resolved_at <= REOPEN_WITHIN


def after(monitor: EvaluatedMonitor, decision: Decision) -> EvaluatedMonitor:
    """Return the monitor after the decision, without what is *around* it, which must be loaded anew."""
    new = decision.announcement
    return EvaluatedMonitor(
        monitor.name,
        monitor.quorum,
        decision.down,
        monitor.announced if new is Announcement.NOTHING else new is Announcement.DOWN,
        monitor.silenced_until,
        monitor.reannounce and decision.down and new is not Announcement.DOWN,
        decision.unrecorded_until,
        decision.degraded_since,
        decision.flapping_since,
        decision.turned_at,
    )


def standing(monitor: EvaluatedMonitor) -> MonitorContext:
    """Return all that may suppress something, from the monitor's fields and from what is *around* it."""
    if monitor.silenced_until is None and monitor.flapping_since is None:
        return monitor.around
    return replace(
        monitor.around,
        silenced_until=monitor.silenced_until,
        flapping=monitor.flapping_since is not None,
    )


@dataclass(frozen=True, slots=True)
class _Change:
    """The verdict, the monitor *after* it, and when an outage or a time of flapping *ended*."""

    down: bool
    turned: bool
    after: EvaluatedMonitor
    ended: datetime


def _change(
    monitor: EvaluatedMonitor, seen: Sequence[EvaluatedLocation], since: datetime | None, now: datetime
) -> _Change:
    votes = [location.vote for location in seen]
    down = _down(monitor, votes, since, now)
    turned = down != monitor.down
    ended = max((location.changed_at for location in seen if location.changed_at is not None), default=now)
    after = monitor
    if turned:
        after = _turned(monitor, _began(monitor, seen, now) if down else ended, now)
    elif monitor.flapping_since and since and _calm(monitor, votes, now):
        after = replace(monitor, flapping_since=None, turned_at=())
        ended = monitor.turned_at[-1] if monitor.turned_at else now
    return _Change(down, turned, after, ended)


def _turned(monitor: EvaluatedMonitor, at: datetime, now: datetime) -> EvaluatedMonitor:
    changes = flapping.add(monitor.turned_at, at)
    since = monitor.flapping_since or (now if flapping.flaps(changes) else None)
    return replace(monitor, flapping_since=since, turned_at=changes)


def _calm(monitor: EvaluatedMonitor, votes: Sequence[Vote], now: datetime) -> bool:
    """Whether its state has held for long enough, and is confirmed by measurements."""
    known = quorum.verdict(votes, monitor.quorum, now, down=monitor.down) is monitor.down
    return known and (monitor.down or quorum.vouched(votes, now)) and flapping.calm(monitor.turned_at, now)


def _action(
    before: EvaluatedMonitor, after: EvaluatedMonitor, free: AllowedEffects, *, down: bool
) -> IncidentAction:
    turned = down != before.down
    if down:
        opens = (turned or before.unrecorded_until is not None) and free.opens
        return IncidentAction.OPEN if opens else IncidentAction.NONE
    calmed = before.flapping_since is not None and after.flapping_since is None
    return IncidentAction.RESOLVE if (turned or calmed) and free.resolves else IncidentAction.NONE


def _unrecorded(
    monitor: EvaluatedMonitor, free: AllowedEffects, *, down: bool, turned: bool
) -> datetime | None:
    """The present end of the maintenance window, while the monitor is down and no incident may open."""
    if not down or free.opens or not (turned or monitor.unrecorded_until):
        return None
    return monitor.around.maintenance_until or monitor.unrecorded_until


def _degraded(
    monitor: EvaluatedMonitor, votes: Sequence[Vote], now: datetime, *, down: bool
) -> datetime | None:
    """Since when some locations fail, but too few; unchanged unless the verdict is up, None while down."""
    if down:
        return None
    if quorum.verdict(votes, monitor.quorum, now) is not False:
        return monitor.degraded_since
    return (monitor.degraded_since or now) if quorum.failing(votes, now) else None


def _down(monitor: EvaluatedMonitor, votes: Sequence[Vote], since: datetime | None, now: datetime) -> bool:
    """The verdict; the present state if there is no verdict, or if it is too early to change."""
    down = quorum.verdict(votes, monitor.quorum, now, down=monitor.down)
    measured = any(vote.known for vote in votes)
    if since is None or down is None or down == monitor.down or not measured:
        return monitor.down
    ripe = quorum.settled(votes, since, now) if down else quorum.vouched(votes, now)
    return down if ripe else monitor.down


def _began(monitor: EvaluatedMonitor, seen: Sequence[EvaluatedLocation], now: datetime) -> datetime:
    """The first failed check of the outage.

    Only locations that make the quorum count; a much older streak was one location's own trouble.
    """
    failing = sorted(location.state.failed_since or now for location in seen if location.state.failing)
    if not failing:
        return now
    voters = sum(location.vote.counts(now) for location in seen)
    enough = failing[min(quorum.needed(monitor.quorum, voters), len(failing)) - 1]
    # A location that is not confirmed yet may have failed first.
    unconfirmed = [
        location.state.failed_since or now
        for location in seen
        if location.state.fails and not location.vote.stale
    ]
    return min(streak for streak in (*failing, *unconfirmed) if enough - streak <= REOPEN_WITHIN)


def _errors(seen: Sequence[EvaluatedLocation]) -> list[str]:
    """The error texts, new ones first."""
    return [location.error for location in seen] + [
        location.last_error for location in seen if location.state.failing
    ]


def _entries(location: EvaluatedLocation) -> list[tuple[TimelineType, str]]:
    name = location.vote.location
    if location.change is StateChange.FAILING:
        return [(TimelineType.LOCATION_FAILING, f"{name}: {location.error}" if location.error else name)]
    if location.change is StateChange.RECOVERED:
        return [(TimelineType.LOCATION_RECOVERED, name)]
    return []
