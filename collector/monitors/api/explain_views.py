"""The explanation of a monitor as JSON: state, votes, holds, notifications.

The API returns these records as JSON and the console's pages read them: the type checker finds a missing
field, before a template does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Annotated, Literal

from collector.history.core.certificate import days_left, ends_at, expiry
from collector.monitors.answers import ExplainedResult
from collector.monitors.core import explain as core
from collector.monitors.core.explain_holds import holds, not_told
from collector.monitors.service import explain
from collector.monitors.storage.explain_reads import CheckedLocation, DeliveryRow, ExplanationRow, ParentRow
from collector.platform.answers import Omitted
from collector.platform.delivery import DeliveryStatus
from collector.platform.monitor import status
from collector.probes.core.assignment import LIVE
from shared import ids

_VERDICTS: dict[bool | None, Literal["down", "up"] | None] = {True: "down", False: "up", None: None}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedProbe:
    name: str
    """Name of the probe."""
    connected: bool
    """Whether it is connected."""
    last_seen_at: datetime | None
    """When it was last seen."""
    blind_since: datetime | None
    """Since when it has no network; null if it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCertificate:
    """A certificate; *days_left* is negative once it has expired."""

    ends_at: datetime
    """When it expires."""
    days_left: int
    """Whole days until then; negative once it has expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedLocation:
    """*probe* is None if no probe checks there, *failing_since* unless it is failing."""

    location: str
    """Name of the location."""
    probe: ExplainedProbe | None
    """Probe that checks there; null if none does."""
    vote: core.Standing
    """Vote of the location."""
    counts: bool
    """Whether the vote counts now."""
    consecutive_failures: int
    """Failed checks in a row."""
    failure_threshold: int
    """Failed checks in a row after which it votes down."""
    consecutive_good: int
    """Successful checks in a row."""
    recovery_threshold: int
    """Successful checks in a row after which it votes up again."""
    failing_since: datetime | None
    """First failed check of a location that votes down."""
    last_checked_at: datetime | None
    """When its newest check ended."""
    last_error: str | None
    """Error of that check."""
    certificate: Annotated[ExplainedCertificate | None, Omitted()]
    """Certificate that it saw last; present if it saw one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedQuorum:
    setting: str | int
    """The monitor's setting."""
    voters: int
    """Number of locations whose vote counts."""
    needed: int
    """Number of votes that are needed for the monitor to be down."""
    failing: int
    """Number of locations that vote down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedHold:
    """*holds*: what it suppresses; an unknown or missing moment or reason is None."""

    hold: str
    """Name of the hold."""
    since: datetime | None
    """Since when it applies; null if unknown."""
    until: datetime | None
    """Until when it applies; null if not set."""
    reason: str | None
    """Why; null without a reason."""
    holds: str
    """What it suppresses, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedParent:
    id: str
    """Id of the monitor."""
    name: str
    """Name of the monitor."""
    status: str
    """Status of the monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedIncident:
    """The newest automatic incident."""

    id: str
    """Id of the incident."""
    status: str
    """Status of the incident."""
    parent_incident_id: str | None
    """Id of the incident of the parent monitor; null without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedDelivery:
    channel_id: str
    """Id of the alert channel."""
    name: str | None
    """Name of the channel; null if it was deleted."""
    status: str
    """Whether it is pending, delivered or failed."""
    attempts: int
    """Number of attempts."""
    last_error: str | None
    """Error of the last failed attempt."""
    next_attempt_at: datetime | None
    """When it is attempted next; null if no attempt follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedEvent:
    """One event, with its deliveries."""

    event: str
    """Kind of the event."""
    event_id: str
    """Id of the event."""
    at: datetime
    """When it happened."""
    deliveries: Sequence[ExplainedDelivery]
    """Its deliveries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedMonitor:
    """*told*: the newest events, newest first; *not_told*: why nobody is notified of an outage."""

    status: str
    """Status of the monitor."""
    since: datetime | None
    """Since when it has this status; null if unknown."""
    sentence: str
    """The same for people."""
    locations: Sequence[ExplainedLocation]
    """How each location sees it."""
    quorum: ExplainedQuorum
    """How the votes are counted."""
    verdict: Literal["down", "up"] | None
    """Result of the votes; null if too few count."""
    holds: Sequence[ExplainedHold]
    """What suppresses checks, votes or notifications now."""
    dependencies: Sequence[ExplainedParent]
    """Monitors that it depends on."""
    incident: ExplainedIncident | None
    """The newest incident that it raised."""
    told: Sequence[ExplainedEvent]
    """Its newest events, newest first."""
    not_told: Sequence[str]
    """Why nobody is notified of an outage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(ExplainedMonitor):
    """A monitor's state, and the reasons for it."""

    last_results: Sequence[ExplainedResult]
    """Its newest results, newest first."""


