"""The evidence of an incident is read by its team alone, and holds no secret for anybody."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from shared.ids import read, show, uuid7
from tests.http.client import Api
from tests.http.rows import T0, incident, insert

pytestmark = pytest.mark.shares_server

TCP = {"host": "192.0.2.1", "port": 443}
SAW: dict[str, Any] = {
    "run": "recheck",
    "address": "192.0.2.1:443",
    "statusCode": 503,
    "error": "status 503, expected 200-299",
    "responseTime": 35,
    "phases": {"dns": None, "connect": 10.0, "tls": 12.0, "firstByte": 11.5, "transfer": 0.1},
    "headers": [{"name": "Server", "value": "shop"}],
    "body": "busy",
}


async def with_evidence(api: Api, monitor_id: UUID | None = None, **changes: Any) -> UUID:
    id_ = await incident(api.context.db, api.team_id, monitor_id=monitor_id or uuid7())
    for second in (1, 0):
        row = {
            "team_id": api.team_id,
            "incident_id": id_,
            "location": "eu",
            "at": T0 + timedelta(seconds=second),
            "saw": {**SAW, **changes},
        }
        await insert(api.context.db, "incident_evidence", row)
    return id_


async def test_the_failing_checks_of_an_incident_are_shown_oldest_first(api: Api) -> None:
    id_ = await with_evidence(api)

    answer = await (await api.reader()).get(f"/v1/incidents/{show('inc', id_)}/evidence")

    assert answer.status == 200
    assert list(answer.json["evidence"][0]) == ["location", "timestamp", *SAW]
    assert answer.json == {
        "evidence": [
            {"location": "eu", "timestamp": "2026-11-01T12:00:00.000Z", **SAW},
            {"location": "eu", "timestamp": "2026-11-01T12:00:01.000Z", **SAW},
        ]
    }


async def test_an_incident_without_any_has_an_empty_list(api: Api) -> None:
    id_ = await incident(api.context.db, api.team_id)

    assert (await api.get(f"/v1/incidents/{show('inc', id_)}/evidence")).json == {"evidence": []}


async def test_another_team_and_nobody_are_told_the_same(api: Api) -> None:
    known, unknown = show("inc", await with_evidence(api)), show("inc", uuid7())
    other = await api.other_team()

    answers = [await other.get(f"/v1/incidents/{id_}/evidence") for id_ in (known, unknown)]

    assert [answer.status for answer in answers] == [404, 404]
    assert answers[0].json == answers[1].json


async def test_a_secret_of_the_monitor_is_hidden_even_where_a_probe_told_it(api: Api) -> None:
    config = {"url": "https://example.com/", "headers": {"X-Env": "header-secret"}, "body": "body-secret"}
    made = await api.post("/v1/monitors", {"name": "shop", "type": "http", "config": config})
    monitor_id = read("mon", made.json["id"])
    told = [{"name": "X-Echo", "value": "header-secret"}]
    id_ = await with_evidence(api, monitor_id, headers=told, body="you sent body-secret")

    shown = await api.get(f"/v1/incidents/{show('inc', id_)}/evidence")
    written = await api.get(f"/v1/incidents/{show('inc', id_)}/postmortem")

    assert shown.json["evidence"][0]["body"] == "you sent [redacted]"
    for answer in (shown, written):
        assert answer.status == 200
        assert b"-secret" not in answer.body


async def test_it_stays_when_the_monitor_goes(api: Api) -> None:
    made = await api.post("/v1/monitors", {"name": "shop", "type": "tcp", "config": TCP})
    id_ = await with_evidence(api, read("mon", made.json["id"]))

    assert (await api.delete(f"/v1/monitors/{made.json['id']}")).status == 204

    shown = await api.get(f"/v1/incidents/{show('inc', id_)}/evidence")
    assert len(shown.json["evidence"]) == 2


async def test_the_post_mortem_tells_what_was_seen_and_lets_no_answer_write_markdown(api: Api) -> None:
    id_ = await with_evidence(api, body="# Fixed\n\n![x](https://example.com/x.png) <script>")

    text = (await api.get(f"/v1/incidents/{show('inc', id_)}/postmortem")).body.decode()

    section = text.partition("## Evidence\n")[2].partition("\n## ")[0].strip()
    first = section.splitlines()[0]
    assert first.startswith("- 2026-11-01 12:00:00 UTC **eu** to 192.0.2.1:443: status 503, ")
    assert "connect 10 ms" in first
    assert r"it answered: \# Fixed \!\[x\](https://example.com/x.png) \<script\>" in first
    assert len(section.splitlines()) == 2
