"""An action of a user on an incident is an event of the action's transaction."""

from typing import Any

from tests.http.client import Api
from tests.monitors.monitors import make, rows


async def told(api: Api) -> list[dict[str, Any]]:
    return await rows(
        api,
        """
        SELECT kind, stream_id, incident_id, payload FROM events
        WHERE kind LIKE 'incident.%' ORDER BY position
        """,
    )


async def raised(api: Api, **body: Any) -> str:
    answer = await api.post("/v1/incidents", {"title": "Slow logins", **body})
    assert answer.status == 201
    return str(answer.json["id"])


async def test_each_deed_is_one_event_with_the_incident_as_it_is_then(api: Api) -> None:
    id_ = await raised(api)
    await api.post(f"/v1/incidents/{id_}/acknowledge")
    await api.post(f"/v1/incidents/{id_}/notes", {"text": "Looking"})
    await api.post(f"/v1/incidents/{id_}/resolve", {"resolutionNote": "Restarted"})
    await api.post(f"/v1/incidents/{id_}/reopen", {"reason": "Again"})

    found = await told(api)
    kinds = ["created", "acknowledged", "note_added", "resolved", "reopened"]
    assert [item["kind"] for item in found] == [f"incident.{kind}" for kind in kinds]
    payloads = [item["payload"] for item in found]
    assert all(payload["incident"]["id"] == id_ and payload["monitor"] is None for payload in payloads)
    statuses = ["open", "acknowledged", "acknowledged", "resolved", "open"]
    assert [payload["incident"]["status"] for payload in payloads] == statuses
    shown = (await api.get(f"/v1/incidents/{id_}")).json
    assert set(payloads[0]["incident"]) <= set(shown)
    me = (await api.get("/v1/me")).json
    assert {payload["actor"]["name"] for payload in payloads} == {me["name"]}
    note = payloads[2]["note"]
    assert (note["text"], note["incidentId"], note["createdBy"]["name"]) == ("Looking", id_, me["name"])
    assert "note" not in payloads[0]


async def test_one_of_no_monitor_has_a_stream_of_its_own_and_links_to_no_monitor(api: Api) -> None:
    await raised(api)
    [event] = await told(api)
    assert event["stream_id"] == event["incident_id"]


async def test_one_of_a_monitor_is_told_in_the_monitor_s_stream(api: Api) -> None:
    monitor = await make(api, name="gateway")
    await raised(api, monitorId=monitor)
    [event] = await told(api)
    assert event["payload"]["monitor"]["id"] == monitor
    assert event["payload"]["incident"]["monitorId"] == monitor
    assert event["stream_id"] != event["incident_id"]


async def test_a_deed_that_was_refused_tells_nothing(api: Api) -> None:
    id_ = await raised(api)
    await api.post(f"/v1/incidents/{id_}/resolve")
    before = len(await told(api))
    assert (await api.post(f"/v1/incidents/{id_}/resolve")).status == 409
    assert (await api.post("/v1/incidents", {"title": ""})).status == 400
    assert len(await told(api)) == before


async def test_an_incident_names_its_parent_s_if_it_has_one(api: Api) -> None:
    id_ = await raised(api)
    assert (await api.get(f"/v1/incidents/{id_}")).json["parentIncidentId"] is None
