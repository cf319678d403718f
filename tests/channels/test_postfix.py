"""Mails handed in at a real Postfix, which passes them on to a mail server of the test's own."""

import asyncio
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from collector.channels.email import Email
from collector.channels.mailer import Mailer
from collector.channels.message import Undelivered
from collector.channels.transport import Transport
from shared.clock import utc_now
from tests.channels.payloads import message
from tests.mailbox import Mailbox, mailbox

POSTFIX = shutil.which("postfix", path="/usr/sbin:/usr/bin")
pytestmark = [
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
smtpd_recipient_restrictions = check_recipient_access inline:{{{{gone@example.com=550 no such user}},\
 {{later@example.com=450 come back later}}}}, permit_mynetworks, reject
smtpd_relay_restrictions = permit_mynetworks, reject
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
    """A Postfix that takes mails over TLS, and the server behind it."""

    mailer: Mailer
    box: Mailbox


@pytest.fixture
async def relay(free_port: Callable[[], int]) -> AsyncIterator[Relay]:
    authority, port = trustme.CA(), free_port()
    folder = Path(tempfile.mkdtemp(prefix="tocsin-postfix-"))
    folder.chmod(0o755)
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(str(folder / "chain.pem"))
    try:
        async with mailbox() as box:
            _configure(folder, port, box.port)
            _postfix(folder, "start")
            try:
                await _answers(port)
                url = f"smtp://localhost:{port}?starttls=1"
                yield Relay(Mailer(url, "Tocsin <alerts@example.com>", trust=trust), box)
            finally:
                _postfix(folder, "stop")
    finally:
        shutil.rmtree(folder)


def _configure(folder: Path, port: int, relay: int) -> None:
    etc = folder / "etc"
    for name in ("etc", "queue", "data"):
        (folder / name).mkdir()
    shutil.chown(folder / "data", "postfix")
    (etc / "main.cf").write_text(MAIN.format(folder=folder, relay=relay))
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


async def test_a_mail_passes_over_tls_and_those_refused_are_told_apart(relay: Relay) -> None:
    transport = Transport(allow_private=True, mailer=relay.mailer)
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
    assert "ESMTPS" in down["Received"]
