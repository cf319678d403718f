"""Builds the OpenAPI document from the routes and the features' descriptions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final

from collector import event_openapi as events
from collector.accounts import openapi as access
from collector.alerts import openapi as alerting
from collector.declarative import openapi as declared
from collector.heartbeats import openapi as pings
from collector.http.openapi.models import Components, Schema, answer
from collector.http.openapi.parts import Operation, named, query, record, text, whole
from collector.incidents import openapi as incidents
from collector.maintenance import openapi as maintenance
from collector.metrics import openapi as metrics
from collector.monitors import openapi as monitors
from collector.notifications import openapi as channels
from collector.operation_names import operation_name
from collector.platform.access import Permission
from collector.platform.answers import Example, Omitted
from collector.reports import openapi as reports
from collector.slos import openapi as slos
from collector.status_pages import openapi as status_pages
from shared import __version__

GROUPS: Final = (
    monitors,
    pings,
    metrics,
    incidents,
    events,
    alerting,
    channels,
    maintenance,
    slos,
    status_pages,
    reports,
    declared,
    access,
)
_DESCRIBED: Final = "Description"
_DOCUMENT: Final = named(
    "OpenApiDocument",
    record(
        openapi=text("3.1.0", description="Version of OpenAPI."),
        info={"description": "Name and version of the API.", "additionalProperties": {}, "type": "object"},
        paths={"description": "The operations.", "additionalProperties": {}, "type": "object"},
    ),
)
_SCHEMA: Final = named(
    "ApplySchema",
    {
        "type": "object",
        "description": "A schema by which editors check and complete such files.",
        "additionalProperties": {"description": "A keyword of JSON Schema 2020-12."},
    },
)
_SELF: Final[dict[str, Operation]] = {
    "GET /v1/openapi.json": Operation(summary="This documentation", answer=_DOCUMENT),
    "GET /v1/apply-schema.json": Operation(
        summary="The JSON Schema of the files of tocsin apply",
        media="application/schema+json",
        answer=_SCHEMA,
    ),
    "GET /v1/docs": Operation(
        summary="The same for people",
        media="text/html",
        query=(
            query("subject", {"type": "string"}, "The page of a subject; without it the introduction"),
            query("q", {"type": "string"}, "Only operations with these words in the introduction's list"),
        ),
        more={404: "There is no page of this subject"},
        answer={"type": "string"},
        headers={
            "Cache-Control": "Ask each time",
            "Content-Security-Policy": "Scripts from here only, nothing from elsewhere",
            "Referrer-Policy": "Links from here do not name this page",
            "Permissions-Policy": "No devices",
        },
    ),
}
OPERATIONS: Final[dict[str, tuple[str, Operation]]] = {
    **{key: (group.TAG, operation) for group in GROUPS for key, operation in group.OPERATIONS.items()},
    **{key: (_DESCRIBED, operation) for key, operation in _SELF.items()},
}
_ABOUT: Final = """
Send `Authorization: Bearer <token>` with every request. Bodies are JSON, whatever their content type says; a
field that nobody knows is ignored and named in `warnings`. `HEAD` answers as `GET` without the body, `PATCH`
means `PUT`. A path that lacks a method answers 405 with `Allow`. Times are RFC 3339 UTC, with milliseconds.
"""
_WHY: Final[Mapping[int, str]] = {
    400: "What was sent cannot be done; `details` names each bad field",
    401: "The token is missing, invalid, expired or revoked",
    403: "The token does not permit this",
    404: "There is no such thing",
    408: "The body did not come in good time",
    409: "Somebody else changed it at the same time, or this Idempotency-Key is another request's",
    412: "If-Match names another revision than the present one",
    413: "The body is larger than 1 MiB",
    415: "The body is neither as it is nor packed with gzip",
    429: "There were too many requests; come back after `retryAfter` seconds",
    500: "Something went wrong here; it is logged under the request's id",
    503: "This cannot be done right now; try again after `retryAfter` seconds",
}
_NAMES: Final[Mapping[int, str]] = {
    413: "PayloadTooLarge",
    **{
        status: HTTPStatus(status).phrase.title().replace(" ", "")
        for status in (400, 401, 403, 404, 408, 409, 412, 415, 429, 500, 503)
    },
}
_HEADERS: Final[Mapping[str, tuple[Schema, str]]] = {
    "X-Request-Id": (text("6f1c2d"), "The caller's, or a new one; it is in the logs"),
    "X-RateLimit-Limit": (whole(1000), "Requests per minute that refill the bucket"),
    "X-RateLimit-Burst": (whole(2000), "Requests that the bucket holds at most"),
    "X-RateLimit-Remaining": (whole(1999), "Requests that are left in it"),
    "X-RateLimit-Reset": (whole(1_795_245_840), "When it is full again: Unix time in seconds"),
    "X-Content-Type-Options": (text("nosniff"), "It is what its content type says"),
    "Strict-Transport-Security": (text("max-age=15552000"), "Where this service is reached over https"),
    "Retry-After": (whole(1), "Seconds to wait"),
    "ETag": (text('"1"'), "The revision, in quotes"),
    "Link": (text('<https://tocsin.example.com/v1/monitors?page=2>; rel="next"'), "The pages beside it"),
    "Location": (text("https://tocsin.example.com/v1/monitors/mon_..."), "Where what was made is"),
    "Idempotent-Replayed": (text("true"), "Only where this is the answer of an earlier request"),
    "WWW-Authenticate": (text("Bearer"), "How to say who you are"),
    "Cache-Control": (text("no-store"), "Whether anybody may keep it"),
}
_ALWAYS: Final = ("X-Request-Id", *(name for name in _HEADERS if name.startswith("X-RateLimit")),
                  "X-Content-Type-Options")  # fmt: skip
# Headers of errors; a repeated idempotent response may be an error.
_USUAL: Final = (*_ALWAYS, "Strict-Transport-Security", "Idempotent-Replayed")


# Descriptions of operations that need no API token.
_OPEN: Final = {
    "Heartbeats": "Needs no token: the key in the path is the permission.",
    "Metrics": "Needs no token of the API but the one of the monitor.",
}


def build(needs: Mapping[tuple[str, str], Permission | None], public_url: str) -> dict[str, Any]:
    """Build the document; *needs*: every route by method and path, with the permission it requires."""
    components = Components()
    paths: dict[str, Any] = {}
    for (method, path), needed in needs.items():
        if path.startswith("/v1/") and method != "HEAD":
            known = OPERATIONS.get(f"{_as_written(method)} {path}")
            if known is not None:
                described = _operation(method, path, needed, *known)
                paths.setdefault(path, {})[method.lower()] = components.settled(described)
    webhooks = components.settled(events.webhooks())
    responses = components.settled({_NAMES[status]: _error(status) for status in _WHY})
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tocsin", "version": __version__, "description": _ABOUT.strip()},
        "servers": [{"url": public_url}],
        "security": [{"token": []}],
        "tags": [
            *({"name": group.TAG, "description": _sentence(group.__doc__)} for group in GROUPS),
            {"name": _DESCRIBED, "description": "This description of the API, for programs and for people."},
        ],
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": dict(sorted(components.schemas.items())),
            "responses": responses,
            "headers": {
                name: {"schema": schema, "description": text, "required": name in _ALWAYS}
                for name, (schema, text) in _HEADERS.items()
            },
        },
    }


def _as_written(method: str) -> str:
    return "PUT" if method == "PATCH" else method


def _operation(
    method: str, path: str, needed: Permission | None, tag: str, operation: Operation
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": operation_name(method, path),
        "summary": operation.summary,
        "tags": [tag],
        "parameters": _parameters(method, path, operation),
        "responses": _responses(method, path, needed, operation),
    }
    if needed is None:
        made["security"] = []
        made["description"] = _OPEN.get(tag, "Needs no token.")
    else:
        made["description"] = f"Needs a token that is {needed.value}, or more."
    if operation.body is not None:
        content = {"schema": operation.body, "example": operation.example}
        made["requestBody"] = {
            "required": operation.needs_body and method != "PATCH",
            "content": {"application/json": content},
        }
    return made


def _parameters(method: str, path: str, operation: Operation) -> list[Schema]:
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    inside = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]
    headers: dict[str, str] = {}
    if method == "POST":
        headers["Idempotency-Key"] = "The same key again gets the first answer again, for 24 hours"
    if operation.tagged:
        if method == "GET":
            headers["If-None-Match"] = "An ETag; 304 if it is still the present one"
        else:
            headers["If-Match"] = "An ETag; 412 if it is no more the present one"
    outside = [
        {"name": name, "in": "header", "description": text_, "schema": {"type": "string"}}
        for name, text_ in headers.items()
    ]
    return [*inside, *operation.query, *outside]


def _responses(method: str, path: str, needed: Permission | None, operation: Operation) -> dict[str, Any]:
    own = _own_headers(operation)
    good: dict[str, Any] = {
        "description": operation.summary,
        "headers": _headers(method, path, operation) | own,
    }
    if operation.answer is not None:
        good["content"] = {operation.media: {"schema": operation.answer}}
    made: dict[str, Any] = {str(operation.status): good}
    if operation.tagged and method == "GET":
        made["304"] = {"description": "It is as it was", "headers": _headers(method, path, operation)}
    for status in sorted(_failures(method, path, needed, operation)):
        made[str(status)] = {"$ref": f"#/components/responses/{_NAMES[status]}"}
    return made | {str(status): _error(status, why, own) for status, why in operation.more.items()}


def _failures(method: str, path: str, needed: Permission | None, operation: Operation) -> set[int]:
    """The statuses of errors common to such operations."""
    changes = method != "GET"
    maybe = {
        400: True,
        401: needed is not None,
        403: needed not in {None, Permission.READ_ONLY},
        404: "{" in path,
        408: changes,
        409: changes,
        412: changes and operation.tagged,
        413: changes,
        415: changes,
        429: True,
        500: True,
        503: True,
    }
    return {status for status, applies in maybe.items() if applies}


def _headers(method: str, path: str, operation: Operation) -> dict[str, Schema]:
    _, made = OPERATIONS.get(f"GET {path}/{{id}}", ("", operation))
    maybe = {
        "ETag": (operation.tagged and method != "DELETE") or (operation.status == 201 and made.tagged),
        "Cache-Control": operation.tagged and method == "GET",
        "Link": any(parameter["name"] == "page" for parameter in operation.query),
        "Location": operation.status == 201,
        "Idempotent-Replayed": method == "POST",
    }
    names = (*_ALWAYS, "Strict-Transport-Security", *(name for name, applies in maybe.items() if applies))
    return _named(names)


def _named(names: Iterable[str]) -> dict[str, Schema]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _own_headers(operation: Operation) -> dict[str, Schema]:
    return {
        name: {"description": why, "schema": {"type": "string"}} for name, why in operation.headers.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """The body of every error response."""

    error: Annotated[str, Example("Not Found")]
    """Phrase of the status."""
    message: Annotated[str, Example("Monitor not found")]
    """Human-readable error message."""
    status: Annotated[int, Example(404)]
    """HTTP status."""
    details: Annotated[dict[str, str] | None, Omitted()] = None
    """Error of each bad field, by its path; present with 400."""
    retry_after: Annotated[int | None, Example(1), Omitted()] = None
    """Seconds to wait before retrying; present with 429 and 503."""


_ERROR: Final = answer(Error, "Error")


def _error(status: int, why: str | None = None, more: Mapping[str, Schema] | None = None) -> dict[str, Any]:
    name = {413: "Payload Too Large"}.get(status) or HTTPStatus(status).phrase
    example: dict[str, Any] = {
        "error": name,
        "message": (why or _WHY[status]).partition(";")[0],
        "status": status,
    }
    own = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}.get(status, ())
    if status == 400:
        example["details"] = {"url": "URL is required"}
    if status in {429, 503}:
        example["retryAfter"] = 1
    return {
        "description": why or _WHY[status],
        "headers": _named((*_USUAL, *own)) | dict(more or {}),
        "content": {"application/json": {"schema": _ERROR, "example": example}},
    }


def _sentence(doc: str | None) -> str:
    return (doc or "").strip()
