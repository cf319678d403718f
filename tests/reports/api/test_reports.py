"""Reports over HTTP: made, computed once, read again, and equal to what the rest of the API says."""

import csv
import io
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from shared.clock import iso
from tests.history.ground import roll
from tests.http.client import Api
from tests.http.rows import incident, insert
from tests.monitors.monitors import details, make
from tests.reports.history import DAY, HOUR, MINUTE, STEP, Lived, lived, reported, work

PATH = "/v1/reports"
pytestmark = pytest.mark.oldest


def seconds(time: dict[str, Any]) -> dict[str, float]:
    return {name.removesuffix("Ms"): ms / 1000 for name, ms in time.items() if name.endswith("Ms")}


async def results_of(api: Api, known: Lived) -> list[dict[str, Any]]:
    """All results of the period by the API, oldest first."""
    found: list[dict[str, Any]] = []
    query = f"from={iso(known.start)}&to={iso(known.until - MINUTE / 60_000)}&limit=100"
    cursor = ""
    while True:
        answer = await api.get(f"/v1/monitors/{known.id}/results?{query}{cursor}")
        assert answer.status == 200, answer.body
        found += answer.json["data"]
        following = answer.json["meta"]["next"]
        if not following:
            return found[::-1]
        cursor = f"&cursor={following}"


