"""The rare part of the deciding transaction: what failed or recovered, and the incidents and events of it."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from collector.core.incident import Decision, Deed, Monitor, Seen, Tell, decide, goes_on
from collector.core.quorum import Vote
from collector.core.state import Check, LocationState, Thresholds, step
from collector.services import announcing
from collector.storage import events, incidents, judged, states, timeline
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
    opened: list[incidents.Opened] = field(default_factory=list)
    reopened: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    resolved: list[tuple[int, UUID, datetime]] = field(default_factory=list)
    counted: list[tuple[int, UUID, int, str]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


async def judge(
    tx: Tx, pending: Mapping[tuple[int, int], deque[Told]], started_at: datetime, now: datetime
) -> list[str]:
    """Move the states of these (monitor, location)s by their results, in order; the kinds of events written.

    Each round takes every location up to its next change, so that an outage that began and ended within one
    transaction is still an outage. *started_at* is when this collector started.
    """
    told: list[str] = []
    while monitors := sorted({monitor for (monitor, _), results in pending.items() if results}):
        locked = {one.monitor: one for one in await judged.lock(tx, monitors)}
        located = await states.of_monitors(tx, list(locked))
        writes = Writes()
        for monitor, judgement in locked.items():
            places = [place for place in located if place.monitor == monitor]
            seen = [_advance(judgement, place, pending, writes, now) for place in places]
            _conclude(judgement, seen, started_at, now, writes)
        for (monitor, _), results in pending.items():
            if monitor not in locked:
                results.clear()
        await _write(tx, writes, now)
        told.extend(event.kind for event in writes.events)
    return told


def _advance(
    judgement: Judged,
    place: Located,
    pending: Mapping[tuple[int, int], deque[Told]],
    writes: Writes,
    now: datetime,
) -> Seen:
    """Step one location through its results up to the next change."""
    thresholds = Thresholds(judgement.failure_threshold, judgement.recovery_threshold)
    late_after = timedelta(seconds=judgement.timeout_s) + LATE
    results = pending.get((place.monitor, place.location), deque())
    seen = Seen(Vote(place.name, place.state.failing, place.seen_at), place.state)
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
    return seen


def _conclude(
    judgement: Judged, seen: list[Seen], started_at: datetime, now: datetime, writes: Writes
) -> None:
    monitor = Monitor(
        judgement.name, judgement.quorum, judgement.down, judgement.told, judgement.silenced_until
    )
    decision = decide(monitor, seen, started_at, now)
    incident = _incident(judgement, decision, now, writes)
    if incident is not None:
        _record(judgement, incident, decision, now, writes)
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
    if newest is not None and goes_on(newest.resolved_at, newest.resolved_by, now):
        writes.reopened.append((team, newest.id, decision.since))
        return replace(newest, resolved_at=None, resolved_by=None, span_from=decision.since)
    id_ = uuid7()
    writes.opened.append(
        incidents.Opened(team, id_, judgement.id, judgement.name, judgement.severity, decision.since)
    )
    return Incident(id_, judgement.severity, decision.since, decision.since, 0, decision.error, None, None)


def _record(judgement: Judged, incident: Incident, decision: Decision, now: datetime, writes: Writes) -> None:
    """The timeline and the count of failures of an incident, and the event if somebody must hear."""
    team = judgement.team_id
    is_open = incident.resolved_at is None
    entries = list(decision.entries) if is_open or decision.deed is Deed.RESOLVE else []
    if decision.deed is Deed.OPEN:
        kind = "reopened" if incident.id == getattr(judgement.incident, "id", None) else "created"
        entries.insert(0, (kind, decision.error))
    if decision.deed is Deed.RESOLVE:
        entries.append(("resolved", "Recovered"))
    writes.entries.extend(Entry(team, incident.id, type_, details) for type_, details in entries)
    failures = decision.failures if decision.deed is Deed.OPEN else decision.failed_now
    if is_open and failures:
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
