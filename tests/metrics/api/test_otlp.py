"""OTLP over HTTP and gRPC: real exporters, and requests made by hand."""

import asyncio
import gzip
import io
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import grpc
import orjson
import pytest
import pytest_asyncio
from google.protobuf import json_format
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as OverGrpc
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as OverHttp
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from collector.metrics.ingest.otlp_grpc import OtlpServer
from collector.metrics.service import series
from shared.wire.otlp.metrics_pb2 import Status
from tests.grpc_bytes import called
from tests.http.client import Answer, Api
from tests.metrics.senders import Metrics, running
from tests.remote_write import part

pytestmark = pytest.mark.shares_server

_METHOD = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
_PROTOBUF = {"Content-Type": "application/x-protobuf"}
_JSON = {"Content-Type": "application/json"}


@pytest_asyncio.fixture(loop_scope="module")
async def metrics(api: Api) -> AsyncIterator[Metrics]:
    async with running(api) as found:
        yield found


@pytest_asyncio.fixture(loop_scope="module")
async def port(metrics: Metrics) -> AsyncIterator[int]:
    server = OtlpServer(metrics.receiving)
    yield await server.start("127.0.0.1:0")
    await server.stop()


async def make(metrics: Metrics, protocol: str = "http/protobuf", **config: Any) -> str:
    return await metrics.make("opentelemetry", otlpProtocol=protocol, **config)


def request(metrics: Metrics, *parts: dict[str, Any], service: str = "shop") -> ExportMetricsServiceRequest:
    attribute = {"key": "service.name", "value": {"stringValue": service}}
    scope = {"scope": {"name": "tests"}, "metrics": list(parts)}
    whole = {"resourceMetrics": [{"resource": {"attributes": [attribute]}, "scopeMetrics": [scope]}]}
    return json_format.ParseDict(whole, ExportMetricsServiceRequest())


def gauge(metrics: Metrics, value: float = 1.5, name: str = "queue", **point: Any) -> dict[str, Any]:
    at = {"timeUnixNano": str(metrics.ms() * 1_000_000), "asDouble": value, **point}
    return {"name": name, "gauge": {"dataPoints": [at]}}


async def post(metrics: Metrics, id_: str, body: bytes, headers: dict[str, str] = _PROTOBUF) -> Answer:
    sender = metrics.api.with_token(metrics.tokens[id_])
    return await sender.post(f"/v1/ingest/otlp/{id_}/v1/metrics", io.BytesIO(body), headers=headers)


def measure(exporter: Any) -> bool:
    """One of each instrument, exported once by the SDK."""
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=600_000)
    provider = MeterProvider([reader], resource=Resource({"service.name": "shop"}))
    meter = provider.get_meter("tests")
    meter.create_counter("orders").add(3, {"city": "Lund"})
    meter.create_gauge("queue").set(7.5)
    meter.create_histogram("latency").record(0.25)
    try:
        return bool(provider.force_flush(10_000))
    finally:
        provider.shutdown()


def nested(depth: int) -> bytes:
    """A resource whose attribute is a value within a value within a value."""
    value = b""
    for _ in range(depth):
        value = part(5, part(1, value))
    return part(1, part(1, part(1, part(1, b"a") + part(2, value))))


async def seen(metrics: Metrics, id_: str) -> dict[str, Any]:
    return {item["metric"]: item["value"] for item in await metrics.series(id_)}


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
async def test_the_sdk_exports_over_http(metrics: Metrics, compression: Compression) -> None:
    id_ = await make(metrics)
    config = (await metrics.get(id_))["config"]
    url = config["endpoint"].replace(metrics.api.context.public_url, metrics.api.url) + "/v1/metrics"
    headers = {"authorization": f"Bearer {config['authToken']}"}

    assert await asyncio.to_thread(measure, OverHttp(endpoint=url, headers=headers, compression=compression))

    assert await seen(metrics, id_) == {"orders": 3, "queue": 7.5, "latency_count": 1, "latency_sum": 0.25}
    assert [result["status"] for result in await metrics.results(id_)] == ["up"]


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_the_sdk_exports_over_grpc(metrics: Metrics, port: int, compression: Any) -> None:
    id_ = await make(metrics, "grpc")
    headers = (("authorization", f"Bearer {metrics.tokens[id_]}"),)
    exporter = OverGrpc(endpoint=f"127.0.0.1:{port}", insecure=True, headers=headers, compression=compression)

    assert await asyncio.to_thread(measure, exporter)

    assert await seen(metrics, id_) == {"orders": 3, "queue": 7.5, "latency_count": 1, "latency_sum": 0.25}


