"""The payloads of events about incidents on status pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.events.core.kinds import EventKind
from collector.events.core.payloads import EventLinks, EventPayload
from collector.platform.answers import ComponentId, Example, Identifier, Person
from collector.status_pages.core.news import Occasion
from collector.status_pages.core.status_page import Phase, Severity, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """The status page of an event."""

    id: Annotated[str, Identifier("sp")]
    """Id of the page."""
    name: Annotated[str, Example("Example")]
    """Name of the page."""
    slug: Annotated[str, Example("example")]
    """Last segment of its URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPageIncident:
    """An incident on a status page."""

    id: Annotated[str, Identifier("spi")]
    """Id of the incident."""
    title: Annotated[str, Example("Checkout is slow")]
    """Title of the incident."""
    status: Phase
    """Phase that it is in."""
    severity: Severity
    """Severity of the incident."""
    affected_components: Sequence[ComponentId]
    """Ids of the affected components."""
    component_status: Status | None
    """Status that the affected components show while the incident is open."""
    scheduled_start: datetime | None
    """Scheduled start of maintenance."""
    scheduled_end: datetime | None
    """Scheduled end of maintenance."""
    message: Annotated[str, Example("We look into it")]
    """Text of the update."""
    published_at: datetime
    """When it was published."""
    updated_at: datetime
    """When it was last changed."""
    resolved_at: datetime | None
    """When it was resolved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIncidentEvent(EventPayload):
    """An incident was published or updated on a status page."""

    status_page: EventPage
    """The page."""
    incident: EventPageIncident
    """The incident after the change."""
    actor: Person
    """Who published it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedComponent:
    """A component that an incident affects."""

    id: ComponentId
    """Id of the component."""
    name: str
    """Name of the component."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticedIncident:
    """An incident as the webhooks of subscribers get it; without what only the team may see."""

    id: str | None
    """Id of the incident; null once it is deleted."""
    title: str | None
    """Title of the incident."""
    status: Phase | None
    """Phase that it is in."""
    severity: Severity | None
    """Severity of the incident."""
    message: str | None
    """Text of the update."""
    affected_components: Sequence[AffectedComponent]
    """The affected components."""
    scheduled_start: datetime | None
    """Scheduled start of maintenance."""
    scheduled_end: datetime | None
    """Scheduled end of maintenance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberNotice:
    """An update of a status page, as the webhooks of its subscribers get it."""

    event: EventKind
    """Kind of the event of the same update."""
    id: str
    """Id of the update, in the format of events."""
    occasion: Occasion | None
    """What the update announces."""
    timestamp: datetime | None
    """When it was published."""
    status_page: EventPage
    """The page."""
    incident: NoticedIncident
    """The incident."""
    links: EventLinks
    """Link to the page."""
