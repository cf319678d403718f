"""Status pages in a real browser: whole for everybody, with scripts or without, and never out of date."""

from typing import Any, Final, Literal

import pytest
from playwright.async_api import expect

from collector.status_pages.api import cache
from tests.browser.status_world import ARABIC, HEBREW, LONG, calm, measured, outage, planned, told
from tests.browser.visits import Visitors
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page

PHONE: Final = (390, 844)
COLOURS: Final = ("#ffffff", "#000000", "#ffee00", "#7f7f7f", "#0f766e")
Scheme = Literal["light", "dark"]


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


def address(api: Api, path: str = "example") -> str:
    return f"{api.url}/status/{path}"


async def many(api: Api) -> dict[str, Any]:
    monitors = [await measured(api, bad={day: 0.01}) for day in range(5, 9)]
    components = [
        {"name": f"System {n}", "monitorId": monitors[n % 4], "group": f"Region {n // 20}"}
        for n in range(200)
    ]
    return await page(api, name="Example", slug="example", components=components)


async def odd_names(api: Api) -> dict[str, Any]:
    shop = await measured(api)
    names = [LONG, "W" * 200, HEBREW, ARABIC, "e" * 60 + "\u0301" * 40, "<b>&amp;"]
    components = [{"name": name, "monitorId": shop, "group": name[:250]} for name in names]
    made = await page(api, name=LONG[:250], slug="example", components=components)
    await told(
        api,
        made,
        title=LONG,
        message=f"{HEBREW}\n\n{'x' * 500}",
        affectedComponents=[component["id"] for component in made["components"]],
    )
    return made


async def empty(api: Api) -> dict[str, Any]:
    return await page(api, name="Example", slug="example")


async def in_outage(api: Api) -> dict[str, Any]:
    made = await calm(api)
    await outage(api, made)
    await planned(api, made)
    return made


SCENES: Final = {"calm": calm, "outage": in_outage, "empty": empty, "odd-names": odd_names, "many": many}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("scene", SCENES)
async def test_everybody_can_use_it_on_any_screen(
    api: Api, visitors: Visitors, scene: str, scheme: Scheme
) -> None:
    await SCENES[scene](api)
    for size in ((1280, 900), PHONE):
        visit = await visitors.visit(address(api), size=size, scheme=scheme)

        assert await visit.overflow_px() == 0
        assert visit.faults == []
        assert visit.elsewhere == []
        if size == PHONE or scene != "many":
            assert await visit.violations() == []


@pytest.mark.parametrize("colour", COLOURS)
async def test_it_can_be_read_in_any_colour(api: Api, visitors: Visitors, colour: str) -> None:
    await calm(api, branding={"primaryColor": colour})
    for scheme in ("light", "dark"):
        visit = await visitors.visit(address(api), scheme=scheme)

        assert await visit.violations() == []


async def test_of_many_groups_only_those_in_trouble_are_open(api: Api, visitors: Visitors) -> None:
    made = await many(api)
    troubled = made["components"][25]
    path = f"/v1/status-pages/{made['id']}/components/{troubled['id']}"
    await api.put(path, {"status": "partial_outage"})

    visit = await visitors.visit(address(api), scripts=False)

    assert await visit.page.locator(".group[open] h3").all_inner_texts() == ["Region 1"]
    await visit.page.locator(".group summary").first.click()
    await expect(visit.page.get_by_text("System 7", exact=True)).to_be_visible()
    assert await visit.page.locator(".group").count() == 10
