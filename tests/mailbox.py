"""A real mail server that accepts mails and answers each address as the test configures."""

import asyncio
import contextlib
import email
import email.policy
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "alerts", "SEEDED-mail-password"


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail as it was submitted: sender and recipients of the envelope, and its content."""

    sender: str
    recipients: list[str]
    raw: bytes
    tls: bool
    user: str | None

    @property
    def message(self) -> EmailMessage:
        parsed = email.message_from_bytes(self.raw, policy=email.policy.default)
        assert isinstance(parsed, EmailMessage)
        return parsed

    def part(self, kind: str) -> str:
        body = self.message.get_body((kind,))
        assert body is not None
        text: str = body.get_content()
        return text


@dataclass
class Mailbox:
    """*answers*: what RCPT of an address is answered, each answer used once but for the last."""

    port: int = 0
    answers: dict[str, list[str]] = field(default_factory=dict)
    data: str = "250 taken"
    mails: list[Mail] = field(default_factory=list)
    refused: int = 0
    stalls: bool = False
    stalled: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, *, user: str = "", query: str = "starttls=0", scheme: str = "smtp") -> str:
        return f"{scheme}://{user}localhost:{self.port}" + (f"?{query}" if query else "")

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.stalls:
            self.stalled.set()
            await asyncio.Event().wait()
        lines = self.answers.get(address, ["250 fine"])
        answer = lines.pop(0) if len(lines) > 1 else lines[0]
        if answer.startswith("2"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.data.startswith("2"):
            content = envelope.content
            assert isinstance(content, bytes)
            user = session.auth_data.login.decode() if session.auth_data else None
            self.mails.append(
                Mail(
                    envelope.mail_from or "", list(envelope.rcpt_tos), content, session.ssl is not None, user
                )
            )
        else:
            self.refused += 1
        return self.data


@contextlib.asynccontextmanager
async def mailbox(*, tls: ssl.SSLContext | None = None, login: bool = False) -> AsyncIterator[Mailbox]:
    """A server on a free port of loopback; with *tls* it demands STARTTLS, with *login* AUTH."""
    box = Mailbox()
    options: Mapping[str, Any] = {
        "hostname": "mail.example.com",
        "tls_context": tls,
        "require_starttls": tls is not None,
        "auth_required": login,
        "auth_require_tls": tls is not None,
        "authenticator": _known,
        "enable_SMTPUTF8": False,
    }
    loop = asyncio.get_running_loop()
    open_: set[SMTP] = set()

    def connected() -> SMTP:
        made = SMTP(box, loop=loop, **options)
        open_.add(made)
        return made

    server = await loop.create_server(connected, "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()
        tasks = [smtp._handler_coroutine for smtp in open_ if smtp._handler_coroutine is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _known(server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
    good = (
        isinstance(data, LoginPassword) and data.login == USER.encode() and data.password == PASSWORD.encode()
    )
    # Handled here, an answer would never come.
    return AuthResult(success=good, handled=False, auth_data=data if good else None)
