"""Status pages: what the public is told, and who is told by mail."""

from collector.http.openapi.models import Named, Schema, properties, request
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    choice,
    flag,
    id_,
    listing,
    many,
    maybe,
    moment,
    page,
    plus,
    query,
    record,
    ref,
    text,
    warned,
    whole,
)
from collector.status_pages.core.fields import (
    Branding,
    ComponentOrder,
    ComponentSettings,
    NewPage,
    PageIncidentSettings,
    PageSettings,
    Preferences,
    SubscriberSettings,
)
from collector.status_pages.core.status_page import SEVERITIES, STATUSES

TAG = "Status pages"
_STATUS = choice(*STATUSES)
_PHASE = choice("investigating", "identified", "monitoring", "resolved")
_SEVERITY = choice(*SEVERITIES)
_COMPONENT = record(
    id=id_("comp"),
    name=text("API"),
    description=text("What our apps talk to"),
    group=maybe(text("Europe")),
    monitorId=maybe(id_("mon")),
    order=whole(1),
    status=_STATUS,
    statusMode=choice("auto", "manual"),
    statusMessage=text(""),
    notMeasuredSince=maybe(moment()),
    createdAt=moment(),
    updatedAt=moment(),
)
_PROOF = record(
    record=record(type=text("TXT"), name=text("_tocsin.status.example.com"), value=text("tocsin=sp_...")),
    file=record(url=text("https://status.example.com/.well-known/tocsin"), content=text("tocsin=sp_...")),
)
_PAGE = record(
    id=id_("sp"),
    name=text("Example"),
    slug=text("example"),
    domain=maybe(text("status.example.com")),
    domainVerified=maybe(flag(True)),
    domainProof=maybe(_PROOF),
    url=text("https://tocsin.example.com/status/example"),
    visibility=choice("public", "private", "unlisted"),
    passwordSet=flag(False),
    branding=record(logo=maybe(text()), primaryColor=maybe(text("#1a7f5a")), customCss=maybe(text())),
    subscribers=whole(0),
    revision=whole(1),
    createdAt=moment(),
    updatedAt=moment(),
)
_INCIDENT = record(
    id=id_("spi"),
    title=text("Checkout is slow"),
    status=_PHASE,
    severity=_SEVERITY,
    affectedComponents=many(id_("comp")),
    componentStatus=maybe(_STATUS),
    scheduledStart=maybe(moment()),
    scheduledEnd=maybe(moment()),
    message=text("We look into it"),
    publishedAt=moment(),
    updatedAt=moment(),
    resolvedAt=maybe(moment()),
    updates=many(record(timestamp=moment(), status=_PHASE, message=text("We look into it"))),
)
_SUBSCRIBER = record(
    id=id_("sub"),
    email=maybe(text("name@example.com")),
    webhookUrl=maybe(text("https://hooks.example.com/status")),
    verified=flag(False),
    preferences=record(incidents=flag(), maintenance=flag()),
    components=many(id_("comp")),
    subscribedAt=moment(),
)
SCHEMAS: dict[str, Schema] = {
    "StatusPageSummary": plus(_PAGE, components=whole(1)),
    "StatusPage": warned(plus(_PAGE, status=_STATUS, components=many(ref("StatusPageComponent")))),
    "StatusPageComponent": warned(_COMPONENT),
    "StatusPageIncident": warned(_INCIDENT),
    "StatusPageSubscriber": warned(_SUBSCRIBER),
}


def _news() -> Schema:
    return {**properties(PageIncidentSettings, partial=True), "required": ["message"]}


