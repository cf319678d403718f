"""Submits mails to the deployment's mail server, one connection for each."""

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Final, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

import aiosmtplib

from collector.platform.delivery import Undelivered
from collector.platform.plain_text import cut, one_line
from shared.held import demand_none
from shared.setting_table import mail_address
from shared.trust import of_the_system

TIMEOUT_S: Final = 30
_PORTS: Final = {"smtp": 587, "smtps": 465}
AT_A_TIME: Final = 20
_TOLD: Final = 200
_LASTING: Final = 500
_LACKING: Final = "the mail server lacks what is needed (STARTTLS, AUTH or SMTPUTF8)"
_NO_TLS: Final = f"{_LACKING}; without STARTTLS a password is sent only if TOCSIN_SMTP_URL says starttls=0"


@dataclass(frozen=True, slots=True)
class Server:
    """*start_tls*: True requires it, False forbids it, None uses it if offered."""

    host: str
    port: int
    user: str | None
    password: str | None
    tls: bool
    start_tls: bool | None


@dataclass(frozen=True, slots=True)
class Held:
    """Why an address of a team receives no mail now; *wait_s*: for how long, None: until someone acts."""

    why: str
    wait_s: float | None = None


class AddressFilter(Protocol):
    """Decides which of a team's *addresses* receive no mail now; *known*: they confirmed elsewhere."""

    async def __call__(
        self, team_id: int, addresses: Sequence[str], *, known: bool = False
    ) -> Mapping[str, Held]: ...


async def _admit_all(team_id: int, addresses: Sequence[str], *, known: bool = False) -> Mapping[str, Held]:
    del team_id, addresses, known
    return {}


@dataclass(frozen=True, slots=True)
class MailRefusal:
    """The server's refusal of one address."""

    code: int
    text: str

    @property
    def lasting(self) -> bool:
        return self.code >= _LASTING

    def __str__(self) -> str:
        return f"{self.code} {self.text}".strip()


def server(url: str) -> Server:
    """Parse ``smtp://user:password@host:587?starttls=1`` or ``smtps://...``.

    A password requires STARTTLS, unless ``starttls=0`` disables it.
    """
    split = urlsplit(url)
    wanted = parse_qs(split.query).get("starttls", [""])[-1].lower()
    known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    usual = True if split.password else None
    return Server(
        host=split.hostname or "localhost",
        port=split.port or _PORTS[split.scheme],
        user=unquote(split.username) if split.username else None,
        password=unquote(split.password) if split.password else None,
        tls=split.scheme == "smtps",
        start_tls=False if split.scheme == "smtps" else known.get(wanted, usual),
    )


class Mailer:
    """*sender*: ``alerts@example.com`` or ``Tocsin <alerts@example.com>``; *trust* None: the system's.

    *admit*: restricts a team's mails; *confirms*: addresses outside the team must confirm first.
    """

    __slots__ = ("_own_name", "_places", "_server", "_trust", "address", "admit", "confirms", "sender")

    def __init__(
        self,
        url: str,
        sender: str,
        *,
        trust: ssl.SSLContext | None = None,
        admit: AddressFilter = _admit_all,
        confirms: bool = False,
    ) -> None:
        self._server = server(url)
        self._trust = trust or of_the_system()
        self._places = asyncio.Semaphore(AT_A_TIME)
        self._own_name = ""
        self.sender = sender
        self.admit = admit
        self.confirms = confirms
        self.address = mail_address(sender)

    @property
    def domain(self) -> str:
        """The domain of the sender's address, for message ids."""
        return self.address.rpartition("@")[2].strip("[]") or "localhost"

    async def hand_in(self, mail: EmailMessage, recipients: Sequence[str]) -> dict[str, MailRefusal]:
        """Return the refused ones of *recipients*, possibly all. Raises Undelivered.

        Waiting for a local slot does not count towards the server's timeout.
        """
        demand_none("handing in a mail")
        async with self._places:
            return await self._hand_in(mail, recipients)

    async def _hand_in(self, mail: EmailMessage, recipients: Sequence[str]) -> dict[str, MailRefusal]:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._exchange(mail, recipients)
        except aiosmtplib.SMTPRecipientsRefused as error:
            return {
                smtp_recipient_refused.recipient: self._refusal(
                    smtp_recipient_refused.code, smtp_recipient_refused.message
                )
                for smtp_recipient_refused in error.recipients
            }
        except aiosmtplib.SMTPResponseException as error:
            refusal = self._refusal(error.code, error.message)
            raise Undelivered(
                f"the mail server answered {refusal}", status=error.code, lasting=refusal.lasting
            ) from None
        except (TimeoutError, aiosmtplib.SMTPException, OSError, ValueError) as error:
            raise Undelivered(self._why(error)) from None

    async def _exchange(self, mail: EmailMessage, recipients: Sequence[str]) -> dict[str, MailRefusal]:
        to = self._server
        if not self._own_name:  # it may need a DNS query: not for each mail
            self._own_name = await asyncio.to_thread(socket.getfqdn)
        client = aiosmtplib.SMTP(
            hostname=to.host,
            port=to.port,
            local_hostname=self._own_name,
            username=to.user,
            password=to.password,
            use_tls=to.tls,
            start_tls=to.start_tls,
            tls_context=self._trust,
            timeout=TIMEOUT_S,
        )
        async with client:
            try:
                refused, _ = await client.send_message(mail, sender=self.address, recipients=list(recipients))
            except asyncio.CancelledError:
                # The library would send QUIT and wait for its answer, from a server that gives none.
                client.close()
                raise
        return {who: self._refusal(answer.code, answer.message) for who, answer in refused.items()}

    def _refusal(self, code: int, text: str) -> MailRefusal:
        secrets = sorted(filter(None, (self._server.password, self._server.user)), key=len, reverse=True)
        for secret in secrets:
            text = text.replace(secret, "********")
        return MailRefusal(code, cut(one_line(text), _TOLD))

    def _why(self, error: Exception) -> str:
        """A readable error; never the library's own text if it may quote the mail."""
        if isinstance(error, TimeoutError):
            return f"the mail server did not answer within {TIMEOUT_S} s"
        cause = error.__cause__ if isinstance(error, aiosmtplib.SMTPException) else error
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the mail server's certificate is refused: {cause.verify_message}"
        if isinstance(error, aiosmtplib.SMTPNotSupported) or "STARTTLS" in str(error):
            return _NO_TLS if self._server.password and self._server.start_tls else _LACKING
        if isinstance(error, aiosmtplib.SMTPConnectError | OSError):
            return "the mail server cannot be reached"
        if isinstance(error, aiosmtplib.SMTPServerDisconnected):
            return "the mail server hung up"
        return "the mail could not be handed in"
