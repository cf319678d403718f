"""Samples and data points that a collector takes per second of its CPU: ``python -m tests.bench.ingest``."""

import asyncio
import logging
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from typing import Final

import structlog
import uvloop
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from collector.bootstrap import bootstrap
from collector.evaluation.ingest.pushes import Pushes
from collector.history.storage import partitions
from collector.metrics.ingest.intake import Receiving
from collector.metrics.ingest.series import ReceiverState
from collector.monitors.service import creation
from collector.monitors.service.columns import whole_config
from collector.monitors.storage import monitors as table
from collector.platform.context import ServiceContext
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from shared.clock import EPOCH, utc_now
from shared.tokens import new_key
from tests.bench.database import database
from tests.bench.figures import Figure
from tests.clocks import GivenClock
from tests.remote_write import first

SERIES: Final = 2_000
BODIES: Final = 100
CHUNK: Final = 20
FEW: Final[Mapping[str, object]] = {
    "type": "prometheus",
    "config": {"labelFilters": {"instance": "=~host-0:.*"}},
}
MS: Final = timedelta(milliseconds=1)


def run() -> Iterator[Figure]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    few, all_, otlp = uvloop.run(_measure())
    yield Figure("remote write, 5 % of 2,000 series match", few, "samples/CPU-s", at_least=500_000)
    yield Figure("remote write, all of 2,000 series match", all_, "samples/CPU-s", at_least=300_000)
    yield Figure("OTLP, 2,000 data points", otlp, "points/CPU-s", at_least=300_000)


async def _measure() -> tuple[float, float, float]:
    async with database() as db:
        await bootstrap(db, plan="pro", admin_email="a@example.com", token=None, now=utc_now())
        keyring = Keyring.parse(new_key())
        pushes = Pushes(db, clock=GivenClock(utc_now, utc_now))
        async with db.transaction() as tx:
            await partitions.make(tx, utc_now().date())
        start = (utc_now() - EPOCH) // MS - BODIES * 1000
        bodies = [first(*_points(start + i * 1000)) for i in range(BODIES)]
        requests = [_request(start + i * 1000) for i in range(BODIES)]
        every: dict[str, object] = {"type": "prometheus"}
        otel: dict[str, object] = {"type": "opentelemetry", "config": {"otlpProtocol": "grpc"}}
        found = []
        for body, sent in ((FEW, bodies), (every, bodies), (otel, requests)):
            receiving = Receiving(db, keyring, pushes, clock=GivenClock(utc_now))
            found.append(await _rate(db, keyring, receiving, body, sent))
    return found[0], found[1], found[2]


async def _rate(
    db: Db, keyring: Keyring, receiving: Receiving, body: Mapping[str, object], sent: Sequence[bytes]
) -> float:
    """The median of chunks, after one that warms up."""
    book = await _admitted(db, keyring, receiving, body)
    type_ = str(body["type"])
    chunks = [sent[start : start + CHUNK] for start in range(0, len(sent), CHUNK)]
    return statistics.median([await _chunk(receiving, book, chunk, type_) for chunk in chunks][1:])


async def _chunk(receiving: Receiving, book: ReceiverState, chunk: Sequence[bytes], type_: str) -> float:
    """Take them one after the other, each committed; values are written once at the end."""
    used = time.process_time()
    for one in chunk:
        await _take(receiving, book, one, type_)
    await receiving.keeping()
    return len(chunk) * SERIES / (time.process_time() - used)


@asynccontextmanager
async def remote_writes(db: Db) -> AsyncIterator[Callable[[], Awaitable[float]]]:
    """Yield a measurement of a chunk of bodies of which 5 % match."""
    await bootstrap(db, plan="pro", admin_email="a@example.com", token=None, now=utc_now())
    keyring = Keyring.parse(new_key())
    receiving = Receiving(
        db, keyring, Pushes(db, clock=GivenClock(utc_now, utc_now)), clock=GivenClock(utc_now)
    )
    book = await _admitted(db, keyring, receiving, FEW)
    start = (utc_now() - EPOCH) // MS - BODIES * 1000
    numbers = count()

    async def rate() -> float:
        chunk = [first(*_points(start + next(numbers) * 500)) for _ in range(CHUNK)]
        return await _chunk(receiving, book, chunk, str(FEW["type"]))

    yield rate


async def _admitted(
    db: Db, keyring: Keyring, receiving: Receiving, body: Mapping[str, object]
) -> ReceiverState:
    """Make a monitor that receives, and admit its token."""
    async with db.connection() as tx:
        team_id = await tx.fetchval("SELECT team_id FROM teams LIMIT 1")
    means = ServiceContext(db, keyring, Signals(db), 1)
    monitor = await creation.create(means, team_id, {"name": "metrics", **body}, utc_now())
    async with db.connection() as tx:
        row = await table.get(tx, team_id, monitor.monitor.id)
    assert row is not None
    token = str(whole_config(keyring, row)["authToken"])
    return await receiving.admit(row.id, token, str(body["type"]))


async def _take(receiving: Receiving, book: ReceiverState, body: bytes, type_: str) -> None:
    if type_ == "prometheus":
        waiting = asyncio.ensure_future(receiving.remote_write(book, body, second=False))
    else:
        waiting = asyncio.ensure_future(receiving.otlp(book, body, json=False))
    await receiving.counting()
    written = await waiting
    assert written.samples == SERIES
    assert not written.refused


def _points(at_ms: int) -> list[tuple[dict[str, str], int, float]]:
    return [
        (
            {
                "__name__": f"node_metric_{i % 100}_total",
                "cpu": str(i % 7),
                "instance": f"host-{i // 100}:9100",
                "job": "node",
                "mode": "idle",
                "zone": "eu-north-1",
            },
            at_ms,
            i + 0.5,
        )
        for i in range(SERIES)
    ]


def _request(at_ms: int) -> bytes:
    """100 metrics of 20 points each, as an exporter of one resource sends them."""

    def attribute(key: str, value: str) -> dict[str, object]:
        return {"key": key, "value": {"stringValue": value}}

    metrics = [
        {
            "name": f"metric_{name}",
            "gauge": {
                "dataPoints": [
                    {
                        "timeUnixNano": str(at_ms * 1_000_000),
                        "asDouble": point + 0.5,
                        "attributes": [
                            attribute("route", f"/v1/{point}"),
                            attribute("method", "GET"),
                            attribute("zone", "a"),
                        ],
                    }
                    for point in range(20)
                ]
            },
        }
        for name in range(SERIES // 20)
    ]
    resource = {"attributes": [attribute("service.name", "shop")]}
    whole = {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": metrics}]}]}
    return json_format.ParseDict(whole, ExportMetricsServiceRequest()).SerializeToString()


if __name__ == "__main__":
    for figure in run():
        print(figure)
