"""A mail to a subscriber of a status page, as text and HTML, with one-click unsubscribe."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime
from importlib.resources import files
from typing import Final

from jinja2 import Environment

from collector.notifications.channels.email import is_address
from collector.platform.plain_text import cut, lines, one_line

_MAX_SUBJECT: Final = 200
_MAX_TEXT: Final = 16_000
_PAGE: Final = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    files("collector.notifications.channels").joinpath("page_mail.html.j2").read_text(encoding="utf-8")
)


@dataclass(frozen=True, slots=True)
class Links:
    """Where the page is, and where who gets the mail may change what it hears of, or end it."""

    page: str
    manage: str
    leave: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """From whom, to whom, and what mails of one matter have in common.

    *key*: the same on every try; *list_id*: the page's; *domain*: of the ids.
    """

    sender: str
    to: str
    key: str
    thread: str
    list_id: str
    domain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What it says; *press*: a link's words and where it leads, *facts*: labels and values.

    *preferences* and *leave* are the words for `Links`' other two.
    """

    language: str
    title: str
    subject: str
    colour: str
    text: str
    facts: Sequence[tuple[str, str]]
    press: tuple[str, str]
    why: str
    preferences: str
    leave: str


@dataclass(frozen=True, slots=True)
class _Whole:
    """A header in one line, however long: the library would write a long URL as no mail program reads it."""

    name: str
    value: str

    def __str__(self) -> str:
        return self.value

    def fold(self, *, policy: "Policy[EmailMessage]") -> str:
        return f"{self.name}: {self.value}{policy.linesep}"


def mail(body: Body, envelope: Envelope, links: Links, now: datetime) -> EmailMessage:
    """With the headers of RFC 8058, by which a mail program ends the subscription."""
    body = _clean(body)
    made = EmailMessage(policy=SMTP)
    made["Subject"] = cut(body.subject, _MAX_SUBJECT)
    made["From"] = envelope.sender
    made["To"] = envelope.to
    made["Date"] = format_datetime(now)
    made["Message-ID"] = f"<{envelope.key}@{envelope.domain}>"
    made["References"] = made["In-Reply-To"] = f"<{envelope.thread}@{envelope.domain}>"
    made["List-Id"] = f"<{envelope.list_id}.{envelope.domain}>"
    made["List-Unsubscribe"] = _Whole("List-Unsubscribe", f"<{links.leave}>")
    made["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    made["Auto-Submitted"] = "auto-generated"
    made["X-Auto-Response-Suppress"] = "All"
    made.set_content(_plain(body, links))
    html = _PAGE.render(body=body, paragraphs=body.text.split("\n"), links=links)
    made.add_alternative(html, subtype="html")
    return made


def deliverable(address: str) -> str | None:
    """The address as it goes into a mail, its host as DNS has it; None where no mail can go there."""
    if not is_address(address):
        return None
    name, _, host = address.rpartition("@")
    return address if host.isascii() else f"{name}@{host.encode('idna').decode()}"


def _clean(body: Body) -> Body:
    """Nothing in it can end a line where it should not, or turn the direction of what follows."""
    return replace(
        body,
        title=one_line(body.title),
        subject=one_line(body.subject),
        text=cut(lines(body.text), _MAX_TEXT),
        facts=[(label, one_line(value)) for label, value in body.facts],
        why=one_line(body.why),
    )


def _plain(body: Body, links: Links) -> str:
    words, where = body.press
    parts = [
        body.title,
        "\n".join(f"{label}: {value}" for label, value in body.facts),
        body.text,
        f"{words}: {where}",
        f"-- \n{body.why}\n{body.preferences}: {links.manage}\n{body.leave}: {links.leave}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
