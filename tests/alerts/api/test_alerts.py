"""Alerts, as a caller lists them, takes them on, and ends them."""

from datetime import timedelta
from typing import Any

import pytest

from shared import ids
from tests.http.client import Api
from tests.http.route_table import MAKERS
from tests.monitors.monitors import details, make

pytestmark = pytest.mark.shares_server

ALERTS = "/v1/alerts"


async def fired(api: Api, **columns: Any) -> str:
    """An alert that fires for a monitor of the team, changed so."""
    id_ = await MAKERS[ALERTS][1](api)
    async with api.context.db.transaction() as tx:
        for name, value in columns.items():
            await tx.execute(f"UPDATE alerts SET {name} = $2 WHERE id = $1", ids.read("alert", id_), value)
    return id_


async def test_an_alert_is_shown_whole(api: Api) -> None:
    id_ = await fired(api)

    shown = (await api.get(f"{ALERTS}/{id_}")).json

    assert shown["id"] == id_
    assert (shown["status"], shown["reason"], shown["value"], shown["threshold"]) == (
        "firing",
        "latencyThresholdMs",
        900.0,
        800.0,
    )
    assert (shown["incidentId"], shown["acknowledgedAt"], shown["recoveredAt"]) == (None, None, None)


async def test_alerts_are_listed_by_page_newest_first_and_narrowed(api: Api) -> None:
    old = await fired(api, fired_at=api.clock() - timedelta(days=2))
    new = await fired(api)
    over = await fired(api, status="recovered", recovered_at=api.clock())

    async def listed(query: str) -> list[str]:
        return [item["id"] for item in (await api.get(ALERTS + query)).json["data"]]

    assert await listed("") == [over, new, old]
    assert await listed("?status=firing") == [new, old]
    assert await listed("?limit=1&page=2") == [new]
    since = (api.clock() - timedelta(days=1)).isoformat().replace("+", "%2B")
    assert await listed(f"?from={since}&status=firing") == [new]
    rule = (await api.get(f"{ALERTS}/{old}")).json["ruleId"]
    assert await listed(f"?rule_id={rule}") == [old]
    assert details(await api.get(f"{ALERTS}?status=odd&limit=0")).keys() == {"status", "limit"}


async def test_an_alert_is_taken_on_once(api: Api) -> None:
    id_ = await fired(api)

    first = await api.post(f"{ALERTS}/{id_}/acknowledge")
    again = await api.post(f"{ALERTS}/{id_}/acknowledge")

    assert (first.status, first.json["status"]) == (200, "acknowledged")
    assert first.json["acknowledgedBy"]["id"].startswith("usr_")
    assert again.status == 409


async def test_an_alert_is_ended_once_and_who_was_told_hears_of_it(api: Api) -> None:
    monitor = await make(api)
    chan = await MAKERS["/v1/alert-channels"][1](api)
    id_ = await fired(
        api,
        monitor_id=ids.read("mon", monitor),
        notified_at=api.clock(),
        told=[ids.read("chan", chan)],
    )

    first = await api.post(f"{ALERTS}/{id_}/resolve")
    again = await api.post(f"{ALERTS}/{id_}/resolve")

    assert (first.status, first.json["status"], again.status) == (200, "recovered", 409)
    async with api.context.db.connection() as tx:
        row = await tx.fetchrow("SELECT payload, channels FROM events WHERE kind = 'alert.recovered'")
    assert row is not None
    assert row["channels"] == [ids.read("chan", chan)]
    assert row["payload"]["alert"]["id"] == id_


@pytest.mark.parametrize("deed", ["acknowledge", "resolve"])
async def test_an_alert_with_an_open_incident_is_left_to_that(api: Api, deed: str) -> None:
    incident = await MAKERS["/v1/incidents"][1](api)
    id_ = await fired(api, incident_id=ids.read("inc", incident))

    answer = await api.post(f"{ALERTS}/{id_}/{deed}")

    assert answer.status == 409
    assert incident in answer.json["message"]


async def test_who_takes_on_an_incident_takes_on_its_alerts_at_once(api: Api) -> None:
    incident = (await api.post("/v1/incidents", {"title": "Slow"})).json["id"]
    firing = await fired(api, incident_id=ids.read("inc", incident))
    over = await fired(api, incident_id=ids.read("inc", incident), status="recovered")
    other = await fired(api)

    taken = (await api.post(f"/v1/incidents/{incident}/acknowledge")).json

    shown = (await api.get(f"{ALERTS}/{firing}")).json
    assert shown["status"] == "acknowledged"
    assert (shown["acknowledgedAt"], shown["acknowledgedBy"]) == (
        taken["acknowledgedAt"],
        taken["acknowledgedBy"],
    )
    left = [(await api.get(f"{ALERTS}/{text}")).json["status"] for text in (over, other)]
    assert left == ["recovered", "firing"]
