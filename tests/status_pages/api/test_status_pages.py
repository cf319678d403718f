"""Status pages through the API: pages, components, incidents, subscribers."""

from datetime import timedelta
from typing import Any, Final

import pytest

from shared import ids
from shared.ids import uuid7
from tests.http.client import Answer, Api
from tests.http.fixtures import PUBLIC_URL

MONITOR = {"name": "shop", "type": "tcp", "config": {"host": "shop.example.com", "port": 443}}

NO_BRANDING: Final[dict[str, Any]] = {
    **dict.fromkeys(("logo", "logoDark", "favicon", "primaryColor", "customCss", "supportUrl")),
    "look": "banner",
    "links": [],
}


async def page(api: Api, **more: Any) -> dict[str, Any]:
    answer = await api.post("/v1/status-pages", {"name": "Example", **more})
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


async def monitor(api: Api) -> str:
    return str((await api.post("/v1/monitors", MONITOR)).json["id"])


async def down(api: Api, id_: str, *, degraded: bool = False) -> None:
    """As the writer would leave it."""
    async with api.context.db.transaction() as tx:
        await tx.execute(
            "UPDATE monitors SET down = $2, degraded_since = $3 WHERE id = $1",
            ids.read("mon", id_),
            not degraded,
            api.clock() if degraded else None,
        )


async def statuses(api: Api, page_id: str) -> list[str]:
    return [
        component["status"] for component in (await api.get(f"/v1/status-pages/{page_id}")).json["components"]
    ]


def details(answer: Answer) -> set[str]:
    assert answer.status == 400, answer.body
    return set(answer.json["details"])


async def test_a_page_is_made_with_its_components_and_read_back(api: Api) -> None:
    monitor_id = await monitor(api)
    components = [{"name": "Shop", "monitorId": monitor_id}, {"name": "Billing"}]

    made = await page(api, slug="example", visibility="unlisted", components=components)
    answer = await api.get(f"/v1/status-pages/{made['id']}")

    assert made["url"] == f"{PUBLIC_URL}/status/example"
    assert answer.json == made
    assert [
        (component["name"], component["monitorId"], component["status"]) for component in made["components"]
    ] == [
        ("Shop", monitor_id, "operational"),
        ("Billing", None, "operational"),
    ]
    listed = (await api.get("/v1/status-pages")).json
    assert [(item["id"], item["components"], item["subscribers"]) for item in listed["data"]] == [
        (made["id"], 2, 0)
    ]
    assert "meta" not in listed


async def test_a_slug_is_made_from_the_name_and_is_no_other_pages(api: Api) -> None:
    slugs = [(await page(api, name=name))["slug"] for name in ("Café Müller", "Cafe Muller", "汉语")]

    assert slugs == ["cafe-muller", "cafe-muller-2", "status"]
    other = await api.other_team()
    assert (await other.post("/v1/status-pages", {"name": "x", "slug": "status"})).status == 409
    assert (await page(other, name="x"))["slug"] == "x"


async def test_an_address_is_free_again_when_its_page_has_another_or_is_gone(api: Api) -> None:
    one = await page(api, slug="one", domain="Status.example.com")
    assert one["domain"] == "status.example.com"
    assert (await api.post("/v1/status-pages", {"name": "x", "domain": "status.EXAMPLE.com"})).status == 409

    await api.put(f"/v1/status-pages/{one['id']}", {"slug": "two", "domain": None})

    await page(api, slug="one", domain="status.example.com")
    await api.delete(f"/v1/status-pages/{one['id']}")
    await page(api, slug="two")


async def test_every_bad_field_is_told_at_once(api: Api) -> None:
    bad = {
        "name": " ",
        "slug": "Not A Slug",
        "domain": "nonsense",
        "visibility": "secret",
        "branding": {
            "logo": "javascript:alert(1)",
            "primaryColor": "red",
            "customCss": "@import url(//example.com/x.css);",
            "look": "loud",
            "logoDark": "data:image/png;base64,",
            "favicon": "a",
            "supportUrl": "javascript:alert(1)",
            "links": [
                {"label": "a", "url": "https://example.com"},
                {"label": " ", "url": "mailto:a@example.com"},
            ],
        },
        "components": [{"name": "a"}, {"name": ""}],
    }

    answer = await api.post("/v1/status-pages", bad)

    assert details(answer) == {"name", "slug", "domain", "visibility", "components[1].name"} | {
        f"branding.{name}"
        for name in (
            *("logo", "primaryColor", "customCss", "look", "logoDark", "favicon", "supportUrl"),
            *("links[1].label", "links[1].url"),
        )
    }


