"""The console's status pages in a real browser: for everybody, with the page itself beside its editor."""

from typing import Literal

import pytest
from playwright.async_api import FilePayload, expect

from tests.browser.status_world import ARABIC, LONG
from tests.browser.test_console_monitors import HOSTILE, PHONE, signed_in
from tests.browser.visits import Visitors
from tests.console.client import served, visiting
from tests.http.client import Api
from tests.status_pages.core.test_pictures import PNG, data


async def filled(api: Api, *names: str) -> tuple[str, list[str]]:
    """A page with components: their paths in the console."""
    page = (await api.post("/v1/status-pages", {"name": names[0], "visibility": "private"})).json["id"]
    here = f"/status-pages/{page}"
    made = [(await api.post(f"/v1{here}/components", {"name": name, "group": name})).json for name in names]
    return here, [f"{here}/components/{item['id']}" for item in made]


async def told(api: Api, here: str, text: str, **fields: object) -> str:
    body = {"title": text, "message": text, "severity": "major", **fields}
    return f"{here}/incidents/{(await api.post(f'/v1{here}/incidents', body)).json['id']}"


@pytest.mark.parametrize(
    ("size", "scheme"),
    [pytest.param((1280, 900), "light", id="desktop"), pytest.param(PHONE, "dark", id="phone")],
)
async def test_everybody_can_use_it_on_any_screen(
    api: Api, visitors: Visitors, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    here, (component, *_) = await filled(api, "Shop", LONG[:120], ARABIC, "Search")
    await api.put(f"/v1{component}", {"status": "degraded_performance", "statusMode": "manual"})
    incident = await told(api, here, "Checkout is slow", affectedComponents=[component.rpartition("/")[2]])
    start, end = "2100-01-01T22:00Z", "2100-01-01T23:00Z"
    await told(api, here, "New disks", severity="maintenance", scheduledStart=start, scheduledEnd=end)
    await api.post(f"/v1{here}/subscribers", {"email": "reader@example.com"})
    public = (await api.post("/v1/status-pages", {"name": LONG[:120]})).json["id"]
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, size=size, scheme=scheme)
        for path in (
            "/status-pages", "/status-pages/new", here, f"/status-pages/{public}", f"{here}/edit",
            f"{here}/components/new", component,
            f"{here}/incidents", f"{here}/incidents/new", f"{here}/incidents/new?kind=maintenance", incident,
            f"{here}/subscribers", f"{here}/access",
        ):  # fmt: skip
            await visit.page.goto(url + path)
            for summary in await visit.page.locator("main summary").all():
                await summary.click()
            assert await visit.violations() == [], path
            assert await visit.overflow_px() == 0, path
        assert visit.faults == []
        assert visit.elsewhere == []


async def test_a_page_is_made_and_told_of_an_incident_and_seen_beside_its_editor(
    api: Api, visitors: Visitors
) -> None:
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        page = visit.page
        await page.goto(url + "/status-pages")
        await page.keyboard.press("n")
        await page.get_by_label("Name", exact=True).fill("Our shop")
        await page.get_by_role("button", name="Create status page").click()
        await page.get_by_role("link", name="New component").click()
        await page.get_by_label("Name", exact=True).fill("Checkout")
        await page.get_by_role("button", name="Add component").click()
        await page.get_by_role("link", name="Incidents", exact=True).last.click()
        await page.get_by_role("link", name="Report incident").click()
        await page.get_by_label("Title").fill("It is slow")
        await page.get_by_label("Checkout").check()
        await page.get_by_label("Component status meanwhile").select_option("major_outage")
        await page.get_by_label("Message").fill("We look into it.")
        await page.get_by_role("button", name="Publish").click()
        await page.get_by_role("link", name="Page", exact=True).click()

        seen = page.frame_locator("iframe")

        await page.locator("iframe").scroll_into_view_if_needed()
        await expect(seen.locator("h1")).to_have_text("Our shop")
        await expect(seen.get_by_text("We look into it.")).to_be_visible()
        await expect(page.locator("tr", has_text="Checkout")).to_contain_text("major outage")
        assert visit.faults == []


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
async def test_a_template_fills_the_form_in(api: Api, visitors: Visitors, scripts: bool) -> None:
    here, _ = await filled(api, "Checkout", "API")
    words = {"title": "Problem with {component}", "message": "{component} is slow."}
    await api.post("/v1/incident-templates", {"name": "Slow", **words})
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors, size=PHONE, scripts=scripts)
        page = visit.page
        await page.goto(f"{url}{here}/incidents/new")

        for label, option in (("Template", "Slow"), ("Component", "API")):
            await page.get_by_label(label, exact=True).select_option(option)
            if not scripts:
                await page.get_by_role("button", name="Fill in").click()
            await expect(page.get_by_label(label, exact=True).locator("option:checked")).to_have_text(option)

        await expect(page.get_by_label("Title")).to_have_value("Problem with API")
        await expect(page.get_by_label("Message")).to_have_value("API is slow.")
        await expect(page.get_by_label("API", exact=True)).to_be_checked()
        assert scripts is False or await visit.violations() == []
        assert visit.faults == []


