"""The console's pages about status pages: path, view, and whose permission in the API each asks for."""

from typing import Final

from collector.api.auth import Handler
from collector.api.console import (
    status_pages,
    status_pages_components,
    status_pages_incidents,
    status_pages_preview,
    status_pages_subscribers,
)

_HERE: Final = "/status-pages"
_ONE: Final = f"{_HERE}/{{id}}"
_COMPONENT: Final = f"{_HERE}/{{pageId}}/components/{{componentId}}"
_INCIDENT: Final = f"{_HERE}/{{pageId}}/incidents/{{incidentId}}"
_SUBSCRIBER: Final = f"{_HERE}/{{pageId}}/subscribers/{{subscriberId}}"

# Method, path and view; then the method and the path below /v1 that does the same.
ROWS: Final[tuple[tuple[str, str, Handler, str, str], ...]] = (
    ("GET", _HERE, status_pages.list_, "GET", _HERE),
    ("POST", _HERE, status_pages.create, "POST", _HERE),
    ("GET", f"{_HERE}/new", status_pages.new, "POST", _HERE),
    ("GET", _ONE, status_pages.show, "GET", _ONE),
    ("GET", f"{_ONE}/preview", status_pages_preview.show, "GET", _ONE),
    ("POST", f"{_ONE}/preview", status_pages_preview.show_unsaved, "PUT", _ONE),
    ("GET", f"{_ONE}/edit", status_pages.edit, "PUT", _ONE),
    ("POST", f"{_ONE}/edit", status_pages.update, "PUT", _ONE),
    ("POST", f"{_ONE}/verify-domain", status_pages.verify_domain, "POST", f"{_ONE}/verify-domain"),
    ("POST", f"{_ONE}/delete", status_pages.delete, "DELETE", _ONE),
    ("POST", f"{_ONE}/components", status_pages_components.create, "POST", f"{_ONE}/components"),
    ("GET", f"{_ONE}/components/new", status_pages_components.new, "POST", f"{_ONE}/components"),
    ("GET", _COMPONENT, status_pages_components.edit, "PUT", _COMPONENT),
    ("POST", _COMPONENT, status_pages_components.update, "PUT", _COMPONENT),
    ("POST", f"{_COMPONENT}/up", status_pages_components.up, "PUT", f"{_ONE}/components"),
    ("POST", f"{_COMPONENT}/down", status_pages_components.down, "PUT", f"{_ONE}/components"),
    ("POST", f"{_COMPONENT}/delete", status_pages_components.delete, "DELETE", _COMPONENT),
    ("GET", f"{_ONE}/incidents", status_pages_incidents.list_, "GET", f"{_ONE}/incidents"),
    ("POST", f"{_ONE}/incidents", status_pages_incidents.publish, "POST", f"{_ONE}/incidents"),
    ("GET", f"{_ONE}/incidents/new", status_pages_incidents.new, "POST", f"{_ONE}/incidents"),
    ("GET", _INCIDENT, status_pages_incidents.show, "GET", _INCIDENT),
    ("POST", _INCIDENT, status_pages_incidents.update, "PUT", _INCIDENT),
    ("POST", f"{_INCIDENT}/resolve", status_pages_incidents.resolve, "PUT", _INCIDENT),
    ("POST", f"{_INCIDENT}/delete", status_pages_incidents.delete, "DELETE", _INCIDENT),
    ("GET", f"{_ONE}/subscribers", status_pages_subscribers.list_, "GET", f"{_ONE}/subscribers"),
    ("POST", f"{_ONE}/subscribers", status_pages_subscribers.add, "POST", f"{_ONE}/subscribers"),
    ("POST", f"{_SUBSCRIBER}/delete", status_pages_subscribers.delete, "DELETE", _SUBSCRIBER),
)
