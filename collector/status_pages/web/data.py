"""A status page as JSON: our own, and the shape that status tools commonly read."""

from datetime import datetime
from typing import Any, Final

import orjson

from collector.status_pages.core.status_page import MAINTENANCE, Status
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.incidents import PageIncidentDetails
from collector.status_pages.service.view import PageView
from collector.status_pages.web.addresses import PageAddresses
from shared import ids
from shared.clock import iso

_INDICATORS: Final[dict[Status, tuple[str, str]]] = {
    "operational": ("none", "All Systems Operational"),
    "degraded_performance": ("minor", "Minor Service Outage"),
    "partial_outage": ("major", "Partial System Outage"),
    "major_outage": ("critical", "Major Service Outage"),
    "maintenance": ("maintenance", "Service Under Maintenance"),
}


def own(view: PageView, place: PageAddresses) -> str:
    """The overall status, each component, and the incidents."""
    return _text(
        {
            "name": view.page.name,
            "url": place.url,
            "status": view.status,
            "components": [_component(view, seen) for seen in view.components],
            "incidents": [_incident(told) for told in view.open],
            "maintenance": [_incident(told) for told in view.planned],
            "history": [_incident(told) for told in view.past],
            "updatedAt": iso(view.at),
        }
    )


def summary(view: PageView, place: PageAddresses) -> str:
    """``/api/v2/summary.json``, with the field names of a common third-party format."""
    indicator, description = _INDICATORS[view.status]
    going = [told for told in (*view.open, *view.planned) if told.row.severity == MAINTENANCE]
    return _text(
        {
            "page": {
                "id": ids.show("sp", view.page.id),
                "name": view.page.name,
                "url": place.url,
                "time_zone": "Etc/UTC",
                "updated_at": iso(view.at),
            },
            "components": [_listed(view, seen) for seen in view.components],
            "incidents": [_told(view, told, place) for told in view.open if told.row.severity != MAINTENANCE],
            "scheduled_maintenances": [_scheduled(view, told, place) for told in going],
            "status": {"indicator": indicator, "description": description},
        }
    )


def _component(view: PageView, seen: ComponentDetails) -> dict[str, Any]:
    daily = view.daily.get(seen.row.monitor_id) if seen.row.monitor_id else None
    return {
        "id": ids.show("comp", seen.row.id),
        "name": seen.row.name,
        "description": seen.row.description,
        "group": seen.row.group_name,
        "status": seen.shown.status,
        "statusMessage": seen.row.message,
        "uptime90d": daily.uptime if daily else None,
        "notMeasuredSince": _maybe(seen.unmeasured_since),
    }


def _incident(told: PageIncidentDetails) -> dict[str, Any]:
    row = told.row
    return {
        "id": ids.show("spi", row.id),
        "title": row.title,
        "status": row.status,
        "severity": row.severity,
        "affectedComponents": [ids.show("comp", id_) for id_ in row.components],
        "scheduledStart": _maybe(row.scheduled_start),
        "scheduledEnd": _maybe(row.scheduled_end),
        "publishedAt": iso(row.published_at),
        "resolvedAt": _maybe(row.resolved_at),
        "updates": [
            {"timestamp": iso(update.at), "status": update.status, "message": update.message}
            for update in told.updates
        ],
    }


def _listed(view: PageView, seen: ComponentDetails) -> dict[str, Any]:
    row, status = seen.row, seen.shown.status
    return {
        "id": ids.show("comp", row.id),
        "name": row.name,
        "status": "under_maintenance" if status == MAINTENANCE else status,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "position": row.position,
        "description": row.description or None,
        "showcase": False,
        "start_date": None,
        "group_id": None,
        "page_id": ids.show("sp", view.page.id),
        "group": False,
        "only_show_if_degraded": False,
    }


def _told(view: PageView, told: PageIncidentDetails, place: PageAddresses) -> dict[str, Any]:
    row, id_ = told.row, ids.show("spi", told.row.id)
    return {
        "id": id_,
        "name": row.title,
        "status": row.status,
        "impact": row.severity,
        "created_at": iso(row.published_at),
        "started_at": iso(row.published_at),
        "updated_at": iso(row.updated_at),
        "monitoring_at": None,
        "resolved_at": _maybe(row.resolved_at),
        "shortlink": place.url,
        "page_id": ids.show("sp", view.page.id),
        "components": [_listed(view, seen) for seen in view.components if seen.row.id in row.components],
        "incident_updates": [
            {
                "id": ids.show("spi", update.id),
                "status": update.status,
                "body": update.message,
                "incident_id": id_,
                "created_at": iso(update.at),
                "updated_at": iso(update.at),
                "display_at": iso(update.at),
            }
            for update in reversed(told.updates)
        ],
    }


def _scheduled(view: PageView, told: PageIncidentDetails, place: PageAddresses) -> dict[str, Any]:
    begun = told.row.scheduled_start is None or told.row.scheduled_start <= view.at
    return {
        **_told(view, told, place),
        "status": "in_progress" if begun else "scheduled",
        "scheduled_for": _maybe(told.row.scheduled_start),
        "scheduled_until": _maybe(told.row.scheduled_end),
    }


def _maybe(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def _text(data: dict[str, Any]) -> str:
    return orjson.dumps(data).decode()
