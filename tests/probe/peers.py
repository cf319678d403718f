"""Servers that others wrote, each started for the tests as its users run it."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

from tests.ports import free_port
from tests.probe.net.zoo import HERE, Issued

Test = TypeVar("Test", bound=Callable[..., Any])

USER: Final = "alerts"
PASSWORD: Final = 'cörrect "horse" \\ staple'
_PATH: Final = "/usr/sbin:/usr/bin:/usr/lib/postfix/sbin"
_TABLES: Final = Path("/usr/share/mysql")
_START_S: Final = 30.0


def needs(program: str, package: str) -> Callable[[Test], Test]:
    """What a test is marked with that runs *program*."""
    missing = shutil.which(program, path=_PATH) is None

    def mark(test: Test) -> Test:
        skipped: Test = pytest.mark.skipif(missing, reason=f"{package} is not installed")(test)
        alone = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
        marked: Test = alone(skipped)
        return marked

    return mark


@dataclass(frozen=True, slots=True)
class Ports:
    """Where a server listens: in clear text, and over TLS from the first byte."""

    plain: int
    tls: int


@contextmanager
def folder(chain: Sequence[Issued]) -> Iterator[Path]:
    """A directory that other users may enter, with the certificates in it."""
    path = Path(tempfile.mkdtemp(prefix="tocsin-peer-"))
    path.chmod(0o755)
    for name, content in (
        ("chain.pem", [one.pem for one in chain]),
        ("key.pem", [one.key_pem for one in chain[:1]]),
    ):
        (path / name).write_bytes(b"".join(content))
        (path / name).chmod(0o644)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def started(where: Path, command: Sequence[str], port: int, **variables: str) -> Iterator[None]:
    """*command* at work, once it takes connections at *port*."""
    program = shutil.which(command[0], path=_PATH)
    assert program is not None
    with (where / "said").open("wb") as writer:
        process = subprocess.Popen(
            [program, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            env=os.environ | variables,
        )
    try:
        _answers(port, where, process)
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        process.kill()
        process.wait()


def _answers(port: int, where: Path, process: "subprocess.Popen[bytes] | None" = None) -> None:
    until = time.monotonic() + _START_S
    log = where / ("said" if process else "log")
    while True:
        with suppress(OSError), socket.create_connection((HERE, port), timeout=1):
            return
        text = log.read_text(errors="replace")[-4000:] if log.exists() else ""
        assert process is None or process.poll() is None, text
        assert time.monotonic() < until, text
        time.sleep(0.05)


_MAIL: Final = """
protocols = imap pop3
listen = {here}
base_dir = {where}/run
state_dir = {where}/state
log_path = /dev/stderr
ssl = required
ssl_cert = <{where}/chain.pem
ssl_key = <{where}/key.pem
disable_plaintext_auth = yes
first_valid_uid = 1
first_valid_gid = 1
auth_failure_delay = 0
mail_location = maildir:{where}/mail
passdb {{
  driver = passwd-file
  args = {where}/users
}}
userdb {{
  driver = static
  args = uid=mail gid=mail home={where}
}}
service imap-login {{
  inet_listener imap {{
    port = {imap.plain}
  }}
  inet_listener imaps {{
    port = {imap.tls}
  }}
}}
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service auth {{
  inet_listener {{
    address = {here}
    port = {logins}
  }}
}}
service pop3-login {{
  inet_listener pop3 {{
    port = {pop3.plain}
  }}
  inet_listener pop3s {{
    port = {pop3.tls}
  }}
}}
"""


@contextmanager
def dovecot(*chain: Issued, logins: int = 0) -> Iterator[tuple[Ports, Ports]]:
    """IMAP and POP3, which let in strangers over TLS alone; at *logins* it says who may log in elsewhere."""
    imap, pop3 = Ports(free_port(), free_port()), Ports(free_port(), free_port())
    with folder(chain) as where:
        (where / "users").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
        (where / "dovecot.conf").write_text(
            _MAIL.format(where=where, here=HERE, imap=imap, pop3=pop3, logins=logins)
        )
        for name in ("mail", "state"):
            (where / name).mkdir()
            shutil.chown(where / name, "mail")
        with started(where, ["dovecot", "-F", "-c", f"{where}/dovecot.conf"], pop3.tls):
            yield imap, pop3


_SMTP: Final = """
compatibility_level = 3.6
queue_directory = {where}/queue
data_directory = {where}/postfix
maillog_file = {where}/log
maillog_file_prefixes = {where}
mail_owner = postfix
setgid_group = postdrop
myhostname = mail.example.com
mydestination =
local_recipient_maps =
alias_maps =
inet_interfaces = {here}
inet_protocols = ipv4
mynetworks =
smtpd_client_restrictions =
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_tls_chain_files = {where}/key.pem {where}/chain.pem
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:{here}:{logins}
"""
_SMTP_SERVICES: Final = """
{here}:{plain} inet n - n - - smtpd
{here}:{tls} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes
cleanup unix n - n - 0 cleanup
rewrite unix - - n - - trivial-rewrite
anvil unix - - n - 1 anvil
tlsmgr unix - - n 1000? 1 tlsmgr
proxymap unix - - n - - proxymap
postlog unix-dgram n - n - 1 postlogd
"""


@contextmanager
def postfix(*chain: Issued) -> Iterator[Ports]:
    """A mail server that asks Dovecot who may log in, and lets nobody do so in clear text."""
    ports, logins = Ports(free_port(), free_port()), free_port()
    with folder(chain) as where, dovecot(*chain, logins=logins):
        for name in ("etc", "queue", "postfix"):
            (where / name).mkdir()
        shutil.chown(where / "postfix", "postfix")
        (where / "etc" / "main.cf").write_text(_SMTP.format(where=where, here=HERE, logins=logins))
        (where / "etc" / "master.cf").write_text(
            _SMTP_SERVICES.format(here=HERE, plain=ports.plain, tls=ports.tls)
        )
        with _posting(where, ports.tls):
            yield ports


@contextmanager
def _posting(where: Path, port: int) -> Iterator[None]:
    program = shutil.which("postfix", path=_PATH)
    assert program is not None
    verb = [program, "-c", f"{where}/etc"]
    subprocess.run([*verb, "start"], capture_output=True, check=True, timeout=30)
    try:
        _answers(port, where)
        yield
    finally:
        subprocess.run([*verb, "stop"], capture_output=True, check=True, timeout=30)


@contextmanager
def mariadb(*chain: Issued) -> Iterator[int]:
    """With a login by password, one that must come over TLS, and none for strangers."""
    port = free_port()
    with folder(chain) as where:
        shutil.chown(where, "mail")
        word = PASSWORD.replace("\\", "\\\\").replace("'", "\\'")
        (where / "init.sql").write_text(
            f"CREATE USER '{USER}'@'%' IDENTIFIED BY '{word}';\n"
            f"CREATE USER 'secure'@'%' IDENTIFIED BY '{word}' REQUIRE SSL;\n"
        )
        common = ["--no-defaults", f"--datadir={where}/data", "--user=mail"]
        _bootstrap(where, common)
        command = [
            "mariadbd",
            *common,
            f"--socket={where}/socket",
            f"--pid-file={where}/pid",
            f"--port={port}",
            f"--bind-address={HERE}",
            f"--init-file={where}/init.sql",
            "--character-set-server=utf8mb4",
            f"--ssl-cert={where}/chain.pem",
            f"--ssl-key={where}/key.pem",
            "--innodb-flush-log-at-trx-commit=0",
            "--skip-name-resolve",
        ]
        with started(where, command, port):
            yield port


def _bootstrap(where: Path, options: Sequence[str]) -> None:
    """What mariadb-install-db does, which needs the client's programs."""
    (where / "data").mkdir()
    shutil.chown(where / "data", "mail")
    tables = [_TABLES / f"mysql_{name}.sql" for name in ("system_tables", "system_tables_data")]
    script = "CREATE DATABASE mysql;\nUSE mysql;\n" + "".join(path.read_text() for path in tables)
    program = shutil.which("mariadbd", path=_PATH)
    assert program is not None
    command = [program, *options, "--bootstrap"]
    subprocess.run(command, input=script.encode(), capture_output=True, check=True, timeout=60)


