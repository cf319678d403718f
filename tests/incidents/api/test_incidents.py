"""Incidents are read as the interface shows them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from shared import ids
from shared.clock import iso, utc_now
from shared.ids import show, uuid7
from tests.http.client import Api
from tests.http.rows import T0, incident, insert

pytestmark = pytest.mark.shares_server

SYSTEM = {"id": None, "name": "System"}
PERSON = {"id": "usr_01jd", "name": "On call"}


async def note(api: Api, incident_id: UUID, text: str, seconds: int) -> None:
    row = {
        "team_id": api.team_id,
        "id": uuid7(),
        "incident_id": incident_id,
        "text": text,
        "created_by": PERSON,
        "created_at": T0 + timedelta(seconds=seconds),
    }
    await insert(api.context.db, "incident_notes", row)


async def ids_of(api: Api, query: str) -> list[str]:
    answer = await api.get(f"/v1/incidents{query}")
    assert answer.status == 200
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [item["id"] for item in answer.json["data"]]


async def test_a_resolved_incident_shows_every_field(api: Api) -> None:
    monitor_id = uuid7()
    id_ = await incident(
        api.context.db,
        api.team_id,
        monitor_id=monitor_id,
        status="resolved",
        spans_s=332,
        acknowledged_at=T0 + timedelta(seconds=60),
        acknowledged_by=PERSON,
        resolved_at=T0 + timedelta(seconds=332),
        resolved_by=SYSTEM,
        failure_count=7,
        last_error="connection refused",
        resolution_note="rolled back",
    )

    shown = {
        "id": show("inc", id_),
        "title": "shop is down",
        "description": "",
        "monitorId": show("mon", monitor_id),
        "monitorName": "shop",
        "status": "resolved",
        "severity": "critical",
        "startedAt": "2026-11-01T12:00:00.000Z",
        "createdAt": "2026-11-01T12:00:00.000Z",
        "acknowledgedAt": "2026-11-01T12:01:00.000Z",
        "acknowledgedBy": PERSON,
        "resolvedAt": "2026-11-01T12:05:32.000Z",
        "resolvedBy": SYSTEM,
        "resolutionNote": "rolled back",
        "reopenedAt": None,
        "downtime": 332,
        "downtimeFormatted": "5m 32s",
        "failureCount": 7,
        "lastError": "connection refused",
        "parentIncidentId": None,
    }
    assert (await api.get(f"/v1/incidents/{show('inc', id_)}")).json == {**shown, "notes": []}
    assert (await api.get("/v1/incidents")).json == {
        "data": [shown],
        "meta": {"page": 1, "limit": 20, "total": 1},
    }


async def test_an_open_incident_counts_its_downtime_up_to_now(api: Api) -> None:
    id_ = await incident(api.context.db, api.team_id, started_at=utc_now() - timedelta(hours=2), spans_s=60)

    first = (await api.get(f"/v1/incidents/{show('inc', id_)}")).json
    api.clock.ahead = timedelta(hours=1)
    later = (await api.get(f"/v1/incidents/{show('inc', id_)}")).json

    assert 7260 <= first["downtime"] < 7320
    assert first["downtimeFormatted"] == "2h 1m"
    assert 3600 <= later["downtime"] - first["downtime"] < 3660


async def test_only_the_present_span_of_a_reopened_incident_runs(api: Api) -> None:
    now = utc_now()
    id_ = await incident(
        api.context.db,
        api.team_id,
        started_at=now - timedelta(days=3),
        span_from=now - timedelta(seconds=10),
        spans_s=50,
        reopened_at=now - timedelta(seconds=10),
    )

    shown = (await api.get(f"/v1/incidents/{show('inc', id_)}")).json

    assert 60 <= shown["downtime"] < 120


async def test_the_clock_stands_still_while_the_monitor_is_paused(api: Api) -> None:
    monitor_id, now = uuid7(), utc_now()
    row: dict[str, Any] = {
        "team_id": api.team_id,
        "id": monitor_id,
        "name": "shop",
        "type": "tcp",
        "config": {},
        "interval_s": 60,
        "timeout_s": 10,
        "locations": ["local"],
        "severity": "critical",
        "failure_threshold": 3,
        "recovery_threshold": 1,
        "changed_at": now,
        "paused_at": now - timedelta(minutes=30),
        "created_at": now,
        "updated_at": now,
    }
    await insert(api.context.db, "monitors", row)
    id_ = await incident(
        api.context.db, api.team_id, monitor_id=monitor_id, started_at=now - timedelta(minutes=40)
    )

    assert (await api.get(f"/v1/incidents/{show('inc', id_)}")).json["downtime"] == 600


async def test_notes_are_shown_in_order_with_their_authors_name(api: Api) -> None:
    id_ = await incident(api.context.db, api.team_id)
    await note(api, id_, "second", 2)
    await note(api, id_, "first", 1)

    notes = (await api.get(f"/v1/incidents/{show('inc', id_)}")).json["notes"]

    assert [(one["text"], one["createdBy"]) for one in notes] == [("first", "On call"), ("second", "On call")]
    assert notes[0]["incidentId"] == show("inc", id_)
    assert notes[0]["createdAt"] == "2026-11-01T12:00:01.000Z"
    assert ids.read("note", notes[0]["id"]) is not None


async def test_the_timeline_is_told_in_the_order_of_writing(api: Api) -> None:
    id_ = await incident(api.context.db, api.team_id)
    for seconds, (type_, actor) in enumerate([("created", "System"), ("acknowledged", "On call")]):
        row = {
            "team_id": api.team_id,
            "incident_id": id_,
            "at": T0 + timedelta(seconds=seconds),
            "type": type_,
            "actor": actor,
            "details": f"it was {type_}",
        }
        await insert(api.context.db, "timeline", row)

    answer = await api.get(f"/v1/incidents/{show('inc', id_)}/timeline")

    assert answer.status == 200
    assert answer.json == {
        "events": [
            {
                "type": "created",
                "timestamp": "2026-11-01T12:00:00.000Z",
                "actor": "System",
                "details": "it was created",
            },
            {
                "type": "acknowledged",
                "timestamp": "2026-11-01T12:00:01.000Z",
                "actor": "On call",
                "details": "it was acknowledged",
            },
        ]
    }


@pytest.mark.parametrize("what", ["", "/timeline"])
async def test_another_teams_incident_unknown_ones_and_nonsense_are_the_same_404(api: Api, what: str) -> None:
    theirs = await incident(api.context.db, (await api.other_team()).team_id)

    answers = [
        await api.get(f"/v1/incidents/{text}{what}")
        for text in (
            show("inc", theirs),
            show("inc", uuid7()),
            show("mon", theirs),
            show("inc", theirs).upper(),
            "nonsense",
            "inc_%00",
            "%F0%9F%94%A5",
        )
    ]

    assert {answer.status for answer in answers} == {404}
    assert {answer.body for answer in answers} == {answers[0].body}
    assert answers[0].json == {"error": "Not Found", "message": "Incident not found", "status": 404}


async def test_no_list_shows_another_teams_incidents(api: Api) -> None:
    other = await api.other_team()
    monitor_id = uuid7()
    await incident(api.context.db, other.team_id, monitor_id=monitor_id)

    assert await ids_of(api, "") == []
    assert await ids_of(api, f"?monitor_id={show('mon', monitor_id)}") == []
    assert len(await ids_of(other, "")) == 1


async def test_filters_narrow_the_list(api: Api) -> None:
    db, monitor_id = api.context.db, uuid7()
    low = show("inc", await incident(db, api.team_id, severity="low", status="resolved", spans_s=1))
    mine = show(
        "inc", await incident(db, api.team_id, monitor_id=monitor_id, started_at=T0 + timedelta(hours=1))
    )
    next_day = show("inc", await incident(db, api.team_id, started_at=T0 + timedelta(days=1)))

    for query, wanted in [
        ("", [next_day, mine, low]),
        ("?status=resolved", [low]),
        ("?status=open", [next_day, mine]),
        ("?status=acknowledged", []),
        ("?severity=low", [low]),
        ("?status=open&severity=low", []),
        (f"?monitor_id={show('mon', monitor_id)}", [mine]),
        (f"?monitor_id={show('mon', uuid7())}", []),
        ("?from=2026-11-02", [next_day]),
        ("?to=2026-11-01", [mine, low]),
        ("?from=2026-11-01&to=2026-11-01", [mine, low]),
        ("?from=2026-11-01T13:00:00Z&to=2026-11-01T13:00:00.000Z", [mine]),
        ("?from=2026-11-01T15:00:00%2B02:00&to=2026-11-01", [mine]),
        ("?from=2026-11-01T15:00:00+02:00&to=2026-11-01", [mine]),
        ("?status=&severity=&from=", [next_day, mine, low]),
        ("?unheard_of=1", [next_day, mine, low]),
    ]:
        assert await ids_of(api, query) == wanted, query


async def test_every_bad_parameter_is_told_at_once(api: Api) -> None:
    answer = await api.get(
        "/v1/incidents?status=closed&severity=urgent&monitor_id=7&from=yesterday"
        "&to=2026-02-30&page=0&limit=ten"
    )

    assert answer.status == 400
    when = "must be an RFC 3339 timestamp with an offset, or a date (YYYY-MM-DD)"
    assert answer.json == {
        "error": "Bad Request",
        "message": "Invalid request",
        "status": 400,
        "details": {
            "status": "must be one of open, acknowledged, resolved",
            "severity": "must be one of critical, high, medium, low",
            "monitor_id": "must be an id that starts with mon_",
            "from": when,
            "to": when,
            "page": "must be at least 1",
            "limit": "must be an integer",
        },
    }


@pytest.mark.parametrize(
    ("query", "bad"),
    [
        ("?from=2026-11-02&to=2026-11-01", "from"),
        ("?from=2026-11-01T12:00:00", "from"),
        ("?to=2026-11-01T12:00Z", "to"),
        ("?to=0001-01-01T00:00:00%2B23:00", "to"),
        ("?to=2026-W47", "to"),
        ("?from=%00", "from"),
        ("?status=open%00", "status"),
    ],
)
async def test_what_is_no_moment_is_a_400(api: Api, query: str, bad: str) -> None:
    answer = await api.get(f"/v1/incidents{query}")

    assert answer.status == 400
    assert list(answer.json["details"]) == [bad]


async def test_timestamps_are_shown_to_the_millisecond(api: Api) -> None:
    started_at = T0 + timedelta(microseconds=123_999)
    await incident(api.context.db, api.team_id, started_at=started_at)

    [shown] = (await api.get("/v1/incidents")).json["data"]

    assert shown["startedAt"] == iso(started_at) == "2026-11-01T12:00:00.123Z"