def explained(inputs: explain.ExplanationInputs, now: datetime) -> ExplainedMonitor:
    monitor, facts, places = inputs.monitor, inputs.monitor.facts, inputs.places
    votes = core.tally(facts, places, now)
    return ExplainedMonitor(
        status=core.status(facts, places),
        since=core.since(facts, places),
        sentence=core.sentence(facts, places, now),
        locations=[_location(at, monitor, now) for at in inputs.locations],
        quorum=ExplainedQuorum(
            setting=_quorum(facts.monitor.quorum),
            voters=votes.voters,
            needed=votes.needed,
            failing=votes.failing,
        ),
        verdict=_VERDICTS[votes.down],
        holds=[
            ExplainedHold(
                hold=hold.name, since=hold.since, until=hold.until, reason=hold.reason, holds=hold.what
            )
            for hold in holds(facts, places, now)
        ],
        dependencies=[_parent(parent) for parent in inputs.parents],
        incident=_incident(monitor),
        told=[_event(list(same)) for _, same in groupby(inputs.told, key=lambda delivery: delivery.event_id)],
        not_told=not_told(facts, now, heard=inputs.heard, routed=monitor.routed),
    )


def _location(at: CheckedLocation, monitor: ExplanationRow, now: datetime) -> ExplainedLocation:
    place, state = at.place, at.place.state
    return ExplainedLocation(
        location=place.vote.location,
        probe=_probe(at, now),
        vote=core.standing(place.vote, now),
        counts=monitor.facts.paused_at is None and place.vote.counts(now),
        consecutive_failures=state.fails,
        failure_threshold=monitor.failure_threshold,
        consecutive_good=state.goods,
        recovery_threshold=monitor.recovery_threshold,
        failing_since=state.failed_since if state.failing else None,
        last_checked_at=place.last_at,
        last_error=place.last_error or None,
        certificate=_certificate(at.checkpoint, now),
    )


def _probe(at: CheckedLocation, now: datetime) -> ExplainedProbe | None:
    if at.probe is None:
        return None
    heard = at.seen_at is not None and abs(now - at.seen_at) < LIVE
    return ExplainedProbe(
        name=at.probe,
        connected=at.session and heard,
        last_seen_at=at.seen_at,
        blind_since=at.blind_since,
    )


def _certificate(checkpoint: bytes | None, now: datetime) -> ExplainedCertificate | None:
    seen = expiry(checkpoint)
    if seen is None:
        return None
    ends = ends_at(seen)
    return ExplainedCertificate(ends_at=ends, days_left=days_left(ends, now))


def _quorum(setting: str) -> str | int:
    return int(setting) if setting.isdecimal() else setting


def _parent(parent: ParentRow) -> ExplainedParent:
    shown = status(paused_at=parent.paused_at, down=parent.down, last_at=parent.last_at)
    return ExplainedParent(id=ids.show("mon", parent.id), name=parent.name, status=shown)


def _incident(monitor: ExplanationRow) -> ExplainedIncident | None:
    if monitor.incident_id is None or monitor.incident_status is None:
        return None
    parent = monitor.parent_incident_id
    return ExplainedIncident(
        id=ids.show("inc", monitor.incident_id),
        status=monitor.incident_status,
        parent_incident_id=None if parent is None else ids.show("inc", parent),
    )


def _event(same: Sequence[DeliveryRow]) -> ExplainedEvent:
    first = same[0]
    return ExplainedEvent(
        event=first.kind,
        event_id=ids.show("evt", first.event_id),
        at=first.at,
        deliveries=[
            ExplainedDelivery(
                channel_id=ids.show("chan", delivery.channel_id),
                name=delivery.channel,
                status=DeliveryStatus(delivery.status).name.lower(),
                attempts=delivery.attempts,
                last_error=delivery.error,
                next_attempt_at=delivery.due_at,
            )
            for delivery in same
            if delivery.channel_id is not None and delivery.status is not None
        ],
    )