@pytest.mark.parametrize("path", [b"/opentelemetry.pr\xffto/Export", b"/no.such.Service/Call"])
async def test_a_path_that_is_none_is_not_the_end_of_the_port(
    metrics: Metrics, port: int, path: bytes
) -> None:
    id_ = await make(metrics, "grpc")
    headers = (("authorization", f"Bearer {metrics.tokens[id_]}"),)

    await called(*await asyncio.open_connection("127.0.0.1", port), path)

    exporter = OverGrpc(endpoint=f"127.0.0.1:{port}", insecure=True, headers=headers)
    await asyncio.to_thread(measure, exporter)
    assert await seen(metrics, id_) != {}


async def test_traces_and_logs_are_refused_in_a_way_that_ends_their_tries(port: int) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        for service in ("trace.v1.TraceService", "logs.v1.LogsService"):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await channel.unary_unary(f"/opentelemetry.proto.collector.{service}/Export")(b"")
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_each_protocol_is_told_where_to_send_to(metrics: Metrics) -> None:
    over_http, over_grpc = await make(metrics), await make(metrics, "grpc")

    assert (await metrics.get(over_http))["config"]["endpoint"].endswith(f"/v1/ingest/otlp/{over_http}")
    assert (await metrics.get(over_grpc))["config"]["endpoint"] == metrics.api.context.otlp_url


@pytest.mark.oldest
async def test_json_is_taken_and_answered_in_json(metrics: Metrics) -> None:
    id_ = await make(metrics)
    body = json_format.MessageToDict(request(metrics, gauge(metrics), gauge(metrics, name="")))
    body["unknown"] = 1

    answer = await post(metrics, id_, orjson.dumps(body), _JSON)

    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json["partialSuccess"]["rejectedDataPoints"] == "1"
    assert "no __name__" in answer.json["partialSuccess"]["errorMessage"]
    assert await seen(metrics, id_) == {"queue": 1.5}


async def test_every_kind_of_metric_is_taken(metrics: Metrics) -> None:
    id_ = await make(metrics)
    at = {"timeUnixNano": str(metrics.ms() * 1_000_000)}
    quantile = {"quantile": 0.99, "value": 4.0}
    parts = [
        {"name": "total", "sum": {"dataPoints": [{**at, "asInt": "5"}], "aggregationTemporality": 2}},
        {"name": "delta", "sum": {"dataPoints": [{**at, "asInt": "0"}], "aggregationTemporality": 1}},
        {"name": "wide", "exponentialHistogram": {"dataPoints": [{**at, "count": "9", "sum": 1.0}]}},
        {"name": "old", "summary": {"dataPoints": [{**at, "count": "2", "quantileValues": [quantile]}]}},
    ]

    answer = await post(metrics, id_, request(metrics, *parts).SerializeToString())

    assert answer.status == 200
    assert ExportMetricsServiceResponse.FromString(answer.body) == ExportMetricsServiceResponse()
    shown = await seen(metrics, id_)
    assert shown == {"total": 5, "delta": 0, "wide_count": 9, "wide_sum": 1, "old_count": 2, "old": 4}


async def test_only_resources_that_carry_the_attributes_count(metrics: Metrics) -> None:
    id_ = await make(metrics, resourceAttributes={"service.name": "=~sh.*"})

    await post(metrics, id_, request(metrics, gauge(metrics), service="bank").SerializeToString())
    before = await metrics.results(id_)
    await post(metrics, id_, request(metrics, gauge(metrics)).SerializeToString())

    assert before == []
    assert len(await metrics.results(id_)) == 1
    [one] = await metrics.series(id_)
    assert one["labels"] == {"resource.service.name": "shop", "scope": "tests"}


async def test_attributes_may_be_a_list_of_names_that_must_be_there(metrics: Metrics) -> None:
    id_ = await make(metrics, resourceAttributes=["service.name"])
    other = await make(metrics, resourceAttributes=["service.name", "deployment.environment"])
    body = request(metrics, gauge(metrics)).SerializeToString()

    await post(metrics, id_, body)
    await post(metrics, other, body)

    assert (len(await metrics.results(id_)), await metrics.results(other)) == (1, [])


