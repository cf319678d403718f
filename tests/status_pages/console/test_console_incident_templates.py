"""Templates of incidents in the console: kept, and filling in the form of an incident or of maintenance."""

import re

import pytest

from tests.console.client import Console
from tests.status_pages.console.test_publishing import made, message, monitored

pytestmark = pytest.mark.oldest

HERE = "/status-pages/templates"
SLOW = {
    "name": "Slow",
    "title": "Problem with {component}",
    "status": "identified",
    "severity": "critical",
    "componentStatus": "degraded_performance",
    "message": "{component} of {page} is slow since {began}, for {lasted}.",
}


async def kept(console: Console, **changed: str) -> str:
    answer = await console.api.post("/v1/incident-templates", {**SLOW, **changed})
    assert answer.status == 201, answer.json
    return str(answer.json["id"])


async def test_one_is_created_edited_and_deleted(console: Console) -> None:
    await console.sign_in(await console.person("editor"))
    assert "No templates yet" in (await console.get(HERE)).words
    await console.get(f"{HERE}/new")

    wrong = await console.post(HERE, {**SLOW, "message": "{nobody}"})
    assert (wrong.status, "unknown variable {nobody}" in wrong.words) == (400, True)
    page = await console.post(HERE, SLOW)
    assert "Template “Slow” created." in page.words
    assert (await console.post(HERE, SLOW)).status == 409
    match = re.search(rf'href="({HERE}/tpl_\w+)"', (await console.get(HERE)).text)
    assert match
    assert 'value="Problem with {component}"' in (await console.get(match[1])).text
    page = await console.post(match[1], {**SLOW, "name": "Very slow", "componentStatus": ""})
    assert "Template “Very slow” saved." in page.words
    assert "deleted" in (await console.post(f"{match[1]}/delete")).words
    assert "No templates yet" in (await console.get(HERE)).words


async def test_a_viewer_reads_them_alone(console: Console) -> None:
    template = await kept(console)
    await console.sign_in(await console.person("viewer"))

    page = await console.get(HERE)

    assert "Slow" in page.words
    assert "New template" not in page.words
    assert (await console.get(f"{HERE}/{template}")).status == 403
    assert (await console.post(f"{HERE}/{template}/delete")).status == 403


async def test_it_fills_in_the_form_of_a_teams_incident(console: Console) -> None:
    monitor, incident = await monitored(console)
    page_id, template = await made(console, "shop", monitor), await kept(console)
    await console.sign_in()
    form = f"/status-pages/{page_id}/incidents/new?from={incident}"
    assert f'<option value="{template}">Slow</option>' in (await console.get(form)).text

    page = await console.get(f"{form}&template={template}")

    assert 'value="Problem with Checkout"' in page.text
    assert re.fullmatch(
        r"Checkout of Page shop is slow since \d\d \w{3} \d\d:\d\d UTC, for \d.*\.", message(page)
    )
    for value in ("identified", "critical", "degraded_performance"):
        assert re.search(rf'<option value="{value}"\s+selected', page.text)
    assert re.search(r'name="affectedComponents" value="comp_\w+" checked', page.text)
    assert f'name="from" value="{incident}"' in page.text
    assert re.search(r'<option value="comp_\w+" selected>Checkout</option>', page.text)
    assert "checkout-eu-7" not in page.text


async def test_it_is_chosen_with_a_component_and_published(console: Console) -> None:
    monitor, _ = await monitored(console)
    page_id, template = await made(console, "shop", monitor), await kept(console)
    component = (await console.api.get(f"/v1/status-pages/{page_id}/components")).json["data"][0]["id"]
    await console.sign_in()
    form = f"/status-pages/{page_id}/incidents/new"

    alone = await console.get(f"{form}?template={template}")
    page = await console.get(f"{form}?template={template}&component={component}")
    fields = {"title": "Problem with Checkout", "message": message(page), "status": "identified"}
    shown = await console.post(
        f"/status-pages/{page_id}/incidents",
        {**fields, "severity": "critical", "affectedComponents": component},
    )

    assert message(alone).startswith("our service of Page shop is slow since ")
    assert message(page).startswith("Checkout of Page shop is slow since ")
    assert "Published." in shown.words
    published = (await console.api.get(f"/v1/status-pages/{page_id}/incidents")).json["data"][0]
    assert published["affectedComponents"] == [component]


async def test_templates_of_maintenance_are_offered_for_maintenance_alone(console: Console) -> None:
    page_id = await made(console, "shop")
    await kept(console)
    answer = await console.api.post(
        "/v1/incident-templates",
        {"name": "Upgrade", "title": "Upgrade", "message": "Of {page}", "severity": "maintenance"},
    )
    upgrade = answer.json["id"]
    await console.sign_in()
    form = f"/status-pages/{page_id}/incidents/new"

    incident, planned = await console.get(form), await console.get(f"{form}?kind=maintenance")
    filled = await console.get(f"{form}?kind=maintenance&template={upgrade}")

    assert (">Slow<" in incident.text, ">Upgrade<" in incident.text) == (True, False)
    assert (">Slow<" in planned.text, ">Upgrade<" in planned.text) == (False, True)
    assert message(filled) == "Of Page shop"
    assert message(await console.get(f"{form}?template={upgrade}")) == ""


@pytest.mark.parametrize("template", ["", "x", "tpl_01kahb5m7q8x9t3v2c4d6e0f1g"])
async def test_an_unknown_template_fills_in_nothing(console: Console, template: str) -> None:
    page_id = await made(console, "shop")
    await kept(console)
    await console.sign_in()

    page = await console.get(f"/status-pages/{page_id}/incidents/new?template={template}&component=x")

    assert (page.status, message(page)) == (200, "")


async def test_without_templates_there_is_nothing_to_choose(console: Console) -> None:
    page_id = await made(console, "shop")
    await console.sign_in()

    assert 'name="template"' not in (await console.get(f"/status-pages/{page_id}/incidents/new")).text
