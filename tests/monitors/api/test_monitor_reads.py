"""Monitors, their numbers and their results are read as the interface shows them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from collector.evaluation.storage import error_texts
from collector.history.core.histogram import ERROR
from shared import ids
from shared.clock import iso
from shared.phases import pack
from shared.results import Phases
from tests.http.client import Api
from tests.http.rows import incident, insert
from tests.monitors.monitors import HTTP, TCP, change, details, make, number, probe, result, rows, shown

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)


def at_noon(api: Api) -> Api:
    """The server's clock stands near NOON."""
    api.clock.ahead = NOON - datetime.now(UTC)
    return api


async def names(api: Api, **params: Any) -> list[str]:
    answer = await api.get("/v1/monitors", params=params)
    assert answer.status == 200, answer.body
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [item["name"] for item in answer.json["data"]]


async def test_a_list_item_is_as_the_interface_shows(api: Api) -> None:
    id_ = await make(api, locations=["eu"], timeout=7)
    await api.post("/v1/monitors", TCP)

    answer = await api.get("/v1/monitors")

    assert answer.json["meta"] == {"page": 1, "limit": 20, "total": 2}
    second, first = answer.json["data"]
    assert {name: first[name] for name in ("id", "name", "type", "status", "url", "interval", "timeout")} == {
        "id": id_,
        "name": "shop",
        "type": "http",
        "status": "up",
        "url": "https://shop.example.com/",
        "interval": 60,
        "timeout": 7,
    }
    assert first["locations"] == ["eu"]
    assert {"createdAt", "updatedAt"} < first.keys()
    assert "config" not in first
    assert (second["type"], second["url"]) == ("tcp", None)


async def test_lists_are_filtered(api: Api) -> None:
    await probe(api, "local")
    await api.post("/v1/monitors", {**TCP, "name": "tcp", "tags": {"env": "prod"}})
    paused = await make(api, name="paused", group="Shop")
    down = await make(api, name="down", tags={"env": "test", "tier:1": "x"})
    resumed = await make(api, name="resumed")
    await api.post(f"/v1/monitors/{paused}/pause")
    for id_ in (paused, down, resumed):
        await change(api, "monitors", "id", ids.read("mon", id_), down=True)
    await change(api, "states", "monitor", await number(api, down), last_at=NOON)

    assert await names(api) == ["resumed", "down", "paused", "tcp"]
    assert await names(api, status="up") == ["resumed", "tcp"]
    assert await names(api, status="down") == ["down"]
    assert await names(api, status="paused") == ["paused"]
    assert await names(api, type="tcp") == ["tcp"]
    assert await names(api, type="web3") == []
    assert await names(api, type="http", status="up") == ["resumed"]
    assert await names(api, group="Shop") == ["paused"]
    assert await names(api, tag="env") == ["down", "tcp"]
    assert await names(api, tag="env:prod") == ["tcp"]
    assert await names(api, tag="env:prod", type="http") == []
    assert await names(await api.other_team()) == []


async def test_every_bad_parameter_of_a_list_is_named(api: Api) -> None:
    answer = await api.get("/v1/monitors", params={"status": "off", "type": "x", "page": 0, "limit": "a"})

    assert set(details(answer)) == {"status", "type", "page", "limit"}
    assert details(answer)["status"] == "must be one of up, down, paused"


async def test_pages_follow_each_other_newest_first(api: Api) -> None:
    for n in range(5):
        await make(api, name=f"m{n}")

    pages = [await api.get("/v1/monitors", params={"page": n, "limit": 2}) for n in (1, 2, 3, 4)]

    assert [[item["name"] for item in page.json["data"]] for page in pages] == [
        ["m4", "m3"],
        ["m2", "m1"],
        ["m0"],
        [],
    ]
    assert pages[3].json["meta"] == {"page": 4, "limit": 2, "total": 5}


async def test_a_result_is_as_the_interface_shows(api: Api) -> None:
    id_ = await make(api)
    monitor = await number(api, id_)
    await insert(api.context.db, "errors", {"text": "connection refused"})
    [error] = await rows(api, "SELECT error FROM errors")
    phases = Phases(dns_us=1200, connect_us=3400, tls_us=None, first_byte_us=15_000, transfer_us=100)
    await result(api, monitor, NOON, ms=20, phases=pack(phases))
    await result(api, monitor, NOON + SECOND, status=2, ms=3, code=None, error=error["error"])
    await result(api, monitor, NOON + 2 * SECOND, status=3, ms=0, code=0)

    answer = await api.get(f"/v1/monitors/{id_}/results", params={"from": "2026-11-21", "to": "2026-11-21"})

    assert answer.status == 200
    none = {"dns": None, "connect": None, "tls": None, "firstByte": None, "transfer": None}
    assert answer.json["data"] == [
        {
            "timestamp": "2026-11-21T12:00:02.000Z",
            "status": "unknown",
            "responseTime": 0,
            "location": "local",
            "statusCode": None,
            "error": None,
            "phases": none,
        },
        {
            "timestamp": "2026-11-21T12:00:01.000Z",
            "status": "down",
            "responseTime": 3,
            "location": "local",
            "statusCode": None,
            "error": "connection refused",
            "phases": none,
        },
        {
            "timestamp": "2026-11-21T12:00:00.000Z",
            "status": "up",
            "responseTime": 20,
            "location": "local",
            "statusCode": 200,
            "error": None,
            "phases": {"dns": 1.2, "connect": 3.4, "tls": None, "firstByte": 15.0, "transfer": 0.1},
        },
    ]
    assert answer.json["meta"] == {
        "total": 3,
        "from": "2026-11-21T00:00:00.000Z",
        "to": "2026-11-21T23:59:59.999Z",
        "limit": 100,
        "next": None,
    }


