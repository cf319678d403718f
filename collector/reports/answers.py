"""Responses of the API about reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from collector.platform.answers import Example, Identifier, MonitorId, Omitted, Revision, Warnings
from collector.reports.core.content import ReportContent

ReportId = Annotated[str, Identifier("rep")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportAnswer:
    """A report: which monitors, which periods, and who receives it."""

    id: ReportId
    """Id of the report."""
    name: Annotated[str, Example("Shop, monthly")]
    """Name of the report."""
    status_page: Annotated[str, Identifier("sp")] | None
    """Id of the status page whose components' monitors it is about."""
    monitors: list[MonitorId]
    """Ids of the monitors it is about."""
    tags: Mapping[str, str] | Sequence[str]
    """Tags of the monitors it is about; without any selection it is about all of the team."""
    period: Annotated[str, Example("month")]
    """Length of its periods."""
    first_day: date | None
    """First day of a custom period."""
    last_day: date | None
    """Last day of a custom period."""
    timezone: Annotated[str, Example("Europe/Berlin")]
    """IANA time zone of days and hours."""
    send_hour: Annotated[int, Example(6)]
    """Hour of the day after the period at which it is computed and sent."""
    business_hours: Annotated[str, Example("Mo-Fr 08:00-18:00")] | None
    """Hours that are accounted for separately."""
    target: Annotated[float, Example(99.9)] | None
    """Promised uptime in percent."""
    recipients: list[Annotated[str, Example("board@example.com")]]
    """Email addresses to which each edition is sent."""
    enabled: bool
    """Whether it is computed by itself after each period."""
    next_at: datetime | None
    """When it is computed next; null if it is not."""
    revision: Revision
    """Current revision number, as in the ETag."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When it was last changed."""
    warnings: Warnings = None
    """Ignored parts of the request, and notes for the report's owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionAnswer:
    """An edition of a report: the numbers of one period, which never change."""

    id: Annotated[str, Identifier("edn")]
    """Id of the edition."""
    report_id: ReportId
    """Id of the report."""
    number: Annotated[int, Example(1)]
    """Number among the editions of the period, from 1."""
    status: Annotated[str, Example("ready")]
    """Whether it is pending, ready or failed."""
    since: datetime
    """First moment of the period."""
    until: datetime
    """First moment after it."""
    requested_at: datetime
    """When it was requested."""
    computed_at: datetime | None
    """When it was computed; null while it is pending."""
    mails_sent: Annotated[int, Example(1)]
    """Number of recipients to whom it was sent."""
    mails_waiting: Annotated[int, Example(0)]
    """Number of recipients to whom it is yet to be sent."""
    content: Annotated[ReportContent | None, Omitted()] = None
    """What it says; only where a single edition is read, and once it is ready."""
