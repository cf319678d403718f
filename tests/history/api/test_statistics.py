"""Numbers over time, as callers ask for them: what the results say, whoever keeps the sums."""

from datetime import datetime, timedelta, timezone
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.history.core import uptime
from collector.history.core.histogram import ERROR
from collector.history.storage import partitions, rollups
from shared.clock import iso, utc_now
from tests.history.ground import HOURS, SECONDS, Ground, History, Result, arrive, histories, lay, roll
from tests.http.client import Api
from tests.http.rows import insert
from tests.monitors.monitors import details, location, make, number, result

pytestmark = pytest.mark.shares_server

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
# A day whose every hour is over, and which no history leaves.
START = (utc_now() - 2 * DAY).replace(hour=6, minute=0, second=0, microsecond=0)
EMPTY = {
    "uptime": None,
    "checks": 0,
    "checkSuccess": None,
    "avgLatency": None,
    "p50": None,
    "p95": None,
    "p99": None,
    "knownSeconds": 0.0,
    "outageSeconds": 0.0,
}
_names = count()


async def stats(api: Api, id_: str, **params: Any) -> dict[str, Any]:
    query = {"from" if name == "since" else name: _text(value) for name, value in params.items()}
    answer = await api.get(f"/v1/monitors/{id_}/stats", params=query)
    assert answer.status == 200, answer.body
    return dict(answer.json)


def _text(value: Any) -> str:
    return iso(value) if isinstance(value, datetime) else str(value)


async def ground_of(api: Api) -> tuple[str, Ground, tuple[str, str]]:
    """A monitor at two locations; all hours before START are rolled up."""
    id_ = await make(api)
    names = (f"place-{next(_names):05}", f"place-{next(_names):05}")
    value, other = [await location(api, name) for name in names]
    async with api.context.db.transaction() as tx:
        await partitions.make(tx, utc_now().date())
        await rollups.done(tx, START)
    return id_, Ground(api.context.db, await number(api, id_), (value, other), START), names


async def steady(api: Api, *, minutes: int = 120) -> tuple[str, Ground, tuple[str, str]]:
    """A good check of 100 ms each minute at one location, with an outage of ten minutes from 01:00 on."""
    id_, ground, names = await ground_of(api)
    await lay(ground, History([], [(-1, 85)], [(0, 3600, 4200), (1, 3600, 4200)]))
    rows = [_result(second) for second in range(0, minutes * 60, 60)]
    await arrive(ground, rows, START)
    return id_, ground, names


def _result(second: int) -> Result:
    bad = 3600 <= second < 4200
    return Result(0, second, 2 if bad else 1, 1, 100)


@pytest.mark.oldest
async def test_a_chart_is_as_it_is_described(api: Api) -> None:
    id_, ground, names = await steady(api)
    await roll(ground.db, START + 5 * HOUR)

    found = await stats(api, id_, since=START, to=START + 3 * HOUR, step="1h")

    assert found["meta"] == {
        "from": iso(START),
        "to": iso(START + 3 * HOUR),
        "step": 3600,
        "percentileError": ERROR,
    }
    first, second, third = found["data"]
    latency = {"avgLatency": 100.0, "p50": first["p50"], "p95": first["p50"], "p99": first["p50"]}
    assert first == {
        "from": iso(START),
        "to": iso(START + HOUR),
        "uptime": 100.0,
        "checks": 60,
        "checkSuccess": 100.0,
        **latency,
        "knownSeconds": 3600.0,
        "outageSeconds": 0.0,
    }
    assert first["p50"] == pytest.approx(100, rel=ERROR)
    assert second == {
        "from": iso(START + HOUR),
        "to": iso(START + 2 * HOUR),
        "uptime": 83.3333,
        "checks": 60,
        "checkSuccess": 83.3333,
        **latency,
        "knownSeconds": 3600.0,
        "outageSeconds": 600.0,
    }
    # The last result speaks for an interval, a timeout and some grace: 25 s of it after its hour.
    assert third["knownSeconds"] == 25.0
    assert {**third, "knownSeconds": 0.0, "uptime": None} == {
        "from": iso(START + 2 * HOUR),
        "to": iso(START + 3 * HOUR),
        **EMPTY,
    }
    assert found["locations"] == [{"location": names[0], "data": found["data"]}]
    assert found["total"]["checks"] == 120
    assert found["total"]["uptime"] == pytest.approx(100 * (1 - 600 / 7225), abs=0.0001)


