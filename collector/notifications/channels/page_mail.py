"""A mail to a subscriber of a status page, as text and HTML, with one-click unsubscribe."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime
from importlib.resources import files
from typing import Final, Literal

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
    """URLs of the page and of the pages on which a subscriber changes or ends the subscription."""

    page: str
    manage: str
    leave: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """Sender, recipient, and the headers that mails of one thread share.

    *key*: the same on every attempt; *list_id*: the page's; *domain*: of the message ids.
    """

    sender: str
    to: str
    key: str
    thread: str
    list_id: str
    domain: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MailText:
    """The text of the mail; *press*: label and URL of the button, *facts*: labels and values.

    *preferences* and *leave* are the labels of the other two `Links`; *direction* is the language's.
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
    direction: Literal["ltr", "rtl"] = "ltr"


@dataclass(frozen=True, slots=True)
class _Whole:
    """A header on one line, however long: the library folds long URLs in a way that breaks mail clients."""

    name: str
    value: str

    def __str__(self) -> str:
        return self.value

    def fold(self, *, policy: "Policy[EmailMessage]") -> str:
        return f"{self.name}: {self.value}{policy.linesep}"


def mail(body: MailText, envelope: Envelope, links: Links, now: datetime) -> EmailMessage:
    """Compose the mail, with the headers of RFC 8058 for one-click unsubscription."""
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
    """The address with its host in punycode; None if it is not deliverable."""
    if not is_address(address):
        return None
    name, _, host = address.rpartition("@")
    return address if host.isascii() else f"{name}@{host.encode('idna').decode()}"


def _clean(body: MailText) -> MailText:
    """Remove line breaks from one-line texts, and characters that change the text direction."""
    return replace(
        body,
        title=one_line(body.title),
        subject=one_line(body.subject),
        text=cut(lines(body.text), _MAX_TEXT),
        facts=[(label, one_line(value)) for label, value in body.facts],
        why=one_line(body.why),
    )


def _plain(body: MailText, links: Links) -> str:
    words, where = body.press
    parts = [
        body.title,
        "\n".join(f"{label}: {value}" for label, value in body.facts),
        body.text,
        f"{words}: {where}",
        f"-- \n{body.why}\n{body.preferences}: {links.manage}\n{body.leave}: {links.leave}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
