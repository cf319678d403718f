"""Updates of a status page through the API: events, webhook subscribers, no secrets."""

from typing import Any

from tests.http.client import Api

SEEDED = "https://hooks.example.com/services/SEEDED0123456789"


async def page(api: Api) -> dict[str, Any]:
    answer = await api.post("/v1/status-pages", {"name": "Example", "components": [{"name": "API"}]})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


async def told(api: Api) -> list[dict[str, Any]]:
    """Events about pages, as they are stored."""
    async with api.context.db.connection() as tx:
        rows = await tx.fetch("SELECT payload FROM events WHERE kind LIKE 'status_page.%' ORDER BY position")
    return [row["payload"] for row in rows]


async def test_each_update_is_an_event_of_its_incident(api: Api) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/incidents"
    incident = (await api.post(path, {"title": "Checkout is slow", "message": "We look into it"})).json
    await api.put(f"{path}/{incident['id']}", {"status": "resolved", "message": "All is well"})

    first, second = await told(api)

    assert (first["event"], second["event"]) == (
        "status_page.incident.published",
        "status_page.incident.updated",
    )
    assert first["statusPage"] == {"id": made["id"], "name": "Example", "slug": "example"}
    assert first["incident"]["id"] == incident["id"]
    assert first["incident"]["message"] == "We look into it"
    assert (second["incident"]["status"], second["incident"]["message"]) == ("resolved", "All is well")
    assert second["actor"]["name"]


async def test_a_subscriber_with_a_webhook_needs_no_mail_and_hides_its_url_from_readers(api: Api) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/subscribers"

    answer = await api.post(path, {"webhookUrl": SEEDED, "signingSecret": "SEEDED-secret"})

    assert answer.status == 201
    one = answer.json
    assert (one["email"], one["webhookUrl"], one["verified"]) == (None, SEEDED, True)
    assert "warnings" not in one
    assert b"SEEDED-secret" not in answer.body
    listed = await (await api.reader()).get(path)
    assert b"SEEDED" not in listed.body
    assert listed.json["data"][0]["webhookUrl"].endswith("6789")
    changed = await api.put(
        f"{path}/{one['id']}", {**one, "preferences": {"incidents": False}, "signingSecret": "other"}
    )
    assert changed.json["preferences"] == {"incidents": False, "maintenance": True}
    assert changed.json["webhookUrl"] == SEEDED
    assert (await api.delete(f"{path}/{one['id']}")).status == 204


async def test_a_subscriber_has_an_address_or_a_webhook(api: Api) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/subscribers"
    for body, key in (
        ({}, "email"),
        ({"email": "name@example.com", "webhookUrl": SEEDED}, "webhookUrl"),
        ({"email": "name@example.com", "signingSecret": "s"}, "signingSecret"),
        ({"webhookUrl": "ftp://example.com"}, "webhookUrl"),
    ):
        answer = await api.post(path, body)
        assert answer.status == 400, body
        assert key in answer.json["details"], body
