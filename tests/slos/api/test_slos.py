"""SLOs over HTTP: made, read, changed, deleted; their budgets equal what single results say."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.history.core.histogram import BOUNDS, bucket_of
from collector.slos.service.states import SloState, slos_of
from shared.clock import iso
from tests.history.api.test_statistics import HOUR, START, ground_of, steady
from tests.history.ground import History, Result, arrive, defined, histories, lay, roll
from tests.http.client import Api
from tests.monitors.monitors import details, make

PATH = "/v1/slos"
THRESHOLD_MS = 5_000


async def plan(api: Api, **fields: Any) -> dict[str, Any]:
    answer = await api.post(PATH, {"name": "Checkout", "target": 99.9, **fields})
    assert answer.status == 201, answer.body
    return dict(answer.json)


async def states(api: Api, hours: int) -> list[SloState]:
    """The states of the team's SLOs so many hours after the start, the newest SLO first."""
    return [known.state for known in await slos_of(api.context.db, api.team_id, START + hours * HOUR)]


@pytest.mark.oldest
async def test_an_slo_is_shown_as_it_was_created_changed_and_deleted(api: Api) -> None:
    shop = await make(api, group="shop")
    body = {
        "name": "Fast pages",
        "description": "of the shop",
        "target": 99.5,
        "period": "month",
        "timezone": "Europe/Berlin",
        "indicator": {"type": "latency", "thresholdMs": 500},
        "monitors": [shop],
        "groups": ["shop"],
        "tags": {"env": "prod"},
        "combine": "each",
    }
    made = await plan(api, **body)
    here = f"{PATH}/{made['id']}"

    assert {name: made[name] for name in body} == body
    assert made["state"]["sli"] is None
    month_s = (
        datetime.fromisoformat(made["state"]["to"]) - datetime.fromisoformat(made["state"]["from"])
    ).total_seconds()
    assert made["state"]["budget"]["totalSeconds"] == pytest.approx(0.005 * month_s)
    assert [each["monitorId"] for each in made["state"]["monitors"]] == [shop]
    assert BOUNDS[bucket_of(500)] - 1 == made["state"]["countedThresholdMs"] >= 500
    changed = (await api.put(here, {"target": 99})).json
    assert (changed["target"], changed["indicator"], changed["revision"]) == (99, body["indicator"], 2)
    assert (await api.put(here, {"indicator": {"type": "checks", "thresholdMs": None}})).status == 200
    listed = (await api.get(PATH)).json
    assert [each["id"] for each in listed["data"]] == [made["id"]]
    assert (await api.delete(here)).status == 204
    assert (await api.get(here)).status == 404


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        pytest.param({}, {"monitors"}, id="no monitor"),
        pytest.param({"groups": ["x"], "target": 100}, {"target"}, id="nothing may be bad"),
        pytest.param({"groups": ["x"], "timezone": "Nowhere"}, {"timezone"}, id="no zone"),
        pytest.param({"groups": ["x"], "period": "31d"}, {"period"}, id="no period"),
        pytest.param(
            {"groups": ["x"], "indicator": {"type": "latency"}}, {"indicator.thresholdMs"}, id="no limit"
        ),
        pytest.param({"monitors": ["mon_00000000000000000000000000"]}, {"monitors[0]"}, id="no such monitor"),
    ],
)
async def test_every_bad_field_is_named(api: Api, fields: dict[str, Any], bad: set[str]) -> None:
    answer = await api.post(PATH, {"name": "Checkout", "target": 99.9, **fields})

    assert set(details(answer)) == bad


@pytest.mark.oldest
async def test_an_outage_uses_the_budget_and_burns_it(api: Api) -> None:
    id_, ground, _ = await steady(api)
    await roll(ground.db, START + 4 * HOUR)
    await plan(api, monitors=[id_], target=99, period="7d")

    [state] = await states(api, 2)

    lead_ms = 7 * 86_400_000 - 7_200_000
    assert (state.tally.known_ms, state.tally.bad) == (7_200_000, 600_000)
    assert state.budget.total_ms == pytest.approx(0.01 * (7_200_000 + lead_ms))
    assert state.budget.used_ms == pytest.approx(600_000)
    [hour, *_] = state.burns
    # Down for a sixth of the last hour, but not in its last five minutes.
    assert (hour.hours, hour.short, hour.exceeded) == (1, 0.0, False)
    assert hour.long == pytest.approx(100 / 6, rel=0.02)


@pytest.mark.oldest
async def test_a_service_is_down_once_when_several_of_its_monitors_are(api: Api) -> None:
    first, ground, _ = await steady(api)
    second, other, _ = await ground_of(api)
    await lay(other, History([], [(-1, 85)], [(0, 3900, 4500), (1, 3900, 4500)]))
    results = [Result(0, minute * 60, 1, 1, 100) for minute in range(120)]
    await arrive(other, results, START)
    await roll(ground.db, START + 4 * HOUR)
    await plan(api, monitors=[first, second], combine="any")
    await plan(api, monitors=[first, second], combine="each")

    each, together = await states(api, 4)

    assert together.budget.used_ms == pytest.approx(900_000)
    assert each.budget.used_ms == pytest.approx(600_000)
    assert {known.budget.used_ms for known in each.monitors} == {600_000}


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories, rolled=st.integers(0, 31))
async def test_the_used_budget_is_what_single_results_say(api: Api, history: History, rolled: int) -> None:
    id_, ground, _ = await ground_of(api)
    await lay(ground, history)
    await arrive(ground, history.results, START)
    latency = {"type": "latency", "thresholdMs": THRESHOLD_MS}
    await plan(api, monitors=[id_], period="7d")
    await plan(api, monitors=[id_], period="7d", indicator={"type": "checks"})
    await plan(api, monitors=[id_], period="7d", indicator=latency)
    await roll(ground.db, START + rolled * HOUR)

    fast, checks, available = (await states(api, 30))[:3]

    # Cadences of a day may cover the hours after the history, so known time is compared within it.
    true = {key[1]: both for key, both in defined(history).items() if key[0] == 0}
    assert available.tally.known_ms >= sum(known for known, _ in true.values())
    if not any(end is None for place, _, end in history.outages if place == 0):
        assert available.tally.bad == sum(down for _, down in true.values())
    scheduled = [result for result in history.results if result.run == 1]
    failed = sum(result.status == 2 for result in scheduled)
    assert (checks.tally.bad, checks.tally.total) == (
        failed,
        failed + sum(result.status == 1 for result in scheduled),
    )
    answers = [result.ms for result in history.results if result.status == 1]
    slow = sum(ms > (fast.counted_ms or 0) for ms in answers)
    assert (fast.tally.bad, fast.tally.total) == (failed + slow, failed + len(answers))


async def test_the_documented_request_is_accepted(api: Api) -> None:
    text = (Path(__file__).parents[3] / "docs" / "slos.md").read_text()
    body = json.loads(text.partition("```json\n")[2].partition("```")[0])

    answer = await api.post(PATH, body)

    assert answer.status == 201, answer.body
    assert answer.json["warnings"] == ["no monitor is selected as things are"]


async def test_a_calendar_period_begins_at_its_time_zones_midnight(api: Api) -> None:
    id_ = await make(api)
    made = await plan(api, monitors=[id_], period="year", timezone="Asia/Kolkata")

    assert made["state"]["from"].endswith("-12-31T18:30:00.000Z")
    assert made["state"]["from"] < iso(api.clock()) < made["state"]["to"]
