"""Days of many monitors, what is shown with one, and how many results there are: from sums, and as true."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.history.core.histogram import ERROR
from collector.history.service import statistics
from collector.history.storage import rollups
from shared.clock import iso, utc_now
from tests.history.api.test_statistics import DAY, HOUR, START, ground_of, steady
from tests.history.ground import HOURS, SECONDS, History, arrive, histories, lay, roll
from tests.http.client import Api
from tests.monitors.monitors import details, location, make, number, result

STATUS = {"up": 1, "down": 2, "unknown": 3}


async def days(api: Api, *ids: str, **params: Any) -> list[dict[str, Any]]:
    answer = await api.get("/v1/monitors/uptime", params={"ids": ",".join(ids), **params})
    assert answer.status == 200, answer.body
    return list(answer.json["data"])


async def test_each_day_of_each_monitor_is_told(api: Api) -> None:
    id_, ground, _ = await steady(api)
    await roll(ground.db, utc_now())
    empty = await make(api)

    before = utc_now().date()
    one, other = await days(api, id_, empty, days=7)

    today = date.fromisoformat(one["days"][-1]["date"])
    assert before <= today <= utc_now().date()
    assert [day["date"] for day in one["days"]] == [str(today - n * DAY) for n in reversed(range(7))]
    [bad] = [day for day in one["days"] if day["date"] == str(START.date())]
    assert one["id"] == id_
    assert one["uptime"] == bad["uptime"] == pytest.approx(100 * (1 - 600 / 7225), abs=0.0001)
    assert bad["outageSeconds"] == 600.0
    assert {day["uptime"] for day in one["days"]} == {None, one["uptime"]}
    assert (other["id"], other["uptime"], len(other["days"])) == (empty, None, 7)


async def test_an_outage_of_just_now_is_in_todays_number(api: Api) -> None:
    id_ = await make(api)
    monitor, where, now = await number(api, id_), await location(api, "local"), api.clock()
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE cadences SET since = $1", now - DAY)
        await rollups.done(tx, now.replace(minute=0, second=0, microsecond=0))
        await tx.execute("INSERT INTO outages VALUES ($1, 0, $3), ($1, $2, $3)", monitor, where, now - HOUR)
    await result(api, monitor, now - timedelta(seconds=30), status=2)

    [found] = await days(api, id_, days=2)

    assert found["uptime"] in {0.0, None}  # None in the first half minute of an hour
    assert found["days"][-1]["uptime"] in {found["uptime"], None}


async def test_only_the_teams_own_monitors_are_told_each_once(api: Api) -> None:
    id_, second = await make(api), await make(api)
    other = await api.other_team()
    foreign = await make(other)

    found = await days(api, second, foreign, id_, "mon_00000000000000000000000000", second)

    assert [item["id"] for item in found] == [second, id_]
    assert {len(item["days"]) for item in found} == {90}


@pytest.mark.parametrize(
    ("params", "bad"),
    [
        pytest.param({}, {"ids"}, id="none"),
        pytest.param({"ids": "mon_1"}, {"ids"}, id="no id"),
        pytest.param({"ids": ",".join(["mon_00000000000000000000000000"] * 101)}, {"ids"}, id="too many"),
        pytest.param({"ids": "mon_00000000000000000000000000", "days": "0"}, {"days"}, id="no day"),
        pytest.param({"ids": "x", "days": "367"}, {"days", "ids"}, id="several"),
    ],
)
async def test_every_bad_parameter_of_days_is_named(api: Api, params: dict[str, str], bad: set[str]) -> None:
    assert set(details(await api.get("/v1/monitors/uptime", params=params))) == bad


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories, rolled=st.integers(0, 40))
async def test_a_summary_is_the_same_however_far_the_rollups_are(
    api: Api, history: History, rolled: int
) -> None:
    _, ground, _ = await ground_of(api)
    await lay(ground, history)
    await arrive(ground, history.results, START)
    now = START + 30 * HOUR
    async with api.context.db.connection() as tx:
        raw = await statistics.summary(tx, ground.monitor, now)
        [*raw_days] = (await statistics.daily(tx, [ground.monitor], 3, now)).values()
    await roll(api.context.db, START + min(rolled, 30) * HOUR)
    async with api.context.db.connection() as tx:
        assert await statistics.summary(tx, ground.monitor, now) == raw
    await roll(api.context.db, now + HOUR)
    async with api.context.db.connection() as tx:
        assert await statistics.summary(tx, ground.monitor, now) == raw
        [*rolled_days] = (await statistics.daily(tx, [ground.monitor], 3, now)).values()
    # What no outage touches needs no results: its hours are known a little later.
    assert raw_days == rolled_days or not any(place == 0 for place, _, _ in history.outages)


async def test_a_summary_says_what_is_so(api: Api) -> None:
    _, ground, _ = await steady(api)

    async with api.context.db.connection() as tx:
        day = await statistics.summary(tx, ground.monitor, START + 3 * HOUR)
        later = await statistics.summary(tx, ground.monitor, START + 27 * HOUR)

    known = pytest.approx(100 * (1 - 600 / 7225), abs=0.0001)
    assert day.uptime_day == day.uptime_week == day.uptime == day.uptime_quarter == known
    assert later.uptime_day == 100.0
    assert later.uptime_week == known
    assert (day.checks_today, later.checks_today) == (120, 0)
    assert day.check_success == pytest.approx(100 * 110 / 120, abs=0.0001)
    assert later.check_success == 100.0
    assert day.avg_latency == 100.0
    assert (later.avg_latency, later.p50, later.p99) == (0.0, 0.0, 0.0)
    assert day.p50 == day.p95 == day.p99 == pytest.approx(100, rel=ERROR)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(history=histories, draw=st.data())
async def test_the_total_of_results_is_exact(api: Api, history: History, draw: st.DataObject) -> None:
    """Also of ranges that begin and end within an hour, with results that came late, whatever the filter."""
    id_, ground, names = await ground_of(api)
    await lay(ground, history)
    order = draw.draw(st.permutations(history.results))
    split = draw.draw(st.integers(0, len(order)))
    await arrive(ground, order[:split], START)
    now = START + draw.draw(st.integers(0, HOURS + 2)) * HOUR
    await roll(api.context.db, now)
    await arrive(ground, order[split:], now)
    since, until = sorted(draw.draw(st.lists(st.integers(-90_000, SECONDS + 90_000), min_size=2, max_size=2)))
    status = draw.draw(st.sampled_from([None, "up", "down", "unknown"]))
    where = draw.draw(st.sampled_from([None, 0, 1]))
    params: dict[str, Any] = {"from": iso(ground.at(since)), "to": iso(ground.at(until)), "limit": 1}
    params |= {"status": status} if status else {}
    params |= {} if where is None else {"location": names[where]}

    found = (await api.get(f"/v1/monitors/{id_}/results", params=params)).json

    wanted = [
        result
        for result in history.results
        if since <= result.at <= until
        and (status is None or result.status == STATUS[status])
        and where in (None, result.location)
    ]
    assert found["meta"]["total"] == len(wanted)


async def test_results_without_raw_ones_are_not_counted(api: Api) -> None:
    """Sums outlive the results that they are of; a total is of those that can be read."""
    id_, ground, _ = await steady(api)
    await roll(ground.db, START + 5 * HOUR)
    async with ground.db.transaction() as tx:
        await tx.execute(
            "UPDATE rollups_day SET at = at - interval '60 days' WHERE monitor = $1", ground.monitor
        )
        await tx.execute(
            "UPDATE rollups_hour SET at = at - interval '60 days' WHERE monitor = $1", ground.monitor
        )
        await tx.execute("DELETE FROM results WHERE monitor = $1", ground.monitor)
    await result(api, ground.monitor, START + 9 * HOUR)
    await roll(ground.db, START + 12 * HOUR)

    answer = await api.get(f"/v1/monitors/{id_}/results", params={"from": iso(START - 70 * DAY), "limit": 1})

    assert answer.json["meta"]["total"] == 1


async def test_the_next_page_is_linked_with_the_range_as_it_was_understood(api: Api) -> None:
    id_, _, _ = await steady(api)
    path = f"/v1/monitors/{id_}/results"
    params = {"from": START.isoformat(), "limit": 60, "status": "up"}
    seen: list[str] = []

    first = await api.get(path, params=params)
    answer = first
    for _ in range(5):
        seen += [item["timestamp"] for item in answer.json["data"]]
        if "Link" not in answer.headers:
            break
        link, rel = answer.headers["Link"].split("; ")
        assert rel == 'rel="next"'
        answer = await api.get(link.strip("<>").removeprefix("https://tocsin.example.com"))
        assert answer.json["meta"]["to"] == first.json["meta"]["to"]
        assert answer.json["meta"]["total"] == 110

    assert len(seen) == len(set(seen)) == 110