async def test_one_location_is_shown_alone(api: Api) -> None:
    id_, _, names = await steady(api)

    found = await stats(api, id_, since=START, to=START + HOUR, location=names[0])
    other = await stats(api, id_, since=START, to=START + HOUR, location="nowhere", step="1h")

    assert found["total"]["checks"] == 60
    assert found["locations"] == [{"location": names[0], "data": found["data"]}]
    assert other["data"] == [{"from": iso(START), "to": iso(START + HOUR), **EMPTY}]


async def test_a_chart_is_of_the_last_day_unless_asked_otherwise(api: Api) -> None:
    id_ = await make(api)
    now = api.clock()
    await result(api, await number(api, id_), now - 5 * MINUTE)
    await result(api, await number(api, id_), now - 25 * HOUR)

    found = await stats(api, id_)

    assert found["meta"]["step"] == 3600
    assert 24 <= len(found["data"]) <= 25
    assert found["total"]["checks"] == 1


@pytest.mark.parametrize("step", ["1h", "60m", "3600", "3600s"])
async def test_steps_are_told_in_several_ways(api: Api, step: str) -> None:
    id_ = await make(api)

    assert (await stats(api, id_, since=START, to=START + 3 * HOUR, step=step))["meta"]["step"] == 3600


@pytest.mark.parametrize(
    ("params", "bad"),
    [
        pytest.param({"step": "soon"}, {"step"}, id="no time"),
        pytest.param({"step": "0"}, {"step"}, id="nothing"),
        pytest.param({"step": "-1h"}, {"step"}, id="backwards"),
        pytest.param({"step": "999999999d"}, {"step"}, id="longer than all time"),
        pytest.param({"step": "٣h"}, {"step"}, id="digits of another script"),
        pytest.param({"step": "1m"}, {"step"}, id="more than 1,000 points"),
        pytest.param(
            {"step": "90m", "from": iso(START - DAY), "to": iso(START + 2 * DAY)}, {"step"}, id="raw"
        ),
        pytest.param({"from": "yesterday", "to": "x", "step": "x"}, {"from", "to", "step"}, id="several"),
        pytest.param({"from": iso(START), "to": iso(START)}, {"from"}, id="an empty window"),
        pytest.param({"from": iso(START + DAY), "to": iso(START)}, {"from"}, id="from after to"),
        pytest.param({"from": "0001-01-01"}, {"from"}, id="before all results"),
        pytest.param({"to": "9999-12-31"}, {"to"}, id="after all results"),
        pytest.param({"to": "0001-01-01"}, {"to"}, id="an end before all results"),
        pytest.param({"location": "a\0b"}, {"location"}, id="NUL"),
    ],
)
async def test_every_bad_parameter_of_a_chart_is_named(
    api: Api, params: dict[str, str], bad: set[str]
) -> None:
    id_ = await make(api)

    assert set(details(await api.get(f"/v1/monitors/{id_}/stats", params=params))) == bad


async def test_offsets_name_the_same_moments(api: Api) -> None:
    id_, _, _ = await steady(api)
    east, west = (START.astimezone(timezone(timedelta(hours=hours))) for hours in (5.5, -8))

    utc = await stats(api, id_, since=START, to=START + HOUR)
    shifted = await stats(api, id_, since=east.isoformat(), to=(west + HOUR).isoformat())

    assert shifted == utc


