"""Prometheus remote write from outside: what a sender is answered, and what becomes of the monitor."""

import asyncio
import io
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest

from collector.evaluation.ingest.pushes import Pushes
from collector.metrics.ingest import intake
from collector.metrics.ingest.intake import Receiving
from collector.metrics.service import series as services
from shared import ids
from shared.errors import Limited
from shared.wire.prometheus.remote_pb2 import TimeSeries
from tests.clocks import GivenClock
from tests.http.client import Api
from tests.metrics.senders import Metrics, running
from tests.remote_write import FIRST, SECOND, STALE, first, named, pack, part, second, series, varint

UP = named("up", instance="a:9100", job="node")
LOAD = named("node_load1", instance="a:9100", job="node")


@pytest.fixture
async def metrics(api: Api) -> AsyncIterator[Metrics]:
    async with running(api) as found:
        yield found


async def test_where_to_push_to_is_made_and_shown(metrics: Metrics) -> None:
    id_ = await metrics.make()

    config = (await metrics.get(id_))["config"]

    assert config["ingestUrl"].endswith(f"/v1/ingest/prometheus/{id_}")
    assert len(config["authToken"]) > 30


async def test_a_caller_may_bring_the_token(metrics: Metrics) -> None:
    id_ = await metrics.make(authToken="a-token-of-my-own")

    assert (await metrics.push(id_, first((UP, metrics.ms(), 1.0)))).status == 204


async def test_readers_see_neither_token(metrics: Metrics) -> None:
    id_ = await metrics.make()
    reader = await metrics.api.reader()

    shown = (await reader.get(f"/v1/monitors/{id_}")).json["config"]["authToken"]

    assert shown.startswith("********")


@pytest.mark.parametrize(("pack_", "headers"), [(first, FIRST), (second, SECOND)], ids=["1.0", "2.0"])
async def test_the_first_sample_makes_it_up(
    metrics: Metrics, pack_: Callable[..., bytes], headers: dict[str, str]
) -> None:
    id_ = await metrics.make(labelFilters={"job": "node"})
    before = await metrics.get(id_)

    answer = await metrics.push(
        id_,
        pack_((UP, metrics.ms(), 1.0), (LOAD, metrics.ms(), 0.0)),
        headers,
    )

    assert answer.status == 204
    assert answer.headers["X-Prometheus-Remote-Write-Samples-Written"] == "2"
    assert before["lastCheckedAt"] is None
    [result] = await metrics.results(id_)
    assert (result["status"], result["location"], result["samples"]) == ("up", "push", 2)
    assert result["statusCode"] is None
    values = {item["metric"]: item["value"] for item in await metrics.series(id_)}
    assert values == {"up": 1.0, "node_load1": 0.0}


async def test_known_series_are_read_as_new_ones_are(metrics: Metrics) -> None:
    """The second body goes the short way: two cuts and no parsing."""
    id_ = await metrics.make()
    for ahead, value in ((0, 1.5), (1, -2.25), (2, 0.0), (3, float("inf"))):
        at = metrics.ms(timedelta(seconds=ahead))
        assert (await metrics.push(id_, first((LOAD, at, value), (UP, at, value)))).status == 204
        shown = {item["value"] for item in await metrics.series(id_)}
        assert shown == {value if value != float("inf") else "+Inf"}


async def test_only_what_passes_the_filters_counts(metrics: Metrics) -> None:
    filters = {"job": "=~no.*", "instance": "!=b:9100", "env": "!~test|dev"}
    id_ = await metrics.make(labelFilters=filters)
    others = [
        named("up", job="node", instance="b:9100"),
        named("up", job="db"),
        named("up", job="no", env="dev"),
    ]

    answer = await metrics.push(id_, first(*((labels, metrics.ms(), 1.0) for labels in others)))

    assert answer.status == 204
    assert await metrics.results(id_) == []
    await metrics.push(id_, first((UP, metrics.ms(), 1.0)))
    assert len(await metrics.results(id_)) == 1
    assert len(await metrics.series(id_)) == 1


@pytest.mark.parametrize(
    "filters", [['job="node"', 'env!~"test|dev"'], {"job": ["web", "=~no.*"], "env": "!=dev"}]
)
async def test_filters_may_be_matchers_and_lists_of_values(metrics: Metrics, filters: Any) -> None:
    id_ = await metrics.make(labelFilters=filters)
    others = [named("up", job="db"), named("up", job="node", env="dev")]

    answer = await metrics.push(id_, first(*((labels, metrics.ms(), 1.0) for labels in others)))

    assert (await metrics.get(id_))["config"]["labelFilters"] == filters
    assert (answer.status, await metrics.results(id_)) == (204, [])
    await metrics.push(id_, first((UP, metrics.ms(), 1.0)))
    assert len(await metrics.results(id_)) == 1


