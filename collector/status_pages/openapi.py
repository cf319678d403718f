"""Public status pages, their components, incidents and subscribers."""

from collector.http.openapi.models import Named, Schema, answer, properties, request
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    choice,
    flag,
    listing,
    many,
    page,
    query,
    record,
    whole,
)
from collector.status_pages import answers
from collector.status_pages.core.access import AccessSettings
from collector.status_pages.core.fields import (
    Branding,
    ComponentOrder,
    ComponentSettings,
    HeaderLink,
    NewPage,
    PageIncidentSettings,
    PageSettings,
    Preferences,
    SubscriberSettings,
)
from collector.status_pages.core.incident_templates import IncidentTemplateSettings
from collector.status_pages.core.status_page import SEVERITIES

TAG = "Status pages"
_SEVERITY = choice(*SEVERITIES)


def _all_subscribers() -> Schema:
    """A list with a total that is present with and without paging."""
    meta = record(
        ("page", "limit"),
        total=whole(1, description="Number of subscribers."),
        page=whole(1, description="Number of the page, from 1; there where one was asked for."),
        limit=whole(20, description="Number of items on a page; there where a page was asked for."),
    )
    return record(
        data={**many(_SUBSCRIBER), "description": "The subscribers."},
        meta={**meta, "description": "Which of them these are."},
    )


def _news() -> Schema:
    return {**properties(PageIncidentSettings, partial=True), "required": ["message"]}


