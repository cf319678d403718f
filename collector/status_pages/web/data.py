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
            "components": [_component(view, component) for component in view.components],
            "incidents": [_incident(incident) for incident in view.open],
            "maintenance": [_incident(incident) for incident in view.planned],
            "history": [_incident(incident) for incident in view.past],
            "updatedAt": iso(view.at),
        }
    )


def summary(view: PageView, place: PageAddresses) -> str:
    """``/api/v2/summary.json``, with the field names of a common third-party format."""
    indicator, description = _INDICATORS[view.status]
    scheduled = [incident for incident in (*view.open, *view.planned) if incident.row.severity == MAINTENANCE]
    return _text(
        {
            "page": {
                "id": ids.show("sp", view.page.id),
                "name": view.page.name,
                "url": place.url,
                "time_zone": "Etc/UTC",
                "updated_at": iso(view.at),
            },
            "components": [_listed_component(view, component) for component in view.components],
            "incidents": [
                _listed_incident(view, incident, place)
                for incident in view.open
                if incident.row.severity != MAINTENANCE
            ],
            "scheduled_maintenances": [_scheduled(view, incident, place) for incident in scheduled],
            "status": {"indicator": indicator, "description": description},
        }
    )


def _component(view: PageView, component: ComponentDetails) -> dict[str, Any]:
    daily = view.daily_of(component)
    return {
        "id": ids.show("comp", component.row.id),
        "name": component.row.name,
        "description": component.row.description,
        "group": component.row.group_name,
        "status": component.shown.status,
        "statusMessage": component.row.message,
        "uptime90d": daily.uptime if daily else None,
        "notMeasuredSince": _iso(component.unmeasured_since),
    }


def _incident(incident: PageIncidentDetails) -> dict[str, Any]:
    row = incident.row
    return {
        "id": ids.show("spi", row.id),
        "title": row.title,
        "status": row.status,
        "severity": row.severity,
        "affectedComponents": [ids.show("comp", id_) for id_ in row.components],
        "scheduledStart": _iso(row.scheduled_start),
        "scheduledEnd": _iso(row.scheduled_end),
        "publishedAt": iso(row.published_at),
        "resolvedAt": _iso(row.resolved_at),
        "updates": [
            {"timestamp": iso(update.at), "status": update.status, "message": update.message}
            for update in incident.updates
        ],
    }


def _listed_component(view: PageView, component: ComponentDetails) -> dict[str, Any]:
    row, status = component.row, component.shown.status
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


def _listed_incident(view: PageView, incident: PageIncidentDetails, place: PageAddresses) -> dict[str, Any]:
    row, id_ = incident.row, ids.show("spi", incident.row.id)
    return {
        "id": id_,
        "name": row.title,
        "status": row.status,
        "impact": row.severity,
        "created_at": iso(row.published_at),
        "started_at": iso(row.published_at),
        "updated_at": iso(row.updated_at),
        "monitoring_at": None,
        "resolved_at": _iso(row.resolved_at),
        "shortlink": place.url,
        "page_id": ids.show("sp", view.page.id),
        "components": [
            _listed_component(view, component)
            for component in view.components
            if component.row.id in row.components
        ],
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
            for update in reversed(incident.updates)
        ],
    }


def _scheduled(view: PageView, incident: PageIncidentDetails, place: PageAddresses) -> dict[str, Any]:
    begun = incident.row.scheduled_start is None or incident.row.scheduled_start <= view.at
    return {
        **_listed_incident(view, incident, place),
        "status": "in_progress" if begun else "scheduled",
        "scheduled_for": _iso(incident.row.scheduled_start),
        "scheduled_until": _iso(incident.row.scheduled_end),
    }


def _iso(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def _text(data: dict[str, Any]) -> str:
    return orjson.dumps(data).decode()
