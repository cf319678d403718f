"""The console's pages about status pages: path, view and permission of each."""

from typing import Final

from collector.http.auth import Handler
from collector.status_pages.console import (
    access,
    components,
    incident_templates,
    incidents,
    preview,
    publishing,
    status_pages,
    subscribers,
)

_HERE: Final = "/status-pages"
_ONE: Final = f"{_HERE}/{{id}}"
_COMPONENT: Final = f"{_HERE}/{{pageId}}/components/{{componentId}}"
_INCIDENT: Final = f"{_HERE}/{{pageId}}/incidents/{{incidentId}}"
_TEMPLATES: Final = f"{_HERE}/templates"
_TEMPLATE: Final = f"{_TEMPLATES}/{{id}}"
_SUBSCRIBER: Final = f"{_HERE}/{{pageId}}/subscribers/{{subscriberId}}"

# Method, path and view; then the equivalent method and path below /v1.
ROWS: Final[tuple[tuple[str, str, Handler, str, str], ...]] = (
    ("GET", _HERE, status_pages.list_, "GET", _HERE),
    ("POST", _HERE, status_pages.create, "POST", _HERE),
    ("GET", f"{_HERE}/new", status_pages.new, "POST", _HERE),
    ("GET", f"{_HERE}/publish", publishing.choose, "POST", f"{_ONE}/incidents"),
    ("GET", _TEMPLATES, incident_templates.list_, "GET", "/incident-templates"),
    ("POST", _TEMPLATES, incident_templates.create, "POST", "/incident-templates"),
    ("GET", f"{_TEMPLATES}/new", incident_templates.new, "POST", "/incident-templates"),
    ("GET", _TEMPLATE, incident_templates.edit, "PUT", "/incident-templates/{id}"),
    ("POST", _TEMPLATE, incident_templates.update, "PUT", "/incident-templates/{id}"),
    ("POST", f"{_TEMPLATE}/delete", incident_templates.delete, "DELETE", "/incident-templates/{id}"),
    ("GET", _ONE, status_pages.show, "GET", _ONE),
    ("GET", f"{_ONE}/preview", preview.show, "GET", _ONE),
    ("POST", f"{_ONE}/preview", preview.show_unsaved, "PUT", _ONE),
    ("GET", f"{_ONE}/edit", status_pages.edit, "PUT", _ONE),
    ("POST", f"{_ONE}/edit", status_pages.update, "PUT", _ONE),
    ("POST", f"{_ONE}/verify-domain", status_pages.verify_domain, "POST", f"{_ONE}/verify-domain"),
    ("POST", f"{_ONE}/delete", status_pages.delete, "DELETE", _ONE),
    ("POST", f"{_ONE}/components", components.create, "POST", f"{_ONE}/components"),
    ("GET", f"{_ONE}/components/new", components.new, "POST", f"{_ONE}/components"),
    ("POST", f"{_ONE}/order", components.place, "PUT", f"{_ONE}/components"),
    ("GET", _COMPONENT, components.edit, "PUT", _COMPONENT),
    ("POST", _COMPONENT, components.update, "PUT", _COMPONENT),
    ("POST", f"{_COMPONENT}/up", components.up, "PUT", f"{_ONE}/components"),
    ("POST", f"{_COMPONENT}/down", components.down, "PUT", f"{_ONE}/components"),
    ("POST", f"{_COMPONENT}/delete", components.delete, "DELETE", _COMPONENT),
    ("GET", f"{_ONE}/incidents", incidents.list_, "GET", f"{_ONE}/incidents"),
    ("POST", f"{_ONE}/incidents", incidents.publish, "POST", f"{_ONE}/incidents"),
    ("GET", f"{_ONE}/incidents/new", incidents.new, "POST", f"{_ONE}/incidents"),
    ("GET", _INCIDENT, incidents.show, "GET", _INCIDENT),
    ("POST", _INCIDENT, incidents.update, "PUT", _INCIDENT),
    ("POST", f"{_INCIDENT}/resolve", incidents.resolve, "PUT", _INCIDENT),
    ("POST", f"{_INCIDENT}/delete", incidents.delete, "DELETE", _INCIDENT),
    ("GET", f"{_ONE}/access", access.edit, "GET", f"{_ONE}/access"),
    ("POST", f"{_ONE}/access", access.update, "PUT", f"{_ONE}/access"),
    ("GET", f"{_ONE}/subscribers", subscribers.list_, "GET", f"{_ONE}/subscribers"),
    ("POST", f"{_ONE}/subscribers", subscribers.add, "POST", f"{_ONE}/subscribers"),
    ("POST", f"{_SUBSCRIBER}/delete", subscribers.delete, "DELETE", _SUBSCRIBER),
)
