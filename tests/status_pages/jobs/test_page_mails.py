"""Subscribers of a status page are mailed what it tells: each of them, once, at the mail server's pace."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from collector.notifications.service.outside_mails import OutsideMails
from collector.platform.bucket import PLANS
from collector.platform.storage.db import Db
from collector.status_pages.core import news
from collector.status_pages.jobs import sender
from collector.status_pages.jobs.pages import StatusPages
from collector.status_pages.service import incidents
from shared.clock import iso, utc_now
from tests.mailbox import Mailbox, mailbox
from tests.notifications.ground import PUBLIC_URL
from tests.status_pages.page_ground import (
    at_work,
    drained,
    mails,
    make_page,
    publish,
    subjects,
    subscribe,
    update,
)

pytestmark = pytest.mark.races

ONE, TWO = "one@example.com", "two@example.com"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits half a minute for another try here."""
    monkeypatch.setattr(news, "_WAITS", (timedelta(milliseconds=200),) * 50)
    monkeypatch.setattr(sender, "_SHORTEST_REST_S", 0.05)
    monkeypatch.setattr(sender, "_LONGEST_REST_S", 0.1)


@pytest.fixture
async def box() -> AsyncIterator[Mailbox]:
    async with mailbox() as opened:
        yield opened


async def test_markdown_is_mailed_as_text(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE])

    async with at_work(mails(db, box.url())):
        await publish(db, who, page, message="**Soon**: [details](https://example.com/blog)")
        await drained(db)

    (mail,) = box.mails
    for kind in ("plain", "html"):
        body = mail.message.get_body((kind,))
        assert body is not None
        assert "Soon: details (https://example.com/blog)" in body.get_content()


async def test_a_reminder_is_mailed_in_the_language_of_each(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE])
    await subscribe(db, page, [TWO], language="he")
    start = iso(utc_now() + timedelta(hours=2))
    body = {"severity": "maintenance", "scheduledStart": start, "reminderMinutes": 60}
    await publish(db, who, page, **body)

    async with at_work(mails(db, box.url())):
        await drained(db)
        await StatusPages(db, now=lambda: utc_now() + timedelta(hours=1, minutes=1)).turn()
        await drained(db)

    assert subjects(box, ONE) == [
        "[Example] Planned: Checkout is slow",
        "[Example] Reminder: Checkout is slow",
    ]
    assert subjects(box, TWO)[1] == "[Example] תזכורת: Checkout is slow"
    html = [mail.part("html") for mail in box.mails if mail.recipients == [TWO]]
    assert all('<html lang="he" dir="rtl">' in text for text in html)


async def test_each_update_reaches_each_subscriber_once_and_in_order(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE, TWO])

    async with at_work(mails(db, box.url()), mails(db, box.url())):
        incident = await publish(db, who, page)
        await update(db, who, page, incident, "identified")
        await update(db, who, page, incident, "resolved")
        await drained(db)

    lines = [f"[Example] {phase}: Checkout is slow" for phase in ("Investigating", "Identified", "Resolved")]
    assert subjects(box, ONE) == subjects(box, TWO) == lines


async def test_whoever_has_not_confirmed_hears_nothing(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE], verified_at=None)
    await subscribe(db, page, [TWO])

    async with at_work(mails(db, box.url())):
        await publish(db, who, page)
        await drained(db)

    assert [mail.recipients for mail in box.mails] == [[TWO]]


async def test_many_are_mailed_once_each_by_several_collectors(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    everybody = [f"name{number}@example.com" for number in range(450)]
    await subscribe(db, page, everybody)
    await publish(db, who, page)

    async with at_work(mails(db, box.url()), mails(db, box.url()), mails(db, box.url())):
        await drained(db, 90)

    assert Counter(to for mail in box.mails for to in mail.recipients) == Counter(everybody)


@pytest.mark.parametrize(
    ("wishes", "heard"),
    [
        pytest.param({}, {"incident", "maintenance"}, id="all by default"),
        pytest.param(
            {"preferences": {"incidents": False, "maintenance": True}}, {"maintenance"}, id="maintenance"
        ),
        pytest.param(
            {"preferences": {"incidents": True, "maintenance": False}}, {"incident"}, id="incidents"
        ),
        pytest.param({"preferences": {"incidents": False, "maintenance": False}}, set(), id="neither"),
    ],
)
async def test_a_subscriber_hears_of_what_he_wants(
    db: Db, box: Mailbox, wishes: dict[str, object], heard: set[str]
) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE], **wishes)

    async with at_work(mails(db, box.url())):
        await publish(db, who, page, title="incident")
        await publish(db, who, page, title="maintenance", severity="maintenance")
        await drained(db)

    assert {subject.rpartition(": ")[2] for subject in subjects(box)} == heard


async def test_a_letter_has_what_ends_the_subscription_in_one_click(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE])

    async with at_work(mails(db, box.url())):
        await publish(db, who, page)
        await drained(db)

    message = box.mails[0].message
    leave = message["List-Unsubscribe"].strip("<>")
    assert leave.startswith(f"{PUBLIC_URL}/subscriptions/sub_")
    assert leave.endswith("/unsubscribe")
    assert f"List-Unsubscribe: <{leave}>\r\n".encode() in box.mails[0].raw
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert message["To"] == ONE
    assert leave in box.mails[0].part("plain")
    assert leave in box.mails[0].part("html")
    assert "We look into it" in box.mails[0].part("plain")


