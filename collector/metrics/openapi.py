"""Metrics: pushed by remote write or OTLP, shown by series."""

from collector.http.openapi.models import answer
from collector.http.openapi.parts import (
    PAGED,
    Operation,
    named,
    page,
    query,
    record,
    text,
)
from collector.metrics import answers

TAG = "Metrics"
_WRITTEN = {
    f"X-Prometheus-Remote-Write-{what}-Written": f"How many {what.lower()} were taken"
    for what in ("Samples", "Histograms", "Exemplars")
}
_NOT_ITS_TOKEN = "The token is not config.authToken of this monitor"  # noqa: S105 - words, not a token
_TOO_LARGE = "The body is larger than 16 MiB, on the wire or unpacked"
_EXPORTED = named(
    "OtlpExportAnswer",
    record(
        ("partialSuccess",),
        partialSuccess={
            "description": "What was not taken, as OTLP says it; there where something was not.",
            "type": "object",
            "additionalProperties": {},
        },
    ),
)
OPERATIONS: dict[str, Operation] = {
    "POST /v1/ingest/prometheus/{id}": Operation(
        summary="Prometheus remote write, 1.0 and 2.0; the token is config.authToken of the monitor",
        status=204,
        more={
            400: "Not all of it could be taken",
            401: _NOT_ITS_TOKEN,
            413: _TOO_LARGE,
            415: "It is no remote write packed with snappy",
        },
        headers=_WRITTEN,
    ),
    "POST /v1/ingest/otlp/{id}/v1/metrics": Operation(
        summary="OTLP over HTTP, in protobuf or JSON; the token is config.authToken of the monitor",
        answer=_EXPORTED,
        more={
            401: _NOT_ITS_TOKEN,
            413: _TOO_LARGE,
            415: "It is neither protobuf nor JSON, or packed with anything but gzip",
        },
    ),
    "GET /v1/metrics": Operation(
        summary="The latest results for Prometheus, under blackbox_exporter's names",
        media="text/plain",
        answer={"type": "string"},
    ),
    "GET /v1/monitors/{id}/series": Operation(
        summary="The newest value of each series of a monitor",
        answer=page(answer(answers.SeriesAnswer, "Series")),
        query=(*PAGED, query("metric", text("up"), "Only those of this metric")),
    ),
}