async def test_silence_takes_it_down_and_a_sample_brings_it_up(metrics: Metrics) -> None:
    id_ = await metrics.make(staleAfter=120)
    await metrics.push(id_, first((UP, metrics.ms(), 1.0)))
    await metrics.go(timedelta(seconds=90))
    early = (await metrics.get(id_))["status"]

    await metrics.go(timedelta(seconds=31))
    late = await metrics.get(id_)
    await metrics.push(id_, first((UP, metrics.ms(), 1.0)))

    assert (early, late["status"]) == ("up", "down")
    assert late["locationStates"][0]["error"] == "no matching sample came within 120 s"
    assert (await metrics.get(id_))["status"] == "up"


async def test_nothing_is_awaited_before_the_first_sample(metrics: Metrics) -> None:
    id_ = await metrics.make(staleAfter=60)

    await metrics.go(timedelta(days=1))

    assert (await metrics.get(id_))["status"] == "up"


async def test_time_in_which_no_collector_ran_counts_against_nobody(metrics: Metrics) -> None:
    id_ = await metrics.make(staleAfter=60)
    await metrics.push(id_, first((UP, metrics.ms(), 1.0)))

    metrics.api.clock.ahead += timedelta(hours=1)
    await metrics.heard(metrics.api.clock())
    await metrics.silent.turn()
    after_the_start = (await metrics.get(id_))["status"]
    await metrics.go(timedelta(seconds=121))

    assert after_the_start == "up"
    assert (await metrics.get(id_))["status"] == "down"


async def test_a_repeated_batch_counts_once(metrics: Metrics) -> None:
    id_ = await metrics.make(staleAfter=60)
    body = first((UP, metrics.ms(), 1.0))
    await metrics.push(id_, body)
    await metrics.go(timedelta(seconds=50))

    again = await metrics.push(id_, body)
    await metrics.go(timedelta(seconds=11))

    assert again.status == 204
    assert (await metrics.get(id_))["status"] == "down"


async def test_a_staleness_marker_is_no_sign_of_life(metrics: Metrics) -> None:
    id_ = await metrics.make(staleAfter=60)
    await metrics.push(id_, first((UP, metrics.ms(), 1.0)))
    await metrics.go(timedelta(seconds=50))

    await metrics.push(id_, first((UP, metrics.ms(), STALE)))
    await metrics.go(timedelta(seconds=11))

    assert (await metrics.get(id_))["status"] == "down"
    assert [item["stale"] for item in await metrics.series(id_)] == [True]


async def test_metadata_alone_is_welcome(metrics: Metrics) -> None:
    id_ = await metrics.make()

    assert (await metrics.push(id_, pack(part(3, b"\x08\x01\x12\x02up")))).status == 204
    assert (await metrics.push(id_, pack(b""))).status == 204


async def test_native_histograms_count_and_show_their_observations(metrics: Metrics) -> None:
    id_ = await metrics.make()
    time_series = series(named("latency_seconds"))
    time_series.histograms.add(count_int=42, sum=4.5, timestamp=metrics.ms())

    answer = await metrics.push(id_, pack(part(1, time_series.SerializeToString())))

    assert answer.headers["X-Prometheus-Remote-Write-Histograms-Written"] == "1"
    assert [item["value"] for item in await metrics.series(id_)] == [42.0]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(b"", "snappy", id="nothing"),
        pytest.param(b"not packed at all", "snappy", id="not packed"),
        pytest.param(pack(b"\xff" * 40), "protobuf", id="no protobuf"),
        pytest.param(pack(bytes(16 << 20)), "protobuf", id="nothing but zeros"),
        pytest.param(pack(b"\x08\x01" * 250_000), "parts", id="many numbers"),
        pytest.param(pack(part(1, b"\x0a\xff\x01")), "cannot be read", id="a label cut short"),
        pytest.param(pack(b"\x0a\x00" * 250_000), "more than 200000 parts", id="a million empty series"),
        pytest.param(pack(part(1, b"\x12\x00" * 200_000)), "samples", id="many empty samples"),
        pytest.param(pack(part(1, b"\x0a\x00" * 600_000)), "more than 1 MiB", id="a huge series"),
    ],
)
async def test_what_is_no_remote_write_is_refused(metrics: Metrics, body: bytes, said: str) -> None:
    id_ = await metrics.make()

    answer = await metrics.push(id_, body)

    assert answer.status == 400
    assert said in answer.json["details"]["body"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(varint(2**32 - 1), id="declares 4 GiB in five bytes"),
        pytest.param(pack(bytes((16 << 20) + 1)), id="a byte more than 16 MiB"),
    ],
)
async def test_more_than_16_mib_unpacked_is_413(metrics: Metrics, body: bytes) -> None:
    id_ = await metrics.make()

    answer = await metrics.push(id_, body)

    assert (answer.status, answer.json["message"]) == (413, "The body is larger than 16 MiB")


