"""The console's status pages: created, filled, updated and subscribed to; each action is the API's."""

import re
from html import unescape

import pytest

from tests.console.client import Console, Page
from tests.status_pages.api.test_status_pages import NO_BRANDING

HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"
USUAL = {"name": "Shop", "slug": "shop", "visibility": "public"}


async def made(console: Console, **fields: object) -> str:
    """The path of a new page."""
    answer = await console.api.post("/v1/status-pages", {"name": "Shop", **fields})
    assert answer.status == 201, answer.json
    return f"/status-pages/{answer.json['id']}"


async def put_on(console: Console, here: str, name: str, **fields: object) -> str:
    """The path of a new component."""
    answer = await console.api.post(f"/v1{here}/components", {"name": name, **fields})
    assert answer.status == 201, answer.json
    return f"{here}/components/{answer.json['id']}"


async def told(console: Console, here: str, **fields: object) -> str:
    """The path of a new incident."""
    body = {"title": "It is slow", "message": "We look into it.", **fields}
    answer = await console.api.post(f"/v1{here}/incidents", body)
    assert answer.status == 201, answer.json
    return f"{here}/incidents/{answer.json['id']}"


def names(page: Page) -> list[str]:
    return re.findall(r'class="name" dir="auto" href="[^"]*/components/[^"]*">([^<]*)<', page.text)


async def of(console: Console, path: str) -> dict[str, object]:
    answer = await console.api.get(f"/v1{path}")
    assert answer.status == 200, answer.json
    return dict(answer.json)


async def test_a_public_page_has_snippets_of_its_badges_and_its_widget(
    console: Console,
) -> None:
    await console.sign_in()
    shown, shut = await made(console, slug="shop"), await made(console, visibility="private")

    text = unescape((await console.get(shown)).text)

    [url] = re.findall(r'<iframe src="(http\S+)/widget"', text)
    assert url.endswith("/status/shop")
    assert f"[![Status]({url}/badge.svg?style=round)]({url})" in text
    assert "Badges and widget" not in (await console.get(shut)).words


async def test_links_and_looks_are_set_in_the_settings(console: Console) -> None:
    await console.sign_in()
    here = await made(console)
    links = {"label": "Docs", "url": "https://docs.example.com"}
    fields = {f"branding.links[0].{name}": value for name, value in links.items()} | {"branding.links[]": ""}

    page = await console.post(
        f"{here}/edit",
        {**USUAL, **fields, "branding.look": "plain", "branding.supportUrl": "mailto:help@example.com"},
    )

    assert "Saved." in page.words
    branding = (await of(console, here))["branding"]
    assert branding == {
        **NO_BRANDING,
        "look": "plain",
        "links": [links],
        "supportUrl": "mailto:help@example.com",
    }
    assert 'value="https://docs.example.com"' in (await console.get(f"{here}/edit")).text


async def test_a_page_is_made_changed_and_deleted(console: Console) -> None:
    await console.sign_in()
    assert "No status page yet" in (await console.get("/status-pages")).words
    await console.get("/status-pages/new")
    page = await console.post(
        "/status-pages",
        {**USUAL, "branding.logo": "https://example.com/logo.svg", "branding.primaryColor": "#123456"},
    )
    assert "Status page created" in page.words
    here = page.path

    form = await console.get(f"{here}/edit")
    revision = re.search(r'name="revision" value="(\d+)"', form.text)
    assert revision is not None
    page = await console.post(
        f"{here}/edit", {**USUAL, "name": "Store", "branding.logo": "", "revision": revision[1]}
    )
    assert "Saved." in page.words
    known = await of(console, here)
    assert known["name"] == "Store"
    assert known["branding"] == NO_BRANDING
    page = await console.post(f"{here}/edit", {**USUAL, "revision": revision[1]})
    assert page.status == 412
    assert "someone else changed this meanwhile" in page.words
    assert "Store" in (await console.get("/status-pages")).words

    page = await console.post(f"{here}/delete")
    assert page.path == "/status-pages"
    assert (await console.get(here)).status == 404


async def test_who_changes_a_page_here_sees_it_changed_at_once(console: Console) -> None:
    await console.sign_in()
    here = await made(console, slug="shop", visibility="public")
    assert "Shop" in (await console.get("/status/shop")).words
    form = await console.get(f"{here}/edit")
    revision = re.search(r'name="revision" value="(\d+)"', form.text)
    assert revision is not None

    await console.post(f"{here}/edit", {**USUAL, "name": "Store", "revision": revision[1]})

    assert "Store" in (await console.get("/status/shop")).words