async def test_a_component_of_another_teams_monitor_is_refused(api: Api) -> None:
    foreign = await monitor(await api.other_team())
    components = [{"name": "a"}, {"name": "b", "monitorId": foreign}]

    assert details(await api.post("/v1/status-pages", {"name": "x", "components": components})) == {
        "components[1].monitorId"
    }
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/components"
    assert details(await api.post(path, components[1])) == {"monitorId"}


async def test_branding_is_merged_and_the_password_is_never_shown(api: Api) -> None:
    made = await page(api, branding={"logo": "https://example.com/a.png"}, visibility="private")
    path = f"/v1/status-pages/{made['id']}"
    assert "no password" in made["warnings"][0]

    changed = (await api.put(path, {"branding": {"primaryColor": "#abc"}, "password": "open sesame"})).json

    assert changed["branding"] == {
        **NO_BRANDING,
        "logo": "https://example.com/a.png",
        "primaryColor": "#abc",
    }
    assert (changed["passwordSet"], "warnings" in changed) == (True, False)
    assert b"sesame" not in (await api.get(path)).body
    assert (await api.put(path, {"password": None})).json["passwordSet"] is False


async def test_get_edit_put_changes_what_was_edited(api: Api) -> None:
    made = await page(api, components=[{"name": "a"}])
    path = f"/v1/status-pages/{made['id']}"

    same = await api.put(path, made)
    assert same.json == made
    changed = await api.put(path, {**made, "name": "Other"})

    assert (changed.json["name"], changed.json["revision"]) == ("Other", 2)
    assert "warnings" not in changed.json


async def test_a_page_has_an_etag_that_guards_it(api: Api) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}"
    tag = (await api.get(path)).headers["ETag"]

    assert (await api.get(path, headers={"If-None-Match": tag})).status == 304
    assert (await api.post(f"{path}/components", {"name": "a"})).status == 201
    assert (await api.get(path, headers={"If-None-Match": tag})).status == 200
    assert (await api.put(path, {"name": "b"}, headers={"If-Match": tag})).status == 412
    assert (await api.delete(path, headers={"If-Match": tag})).status == 412
    assert (await api.delete(path)).status == 204
    assert (await api.get(path)).status == 404


async def test_a_component_follows_its_monitor(api: Api) -> None:
    id_ = await monitor(api)
    made = (await page(api, components=[{"name": "Shop", "monitorId": id_}]))["id"]

    seen = []
    for degraded in (False, True):
        await down(api, id_, degraded=degraded)
        seen += await statuses(api, made)
    window = {"name": "night", "monitors": [id_], "start": "2026-01-01T00:00:00Z", "duration": 86_400}
    await api.post("/v1/maintenance-windows", {**window, "rrule": "FREQ=DAILY"})
    seen += await statuses(api, made)

    assert seen == ["major_outage", "partial_outage", "maintenance"]
    assert (await api.get(f"/v1/status-pages/{made}")).json["status"] == "maintenance"


async def test_a_component_outlives_its_monitor(api: Api) -> None:
    id_ = await monitor(api)
    made = await page(api, components=[{"name": "Shop", "monitorId": id_}])
    await down(api, id_)
    await api.delete(f"/v1/monitors/{id_}")

    (left,) = (await api.get(f"/v1/status-pages/{made['id']}")).json["components"]

    assert (left["monitorId"], left["status"]) == (None, "operational")


async def test_a_component_tells_since_when_it_is_not_measured(api: Api) -> None:
    id_ = await monitor(api)
    made = await page(api, components=[{"name": "Shop", "monitorId": id_}, {"name": "Billing"}])

    assert made["components"][0]["notMeasuredSince"] is not None
    assert made["components"][1]["notMeasuredSince"] is None


async def test_a_status_set_by_hand_holds_until_it_is_handed_back(api: Api) -> None:
    id_ = await monitor(api)
    made = await page(api, components=[{"name": "Shop", "monitorId": id_}])
    path = f"/v1/status-pages/{made['id']}/components/{made['components'][0]['id']}"

    held = (await api.put(path, {"status": "partial_outage", "statusMessage": "Some fail"})).json
    await down(api, id_)
    shown = (await api.get(path)).json
    assert (held["statusMode"], held["statusMessage"]) == ("manual", "Some fail")
    assert (shown["status"], shown["statusMode"]) == ("partial_outage", "manual")

    # A full PUT of what is shown sets nothing.
    assert (await api.put(path, shown)).json == shown
    back = (await api.put(path, {"status": "major_outage"})).json
    assert (back["status"], back["statusMode"]) == ("major_outage", "auto")
    await api.put(path, {"status": "operational"})
    back = (await api.put(path, {"statusMode": "auto"})).json
    assert (back["status"], back["statusMode"]) == ("major_outage", "auto")