async def test_what_is_good_of_a_push_is_kept_and_the_rest_named(metrics: Metrics) -> None:
    id_ = await metrics.make()
    far = metrics.ms(timedelta(hours=1))
    labels = {f"l{i}": "x" for i in range(200)}
    bad = [
        (named("future"), far, 1.0),
        (named("many", **labels), metrics.ms(), 1.0),
        ({"job": "no name"}, metrics.ms(), 1.0),
    ]

    answer = await metrics.push(id_, first((UP, metrics.ms(), 1.0), *bad))

    assert answer.status == 400
    for said in ("10 minutes ahead", "more than 100 labels", "no __name__"):
        assert said in answer.json["message"]
    assert [item["metric"] for item in await metrics.series(id_)] == ["up"]


@pytest.mark.parametrize(
    "headers",
    [
        {**FIRST, "Content-Type": "application/json"},
        {**FIRST, "Content-Encoding": "identity"},
        {**FIRST, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v3.Request"},
    ],
    ids=["json", "not packed", "of the future"],
)
async def test_what_is_sent_in_another_form_is_told_so(metrics: Metrics, headers: dict[str, str]) -> None:
    id_ = await metrics.make()

    assert (await metrics.push(id_, first((UP, metrics.ms(), 1.0)), headers)).status == 415


async def test_nobody_without_the_token_is_let_in(metrics: Metrics) -> None:
    id_, other = await metrics.make(), await metrics.make()
    path, body = f"/v1/ingest/prometheus/{id_}", varint(2**32 - 1)

    for sender in (metrics.api, metrics.api.with_token(None), metrics.api.with_token(metrics.tokens[other])):
        assert (await sender.post(path, body, headers=FIRST)).status == 401


async def test_pushes_beyond_the_limit_are_told_when_to_come_again(metrics: Metrics) -> None:
    id_ = await metrics.make()
    answers = [await metrics.push(id_, pack(b"")) for _ in range(150)]

    assert {answer.status for answer in answers} == {204, 429}
    refused = next(answer for answer in answers if answer.status == 429)
    left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in (answers[0], answers[20], refused)]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0


async def test_the_limit_of_a_monitor_is_one_for_all_collectors(metrics: Metrics) -> None:
    busy, quiet = await metrics.make(), await metrics.make()
    db, keyring, clock = metrics.api.context.db, metrics.api.context.keyring, metrics.api.clock
    pushes = Pushes(db, clock=GivenClock(clock, clock))
    collectors = [Receiving(db, keyring, pushes, clock=GivenClock(clock)) for _ in range(3)]

    async def admitted(receiving: Receiving, id_: str) -> bool:
        try:
            await receiving.admit(ids.read("mon", id_), metrics.tokens[id_], "prometheus")
        except Limited:
            return False
        return True

    let_in = sum([await admitted(receiving, busy) for _ in range(80) for receiving in collectors])

    assert 95 <= let_in <= 125
    assert await admitted(collectors[0], quiet)


async def test_a_body_that_does_not_come_is_waited_for_no_longer_than_need_be(
    metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "READ_S", 0.2)
    id_ = await metrics.make()
    port = int(metrics.api.url.rpartition(":")[2])
    head = (
        f"POST /v1/ingest/prometheus/{id_} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
        f"Content-Encoding: snappy\r\nAuthorization: Bearer {metrics.tokens[id_]}\r\n\r\nabc"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode())

    answer = await reader.readuntil(b"\r\n\r\n")
    writer.close()

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert (await metrics.push(id_, first((UP, metrics.ms(), 1.0)))).status == 204


