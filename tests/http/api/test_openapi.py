"""The description of the API: it is OpenAPI, and says what the routes and the interface say."""

import json
import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from collector.events.core.kinds import CHANGES, DELIVERED, EventKind
from collector.notifications.channels import CHANNELS
from collector.openapi import OPERATIONS
from collector.operation_names import EXCEPTIONS, operation_name
from collector.routes import ROUTES
from shared.kinds import TYPES
from tests.http.client import Api
from tests.http.described import described
from tests.http.fixtures import PUBLIC_URL

pytestmark = pytest.mark.shares_server

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
    "(acknowledge|apply|change|check|create|delete|drain|end|explain|export|get|invite|list|pause|ping|preview|reopen|"
    "patch|resend|resolve|resume|revoke|rotate|scrape|signal|silence|snooze|stream|test|undrain|unsilence|update|verify|"
    "write)([A-Z][a-z]+)+"
)
ROUTED = {f"{method} {path}" for method, path, _, _ in ROUTES if path.startswith("/v1/")}


def listed(text: str) -> set[str]:
    return set(filter(None, map(str.strip, text.splitlines())))


@pytest.fixture
def document() -> dict[str, Any]:
    return described()


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
        ("PATCH /v1/monitors/{id}", "patchMonitor"),
        ("PUT /v1/monitors/{id}", "updateMonitor"),
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