async def test_results_are_of_the_last_day_unless_asked_otherwise(api: Api) -> None:
    at_noon(api)
    id_ = await make(api)
    monitor = await number(api, id_)
    for hours in (1, 23, 25, 49):
        await result(api, monitor, NOON - hours * HOUR, ms=hours)

    async def ages(**params: str) -> list[int]:
        answer = await api.get(f"/v1/monitors/{id_}/results", params=params)
        assert answer.json["meta"]["total"] == len(answer.json["data"])
        return [item["responseTime"] for item in answer.json["data"]]

    assert await ages() == [1, 23]
    assert await ages(**{"from": iso(NOON - 50 * HOUR)}) == [1, 23, 25, 49]
    assert await ages(to=iso(NOON - 24 * HOUR)) == [25]
    assert await ages(**{"from": iso(NOON - 25 * HOUR), "to": iso(NOON - 23 * HOUR)}) == [23, 25]
    assert await ages(**{"from": iso(NOON + 24 * HOUR)}) == []
    assert await ages(to="0001-01-01") == []
    assert await ages(to="9999-12-31") == []


async def test_results_are_filtered(api: Api) -> None:
    at_noon(api)
    id_ = await make(api)
    monitor, other = await number(api, id_), await number(api, await make(api))
    for n, (where, status) in enumerate((("a", 1), ("b", 1), ("a", 2), ("b", 3))):
        await result(api, monitor, NOON - HOUR + n * SECOND, where, status=status)
    await result(api, other, NOON - HOUR, "a")

    async def found(**params: str) -> list[tuple[str, str]]:
        answer = await api.get(f"/v1/monitors/{id_}/results", params=params)
        assert answer.json["meta"]["total"] == len(answer.json["data"])
        return [(item["location"], item["status"]) for item in answer.json["data"]]

    assert await found() == [("b", "unknown"), ("a", "down"), ("b", "up"), ("a", "up")]
    assert await found(location="a") == [("a", "down"), ("a", "up")]
    assert await found(status="up") == [("b", "up"), ("a", "up")]
    assert await found(location="b", status="down") == []
    assert await found(location="nowhere") == []


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_cursors_lead_through_all_results_once(api: Api, limit: int) -> None:
    at_noon(api)
    id_ = await make(api)
    monitor = await number(api, id_)
    for n in range(7):
        # Ties in time: between locations, and of one location with itself.
        await result(api, monitor, NOON - HOUR + n // 3 * SECOND, "ab"[n % 2], n=n, ms=n)

    seen: list[int] = []
    params: dict[str, Any] = {"limit": limit}
    for _ in range(9):
        page = (await api.get(f"/v1/monitors/{id_}/results", params=params)).json
        seen += [item["responseTime"] for item in page["data"]]
        assert page["meta"]["total"] == 7
        if page["meta"]["next"] is None:
            break
        params["cursor"] = page["meta"]["next"]

    whole = (await api.get(f"/v1/monitors/{id_}/results")).json["data"]
    assert seen == [item["responseTime"] for item in whole]
    assert sorted(seen) == list(range(7))


@pytest.mark.parametrize(
    ("params", "bad"),
    [
        pytest.param({"from": "yesterday"}, {"from"}, id="no timestamp"),
        pytest.param({"from": "2026-11-22", "to": "2026-11-21"}, {"from"}, id="from after to"),
        pytest.param({"limit": "0"}, {"limit"}, id="limit 0"),
        pytest.param({"status": "paused", "limit": "x", "to": "x"}, {"status", "limit", "to"}, id="several"),
        pytest.param({"cursor": "x"}, {"cursor"}, id="no cursor"),
        pytest.param({"cursor": "MS4yLjMuNA"}, {"cursor"}, id="too many parts"),
        pytest.param({"cursor": "OTk5OTk5OTk5OTk5OTk5OTk5OTkuMS4x"}, {"cursor"}, id="beyond all time"),
        pytest.param({"cursor": "MS45OTk5OTkuMQ"}, {"cursor"}, id="beyond all locations"),
        pytest.param({"cursor": "ä"}, {"cursor"}, id="not even base64"),
    ],
)
async def test_every_bad_parameter_of_results_is_named(
    api: Api, params: dict[str, str], bad: set[str]
) -> None:
    id_ = await make(api)

    assert set(details(await api.get(f"/v1/monitors/{id_}/results", params=params))) == bad


async def test_a_larger_limit_is_clamped_and_says_so(api: Api) -> None:
    id_ = await make(api)

    assert (await api.get(f"/v1/monitors/{id_}/results", params={"limit": 5000})).json["meta"][
        "limit"
    ] == 1000


async def test_what_was_never_measured_says_so_and_a_first_vote_ends_that(api: Api) -> None:
    id_ = await make(api)
    monitor, now = await number(api, id_), api.clock()
    assert "warnings" not in await shown(api, id_)
    api.clock.ahead = timedelta(minutes=5)
    assert (await shown(api, id_))["warnings"] == ["not measured yet: no check has come from local"]
    await result(api, monitor, now, status=3)
    async with api.context.db.transaction() as tx:
        (said,) = (await error_texts.intern(tx, ["probe: not permitted to ping"])).values()
    await change(api, "states", "monitor", monitor, last_at=now, last_status=3, last_error=said)

    found = await shown(api, id_)

    assert (found["status"], found["stats"]["uptime"], found["stats"]["measured"]) == ("up", 100.0, False)
    text = "not measured: every location's newest check is unknown: probe: not permitted to ping"
    assert found["warnings"] == [text]
    await result(api, monitor, now, status=1, n=1)
    await change(api, "states", "monitor", monitor, last_at=now + SECOND, last_status=1, last_error=None)
    again = await shown(api, id_)
    assert (again["stats"]["measured"], "warnings" in again) == (True, False)


async def test_stats_are_of_the_last_day_and_of_today(api: Api) -> None:
    at_noon(api)
    id_ = await make(api)
    monitor = await number(api, id_)
    for n in range(1, 101):
        await result(api, monitor, NOON - HOUR + n * SECOND, "ab"[n % 2], ms=n)
    await result(api, monitor, NOON - 13 * HOUR, "a", ms=100)  # yesterday
    await result(api, monitor, NOON - 25 * HOUR, "a", ms=9000)  # too long ago
    await result(api, monitor, NOON - HOUR, "a", status=2, ms=5000, n=1)
    await result(api, monitor, NOON - HOUR, "a", status=2, ms=5000, n=2, run=2)
    await result(api, monitor, NOON - HOUR, "a", status=3, ms=5000, n=3)

    stats = (await shown(api, id_))["stats"]

    assert stats["checksToday"] == 103
    assert stats["avgLatency"] == pytest.approx((5050 + 100) / 101, abs=0.06)
    assert stats["p50"] == pytest.approx(51, rel=2 * ERROR)
    assert stats["p95"] == pytest.approx(96, rel=2 * ERROR)
    assert stats["p99"] == pytest.approx(100, rel=2 * ERROR)
    assert stats["checkSuccess"] == pytest.approx(100 * 101 / 102, abs=0.0001)


async def twenty_hours(api: Api) -> tuple[str, int]:
    """A monitor that was seen good twenty hours before noon, which speaks for all the time since."""
    api.clock.ahead = NOON - 40 * HOUR - datetime.now(UTC)
    id_ = await make(api, interval=86_400)
    monitor = await number(api, id_)
    at_noon(api)
    await result(api, monitor, NOON - 20 * HOUR)
    await change(api, "states", "monitor", monitor, last_at=NOON)
    return id_, monitor


async def outage(api: Api, monitor: int, started_at: datetime, ended_at: datetime | None) -> None:
    row = {"monitor": monitor, "location": 0, "started_at": started_at, "ended_at": ended_at}
    await insert(api.context.db, "outages", row)


async def test_uptime_is_of_the_time_that_is_known(api: Api) -> None:
    id_, monitor = await twenty_hours(api)
    await outage(api, monitor, NOON - 30 * HOUR, NOON - 21 * HOUR)  # while nothing is known
    await outage(api, monitor, NOON - 10 * HOUR, NOON - 5 * HOUR)
    await incident(
        api.context.db,
        api.team_id,
        monitor_id=ids.read("mon", id_),
        automatic=False,
        started_at=NOON - 4 * HOUR,
    )

    stats = (await shown(api, id_))["stats"]

    for name in ("uptime", "uptime24h", "uptime7d", "uptime90d"):
        assert stats[name] == pytest.approx(75.0, abs=0.05)


async def test_an_open_outage_is_downtime_up_to_now(api: Api) -> None:
    id_, monitor = await twenty_hours(api)
    await outage(api, monitor, NOON - HOUR, None)

    assert (await shown(api, id_))["stats"]["uptime"] == pytest.approx(95.0, abs=0.05)


async def test_a_type_that_does_not_run_yet_may_be_asked_for_and_teams_count_apart(api: Api) -> None:
    await api.post("/v1/monitors", HTTP)
    other = await api.other_team()
    await other.post("/v1/monitors", HTTP)

    assert (await api.get("/v1/monitors", params={"type": "icmp"})).json["data"] == []
    assert (await api.get("/v1/monitors")).json["meta"]["total"] == 1