async def test_a_monitors_pushes_wait_for_each_other_and_for_nobody_elses(
    metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "PATIENCE_S", 0.2)
    id_, other = await metrics.make(), await metrics.make()
    book = await metrics.receiving.admit(ids.read("mon", id_), metrics.tokens[id_], "prometheus")
    async with AsyncExitStack() as stack:
        for _ in range(8):
            await stack.enter_async_context(metrics.receiving.room(book))

        assert (await metrics.push(id_, pack(b""))).status == 429
        assert (await metrics.push(other, pack(b""))).status == 204
    assert (await metrics.push(id_, pack(b""))).status == 204


async def test_large_pushes_leave_room_for_those_of_others(
    metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "PATIENCE_S", 0.2)
    large = pack(random.Random(1).randbytes(2 << 20))
    id_, other = await metrics.make(), await metrics.make()
    book = await metrics.receiving.admit(ids.read("mon", id_), metrics.tokens[id_], "prometheus")
    async with AsyncExitStack() as stack:
        for _ in range(2):
            room = await stack.enter_async_context(metrics.receiving.room(book))
            await room.widen()
            await room.widen()

        assert (await metrics.push(id_, io.BytesIO(large))).status == 429
        assert (await metrics.push(id_, pack(b""))).status == 204
        assert (await metrics.push(other, io.BytesIO(large))).status == 400
    assert (await metrics.push(id_, io.BytesIO(large))).status == 400


async def test_more_samples_than_fit_into_a_status_are_told(metrics: Metrics) -> None:
    id_ = await metrics.make()
    at = metrics.ms()
    time_series: TimeSeries = series(UP, *((at - 50_000 + i, float(i)) for i in range(50_000)))

    assert (await metrics.push(id_, pack(part(1, time_series.SerializeToString())))).status == 204

    assert [result["samples"] for result in await metrics.results(id_)] == [50_000]


async def test_a_new_token_works_and_the_old_one_no_longer(metrics: Metrics) -> None:
    id_ = await metrics.make()
    old = metrics.tokens[id_]

    await metrics.api.put(f"/v1/monitors/{id_}", {"config": {"authToken": None}})

    assert (await metrics.get(id_))["config"]["authToken"] != old


async def test_bad_rules_are_named(metrics: Metrics) -> None:
    config = {"labelFilters": {"job": "=~("}, "staleAfter": 0, "authToken": "short"}

    answer = await metrics.api.post("/v1/monitors", {"type": "prometheus", "name": "m", "config": config})

    assert answer.status == 400
    assert set(answer.json["details"]) == {"labelFilters.job", "staleAfter", "authToken"}


@pytest.mark.parametrize(
    ("filters", "path"),
    [
        (['job="node"', "job=~("], "labelFilters[1]"),
        (["{job}"], "labelFilters[0]"),
        ({"job": ["a", "=~("]}, "labelFilters.job[1]"),
        ({"job": []}, "labelFilters.job"),
        ([7], "labelFilters[0]"),
        ("job", "labelFilters"),
    ],
)
async def test_a_filter_that_cannot_be_read_is_named(metrics: Metrics, filters: Any, path: str) -> None:
    body = {"type": "prometheus", "name": "m", "config": {"labelFilters": filters}}

    answer = await metrics.api.post("/v1/monitors", body)

    assert (answer.status, list(answer.json["details"])) == (400, [path])


async def test_series_of_another_team_are_not_found(metrics: Metrics) -> None:
    id_ = await metrics.make()
    await metrics.push(id_, first((UP, metrics.ms(), 1.0)))
    await metrics.receiving.keeping()

    assert (await (await metrics.api.other_team()).get(f"/v1/monitors/{id_}/series")).status == 404


async def test_a_body_of_a_single_series_may_hold_many_samples(metrics: Metrics) -> None:
    id_ = await metrics.make()
    at = metrics.ms()
    time_series: TimeSeries = series(UP, *((at - 1000 + i, float(i)) for i in range(1000)))

    answer = await metrics.push(id_, pack(part(1, time_series.SerializeToString())))

    assert answer.headers["X-Prometheus-Remote-Write-Samples-Written"] == "1000"
    assert [item["value"] for item in await metrics.series(id_)] == [999.0]


async def test_a_series_of_bad_labels_is_refused_even_without_samples(metrics: Metrics) -> None:
    id_ = await metrics.make()

    answer = await metrics.push(id_, pack(part(1, b"\x0a\x00" * 500_000)))

    assert answer.status == 400
    assert "more than 100 labels" in answer.json["message"]