async def test_components_are_put_in_order(api: Api) -> None:
    made = await page(api, components=[{"name": name} for name in "abc"])
    path = f"/v1/status-pages/{made['id']}/components"
    ids_ = [component["id"] for component in made["components"]]

    answer = await api.put(path, {"components": [ids_[2], ids_[0]]})
    await api.post(path, {"name": "d"})
    await api.post(path, {"name": "first", "order": 0})

    assert [item["name"] for item in answer.json["data"]] == ["c", "a", "b"]
    assert [item["name"] for item in (await api.get(path)).json["data"]] == ["first", "c", "a", "b", "d"]
    log = (await api.get("/v1/audit-log?action=arrange_components")).json["data"]
    assert [entry["resource"]["id"] for entry in log] == [made["id"]]
    stranger = ids.show("comp", uuid7())
    assert details(await api.put(path, {"components": [ids_[0], stranger]})) == {"components[1]"}


async def test_an_incident_is_told_updated_and_resolved(api: Api) -> None:
    made = await page(api, components=[{"name": "Shop"}, {"name": "Billing"}])
    path = f"/v1/status-pages/{made['id']}/incidents"
    affected = [made["components"][0]["id"]]
    body = {"title": "Slow", "message": "We look", "affectedComponents": affected}

    told = (await api.post(path, {**body, "componentStatus": "partial_outage"})).json
    text = f"{path}/{told['id']}"

    assert (told["status"], told["severity"]) == ("investigating", "minor")
    assert await statuses(api, made["id"]) == ["partial_outage", "operational"]
    assert details(await api.put(text, {"status": "monitoring"})) == {"message"}
    await api.put(text, {"status": "identified", "message": "It was a cable"})
    over = (await api.put(text, {"status": "resolved", "message": "Mended"})).json
    assert over["resolvedAt"] is not None
    assert [(each["status"], each["message"]) for each in over["updates"]] == [
        ("investigating", "We look"),
        ("identified", "It was a cable"),
        ("resolved", "Mended"),
    ]
    assert await statuses(api, made["id"]) == ["operational", "operational"]
    assert (await api.get(text)).json == over

    again = (await api.put(text, {"status": "monitoring", "message": "It is back"})).json
    assert again["resolvedAt"] is None
    assert await statuses(api, made["id"]) == ["partial_outage", "operational"]
    assert (await api.delete(text)).status == 204
    assert await statuses(api, made["id"]) == ["operational", "operational"]


async def test_what_another_open_incident_holds_stays_held(api: Api) -> None:
    made = await page(api, components=[{"name": "Shop"}])
    path = f"/v1/status-pages/{made['id']}/incidents"
    body = {"title": "a", "message": "a", "affectedComponents": [made["components"][0]["id"]]}
    await api.post(path, {**body, "componentStatus": "degraded_performance"})
    worse = (await api.post(path, {**body, "componentStatus": "major_outage"})).json["id"]

    await api.put(f"{path}/{worse}", {"status": "resolved", "message": "Mended"})

    assert await statuses(api, made["id"]) == ["degraded_performance"]


async def test_a_change_by_hand_is_not_undone_by_the_next_update(api: Api) -> None:
    made = await page(api, components=[{"name": "Shop"}])
    component = made["components"][0]["id"]
    path = f"/v1/status-pages/{made['id']}"
    body = {"title": "a", "message": "a", "affectedComponents": [component]}
    told = (await api.post(f"{path}/incidents", {**body, "componentStatus": "major_outage"})).json["id"]
    await api.put(f"{path}/components/{component}", {"status": "partial_outage"})

    await api.put(f"{path}/incidents/{told}", {"status": "monitoring", "message": "Better"})

    assert await statuses(api, made["id"]) == ["partial_outage"]


