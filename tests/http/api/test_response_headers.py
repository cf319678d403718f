"""Real answers bear the headers that the description names, neither fewer nor more, on every route."""

import io
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
import pytest_asyncio

from collector.http.request_data import MAX_BODY
from collector.openapi import OPERATIONS
from tests.events.sse import listening
from tests.http.client import Answer, Api
from tests.http.described import described as made_document
from tests.http.route_table import BODIES, NEED_A_PROBE, Route, collection, made, prepared, unknown
from tests.metrics.senders import Metrics, running
from tests.remote_write import first, named, varint

pytestmark = [pytest.mark.races, pytest.mark.shares_server]

# What HTTP itself needs, and no description of an API names.
OF_HTTP = {"content-type", "content-length", "date", "server", "connection", "transfer-encoding"}
STREAM = ("GET", "/v1/events")
ROUTES: list[Route] = sorted((method, path) for method, _, path in (key.partition(" ") for key in OPERATIONS))
BY_KEY = [route for route in ROUTES if route[1].startswith(("/v1/ping/", "/v1/ingest/"))]
BY_TOKEN = [route for route in ROUTES if route not in BY_KEY]
ANSWERED = [route for route in BY_TOKEN if route != STREAM and route[1] not in NEED_A_PROBE]
SAMPLE = first((named("up"), 1_795_245_840_000, 1.0))


@pytest.fixture
def described() -> dict[str, Any]:
    """The description, which is served as it is made: see test_openapi.py."""
    return made_document()


@pytest_asyncio.fixture(loop_scope="module")
async def metrics(api: Api) -> AsyncIterator[Metrics]:
    async with running(api) as found:
        yield found


def agree(document: Mapping[str, Any], route: Route, status: int, headers: Mapping[str, str]) -> None:
    """Has the answer each header that every such answer has, and none that no such answer has?"""
    method, path = route
    answers = document["paths"][path][method.lower()]["responses"]
    assert str(status) in answers, (status, sorted(answers))
    named_ = _whole(document, "responses", answers[str(status)]).get("headers", {})
    known = {name.lower(): _whole(document, "headers", one) for name, one in named_.items()}
    sent = {name.lower() for name in headers} - OF_HTTP
    assert sent <= set(known), status
    assert {name for name, one in known.items() if one.get("required")} <= sent, status


