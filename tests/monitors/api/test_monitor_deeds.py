"""Pause, resume, silence and delete do what the table of who hears what says."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from collector.events.core.kinds import CHANGES
from shared import ids
from shared.clock import iso, utc_now
from tests.http.client import Api
from tests.http.rows import incident, insert
from tests.monitors.monitors import change, details, make, number, probe, result, rows, shown

LONG_AGO = timedelta(hours=2)


async def broken(api: Api, **columns: Any) -> tuple[str, UUID]:
    """A monitor that has been down and notified for an hour, and its incident."""
    await probe(api, "local")
    id_ = await make(api)
    now = utc_now()
    await change(api, "monitors", "id", ids.read("mon", id_), down=True, told=True)
    await change(api, "states", "monitor", await number(api, id_), failing=True, fails=4, last_at=now)
    row = {
        "monitor_id": ids.read("mon", id_),
        "started_at": now - timedelta(hours=1),
        "monitor_name": "shop",
        "severity": "high",
        **columns,
    }
    return id_, await incident(api.context.db, api.team_id, **row)


async def incidents(api: Api) -> list[dict[str, Any]]:
    return list((await api.get("/v1/incidents")).json["data"])


async def announced(api: Api) -> list[dict[str, Any]]:
    """What channels hear of states: not that a monitor was made or changed, nor what became of incidents."""
    found = await rows(api, "SELECT stream_id, kind, payload, incident_id FROM events ORDER BY position")
    heard = [event for event in found if event["kind"] not in CHANGES]
    return [event for event in heard if not event["kind"].startswith("incident.")]


async def test_pause_stops_the_checks_and_a_second_one_changes_nothing(api: Api) -> None:
    await probe(api, "local")
    id_ = await make(api)

    first = await api.post(f"/v1/monitors/{id_}/pause")
    second = await api.post(f"/v1/monitors/{id_}/pause")

    assert first.status == second.status == 200
    assert first.json == second.json == {"id": id_, "status": "paused", "pausedAt": first.json["pausedAt"]}
    found = await shown(api, id_)
    assert (found["status"], found["pausedAt"], found["revision"]) == ("paused", first.json["pausedAt"], 2)
    assert await rows(api, "SELECT assignment FROM states") == [{"assignment": None}]


async def test_resume_checks_at_once_and_a_second_one_changes_nothing(api: Api) -> None:
    serving = await probe(api, "local")
    id_ = await make(api)
    await change(api, "states", "monitor", await number(api, id_), last_at=utc_now(), last_status=1)
    await api.post(f"/v1/monitors/{id_}/pause")

    first = await api.post(f"/v1/monitors/{id_}/resume")
    second = await api.post(f"/v1/monitors/{id_}/resume")

    assert first.status == second.status == 200
    assert first.json == second.json == {"id": id_, "status": "up", "resumedAt": first.json["resumedAt"]}
    found = await shown(api, id_)
    assert (found["status"], found["pausedAt"], found["revision"]) == ("up", None, 3)
    assert found["lastCheckedAt"] is None
    assert await rows(api, "SELECT revision, probe_id FROM states") == [{"revision": 3, "probe_id": serving}]


async def test_a_monitor_that_was_never_paused_resumes_to_what_it_is(api: Api) -> None:
    id_, _ = await broken(api)

    assert (await api.post(f"/v1/monitors/{id_}/resume")).json["status"] == "down"


async def test_a_pause_leaves_the_incident_open_and_its_time_out(api: Api) -> None:
    id_, _ = await broken(api)

    await api.post(f"/v1/monitors/{id_}/pause")
    api.clock.ahead = timedelta(days=1)
    held = (await incidents(api))[0]
    answer = await api.post(f"/v1/monitors/{id_}/resume")
    api.clock.ahead = timedelta(days=1, minutes=1)
    [goes_on] = await incidents(api)

    assert answer.json["status"] == "up"
    assert held["status"] == goes_on["status"] == "open"
    assert 3600 <= held["downtime"] < 3630
    assert 3660 <= goes_on["downtime"] < 3690
    [state] = await rows(
        api, "SELECT m.down, m.told, s.failing, s.fails FROM monitors m JOIN states s USING (monitor)"
    )
    assert state == {"down": True, "told": True, "failing": True, "fails": 0}


async def test_silence_is_set_replaced_and_ended(api: Api) -> None:
    id_ = await make(api)

    first = await api.post(f"/v1/monitors/{id_}/silence", {"duration": 60, "reason": "a deployment"})
    assert (first.status, first.json["reason"]) == (200, "a deployment")
    assert (await shown(api, id_))["silencedUntil"] == first.json["silencedUntil"]

    second = await api.post(f"/v1/monitors/{id_}/silence", {"duration": 2_592_000})
    assert second.json["reason"] is None
    assert second.json["silencedUntil"] > first.json["silencedUntil"]
    found = await shown(api, id_)
    assert (found["silencedUntil"], found["revision"]) == (second.json["silencedUntil"], 1)

    for _ in range(2):
        ended = await api.delete(f"/v1/monitors/{id_}/silence")
        assert (ended.status, ended.body) == (204, b"")
    assert (await shown(api, id_))["silencedUntil"] is None


async def test_a_silence_that_is_over_is_not_shown(api: Api) -> None:
    id_ = await make(api)
    until = (await api.post(f"/v1/monitors/{id_}/silence", {"duration": 60})).json["silencedUntil"]

    assert until == (await api.get("/v1/monitors")).json["data"][0]["silencedUntil"]
    api.clock.ahead = timedelta(seconds=61)
    assert (await shown(api, id_))["silencedUntil"] is None
    assert (await api.get("/v1/monitors")).json["data"][0]["silencedUntil"] is None


async def test_a_silence_is_in_the_open_incidents_log(api: Api) -> None:
    id_, incident_id = await broken(api)

    answer = await api.post(f"/v1/monitors/{id_}/silence", {"duration": 60, "reason": "known"})

    timeline = await api.get(f"/v1/incidents/{ids.show('inc', incident_id)}/timeline")
    [entry] = timeline.json["events"]
    assert entry["type"] == "silenced"
    assert entry["actor"] != "System"
    assert entry["details"] == f"until {answer.json['silencedUntil']}: known"


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        pytest.param({}, {"duration": "Duration is required"}, id="no duration"),
        pytest.param({"duration": 0}, {"duration": "must be between 1 and 2592000"}, id="none at all"),
        pytest.param({"duration": 2_592_001}, {"duration": "must be between 1 and 2592000"}, id="too long"),
        pytest.param(
            {"duration": "1h", "reason": 7},
            {"duration": "must be a whole number", "reason": "must be a string"},
            id="both",
        ),
    ],
)
async def test_every_bad_field_of_a_silence_is_named(api: Api, body: Any, bad: dict[str, str]) -> None:
    id_ = await make(api)

    assert details(await api.post(f"/v1/monitors/{id_}/silence", body)) == bad


async def test_a_deleted_monitor_is_gone_with_all_that_was_its_own(api: Api) -> None:
    await probe(api, "local")
    id_ = await make(api)
    other = await make(api, dependsOn=[id_])
    kept = await number(api, other)
    now = utc_now()
    await result(api, await number(api, id_), now)
    await result(api, kept, now)

    answer = await api.delete(f"/v1/monitors/{id_}")

    assert (answer.status, answer.body) == (204, b"")
    assert (await api.get(f"/v1/monitors/{id_}")).status == 404
    assert (await api.get(f"/v1/monitors/{id_}/results")).status == 404
    assert (await api.delete(f"/v1/monitors/{id_}")).status == 404
    assert await rows(api, "SELECT monitor FROM results") == [{"monitor": kept}]
    assert await rows(api, "SELECT monitor FROM states") == [{"monitor": kept}]
    assert (await shown(api, other))["dependsOn"] == []
    assert await announced(api) == []


async def test_deleting_a_monitor_that_is_down_ends_its_incident_and_tells(api: Api) -> None:
    id_, incident_id = await broken(api)

    await api.delete(f"/v1/monitors/{id_}")

    [ended] = await incidents(api)
    assert (ended["status"], ended["resolvedBy"]) == ("resolved", {"id": None, "name": "System"})
    assert (ended["monitorId"], ended["monitorName"]) == (id_, "shop")
    timeline = await api.get(f"/v1/incidents/{ended['id']}/timeline")
    assert [(entry["type"], entry["actor"]) for entry in timeline.json["events"]] == [
        ("monitor_deleted", "System")
    ]
    [event] = await announced(api)
    assert (event["kind"], event["stream_id"], event["incident_id"]) == (
        "monitor.up",
        ids.read("mon", id_),
        incident_id,
    )
    payload = event["payload"]
    assert payload["event"] == "monitor.up"
    assert payload["monitor"] == {
        "id": id_,
        "name": "shop",
        "type": "http",
        "url": "https://shop.example.com/",
        "status": "deleted",
    }
    assert 3600 <= payload["incident"].pop("downtimeSeconds") < 3630
    assert payload["incident"].pop("downtimeFormatted").startswith("1h")
    assert payload["incident"] == {"id": ended["id"], "severity": "high"}


async def test_nobody_hears_the_end_of_what_nobody_was_told(api: Api) -> None:
    id_, _ = await broken(api)
    await change(api, "monitors", "id", ids.read("mon", id_), told=False)

    await api.delete(f"/v1/monitors/{id_}")

    assert (await incidents(api))[0]["status"] == "resolved"
    assert await announced(api) == []


async def test_deleting_a_paused_monitor_leaves_the_pause_out_of_its_downtime(api: Api) -> None:
    id_, _ = await broken(api)
    await api.post(f"/v1/monitors/{id_}/pause")
    api.clock.ahead = timedelta(days=1)

    await api.delete(f"/v1/monitors/{id_}")

    [ended] = await incidents(api)
    assert 3600 <= ended["downtime"] < 3630
    [event] = await announced(api)
    assert 3600 <= event["payload"]["incident"]["downtimeSeconds"] < 3630


async def test_a_manual_incident_outlives_its_monitor_as_it_is(api: Api) -> None:
    id_ = await make(api)
    manual = await incident(
        api.context.db, api.team_id, automatic=False, monitor_id=ids.read("mon", id_), started_at=utc_now()
    )

    await api.delete(f"/v1/monitors/{id_}")

    [found] = await incidents(api)
    assert (found["id"], found["status"]) == (ids.show("inc", manual), "open")


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        pytest.param({}, {"type": "Type is required"}, id="nothing"),
        pytest.param(
            {"type": "heartbeat", "config": {}},
            {
                "type": "only receives: there is nothing to test",
                "expectedInterval": "Expected interval is required, or cron",
            },
            id="a type that only receives",
        ),
        pytest.param(
            {"type": "http", "config": {"url": "x"}, "timeout": 0, "locations": []},
            {
                "url": "must be an http or https URL",
                "timeout": "must be between 1 and 120",
                "locations": "must not be empty",
            },
            id="all at once",
        ),
    ],
)
async def test_every_bad_field_of_a_test_is_named(api: Api, body: Any, bad: dict[str, str]) -> None:
    assert details(await api.post("/v1/monitors/test", body)) == bad


async def test_states_follow_a_pause_without_being_forgotten(api: Api) -> None:
    id_, _ = await broken(api)
    now = utc_now()
    await insert(api.context.db, "errors", {"text": "connection refused"})
    [error] = await rows(api, "SELECT error FROM errors")
    await change(
        api,
        "states",
        "monitor",
        await number(api, id_),
        failed_since=now - LONG_AGO,
        last_error=error["error"],
        last_ms=3,
    )

    before = (await shown(api, id_))["locationStates"]
    await api.post(f"/v1/monitors/{id_}/pause")
    after = (await shown(api, id_))["locationStates"]

    assert before == after
    [state] = before
    assert state["failingSince"] == iso(now - LONG_AGO)
    assert (state["status"], state["error"], state["responseTime"]) == ("down", "connection refused", 3)
    assert state["consecutiveFailures"] == 4