async def test_planned_maintenance_shows_while_it_is_under_way(api: Api) -> None:
    made = await page(api, components=[{"name": "Shop"}, {"name": "Billing"}])
    now = api.clock()
    body = {
        "title": "New disks",
        "severity": "maintenance",
        "message": "Planned",
        "affectedComponents": [made["components"][1]["id"]],
        "scheduledStart": (now + timedelta(hours=1)).isoformat(),
        "scheduledEnd": (now + timedelta(hours=3)).isoformat(),
    }
    assert (await api.post(f"/v1/status-pages/{made['id']}/incidents", body)).status == 201

    seen = []
    for hours in (0, 2, 4):
        api.clock.ahead = timedelta(hours=hours)
        seen.append((await statuses(api, made["id"]))[1])

    assert seen == ["operational", "maintenance", "operational"]


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        ({"title": "a"}, {"message"}),
        ({"title": "a", "message": "a", "status": "over", "severity": "huge"}, {"status", "severity"}),
        ({"title": "a", "message": "a", "affectedComponents": ["x"]}, {"affectedComponents[0]"}),
        (
            {"title": "a", "message": "a", "scheduledStart": "2026-12-01T00:00:00Z"},
            {"scheduledStart"},
        ),
        (
            {
                "title": "a",
                "message": "a",
                "severity": "maintenance",
                "scheduledStart": "2026-12-01T01:00:00Z",
                "scheduledEnd": "2026-12-01T00:00:00Z",
            },
            {"scheduledEnd"},
        ),
    ],
)
async def test_a_bad_incident_is_refused(api: Api, body: dict[str, Any], bad: set[str]) -> None:
    made = await page(api)

    assert details(await api.post(f"/v1/status-pages/{made['id']}/incidents", body)) == bad


async def test_incidents_are_listed_newest_first(api: Api) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/incidents"
    for title, status in (("a", "resolved"), ("b", "identified"), ("c", "investigating")):
        await api.post(path, {"title": title, "status": status, "message": "Said"})

    async def titles(query: str) -> list[str]:
        return [item["title"] for item in (await api.get(path + query)).json["data"]]

    assert await titles("") == ["c", "b", "a"]
    assert await titles("?open=true&limit=1") == ["c"]
    assert await titles("?open=false") == ["a"]
    assert (await api.get(path + "?limit=1&page=2")).json["meta"] == {"page": 2, "limit": 1, "total": 3}


async def test_a_deleted_component_is_gone_from_incidents_and_subscribers(api: Api) -> None:
    made = await page(api, components=[{"name": "Shop"}])
    path, component = f"/v1/status-pages/{made['id']}", made["components"][0]["id"]
    body = {"title": "a", "message": "a", "affectedComponents": [component]}
    told = (await api.post(f"{path}/incidents", body)).json["id"]
    await api.post(f"{path}/subscribers", {"email": "name@example.com", "components": [component]})

    assert (await api.delete(f"{path}/components/{component}")).status == 204

    assert (await api.get(f"{path}/incidents/{told}")).json["affectedComponents"] == []
    assert (await api.get(f"{path}/subscribers")).json["data"][0]["components"] == []


async def test_a_subscriber_is_added_once_whatever_the_letters(api: Api) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/subscribers"

    first = await api.post(path, {"email": "Name@example.com"})
    again = await api.post(path, {"email": "name@EXAMPLE.com"})

    assert (first.status, again.status) == (201, 201)
    assert first.json["id"] == again.json["id"]
    assert (first.json["email"], first.json["verified"]) == ("name@example.com", False)
    listed = (await api.get(path)).json
    assert [item["id"] for item in listed["data"]] == [first.json["id"]]
    assert listed["meta"] == {"total": 1}
    async with api.context.db.transaction() as tx:
        await tx.execute("UPDATE status_subscribers SET verified_at = $1", api.clock())
    assert (await api.post(path, {"email": "name@example.com"})).status == 409
    assert (await api.get(f"/v1/status-pages/{made['id']}")).json["subscribers"] == 1


async def test_what_a_subscriber_hears_of_is_changed(api: Api) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/subscribers"
    one = (await api.post(path, {"email": "name@example.com"})).json

    changed = (await api.put(f"{path}/{one['id']}", {"preferences": {"maintenance": False}})).json

    assert changed["preferences"] == {"incidents": True, "maintenance": False}
    assert (await api.delete(f"{path}/{one['id']}")).status == 204
    assert (await api.get(path)).json["data"] == []


@pytest.mark.parametrize("email", ["nobody", "a@b@c", "a b@example.com", "a@example.com\nBcc: x@example.com"])
async def test_what_is_no_address_does_not_subscribe(api: Api, email: str) -> None:
    made = await page(api)

    answer = await api.post(f"/v1/status-pages/{made['id']}/subscribers", {"email": email})

    assert details(answer) == {"email"}


async def test_a_part_is_found_on_its_own_page_alone(api: Api) -> None:
    one, other = await page(api, components=[{"name": "a"}]), await page(api)
    component = one["components"][0]["id"]

    for method in ("GET", "PUT", "DELETE"):
        path = f"/v1/status-pages/{other['id']}/components/{component}"
        assert (await api.call(method, path, {"name": "mine"})).status == 404
    assert (await api.get(f"/v1/status-pages/{one['id']}/components/{component}")).json["name"] == "a"