async def test_what_is_wrong_with_a_page_stands_at_its_field(console: Console) -> None:
    await made(console, slug="taken")
    await console.sign_in()
    await console.get("/status-pages/new")

    page = await console.post("/status-pages", {**USUAL, "slug": "No Slug", "branding.primaryColor": "red"})
    assert page.status == 400
    assert page.text.count('aria-invalid="true"') == 2
    page = await console.post("/status-pages", {**USUAL, "slug": "taken"})
    assert page.status == 409
    assert "Another status page has this slug" in page.words


async def test_a_password_is_kept_when_it_is_left_empty_and_never_shown(console: Console) -> None:
    await console.sign_in()
    await console.get("/status-pages/new")
    page = await console.post("/status-pages", {**USUAL, "visibility": "private"})
    assert "nobody can see it" in page.words
    here = page.path
    page = await console.post(f"{here}/edit", {**USUAL, "visibility": "private", "password": "open sesame"})
    assert "Saved." in page.words

    page = await console.post(f"{here}/edit", {**USUAL, "visibility": "private", "password": ""})
    assert (await of(console, here))["passwordSet"] is True
    page = await console.post(f"{here}/edit", {**USUAL, "name": " ", "password": "open sesame"})
    assert page.status == 400
    assert "open sesame" not in page.text


@pytest.mark.parametrize("visibility", ["public", "private", "unlisted"])
async def test_the_page_is_seen_beside_its_editor_by_our_own_frame_alone(
    console: Console, visibility: str
) -> None:
    here = await made(console, name="Shop of ours", visibility=visibility)
    await put_on(console, here, "Checkout")
    await console.sign_in()

    assert f'<iframe src="{here}/preview"' in (await console.get(here)).text
    page = await console.get(f"{here}/preview")

    assert "Shop of ours" in page.words
    assert "Checkout" in page.words
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]
    assert "<script" not in page.text


async def test_settings_are_seen_before_they_are_saved(console: Console) -> None:
    here = await made(console, branding={"customCss": "h1{color:red}"})
    await console.sign_in()
    await console.get(f"{here}/edit")
    fields = {**USUAL, "name": HOSTILE, "branding.primaryColor": "#123456"}

    page = await console.post(
        f"{here}/preview", {**fields, "branding.customCss": 'p{content:"</style><img>"}'}
    )

    assert page.status == 200
    assert "--brand:#123456" in page.text
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert page.text.count("</style>") == 1
    assert "<img" not in page.text
    assert "custom.css" not in page.text
    assert (await of(console, here))["name"] == "Shop"
    page = await console.post(f"{here}/preview", {**fields, "branding.primaryColor": "red"})
    assert (page.status, "custom.css" in page.text) == (200, True)


async def test_components_are_added_held_moved_and_taken_off(console: Console) -> None:
    here = await made(console)
    await console.sign_in()
    await console.get(f"{here}/components/new")
    page = await console.post(f"{here}/components", {"name": " "})
    assert page.status == 400
    assert 'aria-invalid="true"' in page.text
    for name in ("Shop", "API", "Search"):
        page = await console.post(
            f"{here}/components", {"name": name, "group": "Site", "description": "", "status": ""}
        )
    assert names(page) == ["Shop", "API", "Search"]
    paths = re.findall(rf'href="({here}/components/comp_[^"]*)"', page.text)

    assert names(await console.post(f"{paths[2]}/up")) == ["Shop", "Search", "API"]
    assert names(await console.post(f"{paths[0]}/down")) == ["Search", "Shop", "API"]
    assert names(await console.post(f"{paths[2]}/up")) == ["Search", "Shop", "API"]
    fields = {"name": "Shop", "group": "", "description": "Where people buy", "statusMessage": "Slow today"}
    await console.post(paths[0], {**fields, "status": "partial_outage"})
    held = await of(console, paths[0])
    assert (held["status"], held["statusMode"], held["group"]) == ("partial_outage", "manual", None)
    assert "set by hand; automatic: operational" in (await console.get(here)).words
    await console.post(paths[0], {**fields, "status": ""})
    held = await of(console, paths[0])
    assert (held["status"], held["statusMode"]) == ("operational", "auto")
    assert held["description"] == "Where people buy"
    assert names(await console.post(f"{paths[0]}/delete")) == ["Search", "API"]


