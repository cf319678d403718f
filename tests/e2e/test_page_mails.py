"""Subscribers of a status page with the running product: confirmed, notified, notified after a crash."""

import re
from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import aiohttp
import pytest

from shared import ids
from tests.e2e.product import Product, eventually, running
from tests.mailbox import Mailbox, mailbox

pytestmark = pytest.mark.slow

SUBSCRIBERS = 300


async def test_an_address_is_confirmed_told_and_unsubscribed_by_links_alone(tmp_path: Path) -> None:
    async with mailbox() as box, running(tmp_path, SMTP_URL=box.url()) as (product, caller):
        page = await caller.made("/v1/status-pages", {"name": "Example"})
        form = f"{product.url}/status/{page['slug']}/subscribe"
        async with aiohttp.ClientSession() as visitor:
            assert await _status(visitor.post(form, data={"email": "name@example.com"})) == 200
            confirm = await _link(box, 1, product, "/confirm")
            assert await _status(visitor.get(confirm)) == 200
            await caller.made(f"/v1/status-pages/{page['id']}/incidents", {"title": "a", "message": "a"})
            assert await _status(visitor.post(confirm)) == 200
            told = {"title": "Checkout is slow", "message": "We look into it"}
            await caller.made(f"/v1/status-pages/{page['id']}/incidents", told)
            leave = await _link(box, 2, product, "/unsubscribe")
            assert await _status(visitor.post(leave, data={"List-Unsubscribe": "One-Click"})) == 200
            await caller.made(f"/v1/status-pages/{page['id']}/incidents", {"title": "b", "message": "b"})

        listed = await caller.got(f"/v1/status-pages/{page['id']}/subscribers")
    assert [mail.message["Subject"] for mail in box.mails] == [
        "Confirm your subscription to Example",
        "[Example] Investigating: Checkout is slow",
    ]
    assert listed["data"] == []


async def test_after_a_crash_in_the_middle_everybody_is_mailed_and_few_twice(tmp_path: Path) -> None:
    async with mailbox() as box, running(tmp_path, SMTP_URL=box.url()) as (product, caller):
        page = await caller.made("/v1/status-pages", {"name": "Example"})
        everybody = await _subscribe(product, page["id"])
        told = {"title": "Checkout is slow", "message": "We look into it"}
        await caller.made(f"/v1/status-pages/{page['id']}/incidents", told)
        await eventually(lambda: _at_least(box, 60))
        product.kill("collector")
        killed_at = len(box.mails)
        await eventually(lambda: _at_least(box, SUBSCRIBERS - 20), 60)
        await _end_leases(product)
        await eventually(lambda: _all_mailed(box, everybody), 60)

    times = Counter(to for mail in box.mails for to in mail.recipients)
    assert killed_at < SUBSCRIBERS
    assert set(times) == set(everybody)
    assert sum(count - 1 for count in times.values()) <= 40


async def _status(asked: AbstractAsyncContextManager[aiohttp.ClientResponse]) -> int:
    """Its connection is given back, whether or not the page has come whole."""
    async with asked as response:
        return response.status


async def _link(box: Mailbox, count: int, product: Product, end: str) -> str:
    """Of the newest of *count* mails, the link that ends so."""
    await eventually(lambda: _at_least(box, count))
    links = re.findall(rf"{product.url}/\S+", box.mails[-1].part("plain"))
    return str(next(link for link in links if link.endswith(end)))


async def _subscribe(product: Product, page_id: str) -> list[str]:
    """Many who have confirmed, past the mails that would ask each of them."""
    everybody = [f"name{number}@example.com" for number in range(SUBSCRIBERS)]
    database = await product.connect()
    await database.executemany(
        """
        INSERT INTO status_subscribers (team_id, id, page_id, email, preferences, components, verified_at,
            subscribed_at, link_key)
        SELECT team_id, $1, id, $2, '{}', '{}', now(), now(), $3 FROM status_pages WHERE id = $4
        """,
        [(ids.uuid7(), email, b"s" * 32, ids.read("sp", page_id)) for email in everybody],
    )
    await database.close()
    return everybody


async def _end_leases(product: Product) -> None:
    """What the killed one had under way falls due now instead of in half a minute."""
    database = await product.connect()
    await database.execute("UPDATE status_letters SET due_at = now()")
    await database.close()


async def _at_least(box: Mailbox, count: int) -> bool:
    return len(box.mails) >= count


async def _all_mailed(box: Mailbox, everybody: list[str]) -> bool:
    return {to for mail in box.mails for to in mail.recipients} >= set(everybody)