_NAMES = (
    (Branding, "StatusPageBranding"),
    (HeaderLink, "StatusPageLink"),
    (ComponentSettings, "CreateStatusPageComponentRequest"),
    (Preferences, "SubscriberPreferences"),
)
_PAGE = answer(answers.PageAnswer, "StatusPage", _NAMES)
_COMPONENT = answer(answers.StatusPageComponent, "StatusPageComponent")
_ORDERED = answer(answers.OrderedComponents, "OrderedStatusPageComponents")
_INCIDENT = answer(answers.PageIncidentAnswer, "StatusPageIncident")
_SUBSCRIBER = answer(answers.SubscriberAnswer, "StatusPageSubscriber", _NAMES)
_ACCESS = answer(answers.AccessAnswer, "StatusPageAccess")
_TEMPLATE = answer(answers.IncidentTemplateAnswer, "IncidentTemplate")
_SUBSCRIBERS = Named("StatusPageSubscriberList", _all_subscribers)
_PAGES, _PARTS = "/v1/status-pages", "/v1/status-pages/{pageId}"
_TAKEN = {409: "Another status page has this slug or domain, or the domain is the service's own"}
_OF_PAGES: dict[str, Operation] = {
    f"GET {_PAGES}": Operation(
        summary="List status pages",
        answer=listing(answer(answers.PageItem, "StatusPageItem", _NAMES)),
        query=PAGED,
    ),
    f"POST {_PAGES}/{{id}}/verify-domain": Operation(
        summary="Verify a status page's domain now",
        answer=_PAGE,
        tagged=True,
    ),
    f"POST {_PAGES}": Operation(
        summary="Create a status page",
        status=201,
        answer=_PAGE,
        body=request(NewPage, "CreateStatusPageRequest", names=_NAMES),
        example={"name": "Example", "slug": "example", "components": [{"name": "API"}]},
        more=_TAKEN,
    ),
    f"GET {_PAGES}/{{id}}": Operation(
        summary="Read a status page with its components", answer=_PAGE, tagged=True
    ),
    f"PUT {_PAGES}/{{id}}": Operation(
        summary="Update a status page",
        answer=_PAGE,
        body=request(PageSettings, "UpdateStatusPageRequest", partial=True, names=_NAMES),
        example={"branding": {"primaryColor": "#1a7f5a"}},
        needs_body=False,
        tagged=True,
        more=_TAKEN,
    ),
    f"GET {_PAGES}/{{id}}/access": Operation(
        summary="Read how visitors enter a private status page besides its password", answer=_ACCESS
    ),
    f"PUT {_PAGES}/{{id}}/access": Operation(
        summary="Update how visitors enter a private status page besides its password",
        answer=_ACCESS,
        body=request(AccessSettings, "UpdateStatusPageAccessRequest", partial=True, names=_NAMES),
        example={"networks": ["192.0.2.0/24"]},
        needs_body=False,
    ),
    f"DELETE {_PAGES}/{{id}}": Operation(
        summary="Delete a status page with its components, incidents and subscribers", status=204, tagged=True
    ),
}
_OF_COMPONENTS: dict[str, Operation] = {
    f"GET {_PAGES}/{{id}}/components": Operation(
        summary="List the components of a status page",
        answer=listing(_COMPONENT),
        query=PAGED,
    ),
    f"POST {_PAGES}/{{id}}/components": Operation(
        summary="Add a component",
        status=201,
        answer=_COMPONENT,
        body=request(ComponentSettings, "CreateStatusPageComponentRequest", names=_NAMES),
        example={"name": "API", "description": "What our apps talk to"},
    ),
    f"PUT {_PAGES}/{{id}}/components": Operation(
        summary="Reorder the components",
        answer=_ORDERED,
        body=request(ComponentOrder, "OrderStatusPageComponentsRequest", names=_NAMES),
        example={"components": []},
    ),
    f"GET {_PARTS}/components/{{componentId}}": Operation(summary="Read a component", answer=_COMPONENT),
    f"PUT {_PARTS}/components/{{componentId}}": Operation(
        summary="Update a component, or set its status by hand",
        answer=_COMPONENT,
        body=request(ComponentSettings, "UpdateStatusPageComponentRequest", partial=True, names=_NAMES),
        example={"status": "partial_outage", "statusMessage": "Some requests fail"},
        needs_body=False,
    ),
    f"DELETE {_PARTS}/components/{{componentId}}": Operation(summary="Delete a component", status=204),
}
_OF_INCIDENTS: dict[str, Operation] = {
    f"GET {_PAGES}/{{id}}/incidents": Operation(
        summary="List the incidents of a status page, newest first",
        answer=page(_INCIDENT),
        query=(
            query("open", flag(), "Only those that are open, or that are resolved"),
            query("severity", _SEVERITY, "Only those as severe"),
            *PAGED,
        ),
    ),
    f"POST {_PAGES}/{{id}}/incidents": Operation(
        summary="Publish an incident or scheduled maintenance",
        status=201,
        answer=_INCIDENT,
        body=request(PageIncidentSettings, "CreateStatusPageIncidentRequest", names=_NAMES),
        example={"title": "Checkout is slow", "severity": "minor", "message": "We look into it"},
    ),
    f"GET {_PARTS}/incidents/{{incidentId}}": Operation(
        summary="Read an incident with its updates", answer=_INCIDENT
    ),
    f"PUT {_PARTS}/incidents/{{incidentId}}": Operation(
        summary="Post an update, or resolve the incident",
        answer=_INCIDENT,
        body=Named("UpdateStatusPageIncidentRequest", _news),
        example={"status": "resolved", "message": "All is well again"},
    ),
    f"DELETE {_PARTS}/incidents/{{incidentId}}": Operation(
        summary="Delete an incident from the status page", status=204
    ),
}
_OF_SUBSCRIBERS: dict[str, Operation] = {
    f"GET {_PAGES}/{{id}}/subscribers": Operation(
        summary="List the subscribers of a status page",
        answer=_SUBSCRIBERS,
        query=PAGED,
    ),
    f"POST {_PAGES}/{{id}}/subscribers": Operation(
        summary="Add a subscriber",
        status=201,
        answer=_SUBSCRIBER,
        body=request(SubscriberSettings, "CreateStatusPageSubscriberRequest", names=_NAMES),
        example={"email": "name@example.com"},
        more={409: "This address has subscribed already"},
    ),
    f"GET {_PARTS}/subscribers/{{subscriberId}}": Operation(summary="Read a subscriber", answer=_SUBSCRIBER),
    f"PUT {_PARTS}/subscribers/{{subscriberId}}": Operation(
        summary="Update what a subscriber is notified of",
        answer=_SUBSCRIBER,
        body=request(SubscriberSettings, "UpdateStatusPageSubscriberRequest", partial=True, names=_NAMES),
        example={"preferences": {"maintenance": False}},
        needs_body=False,
    ),
    f"DELETE {_PARTS}/subscribers/{{subscriberId}}": Operation(summary="Delete a subscriber", status=204),
}
_SAME_NAME = {409: "Another incident template has this name, or there are too many"}
_OF_TEMPLATES: dict[str, Operation] = {
    "GET /v1/incident-templates": Operation(
        summary="List the templates of incidents on status pages", answer=listing(_TEMPLATE), query=PAGED
    ),
    "POST /v1/incident-templates": Operation(
        summary="Create a template of incidents on status pages",
        status=201,
        answer=_TEMPLATE,
        body=request(IncidentTemplateSettings, "CreateIncidentTemplateRequest", names=_NAMES),
        example={
            "name": "Slow checkout",
            "title": "Problem with {component}",
            "message": "{component} answers slowly since {began}.",
        },
        more=_SAME_NAME,
    ),
    "GET /v1/incident-templates/{id}": Operation(
        summary="Read a template of incidents on status pages", answer=_TEMPLATE
    ),
    "PUT /v1/incident-templates/{id}": Operation(
        summary="Update a template of incidents on status pages",
        answer=_TEMPLATE,
        body=request(IncidentTemplateSettings, "UpdateIncidentTemplateRequest", partial=True, names=_NAMES),
        example={"severity": "major"},
        needs_body=False,
        more=_SAME_NAME,
    ),
    "DELETE /v1/incident-templates/{id}": Operation(
        summary="Delete a template of incidents on status pages", status=204
    ),
}
OPERATIONS: dict[str, Operation] = {
    **_OF_PAGES,
    **_OF_COMPONENTS,
    **_OF_INCIDENTS,
    **_OF_SUBSCRIBERS,
    **_OF_TEMPLATES,
}
