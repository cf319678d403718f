"""Subscribing to a status page in a real browser: for everybody, and with nothing that runs from a name."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from collector.platform.mailer import Mailer
from tests.browser.session import in_session_loop
from tests.browser.visits import Visit, Visitors
from tests.http.client import Api
from tests.http.fixtures import PUBLIC_URL
from tests.mailbox import Mailbox, mailbox
from tests.status_pages.page_ground import SENDER, at_work, drained, mails

NASTY = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
NAMES = ["API", NASTY, "خدمة الدفع", "A very long name of a system " * 6]


@in_session_loop
async def box(api: Api) -> AsyncIterator[Mailbox]:
    async with mailbox() as opened:
        api.context.transport.mailer = Mailer(opened.url(), SENDER)
        yield opened


async def page(api: Api) -> dict[str, Any]:
    body = {"name": NASTY, "slug": "example", "components": [{"name": name[:255]} for name in NAMES]}
    answer = await api.post("/v1/status-pages", body)
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


async def link(api: Api, box: Mailbox, end: str) -> str:
    """Of the newest mail, the link that ends so, at the server of this test."""
    async with at_work(mails(api.context.db, box.url(), keyring=api.context.keyring)):
        await drained(api.context.db)
    found = re.findall(rf"{PUBLIC_URL}(/subscriptions/\S+)", box.mails[-1].part("plain"))
    return api.url + next(str(path) for path in found if path.endswith(end))


async def sound(visit: Visit) -> None:
    assert await visit.violations() == []
    assert await visit.overflow_px() <= 0
    assert (visit.dialogs, visit.elsewhere, visit.refused) == ([], [], [])


@pytest.mark.parametrize(
    "looks", [{"size": (1200, 800)}, {"size": (390, 800), "scheme": "dark"}], ids=["wide", "phone"]
)
async def test_every_step_can_be_used_by_everybody(
    api: Api, box: Mailbox, visitors: Visitors, looks: dict[str, Any]
) -> None:
    await page(api)
    visit = await visitors.visit(f"{api.url}/status/example/subscribe", **looks)
    await sound(visit)
    await visit.page.fill("#email", "name@example.com")
    await visit.page.click("main button")
    await sound(visit)

    visit = await visitors.visit(await link(api, box, "/confirm"), **looks)
    await sound(visit)
    await visit.page.click("main button")
    await sound(visit)

    manage = (await link(api, box, "/unsubscribe")).removesuffix("/unsubscribe")
    visit = await visitors.visit(manage, **looks)
    await sound(visit)
    await visit.page.check("input[name=component] >> nth=1")
    await visit.page.click("main button")
    assert await visit.page.is_checked("input[name=component] >> nth=1")
    await sound(visit)

    visit = await visitors.visit(f"{manage}/unsubscribe", **looks)
    await sound(visit)
    await visit.page.click("main button")
    await sound(visit)
    assert (await api.get("/v1/status-pages")).json["data"][0]["subscribers"] == 0