async def test_groups_are_moved_whole_without_scripts(console: Console) -> None:
    here = await made(console)
    ids = {}
    for name, group in (("Shop", "Web"), ("Mail", ""), ("API", "Web"), ("Disks", "Storage")):
        answer = await console.api.post(f"/v1{here}/components", {"name": name, "group": group or None})
        ids[name] = answer.json["id"]
    await console.sign_in()
    page = await console.get(here)
    assert "Web 2 components Up" not in page.words
    forms = re.findall(
        r'name="item" value="(comp_\w+)"><input type="hidden" name="before" value="(comp_\w*)"', page.text
    )
    assert (ids["Disks"], ids["Mail"]) in forms

    page = await console.post(f"{here}/order", {"group": "on", "item": ids["Disks"], "before": ids["Shop"]})
    assert names(page) == ["Disks", "Shop", "API", "Mail"]
    page = await console.post(f"{here}/order", {"item": ids["Disks"], "before": ""})
    assert names(page) == ["Shop", "API", "Mail", "Disks"]

    for fields in ({"item": "comp_none"}, {"item": ids["Shop"], "before": "x"}, {}):
        assert (await console.post(f"{here}/order", fields)).status == 404


async def test_a_component_that_shows_its_monitor_keeps_it(console: Console) -> None:
    here = await made(console)
    config = {"url": "https://shop.example.com/"}
    monitor = (
        await console.api.post("/v1/monitors", {"name": "Till", "type": "http", "config": config})
    ).json
    path = await put_on(console, here, "Shop", monitorId=monitor["id"])
    await console.sign_in()

    assert "Till" in (await console.get(path)).words
    await console.post(path, {"name": "Store", "monitorId": monitor["id"], "status": ""})
    assert (await of(console, path))["monitorId"] == monitor["id"]
    page = await console.post(path, {"name": "Store", "monitorId": "mon_nonsense", "status": ""})
    assert page.status == 400
    await console.post(path, {"name": "Store", "monitorId": "", "status": ""})
    assert (await of(console, path))["monitorId"] is None


async def test_an_incident_is_told_of_updated_and_over(console: Console) -> None:
    here = await made(console)
    component = await put_on(console, here, "Shop")
    id_ = component.rpartition("/")[2]
    await console.sign_in()
    await console.get(f"{here}/incidents/new")
    fields = {
        "title": "Checkout is slow",
        "severity": "major",
        "status": "investigating",
        "affectedComponents": id_,
        "componentStatus": "partial_outage",
    }
    page = await console.post(f"{here}/incidents", {**fields, "message": ""})
    assert page.status == 400
    page = await console.post(f"{here}/incidents", {**fields, "message": "We look into it."})
    assert "Published" in page.words
    incident = page.path
    assert (await of(console, component))["status"] == "partial_outage"
    assert "Checkout is slow" in (await console.get(here)).words

    page = await console.post(incident, {**fields, "status": "identified", "message": "A disk is full."})
    assert "A disk is full." in page.words
    page = await console.post(incident, {**fields, "affectedComponents": "", "message": "Not the shop."})
    assert (await of(console, component))["status"] == "operational"
    page = await console.post(incident, {**fields, "message": "The shop, after all."})
    page = await console.post(f"{incident}/resolve", {**fields, "message": " "})
    assert page.status == 400
    page = await console.post(f"{incident}/resolve", {**fields, "message": "We made room."})
    assert "Resolved" in page.words
    assert (await of(console, incident))["status"] == "resolved"
    assert (await of(console, component))["status"] == "operational"
    assert "We made room." in (await console.get(f"{here}/incidents")).words
    await console.post(f"{incident}/delete")
    assert "No incidents yet" in (await console.get(f"{here}/incidents")).words


async def test_maintenance_is_planned_with_its_beginning_and_its_end(console: Console) -> None:
    here = await made(console)
    await console.sign_in()
    page = await console.get(f"{here}/incidents/new?kind=maintenance")
    assert "Schedule maintenance" in page.words
    fields = {
        "kind": "maintenance",
        "title": "New disks",
        "message": "It is short.",
        "status": "investigating",
    }

    page = await console.post(
        f"{here}/incidents", {**fields, "scheduledStart": "tomorrow", "scheduledEnd": "2100-01-02 01:00Z"}
    )
    assert page.status == 400
    assert "Schedule maintenance" in page.words
    assert 'aria-invalid="true"' in page.text
    times = {"scheduledStart": "2100-01-01 23:00Z", "scheduledEnd": "2100-01-02 02:00+01:00"}
    times["reminderMinutes"] = "90"
    page = await console.post(f"{here}/incidents", {**fields, **times})
    assert "Scheduled" in page.words
    told_ = await of(console, page.path)
    assert told_["severity"] == "maintenance"
    assert told_["reminderMinutes"] == 90
    assert (told_["scheduledStart"], told_["scheduledEnd"]) == (
        "2100-01-01T23:00:00.000Z",
        "2100-01-02T01:00:00.000Z",
    )
    page = await console.post(page.path, {**fields, **times, "message": "It is shorter."})
    assert "It is shorter." in page.words
    assert (await of(console, page.path))["severity"] == "maintenance"