def _whole(document: Mapping[str, Any], kind: str, one: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference leads to."""
    name = one.get("$ref", "").rpartition("/")[2]
    found: Mapping[str, Any] = document["components"][kind][name] if name else one
    return found


@pytest.mark.parametrize("part", sorted({collection(path) for _, path in ANSWERED}))
async def test_good_answers_have_the_headers_that_they_say(
    api: Api, described: dict[str, Any], part: str
) -> None:
    query = f"?ids={unknown('/v1/monitors/{id}').split('/')[3]}"
    for method, path in of(part):
        whole = await prepared(api, method, path)

        answer = await api.call(
            method, whole + (query if path == "/v1/monitors/uptime" else ""), BODIES.get((method, path))
        )

        assert answer.status < 300, (path, answer.body)
        agree(described, (method, path), answer.status, answer.headers)


@pytest.mark.parametrize("part", sorted({collection(path) for _, path in ANSWERED} - {"/v1/docs"}))
async def test_refusals_have_the_headers_that_they_say(
    api: Api, described: dict[str, Any], part: str
) -> None:
    reader = await api.reader()
    for method, path in of(part):
        whole = await made(api, path)
        async for answer in _refusals(api, reader, method, whole, unknown(path), BODIES.get((method, path))):
            agree(described, (method, path), answer.status, answer.headers)


def of(part: str) -> list[Route]:
    return [(method, path) for method, path in ANSWERED if collection(path) == part]


async def _refusals(
    api: Api, reader: Api, method: str, path: str, missing: str, body: Any
) -> AsyncIterator[Answer]:
    """Ways to refuse such a request: by its caller, its resource, its content."""
    yield await api.with_token(None).call(method, path)
    yield await reader.call(method, path, body)
    yield await api.call(method, missing, body)
    yield await api.call(method, path, b"{")
    yield await api.call(method, path, io.BytesIO(b" " * (MAX_BODY + 1)))
    yield await api.call(method, path, b"{}", headers={"Content-Encoding": "br"})
    yield await api.call(method, f"{path}?page=0&limit=x&from=x&status=x")
    yield await api.call(method, path, body, headers={"If-Match": '"99"', "If-None-Match": "*"})
    yield await api.call(method, path, body, headers={"Idempotency-Key": "a b"})


@pytest.mark.parametrize("route", [("POST", "/v1/monitors"), ("POST", "/v1/incidents")])
async def test_an_answer_that_is_given_again_says_so(
    api: Api, described: dict[str, Any], route: Route
) -> None:
    key = {"headers": {"Idempotency-Key": "once"}}
    await api.post(route[1], BODIES[route], **key)

    again = await api.post(route[1], BODIES[route], **key)

    assert again.headers["Idempotent-Replayed"] == "true"
    agree(described, route, again.status, again.headers)


@pytest.mark.parametrize("path", ["/v1/monitors", "/v1/audit-log"])
async def test_a_list_that_goes_on_links_to_its_next_page(
    api: Api, described: dict[str, Any], path: str
) -> None:
    for _ in range(2):
        await made(api, "/v1/monitors/{id}")

    answer = await api.get(f"{path}?limit=1")

    assert "Link" in answer.headers
    agree(described, ("GET", path), answer.status, answer.headers)


async def test_a_stream_has_the_headers_that_it_says(api: Api, described: dict[str, Any]) -> None:
    async with listening(api) as stream:
        agree(described, STREAM, stream.status, stream.headers)


@pytest.mark.parametrize("sign", ["", "/start", "/nonsense"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_ping_has_the_headers_that_it_says(
    api: Api, described: dict[str, Any], method: str, sign: str
) -> None:
    heartbeat = await made(api, "/v1/monitors/{id}/ping")
    url = (await api.get(heartbeat.removesuffix("/ping"))).json["config"]["pingUrl"]
    key = url.rpartition("/")[2]
    route = (method, "/v1/ping/{key}/{sign}" if sign else "/v1/ping/{key}")
    stranger = api.with_token(None)

    for name, status in ((key, 404 if sign == "/nonsense" else 200), ("nobody", 404)):
        answer = await stranger.call(method, f"/v1/ping/{name}{sign}")
        assert answer.status == status
        assert (answer.headers["X-RateLimit-Limit"], answer.headers["X-RateLimit-Burst"]) == ("600", "100")
        agree(described, route, answer.status, answer.headers)


async def test_a_ping_too_many_says_that_nothing_is_left(api: Api, described: dict[str, Any]) -> None:
    stranger = api.with_token(None)

    answers = [await stranger.get("/v1/ping/nobody") for _ in range(150)]

    refused = next(answer for answer in answers if answer.status == 429)
    assert refused.headers["X-RateLimit-Remaining"] == "0"
    assert refused.headers["Retry-After"] == "1"
    agree(described, ("GET", "/v1/ping/{key}"), 429, refused.headers)


async def test_pushed_metrics_have_the_headers_that_they_say(
    metrics: Metrics, described: dict[str, Any]
) -> None:
    id_ = await metrics.make()
    otlp = await metrics.make("opentelemetry")
    export = f"/v1/ingest/otlp/{otlp}/v1/metrics"
    exporter, json = metrics.api.with_token(metrics.tokens[otlp]), {"Content-Type": "application/json"}
    remote, open_ = BY_KEY_ROUTES

    for route, answer in (
        (remote, await metrics.push(id_, SAMPLE)),
        (remote, await metrics.push(id_, b"no snappy")),
        (remote, await metrics.push(id_, varint(2**32 - 1))),
        (remote, await metrics.push(id_, SAMPLE, {"Content-Type": "text/plain"})),
        (remote, await metrics.api.post(f"/v1/ingest/prometheus/{id_}", SAMPLE)),
        (open_, await exporter.post(export, {"resourceMetrics": []}, headers=json)),
        (open_, await exporter.post(export, b"{", headers=json)),
        (open_, await exporter.post(export, io.BytesIO(bytes((16 << 20) + 1)), headers=json)),
        (open_, await exporter.post(export, b"{}", headers={"Content-Type": "text/plain"})),
        (open_, await metrics.api.post(export, {"resourceMetrics": []}, headers=json)),
    ):
        assert answer.headers["X-RateLimit-Limit"] == "600", answer.status
        agree(described, route, answer.status, answer.headers)


BY_KEY_ROUTES = (("POST", "/v1/ingest/prometheus/{id}"), ("POST", "/v1/ingest/otlp/{id}/v1/metrics"))


def test_no_route_is_left_out() -> None:
    assert {path for _, path in BY_KEY} == {
        "/v1/ping/{key}",
        "/v1/ping/{key}/{sign}",
        *(path for _, path in BY_KEY_ROUTES),
    }
