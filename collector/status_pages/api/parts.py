"""Responses about parts of status pages, and the ids in their paths."""

from typing import Any
from uuid import UUID

from aiohttp import web

from collector.http.request_data import path_id, warned
from collector.platform.masks import masked
from collector.status_pages.core.fields import SubscriberSettings
from collector.status_pages.core.status_page import mode_of
from collector.status_pages.service import components, notifications, subscribers
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


def component(seen: ComponentDetails) -> dict[str, Any]:
    answer = {
        "id": ids.show("comp", seen.row.id),
        **components.settable(seen.row),
        "status": seen.shown.status,
        "statusMode": mode_of(seen.row.held),
        "notMeasuredSince": seen.unmeasured_since,
        "createdAt": seen.row.created_at,
        "updatedAt": seen.row.updated_at,
    }
    return warned(answer, list(seen.warnings))


def incident(told: PageIncidentDetails) -> dict[str, Any]:
    last = told.updates[-1].message if told.updates else ""
    answer = {
        **notifications.shown(told.row, last),
        "updates": [
            {"timestamp": update.at, "status": update.status, "message": update.message}
            for update in told.updates
        ],
    }
    return warned(answer, list(told.warnings))


def subscriber(known: SubscriberDetails, *, whole: bool) -> dict[str, Any]:
    """The subscriber as JSON; *whole*: with the webhook's URL, which is a secret."""
    settable = subscribers.settable(known)
    return {
        "id": ids.show("sub", known.row.id),
        **(settable if whole else masked(SubscriberSettings, settable)),
        "verified": known.row.verified_at is not None,
        "subscribedAt": known.row.subscribed_at,
    }