async def test_what_is_refused_for_now_comes_again_and_what_is_refused_for_good_does_not(
    db: Db, box: Mailbox
) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE, TWO])
    box.answers = {ONE: ["450 not now", "250 fine"], TWO: ["550 no such user"]}

    async with at_work(mails(db, box.url())):
        await publish(db, who, page)
        await drained(db)

    assert [mail.recipients for mail in box.mails] == [[ONE]]


async def test_a_server_that_is_away_loses_nobody_and_is_not_stormed(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    everybody = [f"name{number}@example.com" for number in range(30)]
    await subscribe(db, page, everybody)
    box.data = "451 not now"

    async with at_work(mails(db, box.url(), most=4)):
        await publish(db, who, page)
        while box.refused < 8:
            await asyncio.sleep(0.02)
        tried = await attempts(db)
        box.data = "250 taken"
        await drained(db, 30)

    assert tried < len(everybody) / 2
    assert sorted(mail.recipients[0] for mail in box.mails) == sorted(everybody)


async def test_what_a_killed_collector_had_under_way_is_sent_by_another_and_nothing_else(
    db: Db, box: Mailbox
) -> None:
    who, page = await make_page(db)
    everybody = [f"name{number}@example.com" for number in range(50)]
    await subscribe(db, page, everybody)
    await publish(db, who, page)
    killed = mails(db, box.url(), most=5)
    while len(box.mails) < 10:
        await killed.turn()
    # What it had under way goes on to the server, and nothing is recorded any more.
    await lease_over(db)

    async with at_work(mails(db, box.url())):
        await drained(db)

    times = Counter(to for mail in box.mails for to in mail.recipients)
    assert set(times) == set(everybody)
    assert sum(times.values()) - len(everybody) <= 10


async def test_an_address_to_which_no_mail_can_go_holds_up_nobody(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, ["a@-.-", "ü@example.com", ONE])

    async with at_work(mails(db, box.url())):
        await publish(db, who, page)
        await mailed(box, 1)

    assert [mail.recipients for mail in box.mails] == [[ONE]]


@pytest.mark.parametrize(
    "nasty",
    [
        "a\r\nBcc: victim@example.com",
        "<script>alert(1)</script>",
        "a\u2028b\u202ec",
        '"><img src=x onerror=a>',
    ],
)
async def test_no_text_gets_out_of_its_place(db: Db, box: Mailbox, nasty: str) -> None:
    who, page = await make_page(db, name=nasty)
    await subscribe(db, page, [ONE])

    async with at_work(mails(db, box.url())):
        await publish(db, who, page, title=nasty, message=nasty)
        await drained(db)

    mail = box.mails[0]
    assert "Bcc" not in mail.message
    assert mail.recipients == [ONE]
    for bad in ("<script", "<img", "\u202e"):
        assert bad not in mail.part("html")
    assert not set(mail.message["Subject"]) & set("\r\n\u2028\u202e")


async def test_news_of_a_deleted_incident_are_not_told(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE])
    incident = await publish(db, who, page)
    await incidents.delete(db, who, page.id, incident, utc_now())

    async with at_work(mails(db, box.url())):
        await drained(db)

    assert box.mails == []


async def attempts(db: Db) -> int:
    async with db.connection() as tx:
        total: int = await tx.fetchval("SELECT count(*) FROM status_letters WHERE attempt > 0")
    return total


async def lease_over(db: Db) -> None:
    async with db.connection() as tx:
        await tx.execute("UPDATE status_letters SET due_at = now()")


async def mailed(box: Mailbox, count: int) -> None:
    async with asyncio.timeout(10):
        while len(box.mails) < count:
            await asyncio.sleep(0.02)


async def test_subscribers_count_in_the_mails_of_an_hour_and_wait_above_them(db: Db, box: Mailbox) -> None:
    who, page = await make_page(db)
    await subscribe(db, page, [ONE, TWO, "three@example.com"])
    few = {name: replace(plan, mails_per_hour=2) for name, plan in PLANS.items()}

    async with at_work(mails(db, box.url(), admit=OutsideMails(db, few, confirm=True).held)):
        await publish(db, who, page)
        async with asyncio.timeout(30):
            while not await waiting(db):
                await asyncio.sleep(0.02)
        assert len(box.mails) == 2
        async with db.connection() as tx:
            await tx.execute("UPDATE rate_buckets SET at = at - interval '1 hour'")
            await tx.execute("UPDATE status_letters SET due_at = now()")
        await drained(db)

    assert len(box.mails) == 3


async def waiting(db: Db) -> bool:
    """Is a letter held back?"""
    async with db.connection() as tx:
        return bool(
            await tx.fetchval(
                "SELECT count(*) FROM status_letters WHERE due_at > now() + interval '10 minutes'"
            )
        )