async def test_what_is_told_elsewhere_is_in_the_open_preview(api: Api, visitors: Visitors) -> None:
    here, _ = await filled(api, "Shop")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        async with visit.page.expect_response(lambda answer: "/events" in answer.url):
            await visit.page.goto(url + here)
        await visit.page.locator("iframe").scroll_into_view_if_needed()
        seen = visit.page.frame_locator("iframe")
        await expect(seen.locator("h1")).to_have_text("Shop")

        await told(api, here, "It is slow")

        await expect(seen.locator("main")).to_contain_text("It is slow")
        await expect(visit.page.locator("main .list")).to_contain_text("It is slow")
        assert visit.faults == []


async def test_the_preview_follows_what_is_typed_and_saving_is_still_possible(
    api: Api, visitors: Visitors
) -> None:
    here, _ = await filled(api, "Shop")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        await visit.page.goto(f"{url}{here}/edit")
        heading = visit.page.frame_locator("iframe").locator("h1")
        await expect(heading).to_have_text("Shop")

        await visit.page.get_by_label("Primary color").fill("#123456")
        await visit.page.get_by_label("Custom CSS").fill("h1{color:rgb(1, 2, 3)}")
        await visit.page.get_by_label("Name", exact=True).fill("Store")

        await expect(heading).to_have_text("Store")
        await expect(heading).to_have_css("color", "rgb(1, 2, 3)")
        assert (await api.get(f"/v1{here}")).json["name"] == "Shop"
        await visit.page.get_by_role("button", name="Save").click()
        await expect(visit.page.locator("h1")).to_have_text("Store")
        assert visit.faults == []


async def test_nothing_that_somebody_wrote_runs(api: Api, visitors: Visitors) -> None:
    here, (component, *_) = await filled(api, HOSTILE)
    incident = await told(api, here, HOSTILE, affectedComponents=[component.rpartition("/")[2]])
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        for path in ("/status-pages", here, f"{here}/preview", component, f"{here}/incidents", incident):
            await visit.page.goto(url + path)
            await visit.page.wait_for_load_state("load")
        assert (visit.dialogs, visit.elsewhere, visit.faults) == ([], [], [])


async def test_a_logo_is_uploaded_from_a_file(api: Api, visitors: Visitors) -> None:
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        page = visit.page
        await page.goto(url + "/status-pages/new")
        await page.get_by_label("Name", exact=True).fill("Our shop")
        logo = FilePayload(name="logo.png", mimeType="image/png", buffer=PNG)
        await page.get_by_label("Logo from a file").set_input_files(logo)
        await expect(page.locator("[name='branding.logo']")).to_have_value(data(PNG))
        await page.get_by_role("button", name="Create status page").click()

        await page.goto(url + "/status/our-shop")

        await expect(page.locator("img.logo")).to_have_attribute("src", "/status/our-shop/picture?kind=logo")
        assert await visit.violations() == []


async def test_components_are_ordered_by_keyboard_and_by_pointer(api: Api, visitors: Visitors) -> None:
    here, _ = await filled(api, "Shop", "API", "Search")

    async def order() -> list[str]:
        return [item["name"] for item in (await api.get(f"/v1{here}")).json["components"]]

    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        page = visit.page
        await page.goto(url + here)
        rows = page.locator("tbody[data-order] .handle")
        async with page.expect_response(lambda answer: answer.url.endswith("/order")):
            await rows.nth(2).focus()
            await page.keyboard.press("ArrowUp")
        assert await order() == ["Shop", "Search", "API"]
        assert await page.evaluate("document.activeElement.ariaLabel") == (
            "Move Search: drag, or use the arrow keys"
        )
        await rows.nth(0).hover()
        target = await rows.nth(2).bounding_box()
        assert target
        await page.mouse.down()
        await page.mouse.move(target["x"] + 4, target["y"] + target["height"] + 8, steps=4)
        async with page.expect_response(lambda answer: answer.url.endswith("/order")):
            await page.mouse.up()
        assert await order() == ["Search", "API", "Shop"]

        groups = page.locator("ol[data-order] .handle")
        async with page.expect_navigation():
            await groups.nth(2).focus()
            await page.keyboard.press("ArrowUp")
        assert len(await order()) == 3
        assert await visit.violations() == []
        assert visit.faults == []
