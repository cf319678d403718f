"""Mails handed in at a real Postfix, which passes them on to a mail server of the test's own."""

import asyncio
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from collector.notifications.channels.email import Email
from collector.platform.delivery import Undelivered
from collector.platform.mailer import Mailer
from collector.platform.transport import Transport
from shared.clock import utc_now
from tests.mailbox import PASSWORD, USER, Mailbox, mailbox
from tests.notifications.channels.payloads import INCIDENT, MONITOR, message
from tests.notifications.channels.sasl import logins
from tests.ports import free_port

POSTFIX = shutil.which("postfix", path="/usr/sbin:/usr/bin")
pytestmark = [
    pytest.mark.races,
    pytest.mark.skipif(POSTFIX is None, reason="postfix is not installed"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start postfix"),
]

MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
mail_owner = postfix
setgid_group = postdrop
myhostname = mail.example.com
mydestination =
local_recipient_maps =
alias_maps =
smtpd_client_restrictions =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
relayhost = [127.0.0.1]:{relay}
smtpd_tls_security_level = encrypt
smtpd_tls_chain_files = {folder}/chain.pem
smtpd_tls_auth_only = yes
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:{logins}
smtpd_recipient_restrictions = check_recipient_access inline:{{{{gone@example.com=550 no such user}},\
 {{later@example.com=450 come back later}}}}, permit_sasl_authenticated, reject
smtpd_relay_restrictions = permit_sasl_authenticated, reject
"""
MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
scache unix - - n - 1 scache
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
"""


@dataclass(frozen=True, slots=True)
class Relay:
    """A Postfix that accepts mails over TLS from known users, and the server behind it."""

    port: int
    trust: ssl.SSLContext
    box: Mailbox

    def mailer(self, login: str = f"{USER}:{PASSWORD}@") -> Mailer:
        url = f"smtp://{login}localhost:{self.port}?starttls=1"
        return Mailer(url, "Tocsin <alerts@example.com>", trust=self.trust)


@pytest.fixture
async def relay() -> AsyncIterator[Relay]:
    authority, port = trustme.CA(), free_port()
    folder = Path(tempfile.mkdtemp(prefix="tocsin-postfix-"))
    folder.chmod(0o755)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(folder / "chain.pem"))
    try:
        async with mailbox() as box, logins(USER, PASSWORD) as known:
            _configure(folder, port, relay=box.port, logins=known)
            _postfix(folder, "start")
            try:
                await _answers(port)
                yield Relay(port, trust, box)
            finally:
                _postfix(folder, "stop")
    finally:
        shutil.rmtree(folder)


def _configure(folder: Path, port: int, **ports: int) -> None:
    etc = folder / "etc"
    for name in ("etc", "queue", "data"):
        (folder / name).mkdir()
    shutil.chown(folder / "data", "postfix")
    (etc / "main.cf").write_text(MAIN.format(folder=folder, **ports))
    (etc / "master.cf").write_text(MASTER.format(port=port))


def _postfix(folder: Path, verb: str) -> None:
    assert POSTFIX is not None
    done = subprocess.run(
        [POSTFIX, "-c", str(folder / "etc"), verb], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


async def _answers(port: int) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                greeting = await reader.readline()
                writer.close()
            except OSError:
                greeting = b""
            if greeting.startswith(b"220"):
                return
            await asyncio.sleep(0.05)


async def _arrived(box: Mailbox, count: int) -> None:
    until = time.monotonic() + 20
    while len(box.mails) < count and time.monotonic() < until:
        await asyncio.sleep(0.05)
    assert len(box.mails) == count


async def test_a_mail_passes_with_a_login_and_those_refused_are_told_apart(relay: Relay) -> None:
    transport = Transport(allow_private=True, mailer=relay.mailer())
    channel = Email(recipients=["ops@example.com", "gone@example.com", "later@example.com"])
    try:
        with pytest.raises(Undelivered) as caught:
            await channel.send(message("monitor.down"), transport, utc_now())
        await _arrived(relay.box, 1)
        with pytest.raises(Undelivered):
            await Email(recipients=["gone@example.com"]).send(message("monitor.down"), transport, utc_now())
        sent = await Email(recipients=["ops@example.com", "gone@example.com"]).send(
            message("monitor.up"), transport, utc_now()
        )
        await _arrived(relay.box, 2)
    finally:
        await transport.close()

    assert caught.value.reached == {"ops@example.com"}
    assert not caught.value.lasting
    assert "550" in str(caught.value)
    assert "450" in str(caught.value)
    assert sent.note is not None
    assert sent.note.startswith("the mail server refused gone@example.com: 550")
    down, up = (mail.message for mail in relay.box.mails)
    assert (down["Subject"], up["Subject"]) == ("Down: Shop checkout", "Up: Shop checkout, after 5m 32s")
    assert down["References"] == up["References"]
    assert "ESMTPSA" in down["Received"], "over TLS, and with a login"


@pytest.mark.parametrize(("login", "code"), [(f"{USER}:SEEDED-wrong@", "535"), ("", "554")])
async def test_a_login_that_is_wrong_or_missing_is_told_without_the_password(
    relay: Relay, login: str, code: str
) -> None:
    transport = Transport(allow_private=True, mailer=relay.mailer(login))
    try:
        with pytest.raises(Undelivered, match=code) as caught:
            await Email(recipients=["ops@example.com"]).send(message("monitor.down"), transport, utc_now())
    finally:
        await transport.close()

    assert "SEEDED" not in str(caught.value)
    assert caught.value.lasting
    assert relay.box.mails == []


async def test_no_text_adds_a_header_or_an_addressee_on_the_way(relay: Relay) -> None:
    broken = "a\r\nBcc: victim@example.com\r\n\r\n.\r\nRCPT TO:<victim@example.com>\r\n"
    said = message(
        "monitor.down",
        monitor={**MONITOR, "name": broken, "url": broken},
        incident={**INCIDENT, "id": broken, "title": broken, "lastError": broken, "severity": broken},
        links={"incident": broken},
    )
    transport = Transport(allow_private=True, mailer=relay.mailer())
    try:
        for one in (message("monitor.down"), said):
            await Email(recipients=["ops@example.com"]).send(one, transport, utc_now())
        await _arrived(relay.box, 2)
    finally:
        await transport.close()

    plain, odd = relay.box.mails
    assert odd.recipients == ["ops@example.com"]
    assert odd.message.keys() == plain.message.keys()
    assert odd.message.get_payload(), "and all of it is one mail with its two parts"
