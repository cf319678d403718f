"""The description of the API: it is OpenAPI, and says what the routes and the interface say."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from collector.http.auth import NEEDS
from collector.notifications.channels import CHANNELS
from collector.openapi import OPERATIONS, build
from collector.operation_names import EXCEPTIONS, operation_name
from collector.routes import ROUTES, register
from shared.kinds import KINDS, TYPES
from tests.api.client import Api
from tests.api.conftest import PUBLIC_URL

# The table of endpoints of the interface; what does not run yet is on the second list.
INTERFACE = """
    GET /v1/monitors
    GET /v1/monitors/{id}
    POST /v1/monitors
    PUT /v1/monitors/{id}
    DELETE /v1/monitors/{id}
    POST /v1/monitors/test
    GET /v1/monitors/{id}/results
    POST /v1/monitors/{id}/pause
    POST /v1/monitors/{id}/resume
    POST /v1/monitors/{id}/silence
    DELETE /v1/monitors/{id}/silence
    GET /v1/me
    GET /v1/incidents
    GET /v1/incidents/{id}
    POST /v1/incidents
    POST /v1/incidents/{id}/acknowledge
    POST /v1/incidents/{id}/resolve
    POST /v1/incidents/{id}/reopen
    POST /v1/incidents/{id}/notes
    GET /v1/incidents/{id}/timeline
    GET /v1/incidents/stats
    GET /v1/alert-rules
    POST /v1/alert-rules
    PUT /v1/alert-rules/{id}
    DELETE /v1/alert-rules/{id}
    GET /v1/alert-channels
    POST /v1/alert-channels
    PUT /v1/alert-channels/{id}
    DELETE /v1/alert-channels/{id}
    POST /v1/alert-channels/{id}/test
    GET /v1/status-pages
    GET /v1/status-pages/{id}
    POST /v1/status-pages
    PUT /v1/status-pages/{id}
    DELETE /v1/status-pages/{id}
    POST /v1/status-pages/{id}/components
    PUT /v1/status-pages/{pageId}/components/{componentId}
    DELETE /v1/status-pages/{pageId}/components/{componentId}
    POST /v1/status-pages/{id}/incidents
    PUT /v1/status-pages/{pageId}/incidents/{incidentId}
    GET /v1/status-pages/{id}/subscribers
    POST /v1/status-pages/{id}/subscribers
    DELETE /v1/status-pages/{pageId}/subscribers/{subscriberId}
