"""OpenTelemetry's SDK for Python exports to the product, to where the monitor says."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as OverGrpc
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as OverHttp
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from tests.e2e.product import Caller, eventually, running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def test_an_exporter_of_each_protocol_needs_but_what_is_shown(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, caller):
        for protocol in ("grpc", "http/protobuf"):
            config: dict[str, Any] = {
                "otlpProtocol": protocol,
                "resourceAttributes": {"service.name": "shop"},
                "staleAfter": 2,
            }
            body = {"type": "opentelemetry", "name": protocol, "config": config}
            id_ = str((await caller.made("/v1/monitors", body))["id"])
            shown = (await caller.got(f"/v1/monitors/{id_}"))["config"]

            assert await asyncio.to_thread(_export, protocol, shown["endpoint"], shown["authToken"])

            values = await eventually(lambda id_=id_: _values(caller, id_))
            assert values == {"orders": 3, "latency_count": 1, "latency_sum": 0.25}
            assert (await caller.got(f"/v1/monitors/{id_}"))["status"] == "up"
            await eventually(lambda id_=id_: _is_down(caller, id_))


def _export(protocol: str, endpoint: str, token: str) -> bool:
    """Two instruments, exported once."""
    headers = {"authorization": f"Bearer {token}"}
    exporter: Any = (
        OverGrpc(endpoint=endpoint, insecure=True, headers=tuple(headers.items()))
        if protocol == "grpc"
        else OverHttp(endpoint=f"{endpoint}/v1/metrics", headers=headers)
    )
    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=600_000)
    provider = MeterProvider([reader], resource=Resource({"service.name": "shop"}))
    meter = provider.get_meter("tests")
    meter.create_counter("orders").add(3, {"city": "Lund"})
    meter.create_histogram("latency").record(0.25)
    try:
        return bool(provider.force_flush(10_000))
    finally:
        provider.shutdown()


async def _values(caller: Caller, id_: str) -> dict[str, float]:
    listed = (await caller.got(f"/v1/monitors/{id_}/series"))["data"]
    return {item["metric"]: item["value"] for item in listed}


async def _is_down(caller: Caller, id_: str) -> bool:
    return bool((await caller.got(f"/v1/monitors/{id_}"))["status"] == "down")
