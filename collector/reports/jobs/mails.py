"""Mails editions of reports to their recipients, each edition once."""

import asyncio
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from hashlib import sha256
from importlib.resources import files
from typing import Final

import structlog
from jinja2 import Environment

from collector.notifications.channels.page_mail import deliverable
from collector.platform.delivery import Undelivered
from collector.platform.mailer import Mailer
from collector.platform.plain_text import cut, one_line
from collector.platform.storage.db import Db
from collector.reports.core import spreadsheet
from collector.reports.core.content import ReportContent
from collector.reports.core.summary import summary
from collector.reports.service import editions, pdf
from collector.reports.storage import mails as table
from collector.reports.storage.editions import Edition
from collector.reports.storage.mails import DueMail
from shared import ids
from shared.clock import UtcClock
from shared.errors import Conflict, NotFound

log = structlog.get_logger()

_MAX_SUBJECT: Final = 200
# Above this the mail has a link in place of the files.
_MOST_BYTES: Final = 5_000_000
# Longer than the mail server's timeout and the writing of a PDF.
_LEASE: Final = timedelta(minutes=5)
_WAITS: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60))
_MOST_TRIES: Final = 48
_WHY: Final = "Sent by Tocsin, because this address is a recipient of the report."
_COLOUR: Final = "#2471a3"
_PAGE: Final = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    files("collector.notifications.channels").joinpath("mail.html.j2").read_text(encoding="utf-8")
)


class ReportMails:
    """Sends mails, one after another; any number may run. *public_url* has no trailing slash.

    An attempt is counted before it is made. A mail whose sender was killed is sent again under the same
    Message-ID, by which receivers recognise it.
    """

    def __init__(self, db: Db, mailer: Mailer, *, public_url: str, now: UtcClock) -> None:
        self._db = db
        self._mailer = mailer
        self._public_url = public_url
        self._now = now

    async def turn(self) -> bool:
        """Send a mail that is due; return whether there was one."""
        async with self._db.transaction() as tx:
            mail = await table.claim(tx, self._now(), _LEASE)
        if mail is None:
            return False
        fault, wait = await self._send(mail)
        again_at = self._now() + wait if wait is not None and mail.tries < _MOST_TRIES else None
        async with self._db.transaction() as tx:
            await table.finish(tx, mail, fault, self._now(), again_at)
        if fault:
            log.info("report not mailed", edition=ids.show("edn", mail.edition_id), reason=fault)
        return True

    async def _send(self, mail: DueMail) -> tuple[str | None, timedelta | None]:
        """Make one attempt; return the fault, if any, and how long to wait for the next attempt, if any."""
        wait = _WAITS[min(mail.tries, len(_WAITS)) - 1]
        to = deliverable(mail.address)
        if to is None:
            return "the address cannot be written to", None
        if held := (await self._mailer.admit(mail.team_id, [to])).get(to):
            return held.why, timedelta(seconds=held.wait_s) if held.wait_s is not None else _WAITS[-1]
        try:
            edition, content = await editions.ready(self._db, mail.team_id, mail.report_id, mail.edition_id)
            refused = await self._mailer.hand_in(await self._composed(edition, content, to), [to])
        except Undelivered as error:
            return str(error), None if error.lasting else wait
        except (Conflict, NotFound) as error:
            return str(error), None
        if to in refused:
            return f"the mail server refused {to}: {refused[to]}", None if refused[to].lasting else wait
        return None, None

    async def _composed(self, edition: Edition, content: ReportContent, to: str) -> EmailMessage:
        report, id_ = ids.show("rep", edition.report_id), ids.show("edn", edition.id)
        made = composed(
            content,
            edition,
            to=to,
            link=f"{self._public_url}/reports/{report}/editions/{id_}",
            sender=self._mailer.sender,
            key=f"{id_}.{sha256(to.encode()).hexdigest()[:16]}@{self._mailer.domain}",
            now=self._now(),
        )
        await asyncio.to_thread(_attach, made, content, edition)
        return made


def composed(
    content: ReportContent, edition: Edition, *, to: str, link: str, sender: str, key: str, now: datetime
) -> EmailMessage:
    """Return the mail without its files, as text and HTML; *key*: of its Message-ID."""
    facts = [
        ("Period", f"{content.days}, {content.timezone}"),
        ("Monitors", content.subject),
        *summary(content),
    ]
    title = f"{one_line(content.name)}: {content.days}"
    if edition.number > 1:
        title += f" (edition {edition.number}, corrected)"
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = cut(title, _MAX_SUBJECT)
    mail["From"], mail["To"] = sender, to
    mail["Date"], mail["Message-ID"] = format_datetime(now), f"<{key}>"
    mail["Auto-Submitted"], mail["X-Auto-Response-Suppress"] = "auto-generated", "All"
    lines = "\n".join(f"{label}: {one_line(value)}" for label, value in facts)
    mail.set_content(f"{title}\n\n{lines}\n\n{link}\n")
    html = _PAGE.render(title=title, colour=_COLOUR, paragraphs=(), facts=facts, link=link, why=_WHY)
    mail.add_alternative(html, subtype="html")
    return mail


def _attach(mail: EmailMessage, content: ReportContent, edition: Edition) -> None:
    """Attach the CSV, and the PDF where it can be written, unless they are too large."""
    found = [("text", "csv", spreadsheet.written(content))]
    if pdf.is_available():
        found.append(("application", "pdf", pdf.written(content, edition.number)))
    if sum(len(data) for _, _, data in found) > _MOST_BYTES:
        return
    for main, sub, data in found:
        mail.add_attachment(data, maintype=main, subtype=sub, filename=f"report-{edition.first_day}.{sub}")