"""
NOT_YET = ""
VERB_AND_NOUN = re.compile(
    "(acknowledge|apply|change|create|delete|drain|end|explain|export|get|invite|list|pause|ping|preview|reopen|"
    "replace|resend|resolve|resume|revoke|rotate|scrape|signal|silence|stream|test|undrain|unsilence|update|verify|"
    "write)([A-Z][a-z]+)+"
)
ROUTED = {f"{method} {path}" for method, path, _, _ in ROUTES if path.startswith("/v1/")}


def listed(text: str) -> set[str]:
    return set(filter(None, map(str.strip, text.splitlines())))


class App(dict[Any, Any]):
    """As much of an application as routes are put into."""

    @property
    def router(self) -> "App":
        return self

    def add_route(self, *_: object) -> None: ...


@pytest.fixture
def document() -> dict[str, Any]:
    app = App()
    register(app)  # type: ignore[arg-type]
    return build(app[NEEDS], PUBLIC_URL)


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_it_is_openapi(document: dict[str, Any]) -> None:
    OpenAPIV31SpecValidator(json.loads(json.dumps(document))).validate()


def test_each_route_is_described_and_nothing_else_is() -> None:
    assert set(OPERATIONS) == ROUTED


def test_each_endpoint_of_the_interface_is_there_or_on_the_list_of_those_to_come() -> None:
    assert listed(INTERFACE) <= ROUTED
    assert not listed(NOT_YET) & ROUTED


def test_each_operation_tells_how_it_may_fail(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        told = set(operation["responses"])
        assert {"400", "429", "500", "503"} <= told, path
        assert "401" in told or operation["security"] == [], path
        assert "404" in told or "{" not in path, path
        assert {"409", "413"} <= told or method == "get", path


def test_operations_are_named_once_by_verb_and_noun(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]

    assert len(names) == len(set(names))
    assert not [name for name in names if not VERB_AND_NOUN.fullmatch(name)]


@pytest.mark.parametrize(
    ("route", "name"),
    [
        ("GET /v1/monitors", "listMonitors"),
        ("POST /v1/monitors", "createMonitor"),
        ("GET /v1/monitors/{id}", "getMonitor"),
        ("PATCH /v1/monitors/{id}", "updateMonitor"),
        ("PUT /v1/monitors/{id}", "replaceMonitor"),
        ("DELETE /v1/monitors/{id}", "deleteMonitor"),
        ("POST /v1/monitors/{id}/pause", "pauseMonitor"),
        ("POST /v1/incidents/{id}/acknowledge", "acknowledgeIncident"),
        ("POST /v1/incidents/{id}/notes", "createIncidentNote"),
        ("GET /v1/incidents/{id}/timeline", "getIncidentTimeline"),
        ("GET /v1/status-pages/{id}/subscribers", "listStatusPageSubscribers"),
        ("DELETE /v1/status-pages/{pageId}/subscribers/{subscriberId}", "deleteStatusPageSubscriber"),
    ],
)
def test_operations_are_named_as_functions_of_a_library(route: str, name: str) -> None:
    assert operation_name(*route.split(" ")) == name


def test_each_exceptional_name_is_of_a_route() -> None:
    assert {route.replace("PATCH ", "PUT ") for route in EXCEPTIONS} <= ROUTED


def test_every_type_of_monitor_and_channel_has_its_schema(document: dict[str, Any]) -> None:
    for path, types, configs in (("/v1/monitors", TYPES, KINDS), ("/v1/alert-channels", CHANNELS, CHANNELS)):
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert {one["title"] for one in body["properties"]["config"]["anyOf"]} == set(configs)
        assert set(body["properties"]["type"]["enum"]) == set(types)


def test_fields_are_named_as_in_json_with_their_bounds(document: dict[str, Any]) -> None:
    body = document["paths"]["/v1/monitors"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    http = next(one for one in body["properties"]["config"]["anyOf"] if one["title"] == "http")

    assert {"expectedStatus", "followRedirects", "verifyTls"} <= set(http["properties"])
    assert body["properties"]["interval"] == {
        "default": 60,
        "maximum": 86_400,
        "minimum": 1,
        "type": "integer",
    }
    assert body["required"] == ["name", "type"]
    assert "$ref" not in json.dumps(body)


def test_each_example_of_a_body_fits_its_schema(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        if "requestBody" in operation:
            content = operation["requestBody"]["content"]["application/json"]
            faults = [
                fault.message
                for fault in Draft202012Validator(content["schema"]).iter_errors(content["example"])
            ]
            assert not faults, path


async def test_it_is_served_without_a_token(api: Api, document: dict[str, Any]) -> None:
    answer = await api.with_token(None).get("/v1/openapi.json")

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert answer.json == json.loads(json.dumps(document))
    assert answer.json["servers"] == [{"url": PUBLIC_URL}]


class Page(HTMLParser):
    """What a page has in it."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.names |= {given["id"] or ""} if "id" in given else set()
        self.links |= {given["href"] or ""} if tag == "a" else set()
        self.loads |= {given[name] or "" for name in ("src", "srcset", "style") if name in given}
        self.loads |= {name for name in given if name.startswith("on")}


async def test_the_page_shows_every_operation_and_loads_nothing(api: Api, document: dict[str, Any]) -> None:
    answer = await api.with_token(None).get("/v1/docs")
    page = Page()
    page.feed(answer.body.decode())

    assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    shown = {operation["operationId"] for method, _, operation in operations(document) if method != "patch"}
    assert page.names == shown
    assert page.links == {f"#{name}" for name in shown} | {"/v1/openapi.json"}
    assert not page.tags & {"script", "link", "img", "iframe", "form", "object", "embed", "base"}
    assert not page.loads
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert not re.search(r"unsafe|\*|http", policy)


async def test_a_head_of_either_has_no_body(api: Api) -> None:
    for path in ("/v1/openapi.json", "/v1/docs"):
        answer = await api.with_token(None).call("HEAD", path)
        assert (answer.status, answer.body) == (200, b"")
