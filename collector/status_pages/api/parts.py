"""Responses about parts of status pages, and the ids in their paths."""

from uuid import UUID

from aiohttp import web

from collector.http.request_data import path_id
from collector.platform.masks import mask
from collector.status_pages.answers import (
    IncidentUpdate,
    PageIncidentAnswer,
    StatusPageComponent,
    SubscriberAnswer,
)
from collector.status_pages.core.fields import Preferences
from collector.status_pages.core.status_page import mode_of
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.fields import WHAT
from collector.status_pages.service.incidents import PageIncidentDetails
from collector.status_pages.service.subscribers import SubscriberDetails
from shared import ids


def page_id(request: web.Request) -> UUID:
    """The page id in the path of a page's sub-resources. Raises NotFound."""
    return path_id(request, "sp", WHAT)


def part_id(request: web.Request, prefix: str, name: str, what: str) -> tuple[UUID, UUID]:
    """The ids of the page and of its sub-resource in the path. Raises NotFound, the same for either."""
    return path_id(request, "sp", what, "pageId"), path_id(request, prefix, what, name)


def component(details: ComponentDetails) -> StatusPageComponent:
    """The response about a component."""
    row = details.row
    return StatusPageComponent(
        id=ids.show("comp", row.id),
        name=row.name,
        description=row.description,
        group=row.group_name,
        monitor_id=ids.show("mon", row.monitor_id) if row.monitor_id else None,
        order=row.position,
        status=details.shown.status,
        status_mode=mode_of(row.held),
        status_message=row.message,
        essential=row.essential,
        show_uptime=row.show_uptime,
        not_measured_since=details.unmeasured_since,
        created_at=row.created_at,
        updated_at=row.updated_at,
        warnings=list(details.warnings) or None,
    )


def incident(details: PageIncidentDetails) -> PageIncidentAnswer:
    """The response about an incident, with its updates."""
    row, updates = details.row, details.updates
    return PageIncidentAnswer(
        id=ids.show("spi", row.id),
        title=row.title,
        status=row.status,
        severity=row.severity,
        affected_components=[ids.show("comp", id_) for id_ in row.components],
        component_status=row.component_status,
        scheduled_start=row.scheduled_start,
        scheduled_end=row.scheduled_end,
        reminder_minutes=row.reminder_minutes,
        message=updates[-1].message if updates else "",
        published_at=row.published_at,
        updated_at=row.updated_at,
        resolved_at=row.resolved_at,
        updates=[
            IncidentUpdate(timestamp=update.at, status=update.status, message=update.message)
            for update in updates
        ],
        warnings=list(details.warnings) or None,
    )


def subscriber(details: SubscriberDetails, *, whole: bool) -> SubscriberAnswer:
    """The response about a subscriber; *whole*: with the webhook's URL, which is a secret."""
    row, url = details.row, details.url
    return SubscriberAnswer(
        id=ids.show("sub", row.id),
        email=row.email,
        webhook_url=url if whole or url is None else mask(url),
        verified=row.verified_at is not None,
        preferences=Preferences(**row.preferences),
        components=[ids.show("comp", id_) for id_ in row.components],
        subscribed_at=row.subscribed_at,
        warnings=list(details.warnings) or None,
    )
