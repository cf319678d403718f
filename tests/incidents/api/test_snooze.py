"""An open incident is snoozed until a time, which its log keeps."""

from datetime import timedelta

import pytest

from tests.http.client import Api

pytestmark = [pytest.mark.oldest, pytest.mark.shares_server]


async def created(api: Api) -> str:
    made = await api.post("/v1/incidents", {"title": "It is slow"})
    return f"/v1/incidents/{made.json['id']}"


async def test_it_is_snoozed_and_the_snooze_ends_by_itself(api: Api) -> None:
    here = await created(api)

    answer = await api.post(f"{here}/snooze", {"duration": 3600})

    until = answer.json["snoozedUntil"]
    assert (answer.status, answer.json["status"]) == (200, "open")
    assert (await api.get(here)).json["snoozedUntil"] == until
    [_, entry] = (await api.get(f"{here}/timeline")).json["events"]
    assert (entry["type"], entry["details"]) == ("snoozed", f"Until {until}, by {entry['actor']}")
    [audited, *_] = (await api.get("/v1/audit-log")).json["data"]
    assert audited["action"] == "snooze"
    api.clock.ahead = timedelta(hours=1, seconds=1)
    assert (await api.get(here)).json.get("snoozedUntil") is None
    assert (await api.delete(f"{here}/snooze")).status == 409


async def test_it_is_ended_by_hand_and_by_an_acknowledgement(api: Api) -> None:
    here = await created(api)
    await api.post(f"{here}/snooze", {"duration": 3600})

    assert (await api.delete(f"{here}/snooze")).json.get("snoozedUntil") is None
    await api.post(f"{here}/snooze", {"duration": 3600})
    await api.post(f"{here}/acknowledge")
    await api.post(f"{here}/resolve")
    await api.post(f"{here}/reopen")

    assert (await api.get(here)).json.get("snoozedUntil") is None
    types = [entry["type"] for entry in (await api.get(f"{here}/timeline")).json["events"]]
    assert types[:4] == ["created", "snoozed", "snooze_ended", "snoozed"]


@pytest.mark.parametrize("before", ["acknowledge", "resolve"])
async def test_only_an_open_incident_is_snoozed(api: Api, before: str) -> None:
    here = await created(api)
    await api.post(f"{here}/{before}")

    assert (await api.post(f"{here}/snooze", {"duration": 3600})).status == 409


@pytest.mark.parametrize("duration", [0, 59, 604_801, "1h", None])
async def test_a_snooze_lasts_a_minute_to_a_week(api: Api, duration: object) -> None:
    here = await created(api)

    answer = await api.post(f"{here}/snooze", {"duration": duration})

    assert (answer.status, list(answer.json["details"])) == (400, ["duration"])