async def test_subscribers_are_added_and_removed_and_their_webhooks_stay_secret(console: Console) -> None:
    here = await made(console)
    await console.sign_in()
    await console.get(f"{here}/subscribers")
    wants = {"preferences.incidents": "on"}
    page = await console.post(f"{here}/subscribers", {"email": "no address", **wants})
    assert page.status == 400
    assert 'aria-invalid="true"' in page.text
    page = await console.post(f"{here}/subscribers", {"email": "reader@example.com", **wants})
    assert "reader@example.com" in page.words
    assert "not confirmed" in page.words
    page = await console.post(
        f"{here}/subscribers", {"webhookUrl": "https://hooks.example.com/secret-path", **wants}
    )
    assert "Added." in page.words
    assert "secret-path" not in page.text

    for action in re.findall(rf'action="({here}/subscribers/[^"]*/delete)"', page.text):
        page = await console.post(action)
    assert "No subscribers yet" in page.words


async def test_nothing_that_is_said_on_a_page_becomes_markup(console: Console) -> None:
    here = await made(console, name=HOSTILE)
    component = await put_on(
        console, here, HOSTILE, description=HOSTILE, group=HOSTILE, statusMessage=HOSTILE
    )
    incident = await told(
        console, here, title=HOSTILE, message=HOSTILE, affectedComponents=[component.rpartition("/")[2]]
    )
    await console.sign_in()

    for path in (
        "/status-pages", here, f"{here}/edit", f"{here}/preview", f"{here}/components/new", component,
        f"{here}/incidents", f"{here}/incidents/new", incident, f"{here}/subscribers",
    ):  # fmt: skip
        page = await console.get(path)
        assert page.status == 200, path
        assert "<img src=x" not in page.text, path
        assert "'49" not in unescape(page.text), path


async def test_a_viewer_sees_all_and_does_nothing(console: Console) -> None:
    here = await made(console)
    component = await put_on(console, here, "Shop")
    incident = await told(console, here)
    await console.sign_in(await console.person("viewer"))

    for path in ("/status-pages", here, f"{here}/incidents", incident, f"{here}/subscribers"):
        page = await console.get(path)
        assert page.status == 200, path
        assert 'method="post" action="/status-pages' not in page.text, path
        assert "/new" not in page.text, path
        assert "/edit" not in page.text, path
    assert (await console.get(f"{here}/preview")).status == 200
    for path in ("/status-pages/new", f"{here}/edit", component, f"{here}/incidents/new"):
        assert (await console.get(path)).status == 403, path
    for path in (
        f"{here}/edit",
        f"{here}/preview",
        f"{component}/up",
        f"{here}/incidents",
        f"{here}/subscribers",
    ):
        assert (await console.post(path, USUAL)).status == 403, path


async def test_pages_of_another_team_are_not_there(console: Console) -> None:
    here = await made(console, slug="ours")
    incident = await told(console, here)
    other = await console.api.other_team()
    await console.sign_in(await console.person("admin", team_id=other.team_id))

    for path in (
        here,
        f"{here}/preview",
        f"{here}/edit",
        f"{here}/incidents",
        incident,
        f"{here}/subscribers",
    ):
        assert (await console.get(path)).status == 404, path
    assert "ours" not in (await console.get("/status-pages")).words
    assert (await console.post(f"{here}/delete")).status == 404


async def test_a_domain_that_is_not_proved_says_how_to_and_is_checked_on_demand(console: Console) -> None:
    await console.api.other_team()
    await console.sign_in()
    made = (
        await console.api.post("/v1/status-pages", {"name": "Shop", "domain": "status.invalid.test"})
    ).json
    here = f"/status-pages/{made['id']}"

    shown = await console.get(here)
    checked = await console.post(f"{here}/verify-domain")

    assert "_tocsin.status.invalid.test" in shown.words
    assert f"tocsin={made['id']}" in shown.words
    assert "No DNS record or file was found for status.invalid.test" in checked.words
