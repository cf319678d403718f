"""Sends a mail as text and HTML, one thread per incident."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from importlib.resources import files
from typing import Annotated, Final

from annotated_types import MaxLen, MinLen, Predicate
from jinja2 import Environment

from collector.history.core.phase import Phase
from collector.notifications.channels._policy import PATIENT
from collector.notifications.channels.message import Message, Sent
from collector.notifications.channels.texts import MessageText, Templates, write
from collector.notifications.core.retry import RetryPolicy
from collector.notifications.core.summary import Notice
from collector.platform.delivery import Undelivered
from collector.platform.mailer import MailRefusal
from collector.platform.plain_text import cut, lines
from collector.platform.transport import Transport
from shared.kinds.fields import ErrorText, is_host

_LOCAL: Final = re.compile(r"[^\s@<>(),:;\"\\\[\]\x00-\x20\x7f-\x9f]{1,64}")
_LITERAL: Final = re.compile(r"\[(IPv6:[0-9a-fA-F:.]+|[0-9.]+)\]")
_MAX_SUBJECT: Final = 200
_COLOURS: Final = {
    Phase.PROBLEM: "#c0392b",
    Phase.TAKEN: "#b9770e",
    Phase.OVER: "#1e8449",
    Phase.NEWS: "#2471a3",
}
_PAGE: Final = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
    files("collector.notifications.channels").joinpath("mail.html.j2").read_text(encoding="utf-8")
)


def is_address(text: str) -> bool:
    """Whether it is exactly one email address."""
    name, _, host = text.rpartition("@")
    return bool(_LOCAL.fullmatch(name)) and (is_host(host) or bool(_LITERAL.fullmatch(host)))


Address = Annotated[str, MaxLen(320), Predicate(is_address), ErrorText("must be a mail address")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Email:
    recipients: Annotated[list[Address], MinLen(1), MaxLen(100)]
    """Email addresses of the recipients."""
    templates: Templates | None = None
    """The team's own texts, used instead of the built-in ones."""

    @property
    def policy(self) -> RetryPolicy:
        return PATIENT

    def render(
        self, message: Message, sender: str, domain: str, now: datetime
    ) -> tuple[EmailMessage, MessageText]:
        notice = message.notice
        text = write(notice, self.templates)
        mail = EmailMessage(policy=SMTP)
        mail["Subject"] = cut(text.title, _MAX_SUBJECT)
        mail["From"] = sender
        mail["To"] = ", ".join(dict.fromkeys(map(_ascii, self.recipients)))
        mail["Date"] = format_datetime(now)
        mail["Message-ID"] = f"<{message.delivery}@{domain}>"
        mail["References"] = mail["In-Reply-To"] = f"<{notice.key}@{domain}>"
        mail["Auto-Submitted"] = "auto-generated"
        mail["X-Auto-Response-Suppress"] = "All"
        mail["X-Tocsin-Event"] = notice.kind
        mail.set_content(_plain(notice, text))
        mail.add_alternative(
            _PAGE.render(
                title=text.title,
                colour=_COLOURS[notice.phase],
                paragraphs=lines(text.body).split("\n"),
                facts=() if text.own else notice.facts,
                link=notice.link,
            ),
            subtype="html",
        )
        return mail, text

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:
        """Send to the recipients that no earlier attempt reached. Raises Undelivered."""
        mailer = transport.mailer
        if mailer is None:
            raise Undelivered("no mail server is set here: TOCSIN_SMTP_URL", lasting=True)
        mail, text = self.render(message, mailer.sender, mailer.domain, now)
        left = [
            words for words in dict.fromkeys(map(_ascii, self.recipients)) if words not in message.reached
        ]
        held = await mailer.admit(message.team_id, left)
        admitted = [words for words in left if words not in held]
        refused = await mailer.hand_in(mail, admitted) if admitted else {}
        reached = message.reached | (set(admitted) - refused.keys())
        note = "; ".join(filter(None, (_refusals(refused), *dict.fromkeys(one.why for one in held.values()))))
        waits = [one.wait_s for one in held.values() if one.wait_s is not None]
        if waits or not all(refusal.lasting for refusal in refused.values()):
            wait_s = max(waits, default=None)
            raise Undelivered(note, status=_code(refused), reached=reached, retry_after_s=wait_s)
        if not reached - {""}:
            raise Undelivered(note, status=_code(refused), lasting=True)
        return Sent(250, "; ".join(filter(None, (note, text.fault))) or None)


def _refusals(refused: Mapping[str, MailRefusal]) -> str:
    return "; ".join(f"the mail server refused {who}: {refusal}" for who, refusal in refused.items())


def _code(refused: Mapping[str, MailRefusal]) -> int | None:
    return min((refusal.code for refusal in refused.values()), default=None)


def _plain(notice: Notice, text: MessageText) -> str:
    facts: Sequence[str] = () if text.own else [f"{label}: {lines(value)}" for label, value in notice.facts]
    parts = [text.title, lines(text.body), "\n".join(facts), notice.link]
    return "\n\n".join(part for part in parts if part) + "\n"


def _ascii(address: str) -> str:
    """The address with its host name in punycode, so that any mail server accepts it."""
    name, _, host = address.rpartition("@")
    return address if host.isascii() else f"{name}@{host.encode('idna').decode()}"
