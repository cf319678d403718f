"""A packed day answers every question as its rows did."""

import csv
import io
from typing import Any

import orjson
import pytest

from collector.history.storage import last_results, partitions, results, rollups
from shared.clock import iso
from shared.phases import pack
from shared.results import Phases
from tests.history.packed import DAY, HOUR, MONDAY, MS, Row, insert, pack_all
from tests.http.client import Api
from tests.monitors.monitors import location, make, number

MINUTE = 60_000 * MS


async def day_of(api: Api) -> tuple[str, int, list[Row]]:
    """A monitor with a day of odd results at two locations, with re-checks, failures and their texts."""
    id_ = await make(api)
    monitor = await number(api, id_)
    places = [await location(api, name) for name in ("packed-a", "packed-b")]
    async with api.context.db.transaction() as tx:
        await partitions.make_days(tx, [(MONDAY - DAY).date(), (MONDAY + DAY).date()])
        error = await tx.fetchval("INSERT INTO errors (text) VALUES ('refused: packed') RETURNING error")
        await tx.execute("DELETE FROM cadences WHERE monitor = $1", monitor)
        await tx.execute("INSERT INTO cadences VALUES ($1, $2, 85)", monitor, MONDAY - DAY)
        await tx.execute(
            "INSERT INTO outages VALUES ($1, 0, $2, $3)",
            monitor,
            MONDAY + 600 * MINUTE,
            MONDAY + 620 * MINUTE,
        )
        rows = [row for place in places for row in _rows(monitor, place, error)]
        await insert(tx, rows)
    return id_, monitor, rows


def _rows(monitor: int, place: int, error: int) -> list[Row]:
    phases = pack(Phases(900, 12_000, 12_800, 31_000, 400), 71)
    rows: list[Row] = []
    for i in range(1440):
        bad, at = 600 <= i < 620, MONDAY + i * MINUTE + (i * 37 % 900) * MS
        rows.append((at, monitor, 40 + i % 90, error if bad else None, place, i % 5, 1, 2 if bad else 1,
                     None if bad else 200, None if bad else phases))  # fmt: skip
        if bad and i % 4 == 0:
            rows.append((at + 1_000 * MS, monitor, 3, error, place, 1, 2, 3 if i % 8 else 2, None, None))
    return rows


def _questions(id_: str) -> list[tuple[str, dict[str, Any]]]:
    results_, stats = f"/v1/monitors/{id_}/results", f"/v1/monitors/{id_}/stats"
    noon = MONDAY + 12 * HOUR + 17 * MINUTE
    odd = {"from": iso(MONDAY + 9 * HOUR + 59 * MINUTE + 17 * MS), "to": iso(noon)}
    whole = {"from": iso(MONDAY - HOUR), "to": iso(MONDAY + DAY + HOUR)}
    return [
        (results_, {"limit": "1000", **whole}),
        (results_, {"limit": "50", "location": "packed-b", **odd}),
        (results_, {"limit": "1000", "status": "down", **whole}),
        (results_, {"limit": "3", "status": "unknown", **whole}),
        (results_, {"limit": "20", "from": iso(MONDAY - 20 * DAY), "to": iso(MONDAY + 20 * DAY)}),
        (stats, {"step": "5m", **odd}),
        (stats, {"step": "1h", **whole}),
        (stats, {"step": "10m", "location": "packed-a", **odd}),
    ]


async def answers(api: Api, id_: str) -> list[Any]:
    """All of them, with the pages that follow the first one."""
    found = []
    for path, query in _questions(id_):
        asked = dict(query)
        for _ in range(4):
            answer = await api.get(path, params=asked)
            assert answer.status == 200, answer.body
            found.append(answer.json)
            if not path.endswith("results") or not answer.json["meta"].get("next"):
                break
            asked["cursor"] = answer.json["meta"]["next"]
    return found