@pytest.mark.parametrize("rolled", [False, True])
async def test_the_seconds_add_up_and_equal_what_the_api_says(api: Api, rolled: bool) -> None:
    known = await lived(api)
    if rolled:
        await roll(api.context.db, api.clock())

    content = await reported(api, {**known.body, "target": 99.0})

    [line] = content["monitors"]
    time = seconds(line["time"])
    span = f"from={iso(known.start)}&to={iso(known.until)}"
    total = (await api.get(f"/v1/monitors/{known.id}/stats?{span}&step=1h")).json["total"]
    assert time["up"] + time["down"] == pytest.approx(total["knownSeconds"])
    assert time["down"] == pytest.approx(total["outageSeconds"]) == 3600
    assert (line["checks"], line["p50Ms"], line["p95Ms"]) == (total["checks"], total["p50"], total["p95"])
    assert sum(time.values()) - time["period"] == time["period"] == 2 * 86_400
    assert (time["maintenance"], time["paused"]) == (7200, 3 * 3600)
    assert line["time"]["uptime"] == int(1e5 * time["up"] / (time["up"] + time["down"])) / 1000
    assert line["met"] is (line["time"]["uptime"] >= 99.0)

    results = await results_of(api, known)
    assert len(results) == line["checks"] == 288 - 18 - 12
    # The last check before the gap counts for an interval, its timeout and 15 s.
    assert time["unknown"] == 2 * 3600 - 20
    latencies = sorted(each["responseTime"] for each in results if each["status"] == "up")
    assert line["p50Ms"] == pytest.approx(latencies[len(latencies) // 2], rel=0.05)

    stats = (await api.get(f"/v1/incidents/stats?{span}")).json
    numbers = content["numbers"]
    assert (numbers["incidents"], numbers["mttr"], numbers["mtta"]) == (1, stats["mttr"], stats["mtta"])
    assert (numbers["mtbf"], numbers["unresolved"]) == (None, 0)
    [incident_] = content["incidents"]
    assert (incident_["downtimeS"], incident_["note"]) == (3600, "Rolled back")
    assert (line["outages"], line["longestMs"], content["longestMs"]) == (1, 3_600_000, 3_600_000)
    [excluded] = content["excluded"]
    assert excluded == {
        "name": None,
        "start": iso(known.start + 6 * HOUR),
        "end": iso(known.start + 8 * HOUR),
    }
    # It existed for one of the two days before, and was never down then.
    assert (line["uptimeBefore"], content["before"]["uptime"]) == (100.0, 100.0)


async def test_business_hours_are_accounted_for_by_themselves(api: Api) -> None:
    known = await lived(api)

    content = await reported(api, {**known.body, "businessHours": "Mo-Su 03:30-06:30", "target": 99.0})

    [line] = content["monitors"]
    assert seconds(line["business"]) == {
        "period": 6 * 3600,
        "up": 6 * 3600 - 1800 - 1800,
        "down": 1800,
        "maintenance": 1800,
        "paused": 0,
        "unknown": 0,
    }
    assert (line["business"]["uptime"], line["met"]) == (90.909, False)
    assert content["business"] == line["business"]


async def test_several_monitors_are_summed_compared_and_ordered(api: Api) -> None:
    first = await lived(api, "Shop", tags={"team": "shop"})
    await lived(api, "=Bank", tags={"team": "bank"})
    young = await make(api, name="young")

    content = await reported(api, {**first.body, "target": 99.0})

    names = [line["name"] for line in content["monitors"]]
    assert names == ["=Bank", "Shop"], young
    assert content["time"]["periodMs"] == 4 * 86_400_000
    assert (len(content["best"]), set(content["worst"])) == (2, {each["id"] for each in content["monitors"]})
    assert content["numbers"]["mtbf"] == 0
    table = list(csv.reader(io.StringIO((await api.get(f"{content['path']}/csv")).body.decode())))
    assert [len(row) for row in table] == [len(table[0])] * 4
    by_name = {row[1]: dict(zip(table[0], row, strict=True)) for row in table[1:]}
    # A spreadsheet takes no name for a formula.
    assert set(by_name) == {"'=Bank", "Shop", "All together"}
    assert by_name["Shop"]["down_s"] == "3600.000"
    assert by_name["All together"]["period_s"] == "345600.000"
    assert (by_name["Shop"]["target_met"], by_name["Shop"]["business_up_s"]) == ("no", "")


async def test_a_report_is_about_tags_or_the_monitors_of_a_page(api: Api) -> None:
    known = await lived(api, "Shop", tags={"team": "shop"})
    other = await lived(api, "Bank")
    page = (await api.post("/v1/status-pages", {"name": "Example"})).json["id"]
    component = {"name": "API", "monitorId": other.id}
    assert (await api.post(f"/v1/status-pages/{page}/components", component)).status == 201
    await incident(api.context.db, api.team_id, started_at=known.start, monitor_name=None)

    tagged = await reported(api, {**known.body, "tags": ["team:shop"]})
    paged = await reported(api, {**known.body, "statusPage": page})
    whole = await reported(api, known.body)

    assert [line["name"] for line in tagged["monitors"]] == ["Shop"]
    assert [line["name"] for line in paged["monitors"]] == ["Bank"]
    assert "Example" in paged["subject"]
    assert "team:shop" in tagged["subject"]
    assert [each["numbers"]["incidents"] for each in (tagged, paged, whole)] == [1, 1, 3]


async def test_the_first_day_of_a_monitor_shortens_its_period(api: Api) -> None:
    known = await lived(api)
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE monitors SET created_at = $1", known.start + 12 * HOUR)
        await tx.execute("DELETE FROM cadences WHERE since < $1", known.start + 12 * HOUR)
        await tx.execute("INSERT INTO cadences VALUES ($1, $2)", known.monitor, known.start + 12 * HOUR)

    [line] = (await reported(api, known.body))["monitors"]

    assert line["time"]["periodMs"] == 36 * 3_600_000
    assert line["uptimeBefore"] is None


async def test_results_that_come_late_make_a_new_edition_and_the_old_keeps_its_numbers(api: Api) -> None:
    known = await lived(api)
    content = await reported(api, known.body)
    path = content.pop("path")
    where = path.rpartition("/")[0]
    await work(api, ahead=2 * DAY)
    assert len((await api.get(where)).json["data"]) == 1

    row = {"monitor": known.monitor, "ms": 9, "status": 1, "run": 1, "n": 0}
    for at in range(264, 276):
        [place] = await rows_of_locations(api)
        await insert(api.context.db, "results", {**row, "ts": known.start + at * STEP, "location": place})
    await work(api, ahead=3 * DAY)

    new, old = (await api.get(where)).json["data"]
    assert (new["number"], old["number"]) == (2, 1)
    assert (await api.get(path)).json["content"] == content
    later = (await api.get(f"{where}/{new['id']}")).json["content"]
    assert later["time"]["unknownMs"] == 0
    await work(api, ahead=4 * DAY)
    assert len((await api.get(where)).json["data"]) == 2


async def rows_of_locations(api: Api) -> list[int]:
    async with api.context.db.connection() as tx:
        return [row["location"] for row in await tx.fetch("SELECT location FROM locations")]


async def test_missed_months_are_caught_up_once(api: Api) -> None:
    made = (await api.post(PATH, {"name": "Monthly", "timezone": "europe/berlin"})).json
    assert made["timezone"] == "Europe/Berlin"
    assert made["nextAt"] is not None

    for _ in range(2):
        await work(api, ahead=100 * DAY)

    found = (await api.get(f"{PATH}/{made['id']}/editions")).json["data"]
    # So many months end in a hundred days.
    assert len(found) in {3, 4}
    assert {each["number"] for each in found} == {1}
    assert all(later["since"] == earlier["until"] for later, earlier in pairwise(found))
    assert (await api.get(f"{PATH}/{made['id']}")).json["nextAt"] > iso(api.clock() + 90 * DAY)


async def test_an_edition_is_made_for_a_day_that_is_asked_for(api: Api) -> None:
    made = (await api.post(PATH, {"name": "Weekly", "period": "week", "enabled": False})).json
    where = f"{PATH}/{made['id']}/editions"
    assert made["nextAt"] is None

    asked = await api.post(where, {"day": "2026-01-01"})
    assert (asked.status, asked.json["status"]) == (201, "pending")
    assert asked.json["since"] == "2025-12-29T00:00:00.000Z"
    assert (await api.get(f"{where}/{asked.json['id']}/csv")).status == 409
    await work(api)
    assert (await api.get(f"{where}/{asked.json['id']}")).json["content"]["monitors"] == []

    tomorrow = (api.clock() + timedelta(days=1)).date().isoformat()
    assert details(await api.post(where, {"day": tomorrow})) == {"day": "its period is not over"}


@pytest.mark.parametrize(
    ("fields", "bad"),
    [
        ({"name": " "}, "name"),
        ({"period": "year"}, "period"),
        ({"period": "custom"}, "firstDay"),
        ({"period": "custom", "firstDay": "2026-10-02", "lastDay": "2026-10-01"}, "lastDay"),
        ({"firstDay": "2026-10-02"}, "firstDay"),
        ({"period": "custom", "firstDay": "2020-10-02", "lastDay": "2026-10-01"}, "lastDay"),
        ({"timezone": "Mars"}, "timezone"),
        ({"sendHour": 24}, "sendHour"),
        ({"businessHours": "nine to five"}, "businessHours"),
        ({"target": 101}, "target"),
        ({"recipients": ["nobody"]}, "recipients[0]"),
        ({"statusPage": "sp_01kahb5m7q8x9t3v2c4d6e0f1g"}, "statusPage"),
        ({"monitors": ["mon_01kahb5m7q8x9t3v2c4d6e0f1g"]}, "monitors[0]"),
    ],
)
async def test_a_bad_field_is_named(api: Api, fields: dict[str, Any], bad: str) -> None:
    assert list(details(await api.post(PATH, {"name": "Monthly", **fields}))) == [bad]


async def test_a_report_is_changed_and_deleted_with_its_editions(api: Api) -> None:
    made = await api.post(PATH, {"name": "Monthly", "colour": "red"})
    assert made.json["warnings"] == ["unknown field colour was ignored"]
    path = f"{PATH}/{made.json['id']}"
    await api.post(f"{path}/editions", {"day": "2026-01-01"})

    changed = await api.put(path, {"period": "week", "sendHour": 8}, headers={"If-Match": '"1"'})
    assert (changed.json["revision"], changed.json["sendHour"]) == (2, 8)
    assert (await api.put(path, {"name": "x"}, headers={"If-Match": '"1"'})).status == 412
    [listed] = (await api.get(PATH)).json["data"]
    assert listed["period"] == "week"

    stranger = await api.other_team()
    assert (await stranger.get(path)).status == (await stranger.get(f"{path}/editions")).status == 404
    assert (await api.delete(path)).status == 204
    assert (await api.get(path)).status == 404