@pytest.mark.own_server
async def test_what_is_ahead_is_empty(api: Api) -> None:
    id_ = await make(api)
    now = api.clock()
    await result(api, await number(api, id_), now - MINUTE)
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE cadences SET since = $1", now - HOUR)

    found = await stats(api, id_, since=now - HOUR, to=now + DAY, step="1h")

    assert found["total"]["knownSeconds"] == pytest.approx(60, abs=5)
    assert found["data"][-1]["checks"] == 0


async def test_time_paused_is_not_known(api: Api) -> None:
    id_, ground, _ = await ground_of(api)
    await lay(ground, History([], [(-1, 4000), (1800, None)], [(0, 0, None)]))
    await arrive(ground, [_result(0)], START)

    found = await stats(api, id_, since=START, to=START + HOUR)

    assert found["total"]["knownSeconds"] == found["total"]["outageSeconds"] == 1800.0
    assert found["total"]["uptime"] == 0.0


async def test_a_result_that_came_late_is_there_at_once(api: Api) -> None:
    id_, ground, _ = await steady(api)
    await roll(ground.db, START + 5 * HOUR)
    await arrive(ground, [_result(2 * 3600 + 30)], START + 5 * HOUR)

    found = await stats(api, id_, since=START + 2 * HOUR, to=START + 3 * HOUR, step="1h")

    assert found["total"]["checks"] == 1
    assert found["total"]["knownSeconds"] == 25.0 + 85.0


async def test_another_teams_monitor_is_not_found_in_the_same_words(api: Api) -> None:
    id_ = await make(api)
    other = await api.other_team()

    answers = [
        await other.get(f"/v1/monitors/{id_}/stats"),
        await api.get("/v1/monitors/mon_00000000000000000000000000/stats?step=x"),
        await api.get("/v1/monitors/no-id/stats"),
    ]

    assert [answer.status for answer in answers] == [404, 404, 404]
    assert len({answer.body for answer in answers}) == 1


async def test_of_long_ago_only_whole_hours_are_told(api: Api) -> None:
    id_, ground, _ = await ground_of(api)
    async with api.context.db.transaction() as tx:
        await rollups.done(tx, START)
    hour = START - 60 * DAY
    row = {"monitor": ground.monitor, "location": 0, "at": hour, "checks": 60, "good": 60, "failed": 0}
    row |= {"unknown": 0, "answers": 60, "sum_ms": 6000, "known_ms": 3_600_000, "down_ms": 0}
    await insert(api.context.db, "rollups_hour", {**row, "buckets": [100], "counts": [60]})

    found = await stats(api, id_, since=hour + MINUTE, to=hour + 50 * MINUTE)
    finer = await api.get(
        f"/v1/monitors/{id_}/stats", params={"from": iso(hour), "to": iso(hour + HOUR), "step": "5m"}
    )

    assert (found["meta"]["from"], found["meta"]["to"]) == (iso(hour), iso(hour + HOUR))
    assert found["total"]["checks"] == 60
    assert set(details(finer)) == {"step"}


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories, draw=st.data())
async def test_numbers_of_any_window_are_those_of_its_results(
    api: Api, history: History, draw: st.DataObject
) -> None:
    id_, ground, names = await ground_of(api)
    await lay(ground, history)
    order = draw.draw(st.permutations(history.results))
    split = draw.draw(st.integers(0, len(order)))
    await arrive(ground, order[:split], START)
    now = START + draw.draw(st.integers(0, HOURS + 2)) * HOUR
    await roll(api.context.db, now)
    await arrive(ground, order[split:], now)
    since, until = sorted(draw.draw(st.lists(st.integers(0, SECONDS), min_size=2, max_size=2, unique=True)))
    step = draw.draw(st.sampled_from(["7m", "1h", "2h", "1d"]))

    found = await stats(api, id_, since=ground.at(since), to=ground.at(until), step=step)

    places = {
        None: found["data"],
        **{location["location"]: location["data"] for location in found["locations"]},
    }
    for place, points in places.items():
        which = 0 if place is None else names.index(place) + 1
        for point in points:
            _is_true(history, which, point)
    _is_true(history, 0, found["total"])


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories, draw=st.data())
async def test_pages_of_a_rare_status_in_a_long_range_hold_all_that_the_range_holds(
    api: Api, history: History, draw: st.DataObject
) -> None:
    id_, ground, names = await ground_of(api)
    await lay(ground, history)
    order = draw.draw(st.permutations(history.results))
    split = draw.draw(st.integers(0, len(order)))
    await arrive(ground, order[:split], START)
    now = START + draw.draw(st.integers(0, HOURS + 2)) * HOUR
    await roll(api.context.db, now)
    await arrive(ground, order[split:], now)
    until = START + draw.draw(st.integers(0, SECONDS)) * SECOND
    place = draw.draw(st.sampled_from([{}, {"location": names[0]}]))
    params: dict[str, Any] = {"from": iso(until - 3 * DAY), "to": iso(until), **place}
    status = draw.draw(st.sampled_from(["down", "unknown"]))
    limit = draw.draw(st.integers(1, 4))

    whole = (await api.get(f"/v1/monitors/{id_}/results", params={**params, "limit": 1000})).json
    expected = [item for item in whole["data"] if item["status"] == status]
    found: list[Any] = []
    params |= {"status": status, "limit": limit}
    while "cursor" not in params or params["cursor"]:
        page = (await api.get(f"/v1/monitors/{id_}/results", params=params)).json
        assert page["meta"]["total"] == len(expected)
        found += page["data"]
        params["cursor"] = page["meta"]["next"]

    assert found == expected


