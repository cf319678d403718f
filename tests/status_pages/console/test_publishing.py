"""A team's incident is published on a status page, with a text to begin with."""

import re
from html import unescape

from tests.console.client import Console, Page


async def made(console: Console, slug: str, monitor: str = "") -> str:
    answer = await console.api.post("/v1/status-pages", {"name": f"Page {slug}", "slug": slug})
    assert answer.status == 201, answer.json
    id_ = str(answer.json["id"])
    if monitor:
        body = {"name": "Checkout", "monitorId": monitor}
        assert (await console.api.post(f"/v1/status-pages/{id_}/components", body)).status == 201
    return id_


async def monitored(console: Console) -> tuple[str, str]:
    """A monitor, and an incident about it."""
    config = {"url": "https://internal.example.com/"}
    body = {"name": "checkout-eu-7", "type": "http", "config": config}
    monitor = str((await console.api.post("/v1/monitors", body)).json["id"])
    incident = {"title": "checkout-eu-7 is down", "severity": "high", "monitorId": monitor}
    return monitor, str((await console.api.post("/v1/incidents", incident)).json["id"])


def message(page: Page) -> str:
    match = re.search(r'<textarea [^>]*name="message"[^>]*>\n?(.*?)</textarea>', page.text, re.DOTALL)
    assert match, page.words
    return unescape(match[1])


async def test_of_a_single_page_the_form_opens_with_the_affected_component(console: Console) -> None:
    monitor, incident = await monitored(console)
    page_id = await made(console, "shop", monitor)
    await console.sign_in()
    assert (
        f'href="/status-pages/publish?incident={incident}"'
        in (await console.get(f"/incidents/{incident}")).text
    )

    page = await console.get(f"/status-pages/publish?incident={incident}")

    assert page.path.startswith(f"/status-pages/{page_id}/incidents/new?")
    assert 'value="Problem with Checkout"' in page.text
    assert message(page).startswith("We are investigating a problem with Checkout, which began at ")
    assert re.search(r'<option value="major"\s+selected', page.text)
    assert re.search(r'name="affectedComponents" value="comp_\w+" checked', page.text)
    assert "checkout-eu-7" not in message(page)


async def test_the_text_follows_the_phase(console: Console) -> None:
    _, incident = await monitored(console)
    page_id = await made(console, "shop")
    await console.api.post(f"/v1/incidents/{incident}/resolve")
    await console.sign_in()
    form = f"/status-pages/{page_id}/incidents/new?from={incident}"

    page = await console.get(form)
    assert "problem with our service is resolved. It began at" in message(page)
    assert "checkout-eu-7" not in page.text
    assert "A fix" in message(await console.get(f"{form}&text=monitoring"))
    assert "is resolved." in message(await console.get(f"{form}&text=nonsense"))


async def test_among_several_pages_one_is_chosen(console: Console) -> None:
    _, incident = await monitored(console)
    ids = [await made(console, slug) for slug in ("shop", "inside")]
    await console.sign_in()

    page = await console.get(f"/status-pages/publish?incident={incident}")

    for id_ in ids:
        assert f"/status-pages/{id_}/incidents/new?from={incident}" in page.text


async def test_without_a_page_or_an_incident_it_says_so(console: Console) -> None:
    _, incident = await monitored(console)
    await console.sign_in()

    assert "No status pages yet" in (await console.get(f"/status-pages/publish?incident={incident}")).words
    for query in ("", "?incident=odd"):
        page = await console.get(f"/status-pages/publish{query}")
        assert page.path == "/incidents"
        assert "Choose the incident to publish." in page.words
    assert (await console.get(f"/status-pages/publish?incident=inc_{'0' * 26}")).status == 404


async def test_a_viewer_publishes_nothing(console: Console) -> None:
    _, incident = await monitored(console)
    await console.sign_in(await console.person("viewer"))

    assert "/status-pages/publish" not in (await console.get(f"/incidents/{incident}")).text
    assert (await console.get(f"/status-pages/publish?incident={incident}")).status == 403
