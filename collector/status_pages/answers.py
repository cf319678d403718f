"""Responses of the API about status pages, components, page incidents and subscribers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from collector.platform.answers import ComponentId, Example, Identifier, MonitorId, Revision, Warnings
from collector.status_pages.core.fields import Branding, Preferences
from collector.status_pages.core.status_page import Phase, Severity, Status, StatusMode, Visibility

Message = Annotated[str, Example("We look into it")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPageComponent:
    """A part of the service that a status page shows."""

    id: ComponentId
    """Id of the component."""
    name: Annotated[str, Example("API")]
    """Name of the component."""
    description: Annotated[str, Example("What our apps talk to")]
    """Text that the page shows below the name; empty without one."""
    group: Annotated[str, Example("Europe")] | None
    """Name of the group that it is listed under."""
    monitor_id: MonitorId | None
    """Id of the monitor whose status it shows."""
    order: Annotated[int, Example(1)]
    """Position in the list."""
    status: Status
    """Status that is shown."""
    status_mode: StatusMode
    """Whether the status follows the monitor or was set by hand."""
    status_message: Annotated[str, Example("")]
    """Text that the page shows beside the status; empty without one."""
    essential: Annotated[bool, Example(False)]
    """Whether its outage alone is a major outage of the page."""
    show_uptime: Annotated[bool, Example(True)]
    """Whether the page shows its uptime and the bars of its days."""
    not_measured_since: datetime | None
    """Time since which its monitor has not been measured; null while it is measured."""
    created_at: datetime
    """When it was added."""
    updated_at: datetime
    """When it was last changed."""
    warnings: Warnings = None
    """Ignored parts of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedComponents:
    """The components of a page in their new order."""

    data: list[StatusPageComponent]
    """The components."""
    warnings: Warnings = None
    """Ignored parts of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofRecord:
    """A DNS record that proves ownership of a domain."""

    type: Annotated[str, Example("TXT")]
    """Type of the record."""
    name: Annotated[str, Example("_tocsin.status.example.com")]
    """Name of the record."""
    value: Annotated[str, Example("tocsin=sp_01kahb5m7q8x9t3v2c4d6e0f1g")]
    """Value of the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofFile:
    """A file that proves ownership of a domain."""

    url: Annotated[str, Example("https://status.example.com/.well-known/tocsin")]
    """URL at which the file must be served."""
    content: Annotated[str, Example("tocsin=sp_01kahb5m7q8x9t3v2c4d6e0f1g")]
    """Required content of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainProof:
    """What must be published at a domain before it shows the page; either is sufficient."""

    record: ProofRecord
    """A DNS record."""
    file: ProofFile
    """A file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFields:
    """Common fields of a page."""

    id: Annotated[str, Identifier("sp")]
    """Id of the page."""
    name: Annotated[str, Example("Example")]
    """Name of the page."""
    slug: Annotated[str, Example("example")]
    """Last segment of its URL."""
    domain: Annotated[str, Example("status.example.com")] | None
    """Custom domain that shows the page."""
    domain_verified: bool | None
    """Whether the domain was verified; null without one."""
    domain_proof: DomainProof | None
    """How to verify the domain; null without one, and after verification."""
    url: Annotated[str, Example("https://tocsin.example.com/status/example")]
    """URL of the page."""
    visibility: Visibility
    """Who may see it."""
    password_set: Annotated[bool, Example(False)]
    """Whether it has a password."""
    branding: Branding
    """How the page looks."""
    subscribers: Annotated[int, Example(0)]
    """Number of subscribers."""
    revision: Revision
    """Current revision number, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageItem(PageFields):
    """A status page as lists show it."""

    components: Annotated[int, Example(1)]
    """Number of its components."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer(PageFields):
    """A status page with its components."""

    status: Status
    """Overall status: the worst of its components; a major outage if all are out, or an essential one."""
    components: list[StatusPageComponent]
    """Its components, in their order."""
    warnings: Warnings = None
    """Ignored parts of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessAnswer:
    """How visitors enter a private page besides its password."""

    networks: Annotated[list[str], Example(["192.0.2.0/24"])]
    """Address ranges from which it is open to everybody."""
    issuer: Annotated[str, Example("https://id.example.com")] | None
    """Issuer of the OpenID Connect provider; null without one."""
    client_id: Annotated[str, Example("status-page")] | None
    """Id of this page at the provider."""
    client_secret_set: Annotated[bool, Example(True)]
    """Whether the secret of this page at the provider is set."""
    email_domains: Annotated[list[str], Example(["example.com"])]
    """Domains of the email addresses that may enter."""
    redirect_uris: Annotated[list[str], Example(["https://tocsin.example.com/status/example/sign-in/back"])]
    """Redirect URIs to register at the provider."""
    warnings: Warnings = None
    """Ignored parts of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentUpdate:
    """An update of an incident."""

    timestamp: datetime
    """When it was published."""
    status: Phase
    """Phase that the incident was in."""
    message: Message
    """Text of the update."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIncidentAnswer:
    """An incident or scheduled maintenance on a status page."""

    id: Annotated[str, Identifier("spi")]
    """Id of the incident."""
    title: Annotated[str, Example("Checkout is slow")]
    """Title of the incident."""
    status: Phase
    """Phase that it is in."""
    severity: Severity
    """Severity of the incident."""
    affected_components: list[ComponentId]
    """Ids of the affected components."""
    component_status: Status | None
    """Status that the affected components show while the incident is open."""
    scheduled_start: datetime | None
    """Scheduled start of maintenance."""
    scheduled_end: datetime | None
    """Scheduled end of maintenance."""
    reminder_minutes: Annotated[int, Example(60)] | None
    """How many minutes before the start subscribers are reminded; null: never."""
    message: Message
    """Text of the newest update."""
    published_at: datetime
    """When it was published."""
    updated_at: datetime
    """When it was last changed."""
    resolved_at: datetime | None
    """When it was resolved."""
    updates: list[IncidentUpdate]
    """Its updates, oldest first."""
    warnings: Warnings = None
    """Ignored parts of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTemplateAnswer:
    """A text that the team keeps for incidents or maintenance on its status pages."""

    id: Annotated[str, Identifier("tpl")]
    """Id of the template."""
    name: Annotated[str, Example("Slow checkout")]
    """Name of the template in the team."""
    title: Annotated[str, Example("Problem with {component}")]
    """Title of the incident, with variables."""
    status: Phase
    """Phase that the incident begins in."""
    severity: Severity
    """Severity of the incident."""
    component_status: Status | None
    """Status that the affected components show while the incident is open."""
    message: Annotated[str, Example("{component} answers slowly since {began}.")]
    """Text of the first update, with variables."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    warnings: Warnings = None
    """Ignored parts of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberAnswer:
    """A subscriber of a status page."""

    id: Annotated[str, Identifier("sub")]
    """Id of the subscriber."""
    email: Annotated[str, Example("name@example.com")] | None
    """Email address; null for a webhook."""
    webhook_url: Annotated[str, Example("https://hooks.example.com/status")] | None
    """URL that updates are posted to; null for an email subscriber. Masked for read-only tokens."""
    verified: Annotated[bool, Example(False)]
    """Whether the address was confirmed."""
    preferences: Preferences
    """Kinds of updates that are sent."""
    components: list[ComponentId]
    """Ids of the components whose updates are sent; empty: all."""
    subscribed_at: datetime
    """When the subscription was made."""
    warnings: Warnings = None
    """Ignored parts of the request."""