_NAMES = (
    (Branding, "StatusPageBranding"),
    (ComponentSettings, "CreateStatusPageComponentRequest"),
    (Preferences, "SubscriberPreferences"),
)
_PAGES, _PARTS = "/v1/status-pages", "/v1/status-pages/{pageId}"
_TAKEN = {409: "Another status page has this slug or domain, or the domain is the service's own"}
_COMPONENTS = record(data=many(ref("StatusPageComponent")))
_OF_PAGES: dict[str, Operation] = {
    f"GET {_PAGES}": Operation(
        summary="List status pages", answer=listing(ref("StatusPageSummary")), query=PAGED
    ),
    f"POST {_PAGES}/{{id}}/verify-domain": Operation(
        summary="Look for the proof of a page's domain now",
        answer=ref("StatusPage"),
        tagged=True,
    ),
    f"POST {_PAGES}": Operation(
        summary="Make a status page",
        status=201,
        answer=ref("StatusPage"),
        body=request(NewPage, "CreateStatusPageRequest", names=_NAMES),
        example={"name": "Example", "slug": "example", "components": [{"name": "API"}]},
        more=_TAKEN,
    ),
    f"GET {_PAGES}/{{id}}": Operation(
        summary="Read a status page with its components", answer=ref("StatusPage"), tagged=True
    ),
    f"PUT {_PAGES}/{{id}}": Operation(
        summary="Change a status page",
        answer=ref("StatusPage"),
        body=request(PageSettings, "UpdateStatusPageRequest", partial=True, names=_NAMES),
        example={"branding": {"primaryColor": "#1a7f5a"}},
        needs_body=False,
        tagged=True,
        more=_TAKEN,
    ),
    f"DELETE {_PAGES}/{{id}}": Operation(
        summary="Delete a status page and all that is on it", status=204, tagged=True
    ),
}
_OF_COMPONENTS: dict[str, Operation] = {
    f"GET {_PAGES}/{{id}}/components": Operation(
        summary="List the components of a status page",
        answer=listing(ref("StatusPageComponent")),
        query=PAGED,
    ),
    f"POST {_PAGES}/{{id}}/components": Operation(
        summary="Add a component",
        status=201,
        answer=ref("StatusPageComponent"),
        body=request(ComponentSettings, "CreateStatusPageComponentRequest", names=_NAMES),
        example={"name": "API", "description": "What our apps talk to"},
    ),
    f"PUT {_PAGES}/{{id}}/components": Operation(
        summary="Put the components in another order",
        answer=warned(_COMPONENTS),
        body=request(ComponentOrder, "OrderStatusPageComponentsRequest", names=_NAMES),
        example={"components": []},
    ),
    f"GET {_PARTS}/components/{{componentId}}": Operation(
        summary="Read a component", answer=ref("StatusPageComponent")
    ),
    f"PUT {_PARTS}/components/{{componentId}}": Operation(
        summary="Change a component, or set its status by hand",
        answer=ref("StatusPageComponent"),
        body=request(ComponentSettings, "UpdateStatusPageComponentRequest", partial=True, names=_NAMES),
        example={"status": "partial_outage", "statusMessage": "Some requests fail"},
        needs_body=False,
    ),
    f"DELETE {_PARTS}/components/{{componentId}}": Operation(summary="Delete a component", status=204),
}
_OF_INCIDENTS: dict[str, Operation] = {
    f"GET {_PAGES}/{{id}}/incidents": Operation(
        summary="List the incidents of a status page, newest first",
        answer=page(ref("StatusPageIncident")),
        query=(
            query("open", flag(), "Only those that are open, or that are resolved"),
            query("severity", _SEVERITY, "Only those as severe"),
            *PAGED,
        ),
    ),
    f"POST {_PAGES}/{{id}}/incidents": Operation(
        summary="Publish an incident, or maintenance that is planned",
        status=201,
        answer=ref("StatusPageIncident"),
        body=request(PageIncidentSettings, "CreateStatusPageIncidentRequest", names=_NAMES),
        example={"title": "Checkout is slow", "severity": "minor", "message": "We look into it"},
    ),
    f"GET {_PARTS}/incidents/{{incidentId}}": Operation(
        summary="Read an incident with its updates", answer=ref("StatusPageIncident")
    ),
    f"PUT {_PARTS}/incidents/{{incidentId}}": Operation(
        summary="Say how an incident goes on, or that it is resolved",
        answer=ref("StatusPageIncident"),
        body=Named("UpdateStatusPageIncidentRequest", _news),
        example={"status": "resolved", "message": "All is well again"},
    ),
    f"DELETE {_PARTS}/incidents/{{incidentId}}": Operation(
        summary="Delete an incident, as if it had never been told", status=204
    ),
}
_OF_SUBSCRIBERS: dict[str, Operation] = {
    f"GET {_PAGES}/{{id}}/subscribers": Operation(
        summary="List the subscribers of a status page",
        answer=record(
            data=many(ref("StatusPageSubscriber")),
            meta=record(("page", "limit"), total=whole(1), page=whole(1), limit=whole(20)),
        ),
        query=PAGED,
    ),
    f"POST {_PAGES}/{{id}}/subscribers": Operation(
        summary="Add a subscriber",
        status=201,
        answer=ref("StatusPageSubscriber"),
        body=request(SubscriberSettings, "CreateStatusPageSubscriberRequest", names=_NAMES),
        example={"email": "name@example.com"},
        more={409: "This address has subscribed already"},
    ),
    f"GET {_PARTS}/subscribers/{{subscriberId}}": Operation(
        summary="Read a subscriber", answer=ref("StatusPageSubscriber")
    ),
    f"PUT {_PARTS}/subscribers/{{subscriberId}}": Operation(
        summary="Change what a subscriber hears of",
        answer=ref("StatusPageSubscriber"),
        body=request(SubscriberSettings, "UpdateStatusPageSubscriberRequest", partial=True, names=_NAMES),
        example={"preferences": {"maintenance": False}},
        needs_body=False,
    ),
    f"DELETE {_PARTS}/subscribers/{{subscriberId}}": Operation(summary="Delete a subscriber", status=204),
}
OPERATIONS: dict[str, Operation] = {**_OF_PAGES, **_OF_COMPONENTS, **_OF_INCIDENTS, **_OF_SUBSCRIBERS}
