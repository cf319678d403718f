"""The rare part of the deciding transaction: what failed or recovered, and the incidents and events of it."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from collector.core.incident import Decision, Deed, Monitor, Seen, Tell, decide, goes_on
from collector.core.quorum import Vote
from collector.core.state import Change, Check, LocationState, Thresholds, step
from collector.ingest.hours import between
from collector.services import announcing
from collector.storage import events, incidents, judged, outages, rollups, states, timeline
from collector.storage.db import Tx
from collector.storage.events import Event
from collector.storage.judged import Incident, Judged
from collector.storage.states import Located
from collector.storage.timeline import Entry
from shared.ids import uuid7
from shared.results import Status

# A result that took longer than its timeout and this to arrive is history: it moves no verdict.
LATE = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Told:
    """One result of a key that needs a decision: the check ran from *at* to *ended*."""

    status: Status
    at: datetime
    ended: datetime
    error: str


@dataclass(slots=True)
class Writes:
    """What the decisions of one round come to, written set by set."""

    states: list[tuple[int, int, LocationState]] = field(default_factory=list)
    monitors: list[tuple[Judged, bool, bool]] = field(default_factory=list)
    began: list[outages.Turn] = field(default_factory=list)
    ended: list[outages.Turn] = field(default_factory=list)
    opened: list[incidents.Opened] = field(default_factory=list)
    reopened: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    resolved: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    counted: list[tuple[int, UUID, int, str]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


Pending = Mapping[tuple[int, int], deque[Told]]


async def judge(tx: Tx, pending: Pending, since: datetime | None, now: datetime) -> list[str]:
    """Move the states of these (monitor, location)s by their results, in order; the kinds of events written.

    Each round takes every location up to its next change, so that an outage that began and ended within one
    transaction is still an outage. *since*: see `decide`.
    """
    told: list[str] = []
    while monitors := sorted({monitor for (monitor, _), results in pending.items() if results}):
        judged_now = await _round(tx, monitors, pending, since, now, told)
        for (monitor, _), results in pending.items():
            if monitor not in judged_now:
                results.clear()
    return told


async def judge_anew(tx: Tx, monitors: Sequence[int], since: datetime | None, now: datetime) -> list[str]:
    """Decide about *monitors*, in key order, by what is known of them; the kinds of events written."""
    told: list[str] = []
    await _round(tx, monitors, {}, since, now, told)
    return told


def differs(
    doubtful: Sequence[Judged], located: Sequence[Located], since: datetime | None, now: datetime
) -> list[int]:
    """Which of these monitors are held to be other than they are."""
    places = _by_monitor(located)
    return [
        one.monitor
        for one in doubtful
        if decide(_monitor(one), [_seen(place) for place in places[one.monitor]], since, now).deed
        is not Deed.NONE
    ]


async def _round(
    tx: Tx, monitors: Sequence[int], pending: Pending, since: datetime | None, now: datetime, told: list[str]
) -> set[int]:
    """Take every location up to its next change, and decide; the monitors that are judged at all."""
    locked = await judged.lock(tx, monitors)
    places = _by_monitor(await states.of_monitors(tx, [one.monitor for one in locked]))
    writes = Writes()
    for judgement in locked:
        seen = [_advance(judgement, place, pending, writes, now) for place in places[judgement.monitor]]
        _conclude(judgement, seen, since, now, writes)
    await _write(tx, writes, now)
    told.extend(event.kind for event in writes.events)
    return {one.monitor for one in locked}


def _by_monitor(located: Sequence[Located]) -> defaultdict[int, list[Located]]:
    places: defaultdict[int, list[Located]] = defaultdict(list)
    for place in located:
        places[place.monitor].append(place)
    return places


def _monitor(one: Judged) -> Monitor:
    return Monitor(one.name, one.quorum, one.down, one.told, one.silenced_until)


def _seen(place: Located) -> Seen:
    vote = Vote(place.name, place.state.failing, place.seen_at, place.known)
    return Seen(vote, place.state, last_error=place.error)


def _advance(judgement: Judged, place: Located, pending: Pending, writes: Writes, now: datetime) -> Seen:
    """Step one location through its results up to the next change."""
    thresholds = Thresholds(judgement.failure_threshold, judgement.recovery_threshold)
    late_after = timedelta(seconds=judgement.timeout_s) + LATE
    results = pending.get((place.monitor, place.location), deque())
    seen = _seen(place)
    while results and seen.change is None:
        result = results.popleft()
        check = Check(result.status, result.at, late=now - result.ended > late_after)
        state, change = step(seen.state, check, thresholds)
        bad = result.status is Status.DOWN
        seen = replace(
            seen,
            vote=replace(seen.vote, failing=state.failing),
            state=state,
            change=change,
            changed_at=min(result.at, now) if change else None,
            failed_now=seen.failed_now + bad,
            error=result.error if bad else seen.error,
        )
    if seen.state != place.state:
        writes.states.append((place.monitor, place.location, seen.state))
    if seen.change is Change.FAILING:
        writes.began.append((place.monitor, place.location, seen.state.failed_since or now))
    elif seen.change is Change.RECOVERED:
        writes.ended.append((place.monitor, place.location, seen.changed_at or now))
    return seen


def _conclude(
    judgement: Judged, seen: list[Seen], since: datetime | None, now: datetime, writes: Writes
) -> None:
    decision = decide(_monitor(judgement), seen, since, now)
    incident = _incident(judgement, decision, now, writes)
    if incident is not None:
        _record(judgement, incident, decision, now, writes)
    if decision.deed is Deed.OPEN:
        writes.began.append((judgement.monitor, 0, decision.since))
    elif decision.deed is Deed.RESOLVE:
        writes.ended.append((judgement.monitor, 0, decision.until))
    told = judgement.told if decision.tell is Tell.NOTHING else decision.tell is Tell.DOWN
    if (decision.down, told) != (judgement.down, judgement.told):
        writes.monitors.append((judgement, decision.down, told))


def _incident(judgement: Judged, decision: Decision, now: datetime, writes: Writes) -> Incident | None:
    """The incident that this decision is about, opened, reopened or resolved by it."""
    team, newest, opened = judgement.team_id, judgement.incident, judgement.open_incident
    if decision.deed is Deed.RESOLVE and opened is not None:
        until = max(decision.until, opened.span_from)
        writes.resolved.append((team, opened.id, until))
        return replace(opened, resolved_at=until, spans_s=opened.downtime_s(until))
    if decision.deed is not Deed.OPEN or opened is not None:
        return opened or newest
    # A location that failed all the while has been counted as down until then.
    since = max(decision.since, newest.resolved_at) if newest and newest.resolved_at else decision.since
    if newest is not None and goes_on(newest.resolved_at, newest.resolved_by, now):
        writes.reopened.append((team, newest.id, since))
        return replace(newest, resolved_at=None, resolved_by=None, span_from=since)
    id_ = uuid7()
    opening = incidents.Opened(team, id_, judgement.id, judgement.name, judgement.severity, since)
    writes.opened.append(opening)
    return Incident(id_, judgement.severity, since, since, 0, decision.error, None, None)


def _record(judgement: Judged, incident: Incident, decision: Decision, now: datetime, writes: Writes) -> None:
    """The timeline and the count of failures of an incident, and the event if somebody must hear."""
    team = judgement.team_id
    is_open = incident.resolved_at is None
    # One that somebody resolved by hand does not end again.
    resolved = decision.deed is Deed.RESOLVE and judgement.open_incident is not None
    entries = list(decision.entries) if is_open or resolved else []
    if decision.deed is Deed.OPEN:
        kind = "reopened" if incident.id == getattr(judgement.incident, "id", None) else "created"
        entries.insert(0, (kind, decision.error))
    if resolved:
        entries.append(("resolved", "Recovered"))
    writes.entries.extend(Entry(team, incident.id, type_, details) for type_, details in entries)
    failures = decision.failures if decision.deed is Deed.OPEN else decision.failed_now
    if failures and (is_open or resolved):
        writes.counted.append((team, incident.id, failures, decision.error))
    if decision.tell is not Tell.NOTHING:
        writes.events.append(
            announcing.event(
                judgement,
                decision.tell,
                incident,
                failures=decision.failures,
                error=decision.error,
                until=now,
                now=now,
            )
        )


async def _write(tx: Tx, writes: Writes, now: datetime) -> None:
    if writes.states:
        await states.save(tx, writes.states)
    if writes.opened:
        await incidents.open_(tx, writes.opened, now)
    if writes.reopened:
        await incidents.reopen(tx, writes.reopened, now)
    if writes.counted:
        await incidents.count_failures(tx, writes.counted)
    if writes.resolved:
        await incidents.resolve(tx, writes.resolved)
    if writes.entries:
        await timeline.add(tx, writes.entries, now)
    if writes.events:
        await events.append_all(tx, writes.events, now)
    if writes.monitors:
        await judged.save(tx, writes.monitors, now)
    await _keep_outages(tx, writes, now)


async def _keep_outages(tx: Tx, writes: Writes, now: datetime) -> None:
    if writes.ended:
        await outages.close(tx, writes.ended)
    if writes.began:
        await outages.open_(tx, writes.began)
    hours = {
        (monitor, hour) for monitor, _, at in (*writes.ended, *writes.began) for hour in between(at, now)
    }
    if hours:
        await rollups.mark(tx, hours)