@pytest.mark.oldest
async def test_silence_takes_it_down(metrics: Metrics) -> None:
    id_ = await make(metrics, staleAfter=60)
    body = request(metrics, gauge(metrics)).SerializeToString()
    await post(metrics, id_, body)
    await metrics.go(timedelta(seconds=50))
    await post(metrics, id_, body)  # an exporter that sends the same again has nothing new to say

    await metrics.go(timedelta(seconds=11))

    assert (await metrics.get(id_))["status"] == "down"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param(b"\xff" * 20, _PROTOBUF, 400, id="no protobuf"),
        pytest.param(b"{", _JSON, 400, id="no json"),
        pytest.param(b'{"resourceMetrics": 3}', _JSON, 400, id="another json"),
        pytest.param(b"[" * 100_000, _JSON, 400, id="deep json"),
        pytest.param(nested(20_000), _PROTOBUF, 400, id="deep protobuf"),
        pytest.param(nested(120), _PROTOBUF, 400, id="deeper than any reader goes"),
        pytest.param(b"", {"Content-Type": "text/plain"}, 415, id="plain text"),
        pytest.param(b"not gzip", {**_PROTOBUF, "Content-Encoding": "gzip"}, 400, id="broken gzip"),
        pytest.param(
            gzip.compress(bytes(64 << 20)), {**_PROTOBUF, "Content-Encoding": "gzip"}, 413, id="gzip bomb"
        ),
        pytest.param(bytes((16 << 20) + 1), _PROTOBUF, 413, id="more than 16 MiB"),
        pytest.param(b" " * (5 << 20), _JSON, 413, id="too much JSON"),
        pytest.param(b"", {**_PROTOBUF, "Content-Encoding": "br"}, 415, id="brotli"),
        pytest.param(b"\x0a\x00" * 250_000, _PROTOBUF, 400, id="many empty resources"),
    ],
)
async def test_what_is_no_request_is_refused(
    metrics: Metrics, body: bytes, headers: dict[str, str], status: int
) -> None:
    id_ = await make(metrics)

    assert (await post(metrics, id_, body, headers)).status == status


async def test_exporters_are_told_when_to_come_again(metrics: Metrics) -> None:
    id_ = await make(metrics)
    answers = [await post(metrics, id_, b"") for _ in range(150)]

    [limited, *_] = [answer for answer in answers if answer.status == 429]
    assert limited.headers["Retry-After"] == "1"
    [detail] = Status.FromString(limited.body).details
    assert detail.type_url.endswith("google.rpc.RetryInfo")


async def call(port: int, body: bytes, token: str | None) -> Any:
    """The error of a call over gRPC."""
    sent = None if token is None else (("authorization", f"Bearer {token}"),)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        method = channel.unary_unary(_METHOD)
        try:
            return await method(body, metadata=sent, timeout=10)
        except grpc.aio.AioRpcError as error:
            return error


async def test_nobody_without_the_token_is_let_in_over_grpc(metrics: Metrics, port: int) -> None:
    id_, other = await make(metrics, "grpc"), await make(metrics, "grpc")
    swapped = f"{id_}.{metrics.tokens[other].partition('.')[2]}"

    for token in (None, "", "x", metrics.tokens[id_].partition(".")[2], swapped):
        assert (await call(port, bytes(1_000_000), token)).code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_call_that_sends_nothing_is_ended(
    metrics: Metrics, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(series, "READ_S", 0.2)
    id_ = await make(metrics, "grpc")
    sent = (("authorization", f"Bearer {metrics.tokens[id_]}"),)

    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        waiting = channel.stream_unary(_METHOD)(metadata=sent, timeout=10)
        assert await waiting.code() is grpc.StatusCode.UNAVAILABLE


async def test_errors_over_grpc_say_whether_to_come_again(metrics: Metrics, port: int) -> None:
    id_ = await make(metrics, "grpc")
    bad = await call(port, b"\xff" * 20, metrics.tokens[id_])
    large = await call(port, bytes(17 << 20), metrics.tokens[id_])
    answers = [await call(port, b"", metrics.tokens[id_]) for _ in range(130)]

    assert bad.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert large.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    limited = next(answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError))
    assert limited.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    trailers = dict(limited.trailing_metadata())
    assert "google.rpc.retryinfo-bin" in trailers
    assert Status.FromString(trailers["grpc-status-details-bin"]).code == 8
