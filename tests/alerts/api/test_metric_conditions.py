"""Conditions on metrics from outside: a value out of bounds takes the monitor down, and up again."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from tests.http.client import Api
from tests.metrics.senders import Metrics, running
from tests.remote_write import STALE, first, named

pytestmark = pytest.mark.shares_server

LOAD = named("load", host="a")
HIGH = {"metric": "load", "op": "gt", "value": 4, "for": 120}


@pytest_asyncio.fixture(loop_scope="module")
async def metrics(api: Api) -> AsyncIterator[Metrics]:
    async with running(api) as found:
        yield found


async def bring(metrics: Metrics, id_: str, value: float, after_s: int = 60) -> str:
    """The monitor's status after a sample."""
    metrics.api.clock.ahead += timedelta(seconds=after_s)
    body = first((LOAD, metrics.ms(), value), (named("up"), metrics.ms(), 1.0))
    assert (await metrics.push(id_, body)).status == 204
    return str((await metrics.get(id_))["status"])


@pytest.mark.oldest
async def test_what_holds_for_long_enough_takes_it_down_until_it_ends(metrics: Metrics) -> None:
    id_ = await metrics.make(conditions=[HIGH])

    statuses = [await bring(metrics, id_, value) for value in (1, 5, 6, 7, 8, 4)]

    assert statuses == ["up", "up", "up", "down", "down", "up"]
    errors = {result["error"] for result in await metrics.results(id_)}
    assert errors == {None, 'load{host="a"} is above 4 for 120 s'}


async def test_a_break_begins_it_anew(metrics: Metrics) -> None:
    id_ = await metrics.make(conditions=[HIGH])

    statuses = [await bring(metrics, id_, value) for value in (5, 6, 1, 5, 6, 7)]

    assert statuses == ["up"] * 5 + ["down"]


async def test_without_a_length_it_fails_at_once(metrics: Metrics) -> None:
    id_ = await metrics.make(conditions=[{"metric": "load", "op": "ge", "value": 9.5}])

    assert [await bring(metrics, id_, 9.5, 0), await bring(metrics, id_, 9.4, 1)] == ["down", "up"]


async def test_a_series_that_ended_fails_nothing(metrics: Metrics) -> None:
    id_ = await metrics.make(conditions=[{**HIGH, "for": 0}])
    await bring(metrics, id_, 5)

    await bring(metrics, id_, STALE)

    assert await bring(metrics, id_, STALE) == "up"


async def test_another_rule_begins_anew(metrics: Metrics) -> None:
    id_ = await metrics.make(conditions=[HIGH])
    await bring(metrics, id_, 5)
    await metrics.api.put(f"/v1/monitors/{id_}", {"config": {"conditions": [{**HIGH, "op": "ge"}]}})
    metrics.receiving._receivers._read_at.clear()

    assert [await bring(metrics, id_, 5), await bring(metrics, id_, 5)] == ["up", "up"]
    assert await bring(metrics, id_, 5) == "down"


async def test_bad_conditions_are_named(metrics: Metrics) -> None:
    config = {"conditions": [{"metric": "", "op": "above", "value": "x", "for": -1}]}

    answer = await metrics.api.post("/v1/monitors", {"type": "prometheus", "name": "m", "config": config})

    assert answer.status == 400
    assert {f"conditions[0].{name}" for name in ("metric", "op", "value", "for")} == set(
        answer.json["details"]
    )