@pytest.mark.oldest
@pytest.mark.parametrize("status", ["down", "unknown"])
async def test_the_widest_range_of_a_rare_status_is_empty_without_any(api: Api, status: str) -> None:
    id_, _, _ = await ground_of(api)

    ends = {"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59.999Z"}
    answer = await api.get(f"/v1/monitors/{id_}/results", params={**ends, "status": status})

    assert (answer.status, answer.json["data"]) == (200, [])


def _is_true(history: History, place: int, point: dict[str, Any]) -> None:
    """Slowly, from the results and the definition of uptime."""
    since, until = ((datetime.fromisoformat(point[end]) - START) // SECOND for end in ("from", "to"))
    mine = [
        result
        for result in history.results
        if place in (0, result.location + 1) and since <= result.at < until
    ]
    known, down = _times(history, place, since, until)
    answers = sorted(result.ms for result in mine if result.status == 1)
    judged = [result.status == 1 for result in mine if result.run == 1 and result.status != 3]
    assert point["checks"] == len(mine)
    assert point["knownSeconds"] == known
    assert point["outageSeconds"] == down
    assert point["uptime"] == (uptime.share(known * 1000, down * 1000) if known else None)
    assert point["checkSuccess"] == (round(100 * sum(judged) / len(judged), 4) if judged else None)
    assert point["avgLatency"] == (round(sum(answers) / len(answers), 1) if answers else None)
    for name, part in (("p50", 50), ("p95", 95), ("p99", 99)):
        rank = -(-len(answers) * part // 100) - 1
        wanted = pytest.approx(answers[rank], rel=ERROR, abs=0.06) if answers else None
        assert point[name] == wanted


def _times(history: History, place: int, since: int, until: int) -> tuple[int, int]:
    known = uptime.union(
        *(
            uptime.known(
                sorted(
                    (result.at * 1000, result.status != 3)
                    for result in history.results
                    if result.location + 1 == at
                ),
                [(start * 1000, cover) for start, cover in history.cadences],
                [(start * 1000, end * 1000) for start, end in history.maintenance],
            )
            for at in ([1, 2] if place == 0 else [place])
        )
    )
    down = uptime.union(
        (start * 1000, (until if end is None else end) * 1000)
        for at, start, end in history.outages
        if at == place
    )
    window_ = since * 1000, until * 1000
    both = uptime.intersection(known, down)
    return uptime.length_ms(known, *window_) // 1000, uptime.length_ms(both, *window_) // 1000
