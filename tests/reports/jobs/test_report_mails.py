"""Editions are mailed once to each recipient, with the files, also when a sender is killed."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from collector.platform.mailer import Held, Mailer
from collector.reports.jobs.mails import ReportMails
from tests.http.client import Api
from tests.mailbox import Mailbox
from tests.mailbox import mailbox as mail_server
from tests.reports.history import DAY, Lived, lived, work

SENDER = "Tocsin <tocsin@example.com>"
URL = "https://tocsin.example.com"
pytestmark = pytest.mark.oldest

# Sends what is due, in a process of its own, until it is killed.
_SENDER = """
import asyncio, sys
from collector.platform.mailer import Mailer
from collector.platform.storage.db import Db
from collector.reports.jobs.mails import ReportMails
from shared.clock import utc_now

async def run(url, server):
    db = await Db.open(url, size=2, name="sender")
    await ReportMails(db, Mailer(server, "tocsin@example.com"), public_url="", now=utc_now).turn()

asyncio.run(run(*sys.argv[1:]))
"""


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    async with mail_server() as box:
        yield box


def sender(api: Api, box: Mailbox, ahead: timedelta = timedelta()) -> ReportMails:
    mailer = Mailer(box.url(), SENDER)
    return ReportMails(api.context.db, mailer, public_url=URL, now=lambda: api.clock() + ahead)


async def sent(job: ReportMails) -> int:
    turns = 0
    while await job.turn():
        turns += 1
    return turns


async def due(api: Api, *recipients: str) -> tuple[Lived, str]:
    """A history, and the path of a report of it whose edition is computed and not mailed yet."""
    known = await lived(api, "Shop <script>")
    answer = await api.post("/v1/reports", {**known.body, "recipients": [*recipients], "target": 99.9})
    assert answer.status == 201, answer.body
    await work(api)
    return known, f"/v1/reports/{answer.json['id']}/editions"


async def test_each_recipient_gets_the_numbers_and_the_files_once(api: Api, mailbox: Mailbox) -> None:
    _, where = await due(api, "one@example.com", "two@example.com")

    assert await sent(sender(api, mailbox)) == 2
    await work(api, ahead=DAY)
    assert await sent(sender(api, mailbox, ahead=10 * DAY)) == 0

    [edition] = (await api.get(where)).json["data"]
    assert (edition["mailsSent"], edition["mailsWaiting"]) == (2, 0)
    assert sorted(mail.recipients for mail in mailbox.mails) == [["one@example.com"], ["two@example.com"]]
    message = mailbox.mails[0].message
    assert message["Subject"].startswith("Two days: ")
    assert {part.get_filename(): part.get_content_type() for part in message.iter_attachments()} == {
        f"report-{edition['since'][:10]}.csv": "text/csv",
        f"report-{edition['since'][:10]}.pdf": "application/pdf",
    }
    assert "Target: 99.9 %: missed" in mailbox.mails[0].part("plain")
    assert f"{URL}/reports/" in mailbox.mails[0].part("html")
    assert "recipient of the report" in mailbox.mails[0].part("html")
    assert mailbox.mails[0].message["Message-ID"] != mailbox.mails[1].message["Message-ID"]


async def test_a_mail_that_is_refused_for_now_is_tried_again(api: Api, mailbox: Mailbox) -> None:
    mailbox.answers = {"one@example.com": ["450 busy", "250 fine"], "two@example.com": ["550 nobody"]}
    _, where = await due(api, "one@example.com", "two@example.com")

    assert await sent(sender(api, mailbox)) == 2
    assert mailbox.mails == []
    assert await sent(sender(api, mailbox, ahead=timedelta(hours=1))) == 1
    assert await sent(sender(api, mailbox, ahead=timedelta(days=1))) == 0

    [mail] = mailbox.mails
    assert mail.recipients == ["one@example.com"]
    [edition] = (await api.get(where)).json["data"]
    assert (edition["mailsSent"], edition["mailsWaiting"]) == (1, 0)


async def test_an_address_that_did_not_confirm_gets_nothing(api: Api, mailbox: Mailbox) -> None:
    async def nobody(team_id: int, addresses: list[str], *, known: bool = False) -> dict[str, Held]:
        return {address: Held("did not confirm") for address in addresses}

    _, where = await due(api, "one@example.com")
    mailer = Mailer(mailbox.url(), SENDER, admit=nobody)  # type: ignore[arg-type]
    job = ReportMails(api.context.db, mailer, public_url=URL, now=api.clock)

    assert await sent(job) == 1
    [edition] = (await api.get(where)).json["data"]
    assert (edition["mailsSent"], edition["mailsWaiting"], mailbox.mails) == (0, 1, [])


@pytest.mark.races
async def test_a_sender_that_is_killed_leaves_its_mail_to_another(
    api: Api, mailbox: Mailbox, database_url: str
) -> None:
    await due(api, "one@example.com")
    mailbox.stalls = True
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _SENDER, database_url, mailbox.url())
    await asyncio.wait_for(mailbox.stalled.wait(), 60)
    process.kill()
    await process.wait()
    mailbox.stalls = False

    assert await sent(sender(api, mailbox)) == 0
    assert await sent(sender(api, mailbox, ahead=timedelta(minutes=6))) == 1
    assert await sent(sender(api, mailbox, ahead=timedelta(days=1))) == 0
    assert len(mailbox.mails) == 1