@pytest.mark.oldest
async def test_the_api_answers_the_same_of_rows_of_packed_days_and_of_both(api: Api) -> None:
    id_, monitor, rows = await day_of(api)
    db = api.context.db
    hours = [(monitor, MONDAY + n * HOUR) for n in range(25)]
    async with db.transaction() as tx:
        await rollups.make(tx, hours)
    before, numbers = await answers(api, id_), await _rolled(api, monitor)

    assert await pack_all(db) == len(rows)
    assert await answers(api, id_) == before
    async with db.transaction() as tx:
        await rollups.make(tx, hours)
    assert await _rolled(api, monitor) == numbers

    late = rows[100]
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM packed_results")
        await insert(tx, [row for row in rows if row != late])
    await pack_all(db)
    async with db.transaction() as tx:
        await insert(tx, [late])
    assert await answers(api, id_) == before


async def _rolled(api: Api, monitor: int) -> list[Any]:
    async with api.context.db.connection() as tx:
        return await tx.fetch("SELECT * FROM rollups_hour WHERE monitor = $1 ORDER BY location, at", monitor)


@pytest.mark.oldest
async def test_what_is_packed_is_known_as_stored_and_as_the_last_result(api: Api) -> None:
    _, monitor, rows = await day_of(api)
    last = max((row for row in rows if row[7] == 1), key=lambda row: row[0])
    async with api.context.db.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO states (monitor, location, turn, revision, last_at, last_status, last_ms)
            VALUES ($1, $2, 99, 1, $3, 1, $4)
            """,
            monitor, last[4], last[0], last[2],
        )  # fmt: skip
        await tx.execute("UPDATE monitors SET interval_s = 86400 WHERE monitor = $1", monitor)
    await pack_all(api.context.db)
    async with api.context.db.connection() as tx:
        team_id = await tx.fetchval("SELECT team_id FROM monitors WHERE monitor = $1", monitor)
        found = await last_results.of_team(tx, team_id, last[0])
        stored = await results.stored(
            tx,
            [monitor, monitor],
            [last[4], last[4]],
            [int(last[0].timestamp() * 1000)] * 2,
            [last[5], last[5] + 1],
        )
    assert [(one.code, one.phases) for one in found if one.location in {"packed-a", "packed-b"}] == [
        (last[8], last[9])
    ]
    assert stored == {0}


@pytest.mark.parametrize("asked", [{}, {"location": "packed-a", "status": "down"}], ids=["all", "some"])
async def test_an_export_has_every_result_of_a_range_and_nothing_else(
    api: Api, asked: dict[str, str]
) -> None:
    id_, _, rows = await day_of(api)
    await pack_all(api.context.db)
    path = f"/v1/monitors/{id_}/results"
    query = {"from": iso(MONDAY), "to": iso(MONDAY + DAY), **asked}
    listed, page = [], {**query, "limit": "1000"}
    while True:
        answer = (await api.get(path, params=page)).json
        listed += answer["data"]
        if answer["meta"]["next"] is None:
            break
        page["cursor"] = answer["meta"]["next"]
    assert asked or len(listed) == len(rows)

    lines = await api.get(f"{path}/export", params={**query, "format": "ndjson"})
    assert lines.headers["Content-Type"] == "application/x-ndjson"
    assert [orjson.loads(line) for line in lines.body.splitlines()] == listed

    table = await api.get(f"{path}/export", params=query)
    assert table.headers["Content-Type"] == "text/csv; charset=utf-8"
    cells = list(csv.DictReader(io.StringIO(table.body.decode())))
    assert [(each["time"], each["location"], each["status"], int(each["duration_ms"])) for each in cells] == [
        (each["timestamp"], each["location"], each["status"], each["responseTime"]) for each in listed
    ]
    assert [each["tls"] for each in cells] == ["" if each["status"] != "up" else "12.8" for each in listed]


async def test_an_export_refuses_what_the_list_refuses(api: Api) -> None:
    id_ = await make(api)
    wrong = await api.get(f"/v1/monitors/{id_}/results/export", params={"format": "xml", "status": "odd"})
    assert wrong.status == 400
    assert set(wrong.json["details"]) == {"format", "status"}
    unknown = await api.get(f"/v1/monitors/mon_{'0' * 26}/results/export")
    assert unknown.status == 404