@contextmanager
def redis(*chain: Issued) -> Iterator[Ports]:
    """With a password for everybody, and a user of its own."""
    ports = Ports(free_port(), free_port())
    word = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    with folder(chain) as where:
        (where / "redis.conf").write_text(f"""
bind {HERE}
port {ports.plain}
tls-port {ports.tls}
tls-cert-file {where}/chain.pem
tls-key-file {where}/key.pem
tls-auth-clients no
dir {where}
save ""
requirepass "{word}"
user {USER} on ">{word}" +ping
user shut off ">{word}" +ping
user mute on ">{word}" -@all
""")
        with started(where, ["redis-server", f"{where}/redis.conf"], ports.tls):
            yield ports


@contextmanager
def openssl(*chain: Issued, options: Sequence[str] = ()) -> Iterator[int]:
    """``openssl s_server``."""
    port = free_port()
    with folder(chain) as where:
        command = ["openssl", "s_server", "-accept", f"{HERE}:{port}", "-quiet", "-naccept", "1000000"]
        command += [
            "-cert",
            f"{where}/chain.pem",
            "-cert_chain",
            f"{where}/chain.pem",
            "-key",
            f"{where}/key.pem",
        ]
        with started(where, [*command, *options], port):
            yield port


@contextmanager
def nsd(zone: str) -> Iterator[str]:
    """A name server of ``example.com``; its address with the port."""
    port = free_port()
    with folder([]) as where:
        (where / "zone").write_text(zone)
        (where / "nsd.conf").write_text(f"""
server:
    ip-address: {HERE}@{port}
    username: ""
    chroot: ""
    zonesdir: "{where}"
    zonelistfile: "{where}/zones"
    xfrdfile: "{where}/xfrd"
    pidfile: "{where}/pid"
    xfrdir: "{where}"
    server-count: 1
    hide-version: yes
remote-control:
    control-enable: no
zone:
    name: example.com
    zonefile: zone
""")
        with started(where, ["nsd", "-d", "-c", f"{where}/nsd.conf"], port):
            yield f"{HERE}:{port}"
