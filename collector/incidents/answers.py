"""Responses of the API about incidents."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.incidents.core.status import IncidentStatus
from collector.platform.answers import Example, Identifier, IncidentId, MonitorId, Omitted, Person, Warnings
from collector.platform.monitor import Severity

Title = Annotated[str, Example("shop is down")]
Seconds = Annotated[int, Example(332)]
Milliseconds = Annotated[float, Example(19.7)]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentAnswer:
    """A period of failure, raised by a monitor or by hand."""

    id: IncidentId
    """Id of the incident."""
    title: Title
    """Title, at most 255 characters."""
    description: Annotated[str, Example("")]
    """Text for people; empty without one."""
    monitor_id: MonitorId | None
    """Id of the monitor that it is about; null for none, or one that was deleted."""
    monitor_name: Annotated[str, Example("shop")] | None
    """Name of that monitor."""
    status: IncidentStatus
    """Whether it is open, acknowledged (somebody works on it) or resolved."""
    severity: Severity
    """Severity; the monitor's if a monitor raised the incident."""
    started_at: datetime
    """When the outage began: its first failed check."""
    created_at: datetime
    """When the incident was raised."""
    acknowledged_at: datetime | None
    """When it was acknowledged."""
    acknowledged_by: Person | None
    """Who acknowledged it."""
    resolved_at: datetime | None
    """When it was resolved."""
    resolved_by: Person | None
    """Who resolved it; `System` where the monitor came up again."""
    resolution_note: Annotated[str, Example("Restarted it")] | None
    """What was done about it."""
    reopened_at: datetime | None
    """When it was last reopened."""
    downtime: Seconds
    """Seconds for which it has been open, without the time between a resolution and a reopening."""
    downtime_formatted: Annotated[str, Example("5m 32s")]
    """The same for people."""
    failure_count: Annotated[int, Example(3)]
    """Failed checks of its monitor while it was open."""
    last_error: Annotated[str, Example("answered 500")] | None
    """Error of the newest failed check."""
    parent_incident_id: IncidentId | None
    """Id of the parent monitor's incident, while which this one is not announced."""
    snoozed_until: Annotated[datetime | None, Omitted()] = None
    """Until when its reminders and escalation wait; omitted if they do not."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNote:
    """A note by a user who works on an incident."""

    id: Annotated[str, Identifier("note")]
    """Id of the note."""
    incident_id: IncidentId
    """Id of its incident."""
    text: Annotated[str, Example("Looking into it")]
    """Text of the note."""
    created_by: Annotated[str, Example("Admin")]
    """Name of its author."""
    created_at: datetime
    """When it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentDetails(IncidentAnswer):
    """An incident with its notes."""

    notes: list[ListedNote]
    """Its notes, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedNote:
    """A note that was added."""

    id: Annotated[str, Identifier("note")]
    """Id of the note."""
    incident_id: IncidentId
    """Id of its incident."""
    text: Annotated[str, Example("Looking into it")]
    """Text of the note."""
    created_by: Person
    """Its author."""
    created_at: datetime
    """When it was written."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedIncident:
    """An incident that was raised by hand."""

    id: IncidentId
    """Id of the incident."""
    title: Title
    """Title of the incident."""
    status: IncidentStatus
    """Status of the incident."""
    severity: Severity
    """Severity of the incident."""
    created_at: datetime
    """When it was raised."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgedIncident:
    """An incident that was acknowledged."""

    id: IncidentId
    """Id of the incident."""
    status: IncidentStatus
    """Status of the incident."""
    acknowledged_at: datetime
    """When it was acknowledged."""
    acknowledged_by: Person
    """Who acknowledged it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedIncident:
    """An incident that was resolved."""

    id: IncidentId
    """Id of the incident."""
    status: IncidentStatus
    """Status of the incident."""
    resolved_at: datetime
    """When it was resolved."""
    resolved_by: Person
    """Who resolved it."""
    downtime: Seconds
    """Seconds for which it was open."""
    resolution_note: Annotated[str, Example("Restarted it")] | None
    """What was done about it."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenedIncident:
    """An incident that was reopened."""

    id: IncidentId
    """Id of the incident."""
    status: IncidentStatus
    """Status of the incident."""
    reopened_at: datetime
    """When it was reopened."""
    warnings: Warnings = None
    """What was ignored of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BySeverity:
    """Numbers of incidents by their severity."""

    critical: Annotated[int, Example(2)]
    """Critical incidents."""
    high: Annotated[int, Example(0)]
    """Incidents of high severity."""
    medium: Annotated[int, Example(0)]
    """Incidents of medium severity."""
    low: Annotated[int, Example(0)]
    """Incidents of low severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentGroup:
    """The incidents of a day, a week or a month."""

    date: Annotated[str, Example("2026-11-21")]
    """First day of the group, in UTC."""
    incidents: Annotated[int, Example(2)]
    """Number of incidents that began in it."""
    avg_downtime: Annotated[float, Example(332)]
    """Average downtime in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentStats:
    """Numbers of the incidents of a span of time."""

    total_incidents: Annotated[int, Example(2)]
    """Number of incidents that began in it."""
    open_incidents: Annotated[int, Example(0)]
    """Number of these that are not resolved."""
    mttr: Annotated[float, Example(332)]
    """Mean time to resolve, in seconds."""
    mtta: Annotated[float, Example(41)]
    """Mean time to acknowledge, in seconds."""
    avg_downtime: Annotated[float, Example(332)]
    """Average downtime in seconds."""
    by_severity: BySeverity
    """Numbers of incidents by their severity."""
    by_day: Annotated[list[IncidentGroup] | None, Omitted()] = None
    """Groups by day; present with `group_by=day`, and without `group_by`."""
    by_week: Annotated[list[IncidentGroup] | None, Omitted()] = None
    """Groups by week; present with `group_by=week`."""
    by_month: Annotated[list[IncidentGroup] | None, Omitted()] = None
    """Groups by month; present with `group_by=month`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """An event in the life of an incident."""

    type: Annotated[str, Example("created")]
    """What happened."""
    timestamp: datetime
    """When it happened."""
    actor: Annotated[str, Example("System")]
    """Name of the user who did it; `System` for the service itself."""
    details: Annotated[str, Example("shop is down")]
    """Details, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTimeline:
    """The timeline of an incident."""

    events: list[TimelineEntry]
    """Its entries, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPhases:
    """Durations of the phases of a check in milliseconds; null for phases that it did not reach."""

    dns: Milliseconds | None
    """Looking up the name."""
    connect: Milliseconds | None
    """Opening the connection."""
    tls: Milliseconds | None
    """The TLS handshake."""
    first_byte: Milliseconds | None
    """From the request to the first byte of the answer."""
    transfer: Milliseconds | None
    """From the first byte to the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredHeader:
    """A header of an answer that a check got."""

    name: Annotated[str, Example("Content-Type")]
    """Name of the header."""
    value: Annotated[str, Example("text/html")]
    """Its value, without secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceAnswer:
    """A failed check that confirmed the outage; without the secrets of its monitor."""

    location: Annotated[str, Example("local")]
    """Location of the probe."""
    timestamp: datetime
    """When the check began."""
    run: Annotated[str, Example("scheduled")]
    """Why it ran."""
    address: Annotated[str, Example("192.0.2.1:443")] | None
    """Address that the probe connected to."""
    status_code: Annotated[int, Example(500)] | None
    """Status of the answer."""
    error: Annotated[str, Example("answered 500")] | None
    """Why the check failed."""
    response_time: Annotated[int, Example(38)]
    """Duration of the check in milliseconds."""
    phases: CheckPhases
    """Durations of its parts."""
    headers: list[AnsweredHeader]
    """Headers of the answer."""
    body: Annotated[str, Example("<h1>Internal Server Error</h1>")] | None
    """First bytes of the answer's body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEvidence:
    """Evidence of the checks that confirmed the outage."""

    evidence: list[EvidenceAnswer]
    """The failed checks, oldest first."""
