"""Events that are sent conform to the OpenAPI document."""

import pytest
from jsonschema import Draft202012Validator

from tests.events.sse import listening
from tests.http.client import Answer, Api
from tests.http.described import described
from tests.monitors.monitors import make

pytestmark = pytest.mark.shares_server


def done(answer: Answer) -> str:
    """The id in an answer that is one of success."""
    assert answer.status in {200, 201, 204}, answer.body
    return str(answer.json["id"]) if answer.status == 201 else ""


async def test_what_people_do_is_told_as_it_is_described(api: Api) -> None:
    document = described()
    schema = {"$ref": "#/components/schemas/Event", "components": document["components"]}
    validator = Draft202012Validator(schema)

    async with listening(api) as stream:
        monitor = await make(api)
        done(await api.put(f"/v1/monitors/{monitor}", {"interval": 120}))
        done(await api.post(f"/v1/monitors/{monitor}/pause"))
        done(await api.post(f"/v1/monitors/{monitor}/resume"))
        incident = done(await api.post("/v1/incidents", {"title": "It smells", "monitorId": monitor}))
        done(await api.post(f"/v1/incidents/{incident}/acknowledge"))
        done(await api.post(f"/v1/incidents/{incident}/notes", {"text": "On it"}))
        done(await api.post(f"/v1/incidents/{incident}/resolve"))
        done(await api.post(f"/v1/incidents/{incident}/reopen"))
        page = done(await api.post("/v1/status-pages", {"name": "Example"}))
        news = {"title": "It smells", "message": "We look into it"}
        text = done(await api.post(f"/v1/status-pages/{page}/incidents", news))
        done(await api.put(f"/v1/status-pages/{page}/incidents/{text}", {"message": "It was the toast"}))
        done(await api.delete(f"/v1/monitors/{monitor}"))
        heard = await stream.events(12)

    kinds = [block.event for block in heard]
    assert [
        (block.event, fault.message) for block in heard for fault in validator.iter_errors(block.data)
    ] == []
    assert set(kinds) == {
        *(f"monitor.{deed}" for deed in ("created", "updated", "paused", "resumed", "deleted")),
        *(f"incident.{deed}" for deed in ("created", "acknowledged", "note_added", "resolved", "reopened")),
        *(f"status_page.incident.{deed}" for deed in ("published", "updated")),
    }
