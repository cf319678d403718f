"""Templates of incidents on status pages, over the API."""

import pytest

from collector.status_pages.service import incident_templates
from tests.http.client import Api

pytestmark = pytest.mark.oldest

HERE = "/v1/incident-templates"
SLOW = {
    "name": "Slow",
    "title": "{component} is slow",
    "message": "{component} answers slowly since {began}.",
    "severity": "major",
    "componentStatus": "degraded_performance",
}


async def test_one_is_created_read_changed_and_deleted(api: Api) -> None:
    made = await api.post(HERE, SLOW)
    assert made.status == 201, made.json
    here = f"{HERE}/{made.json['id']}"

    assert {name: made.json[name] for name in SLOW} == SLOW
    assert made.json["status"] == "investigating"
    assert (await api.get(here)).json == made.json
    changed = await api.put(here, {**made.json, "severity": "minor", "componentStatus": None})
    assert (changed.status, changed.json["severity"], changed.json["componentStatus"]) == (200, "minor", None)
    assert changed.json["message"] == SLOW["message"]
    assert (await api.delete(here)).status == 204
    assert (await api.get(here)).status == 404
    audited = (await api.get("/v1/audit-log?resource=incident-template")).json["data"]
    assert [(entry["action"], entry["fields"]) for entry in audited] == [
        ("delete", []),
        ("update", ["componentStatus", "severity"]),
        ("create", []),
    ]


async def test_they_are_listed_by_name_and_in_pages(api: Api) -> None:
    for name in ("slow", "Down", "Upgrade"):
        await api.post(HERE, {**SLOW, "name": name})

    listed = (await api.get(HERE)).json["data"]
    second = (await api.get(f"{HERE}?page=2&limit=2")).json

    assert [item["name"] for item in listed] == ["Down", "slow", "Upgrade"]
    assert [item["name"] for item in second["data"]] == ["Upgrade"]
    assert second["meta"]["total"] == 3


async def test_a_name_is_used_once_in_a_team(api: Api) -> None:
    await api.post(HERE, SLOW)
    other = (await api.post(HERE, {**SLOW, "name": "Down"})).json["id"]

    assert (await api.post(HERE, {**SLOW, "name": "SLOW"})).status == 409
    assert (await api.put(f"{HERE}/{other}", {"name": "slow"})).status == 409
    assert (await api.put(f"{HERE}/{other}", {"name": "DOWN"})).status == 200
    assert (await (await api.other_team()).post(HERE, SLOW)).status == 201


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": " "}, "name"),
        ({"title": "x" * 256}, "title"),
        ({"message": "{nonsense}"}, "message"),
        ({"status": "scheduled"}, "status"),
        ({"severity": "maintenance"}, "componentStatus"),
    ],
)
async def test_a_bad_one_is_refused_by_its_field(api: Api, changed: dict[str, str], field: str) -> None:
    answer = await api.post(HERE, {**SLOW, **changed})

    assert (answer.status, list(answer.json["details"])) == (400, [field])


async def test_their_number_is_limited(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incident_templates, "MOST", 1)
    await api.post(HERE, SLOW)

    assert (await api.post(HERE, {**SLOW, "name": "Down"})).status == 409
