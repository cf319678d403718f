"""What people do with incidents: raise, take on, end, open again, note; and who is first is decided once."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from shared.ids import show, uuid7
from tests.http.client import Answer, Api
from tests.http.rows import T0, incident

pytestmark = pytest.mark.shares_server

RACERS = 20


async def raised(api: Api, **fields: Any) -> str:
    answer = await api.post("/v1/incidents", {"title": "Checkout is slow", **fields})
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


async def types(api: Api, id_: str) -> list[str]:
    return [event["type"] for event in (await api.get(f"/v1/incidents/{id_}/timeline")).json["events"]]


async def race(api: Api, path: str, body: Any = None) -> Counter[int]:
    answers = await asyncio.gather(*(api.post(path, body) for _ in range(RACERS)))
    return Counter(answer.status for answer in answers)


def conflict(answer: Answer) -> str:
    assert answer.status == 409
    assert answer.json["error"] == "Conflict"
    return str(answer.json["message"])


async def test_one_raised_by_hand_is_open_and_says_so(api: Api) -> None:
    answer = await api.post("/v1/incidents", {"title": "Checkout is slow", "description": "p95 above 3 s"})
    assert answer.status == 201
    assert set(answer.json) == {"id", "title", "status", "severity", "createdAt"}
    assert (answer.json["status"], answer.json["severity"]) == ("open", "medium")
    assert answer.headers["Location"].endswith(f"/v1/incidents/{answer.json['id']}")
    whole = (await api.get(f"/v1/incidents/{answer.json['id']}")).json
    assert whole["description"] == "p95 above 3 s"
    assert whole["monitorId"] is None
    assert whole["startedAt"] == whole["createdAt"] == answer.json["createdAt"]
    [entry] = (await api.get(f"/v1/incidents/{answer.json['id']}/timeline")).json["events"]
    assert (entry["type"], entry["details"]) == ("created", "Checkout is slow")
    assert entry["actor"] != "System"


async def test_one_about_a_monitor_keeps_its_id_and_name(api: Api) -> None:
    monitor = await api.post(
        "/v1/monitors", {"name": "shop", "type": "http", "config": {"url": "https://shop.example.com"}}
    )
    id_ = await raised(api, monitorId=monitor.json["id"], severity="high")
    whole = (await api.get(f"/v1/incidents/{id_}")).json
    assert (whole["monitorId"], whole["monitorName"], whole["severity"]) == (
        monitor.json["id"],
        "shop",
        "high",
    )


async def test_bad_fields_are_named_all_at_once(api: Api) -> None:
    answer = await api.post("/v1/incidents", {"severity": "huge", "monitorId": "x"})
    assert answer.status == 400
    assert set(answer.json["details"]) == {"title", "severity", "monitorId"}


async def test_a_monitor_of_another_team_is_no_monitor(api: Api) -> None:
    other = await api.other_team()
    monitor = await other.post(
        "/v1/monitors", {"name": "x", "type": "tcp", "config": {"host": "h", "port": 1}}
    )
    answer = await api.post("/v1/incidents", {"title": "t", "monitorId": monitor.json["id"]})
    assert (answer.status, set(answer.json["details"])) == (400, {"monitorId"})


async def test_from_open_to_acknowledged_to_resolved_to_open_and_round_again(api: Api) -> None:
    id_ = await raised(api)
    me = (await api.get("/v1/me")).json
    by = {"id": me["id"], "name": me["name"]}
    taken = await api.post(f"/v1/incidents/{id_}/acknowledge")
    assert (taken.status, taken.json["status"], taken.json["acknowledgedBy"]) == (200, "acknowledged", by)
    ended = await api.post(f"/v1/incidents/{id_}/resolve", {"resolutionNote": "rolled back"})
    assert set(ended.json) == {"id", "status", "resolvedAt", "resolvedBy", "downtime", "resolutionNote"}
    assert (ended.json["status"], ended.json["resolvedBy"]) == ("resolved", by)
    assert ended.json["resolutionNote"] == "rolled back"
    again = await api.post(f"/v1/incidents/{id_}/reopen", {"reason": "still slow"})
    assert set(again.json) == {"id", "status", "reopenedAt"}
    assert again.json["status"] == "open"
    whole = (await api.get(f"/v1/incidents/{id_}")).json
    assert (whole["acknowledgedAt"], whole["resolvedAt"], whole["resolutionNote"]) == (None, None, None)
    assert (await api.post(f"/v1/incidents/{id_}/acknowledge")).status == 200
    assert (await api.post(f"/v1/incidents/{id_}/resolve")).status == 200
    assert await types(api, id_) == [
        "created", "acknowledged", "resolved", "reopened", "acknowledged", "resolved",
    ]  # fmt: skip


async def test_moves_from_the_wrong_state_are_conflicts_that_say_why(api: Api) -> None:
    id_ = await raised(api)
    assert "open" in conflict(await api.post(f"/v1/incidents/{id_}/reopen"))
    await api.post(f"/v1/incidents/{id_}/acknowledge")
    assert "already acknowledged" in conflict(await api.post(f"/v1/incidents/{id_}/acknowledge"))
    assert "acknowledged" in conflict(await api.post(f"/v1/incidents/{id_}/reopen"))
    await api.post(f"/v1/incidents/{id_}/resolve")
    assert "already resolved" in conflict(await api.post(f"/v1/incidents/{id_}/resolve"))
    assert "already resolved" in conflict(await api.post(f"/v1/incidents/{id_}/acknowledge"))
    assert len(await types(api, id_)) == 3


@pytest.mark.parametrize(
    ("before", "deed"),
    [
        ((), "acknowledge"),
        ((), "resolve"),
        (("resolve",), "reopen"),
    ],
)
async def test_of_twenty_at_once_exactly_one_wins(api: Api, before: tuple[str, ...], deed: str) -> None:
    id_ = await raised(api)
    for text in before:
        await api.post(f"/v1/incidents/{id_}/{text}")
    assert await race(api, f"/v1/incidents/{id_}/{deed}") == {200: 1, 409: RACERS - 1}
    assert len(await types(api, id_)) == 2 + len(before)


@pytest.mark.oldest
async def test_a_second_open_one_of_a_monitor_is_refused_and_the_first_named(api: Api) -> None:
    monitor_id = uuid7()
    old = await automatic(api, monitor_id, status="resolved", resolved_at=T0)
    present = await automatic(api, monitor_id)
    answer = await api.post(f"/v1/incidents/{old}/reopen")
    assert present in conflict(answer)
    assert (await api.get(f"/v1/incidents/{old}")).json["status"] == "resolved"


async def automatic(api: Api, monitor_id: UUID, **columns: Any) -> str:
    return show("inc", await incident(api.context.db, api.team_id, monitor_id=monitor_id, **columns))


async def test_of_those_of_one_monitor_reopened_at_once_one_is_open(api: Api) -> None:
    monitor_id = uuid7()
    ended = [await automatic(api, monitor_id, status="resolved", resolved_at=T0) for _ in range(5)]
    answers = await asyncio.gather(*(api.post(f"/v1/incidents/{id_}/reopen") for id_ in ended))
    assert Counter(answer.status for answer in answers) == {200: 1, 409: 4}


async def test_downtime_is_of_its_open_spans_alone(api: Api) -> None:
    id_ = await raised(api)
    api.clock.ahead += timedelta(seconds=100)
    assert 100 <= (await api.post(f"/v1/incidents/{id_}/resolve")).json["downtime"] < 130
    api.clock.ahead += timedelta(hours=1)
    await api.post(f"/v1/incidents/{id_}/reopen")
    api.clock.ahead += timedelta(seconds=50)
    assert 150 <= (await api.post(f"/v1/incidents/{id_}/resolve")).json["downtime"] < 210


async def test_a_note_is_an_object_at_first_and_a_name_in_the_incident(api: Api) -> None:
    id_ = await raised(api)
    note = await api.post(f"/v1/incidents/{id_}/notes", {"text": "Looking at the database"})
    assert note.status == 201
    assert set(note.json) == {"id", "incidentId", "text", "createdBy", "createdAt"}
    assert set(note.json["createdBy"]) == {"id", "name"}
    [shown] = (await api.get(f"/v1/incidents/{id_}")).json["notes"]
    assert shown == {**note.json, "createdBy": note.json["createdBy"]["name"]}
    assert await types(api, id_) == ["created", "note_added"]


@pytest.mark.parametrize("text", ["", "  ", "x" * 10_001, None, 7])
async def test_a_note_has_from_one_to_ten_thousand_characters(api: Api, text: Any) -> None:
    id_ = await raised(api)
    answer = await api.post(f"/v1/incidents/{id_}/notes", {"text": text})
    assert (answer.status, list(answer.json["details"])) == (400, ["text"])


async def test_title_description_and_severity_can_change_and_the_log_tells_the_severity(api: Api) -> None:
    id_ = await raised(api)
    answer = await api.put(f"/v1/incidents/{id_}", {"severity": "critical", "title": "Checkout is down"})
    assert (answer.status, answer.json["severity"], answer.json["title"]) == (
        200,
        "critical",
        "Checkout is down",
    )
    again = await api.patch(f"/v1/incidents/{id_}", {"severity": "critical", "colour": "red"})
    assert again.json["warnings"] == ["unknown field colour was ignored"]
    assert await types(api, id_) == ["created", "severity_changed"]


@pytest.mark.parametrize("deed", ["acknowledge", "resolve", "reopen", "notes"])
async def test_an_incident_of_another_team_does_not_exist(api: Api, deed: str) -> None:
    id_ = await raised(await api.other_team())
    theirs = await api.post(f"/v1/incidents/{id_}/{deed}", {"text": ""})
    nobodys = await api.post(f"/v1/incidents/{show('inc', uuid7())}/{deed}", {"text": ""})
    assert theirs.status == nobodys.status == 404
    assert theirs.json["message"] == nobodys.json["message"] == "Incident not found"


async def test_a_reader_only_reads(api: Api) -> None:
    id_ = await raised(api)
    reader = await api.reader()
    for deed in ("acknowledge", "resolve", "reopen", "notes"):
        assert (await reader.post(f"/v1/incidents/{id_}/{deed}")).status == 403
    assert (await reader.get(f"/v1/incidents/{id_}/postmortem")).status == 200


async def test_a_post_mortem_starts_from_what_is_known(api: Api) -> None:
    id_ = await raised(api, title="Shop | <b>down</b>")
    await api.post(f"/v1/incidents/{id_}/notes", {"text": "# not a heading"})
    await api.post(f"/v1/incidents/{id_}/resolve", {"resolutionNote": "rolled back"})
    answer = await api.get(f"/v1/incidents/{id_}/postmortem")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    text = answer.body.decode()
    assert text.startswith("# Post-mortem: Shop \\| \\<b\\>down\\</b\\>\n")
    assert "\n# not a heading" not in text
    assert "\\# not a heading" in text
    assert "rolled back" in text
