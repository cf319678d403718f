"""An acknowledgement is withdrawn: the incident is open again, and its log says so."""

import pytest

from tests.http.client import Api
from tests.incidents.api.test_snooze import created

pytestmark = pytest.mark.oldest


async def test_the_incident_is_open_again_and_everybody_is_notified(api: Api) -> None:
    here = await created(api)
    await api.post(f"{here}/acknowledge")

    answer = await api.delete(f"{here}/acknowledge")

    assert (answer.status, answer.json["status"]) == (200, "open")
    assert (answer.json["acknowledgedAt"], answer.json["acknowledgedBy"]) == (None, None)
    types = [entry["type"] for entry in (await api.get(f"{here}/timeline")).json["events"]]
    assert types == ["created", "acknowledged", "unacknowledged"]
    async with api.context.db.connection() as tx:
        rows = await tx.fetch("SELECT kind FROM events ORDER BY position")
    assert [row["kind"] for row in rows][-2:] == ["incident.acknowledged", "incident.reopened"]
    assert (await api.get("/v1/audit-log")).json["data"][0]["action"] == "unacknowledge"
    assert (await api.post(f"{here}/acknowledge")).status == 200


@pytest.mark.parametrize("before", ["", "resolve"])
async def test_only_an_acknowledgement_is_withdrawn(api: Api, before: str) -> None:
    here = await created(api)
    if before:
        await api.post(f"{here}/{before}")

    answer = await api.delete(f"{here}/acknowledge")

    assert (answer.status, "only an acknowledgement is withdrawn" in answer.json["message"]) == (409, True)
