"""The payloads of events about incidents."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.events.core.payloads import EventMonitor, EventPayload
from collector.incidents.answers import IncidentAnswer
from collector.platform.answers import Example, Identifier, IncidentId, Omitted, Person


@dataclass(frozen=True, slots=True, kw_only=True)
class EventNote:
    """A note that was added to an incident."""

    id: Annotated[str, Identifier("note")]
    """Id of the note."""
    incident_id: IncidentId
    """Id of its incident."""
    text: Annotated[str, Example("Looking into it")]
    """Text of the note."""
    created_by: Person
    """Author of the note."""
    created_at: datetime
    """Time of writing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentEvent(EventPayload):
    """An incident was created, acknowledged, resolved, reopened or annotated."""

    monitor: EventMonitor | None
    """Its monitor; null for an incident of none."""
    incident: IncidentAnswer
    """The incident after the change."""
    actor: Person
    """Who made the change."""
    note: Annotated[EventNote | None, Omitted()] = None
    """The note; present only with `incident.note_added`."""
