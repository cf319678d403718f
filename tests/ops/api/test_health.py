"""What orchestrators and Prometheus ask, without a token."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from collector.platform.storage.db import Db
from collector.server import make, serve
from tests.http.client import Api
from tests.streams import stream_server

pytestmark = pytest.mark.races


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_a_running_collector_is_alive_and_ready(api: Api, path: str) -> None:
    answer = await api.with_token(None).get(path)

    assert (answer.status, answer.json) == (200, {"status": "ok"})


async def test_a_database_without_a_team_is_not_ready(api: Api) -> None:
    async with api.context.db.transaction() as tx:
        await tx.execute("DELETE FROM tokens; DELETE FROM users; DELETE FROM teams")

    answer = await api.with_token(None).get("/readyz")

    assert answer.status == 503
    assert (await api.get("/healthz")).status == 200


async def numbers(api: Api) -> dict[str, float]:
    answer = await api.with_token(None).get("/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    return {
        sample.name + str(sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


async def test_requests_are_counted_by_route_and_status_not_by_path(api: Api) -> None:
    text = "tocsin_http_requests_total[('route', '/v1/incidents/{id}'), ('status', '404')]"
    unknown = "tocsin_http_requests_total[('route', ''), ('status', '404')]"
    before = await numbers(api)

    await api.get("/v1/incidents/inc_1")
    await api.get("/v1/incidents/inc_2")
    await api.get("/v1/some/path")

    after = await numbers(api)
    assert after[text] - before.get(text, 0) == 2
    assert after[unknown] - before.get(unknown, 0) == 1
    assert not [name for name in after if "inc_1" in name or "/v1/some/path" in name]


async def test_the_collectors_own_numbers_are_there_from_the_start(api: Api) -> None:
    names = {name.partition("[")[0] for name in await numbers(api)}

    assert names >= {
        "tocsin_results_committed_total",
        "tocsin_results_refused_total",
        "tocsin_result_gaps_total",
        "tocsin_transactions_total",
        "tocsin_sessions",
        "tocsin_http_request_seconds_count",
        "process_resident_memory_bytes",
    }


async def test_a_database_that_hangs_is_not_ready_within_seconds(
    api: Api, database_url: str, tmp_path: Path
) -> None:
    async with frozen(database_url, tmp_path) as (url, freeze):
        db = await Db.open(url)
        runner = await serve(make(replace(api.context, db=db), api.features), "127.0.0.1:0")
        other = replace(api, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
        assert (await other.get("/readyz")).status == 200
        freeze.set()

        start = time.monotonic()
        answers = [await other.get(path) for path in ("/readyz", "/readyz", "/healthz")]

        assert [answer.status for answer in answers] == [503, 503, 200]
        assert answers[0].json["retryAfter"] == int(answers[0].headers["Retry-After"])
        assert time.monotonic() - start < 6
    await runner.cleanup()
    await db.close()


@asynccontextmanager
async def frozen(database_url: str, directory: Path) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A way to the database that carries nothing more once the event is set; then it is cut off."""
    query = parse_qs(urlsplit(database_url).query)
    [home], [port] = query["host"], query.get("port", ["5432"])
    freeze = asyncio.Event()

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            if freeze.is_set():
                await asyncio.Event().wait()
            sink.write(data)
        sink.close()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(f"{home}/.s.PGSQL.{port}")
        try:
            await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer), return_exceptions=True)
        finally:
            far_writer.transport.abort()

    async with stream_server(carry, path=directory / f".s.PGSQL.{port}"):
        yield database_url.replace(home, os.fspath(directory)), freeze