def body_of(document: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    """The schema of a body, in which references lead somewhere."""
    content = document["paths"][path][method]["requestBody"]["content"]["application/json"]
    return {**content["schema"], "components": document["components"]}


def schema_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = document["components"]["schemas"][name]
    return found


@pytest.mark.parametrize(
    ("name", "types"), [("CreateMonitorRequest", TYPES), ("CreateAlertChannelRequest", CHANNELS)]
)
def test_the_type_of_a_body_says_which_configuration_it_has(
    document: dict[str, Any], name: str, types: Collection[str]
) -> None:
    union = schema_of(document, name)
    mapping = union["discriminator"]["mapping"]

    assert union["discriminator"]["propertyName"] == "type"
    assert set(mapping) == set(types)
    assert [item["$ref"] for item in union["oneOf"]] == list(mapping.values())
    for type_, place in mapping.items():
        _, own = schema_of(document, place.rpartition("/")[2])["allOf"]
        assert own["properties"]["type"]["const"] == type_
        assert own["properties"]["config"]["$ref"].endswith("Config")


def test_the_subtype_of_a_web3_monitor_says_which_configuration_it_has(document: dict[str, Any]) -> None:
    union = schema_of(document, "Web3MonitorConfig")

    assert union["discriminator"]["propertyName"] == "subType"
    for type_, place in union["discriminator"]["mapping"].items():
        own = schema_of(document, place.rpartition("/")[2])
        assert own["properties"]["subType"]["const"] == type_
        assert "subType" in own["required"]


@pytest.mark.parametrize(
    ("config", "fits"),
    [
        ({"type": "http", "config": {"url": "https://shop.example.com/"}}, True),
        ({"type": "http", "config": {"host": "shop.example.com"}}, False),
        ({"type": "http"}, False),
        ({"type": "tcp", "config": {"host": "shop.example.com", "port": 443}}, True),
        ({"type": "prometheus"}, True),
        ({"type": "gas_price", "config": {"chain": "ethereum", "thresholds": {"high": 50}}}, True),
        ({"type": "web3", "config": {"chain": "ethereum", "thresholds": {"high": 50}}}, False),
        (
            {
                "type": "web3",
                "config": {"subType": "gas_price", "chain": "ethereum", "thresholds": {"high": 50}},
            },
            True,
        ),
        ({"type": "smoke", "config": {}}, False),
    ],
)
def test_a_monitor_fits_the_schema_of_its_type_alone(
    document: dict[str, Any], config: dict[str, Any], fits: bool
) -> None:
    validator = Draft202012Validator(body_of(document, "post", "/v1/monitors"))

    assert validator.is_valid({"name": "shop", **config}) == fits


def test_fields_are_named_as_in_json_with_their_bounds(document: dict[str, Any]) -> None:
    settings = schema_of(document, "MonitorSettings")
    interval = {
        key: value for key, value in settings["properties"]["interval"].items() if key != "description"
    }

    assert {"expectedStatus", "followRedirects", "verifyTls"} <= set(
        schema_of(document, "HttpMonitorConfig")["properties"]
    )
    assert interval == {"default": 60, "maximum": 86_400, "minimum": 1, "type": "integer"}
    assert settings["required"] == ["name"]


def schemas(value: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema within a part of the document, with its place; examples are none."""
    if isinstance(value, dict):
        yield place, value
        for key, each in value.items():
            if key not in {"example", "examples", "default"}:
                yield from schemas(each, f"{place}/{key}")
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from schemas(each, f"{place}[{at}]")


def test_every_property_and_operation_is_described(document: dict[str, Any]) -> None:
    bare = [
        f"{place}/{name}"
        for place, schema in schemas(document, "")
        if isinstance(schema.get("properties"), dict) and not place.endswith("/properties")
        for name, each in schema["properties"].items()
        if not each.get("description")
    ]

    assert not bare
    assert not [path for _, path, operation in operations(document) if not operation["description"]]
    tags = {tag["name"] for tag in document["tags"] if tag["description"]}
    assert {tag for _, _, operation in operations(document) for tag in operation["tags"]} == tags


def test_every_object_says_what_is_in_it(document: dict[str, Any]) -> None:
    said = {"properties", "additionalProperties", "allOf", "oneOf", "anyOf", "discriminator"}

    assert not [
        place
        for place, schema in schemas(document, "")
        if schema.get("type") == "object" and not said & schema.keys()
    ]


def test_every_answer_in_json_is_named(document: dict[str, Any]) -> None:
    for _, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            json_ = answer.get("content", {}).get("application/json")
            assert json_ is None or set(json_["schema"]) == {"$ref"}, (path, status)


def test_every_kind_of_event_is_typed(document: dict[str, Any]) -> None:
    mapping = schema_of(document, "Event")["discriminator"]["mapping"]
    failing = {EventKind.CHANNEL_FAILING, EventKind.CHANNEL_RECOVERED}

    assert set(mapping) == DELIVERED | CHANGES | failing
    assert set(document["webhooks"]) == DELIVERED | failing
    for kind, webhook in document["webhooks"].items():
        body = webhook["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert body == {"$ref": mapping[kind]}
        assert kind in schema_of(document, mapping[kind].rpartition("/")[2])["properties"]["event"]["enum"]


def test_put_and_patch_take_the_same_named_body(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method in methods.keys() & {"put", "patch", "post"}:
            body = methods[method].get("requestBody")
            if body is not None:
                assert set(body["content"]["application/json"]["schema"]) == {"$ref"}, path
        if "put" in methods:
            assert body_of(document, "put", path) == body_of(document, "patch", path)


def test_each_example_of_a_body_fits_its_schema(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        if "requestBody" in operation:
            example = operation["requestBody"]["content"]["application/json"]["example"]
            validator = Draft202012Validator(body_of(document, method, path))
            assert not [fault.message for fault in validator.iter_errors(example)], path


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


async def test_the_pages_show_every_operation_and_load_only_a_script_from_here(
    api: Api, document: dict[str, Any]
) -> None:
    shown = {operation["operationId"] for method, _, operation in operations(document) if method != "patch"}
    index = Page()
    index.feed((await api.with_token(None).get("/v1/docs")).body.decode())
    described_: set[str] = set()
    for path in sorted({link.partition("#")[0] for link in index.links if link.startswith("/v1/docs")}):
        answer = await api.with_token(None).get(path)
        page = Page()
        page.feed(answer.body.decode())

        assert (answer.status, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        described_ |= page.names if "?" in path else set()
        assert {link[1:] for link in page.links if link.startswith("#")} <= page.names
        assert not page.tags & {"link", "img", "iframe", "object", "embed", "base"}
        assert all(re.fullmatch(r"/assets/\w+/docs\.js", address) for address in page.loads)
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert not re.search(r"unsafe|\*|http", policy)

    assert described_ == shown
    assert {link.partition("#")[2] for link in index.links if "?subject=" in link} - {""} == shown
    assert shown <= index.names


async def test_a_head_of_either_has_no_body(api: Api) -> None:
    for path in ("/v1/openapi.json", "/v1/docs"):
        answer = await api.with_token(None).call("HEAD", path)
        assert (answer.status, answer.body) == (200, b"")
