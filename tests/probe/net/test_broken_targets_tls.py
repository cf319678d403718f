"""What the probe says of each way in which TLS goes wrong: certificates first, then handshakes."""

import socket
import ssl
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.net.tls import openssl as tls
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.net.nameserver import NameServer, name_server
from tests.probe.net.zoo import (
    CLIENTS,
    DAY,
    HERE,
    HOUR,
    MIDDLE,
    NOW,
    ROOT,
    STRANGER,
    issue,
    serving,
    sha1,
    weak,
)
from tests.probe.targets import OK, over_tls, says, target

HOST = "api.example.com"
NAMELESS = "[SSL] legacy sigalg disallowed or unsupported (_ssl.c:992)"


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    with name_server() as server:
        server.names = {HOST: [HERE], f"a.{HOST}": [HERE]}
        yield server


@pytest.fixture(scope="module")
def ca_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zoo") / "root.pem"
    path.write_bytes(ROOT.pem)
    return path


async def check(
    port: int, ca_file: Path, names: NameServer, host: str = HERE, timeout_s: float = 5.0
) -> Outcome:
    net = Net(ca_file=ca_file, nameservers=[names.address])
    try:
        kind = Http(url=f"https://{host}:{port}/")
        return (await run(CHECKS["http"](kind), net, timeout_s)).outcome
    finally:
        net.close()


@dataclass(frozen=True)
class Row:
    has: str
    make: Callable[[], ssl.SSLContext]
    error: str
    host: str = HERE


def expired_middle() -> ssl.SSLContext:
    middle = issue("Old Middle", ROOT, authority=True, starts=-90 * DAY, ends=-2 * DAY)
    return serving(issue("leaf", middle), middle)


def future_middle() -> ssl.SSLContext:
    middle = issue("New Middle", ROOT, authority=True, starts=40 * DAY)
    return serving(issue("leaf", middle), middle)


def forged() -> ssl.SSLContext:
    return serving(issue("leaf", MIDDLE, signed_with=STRANGER.key), MIDDLE)


def by_a_leaf() -> ssl.SSLContext:
    middle = issue("Not an authority", ROOT)
    return serving(issue("leaf", middle), middle)


def too_deep() -> ssl.SSLContext:
    first = issue("First", ROOT, authority=True, depth=0)
    second = issue("Second", first, authority=True)
    return serving(issue("leaf", second), second, first)


def weak_middle() -> ssl.SSLContext:
    middle = issue("Weak Middle", ROOT, authority=True, key=weak())
    return serving(issue("leaf", middle), middle)


def alone_expired() -> ssl.SSLContext:
    return serving(issue("leaf", starts=-9 * DAY, ends=-DAY))


def in_days(days: int) -> str:
    return f"{NOW + days * DAY:%Y-%m-%d}"


INCOMPLETE = "tls: chain is incomplete: issuer {} was not sent, and is no trusted authority itself"
ROWS = [
    Row(
        "expired days ago",
        lambda: serving(issue("leaf", MIDDLE, ends=-3 * DAY), MIDDLE),
        "tls: certificate expired 3 days ago",
    ),
    Row(
        "expired a day ago",
        lambda: serving(issue("leaf", MIDDLE, ends=-DAY), MIDDLE),
        "tls: certificate expired 1 day ago",
    ),
    Row(
        "expired hours ago",
        lambda: serving(issue("leaf", MIDDLE, ends=-5 * HOUR), MIDDLE),
        "tls: certificate expired 5 hours ago",
    ),
    Row("an expired issuer", expired_middle, "tls: certificate of its issuer Old Middle expired 2 days ago"),
    Row(
        "a start in the future",
        lambda: serving(issue("leaf", MIDDLE, starts=40 * DAY), MIDDLE),
        f"tls: certificate is not valid before {in_days(40)}",
    ),
    Row(
        "an issuer from the future",
        future_middle,
        f"tls: certificate of its issuer New Middle is not valid before {in_days(40)}",
    ),
    Row(
        "another host's name",
        lambda: serving(issue("leaf", MIDDLE, hosts=["b.example.com"]), MIDDLE),
        f"tls: certificate is for b.example.com, not {HOST}",
        host=HOST,
    ),
    Row(
        "several other names",
        lambda: serving(issue("leaf", MIDDLE, hosts=["b.example.com", "c.example.com", "10.0.0.1"]), MIDDLE),
        f"tls: certificate is for b.example.com and 2 more, not {HOST}",
        host=HOST,
    ),
    Row(
        "another address",
        lambda: serving(issue("leaf", MIDDLE, hosts=["127.0.0.2"]), MIDDLE),
        "tls: certificate is for 127.0.0.2, not 127.0.0.1",
    ),
    Row(
        "a name where an address is asked for",
        lambda: serving(issue("leaf", MIDDLE, hosts=["localhost"]), MIDDLE),
        "tls: certificate is for localhost, not 127.0.0.1",
    ),
    Row(
        "a wildcard one level too high",
        lambda: serving(issue("leaf", MIDDLE, hosts=["*.example.com"]), MIDDLE),
        f"tls: certificate is for *.example.com, not a.{HOST}",
        host=f"a.{HOST}",
    ),
    Row(
        "its name in the subject alone",
        lambda: serving(issue(HOST, MIDDLE, hosts=[]), MIDDLE),
        f"tls: certificate names no host, so it is not for {HOST}",
        host=HOST,
    ),
    Row("no issuer but itself", lambda: serving(issue("leaf")), "tls: self-signed certificate"),
    Row("no issuer but itself, and expired", alone_expired, "tls: self-signed certificate"),
    Row("no name at all, no issuer but itself", lambda: serving(issue("")), "tls: self-signed certificate"),
    Row("a missing link", lambda: serving(issue("leaf", MIDDLE)), INCOMPLETE.format("Zoo Middle")),
    Row(
        "a wrong link in place of its own",
        lambda: serving(issue("leaf", MIDDLE), STRANGER),
        INCOMPLETE.format("Zoo Middle"),
    ),
    Row(
        "an authority that nobody knows, sent along",
        lambda: serving(issue("leaf", STRANGER), STRANGER),
        "tls: issued by an authority that is not trusted (Strange Root)",
    ),
    Row(
        "an authority that nobody knows behind its issuer",
        lambda: serving(issue("leaf", (middle := issue("Strange Middle", STRANGER, authority=True))), middle),
        "tls: issued by an authority that is not trusted (Strange Root)",
    ),
    Row(
        "control characters in its issuer's name",
        lambda: serving(issue("leaf", issue("Bad\n\x1b[31mName", authority=True))),
        INCOMPLETE.format("Bad??[31mName"),
    ),
    Row("a signature that is not its issuer's", forged, "tls: certificate has a wrong signature"),
    Row(
        "a use other than for servers",
        lambda: serving(issue("leaf", MIDDLE, usage=CLIENTS), MIDDLE),
        "tls: certificate is not meant for servers",
    ),
    Row("an issuer that is no authority", by_a_leaf, "tls: certificate's issuer may not issue certificates"),
    Row("one issuer too many", too_deep, "tls: chain is longer than its authority allows"),
    Row(
        "a weak key",
        lambda: serving(issue("leaf", MIDDLE, key=weak()), MIDDLE),
        "tls: certificate's key is too weak",
    ),
    Row("an issuer with a weak key", weak_middle, "tls: key of the certificate's issuer is too weak"),
    Row(
        "a weak signature",
        lambda: serving(sha1(issue("leaf", MIDDLE), MIDDLE), MIDDLE),
        "tls: certificate's signature is too weak",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.has)
async def test_says_what_is_wrong_with_a_certificate_that_has(
    row: Row, ca_file: Path, names: NameServer
) -> None:
    with target(over_tls(row.make(), says(OK))) as server:
        outcome = await check(server.port, ca_file, names, row.host)

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error)
    assert outcome.phases.connect_us is not None


@pytest.mark.parametrize(
    ("make", "host"),
    [
        pytest.param(lambda: serving(issue("leaf", MIDDLE), MIDDLE), HERE, id="a chain of three"),
        pytest.param(lambda: serving(issue("leaf", ROOT), ROOT), HERE, id="its root sent along"),
        pytest.param(lambda: serving(issue("leaf", MIDDLE), STRANGER, MIDDLE), HERE, id="a stray link"),
        pytest.param(
            lambda: serving(issue("leaf", MIDDLE, hosts=["*.example.com"]), MIDDLE), HOST, id="a wildcard"
        ),
        pytest.param(lambda: serving(issue("leaf", MIDDLE, ends=HOUR), MIDDLE), HERE, id="an hour left"),
        pytest.param(
            lambda: serving(issue("leaf", MIDDLE, key=ec.generate_private_key(ec.SECP384R1())), MIDDLE),
            HERE,
            id="a longer key",
        ),
        pytest.param(
            lambda: serving(issue("leaf", MIDDLE, key=ed25519.Ed25519PrivateKey.generate()), MIDDLE),
            HERE,
            id="an Ed25519 key",
        ),
    ],
)
async def test_is_content_with_a_certificate_that_has(
    make: Callable[[], ssl.SSLContext], host: str, ca_file: Path, names: NameServer
) -> None:
    with target(over_tls(make(), says(OK))) as server:
        outcome = await check(server.port, ca_file, names, host)

    assert (outcome.status, outcome.error) == (Status.UP, "")


def good() -> ssl.SSLContext:
    return serving(issue("leaf", MIDDLE), MIDDLE)


def speaking(version: ssl.TLSVersion) -> ssl.SSLContext:
    context = good()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    return context


def nothing_in_common() -> ssl.SSLContext:
    context = speaking(ssl.TLSVersion.TLSv1_2)
    context.set_ciphers("PSK-AES128-GCM-SHA256@SECLEVEL=0")
    return context


def wanting_a_certificate(version: ssl.TLSVersion) -> ssl.SSLContext:
    context = speaking(version)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


def knowing_nobody() -> ssl.SSLContext:
    context = good()
    context.sni_callback = lambda *_: ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
    return context


def then_garbles(sock: socket.socket) -> None:
    """Shakes hands well, then sends what nobody has encrypted."""
    context = good()
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(coming, going, server_side=True)
    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            sock.sendall(going.read())
            coming.write(sock.recv(65_536))
    sock.sendall(going.read())
    sock.recv(65_536)
    sock.sendall(b"\x17\x03\x03\x00\x20" + b"x" * 32)
    targets.stall(sock)


NOT_TLS = "tls: handshake failed: {peer} does not speak TLS"
REFUSED = "tls: handshake failed: refused: no cipher in common, or a client certificate is wanted"
V1_2, V1_3 = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
HANDSHAKES = [
    ("waits for a line", says(OK), "tls: handshake not done within 0.5 s"),
    ("is silent", targets.stall, "tls: handshake not done within 0.5 s"),
    (
        "stalls within its hello",
        targets.says_then_stalls(b"\x16\x03\x03\x00\x50\x02"),
        "tls: handshake not done within 0.5 s",
    ),
    ("speaks SMTP", targets.sends(b"220 mail.example.com\r\n"), NOT_TLS),
    ("speaks HTTP at once", targets.sends(OK), NOT_TLS),
    ("speaks SSH", targets.sends(b"SSH-2.0-OpenSSH_9.2\r\n"), NOT_TLS),
    ("speaks something binary", targets.sends(bytes(range(100, 200))), NOT_TLS),
    ("resets at once", lambda sock: (sock.recv(1), None)[1], "tls: connection reset by {peer}"),
    (
        "closes after our hello",
        lambda sock: (sock.recv(9999), None)[1],
        "tls: handshake failed: connection closed by {peer}",
    ),
    ("refuses with an alert", targets.sends(b"\x15\x03\x01\x00\x02\x02\x28"), REFUSED),
    (
        "has an internal error",
        targets.sends(b"\x15\x03\x01\x00\x02\x02\x50"),
        "tls: handshake failed: internal error of the server",
    ),
    (
        "knows old TLS only",
        over_tls(speaking(ssl.TLSVersion.TLSv1_1), says(OK)),
        "tls: handshake failed: no TLS version in common",
    ),
    ("has no cipher in common", over_tls(nothing_in_common(), says(OK)), REFUSED),
    (
        "does not know the host",
        over_tls(knowing_nobody(), says(OK)),
        "tls: handshake failed: the server does not know this host",
    ),
    ("wants a client certificate (1.2)", over_tls(wanting_a_certificate(V1_2), says(OK)), REFUSED),
    (
        "wants a client certificate (1.3)",
        over_tls(wanting_a_certificate(V1_3), says(OK)),
        "tls: handshake failed: the server demands a client certificate",
    ),
    (
        "garbles its answer",
        then_garbles,
        "tls: connection failed: decryption failed or bad record mac",
    ),
    (
        "closes in place of an answer",
        over_tls(good(), targets.close),
        "first byte: connection closed by {peer} without an answer",
    ),
    ("answers never", over_tls(good(), targets.stall), "first byte: no answer within 0.5 s"),
    ("answers 502", over_tls(good(), says(b"HTTP/1.1 502 No\r\n\r\n")), "status 502, expected 200-299"),
    (
        "ends its answer too soon",
        over_tls(good(), says(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")),
        "body: connection closed after 10 of 100 bytes",
    ),
]


@pytest.mark.parametrize(
    ("behave", "error"), [pytest.param(behave, error, id=does) for does, behave, error in HANDSHAKES]
)
async def test_says_what_is_wrong_with_a_server_that(
    behave: targets.Behaviour, error: str, ca_file: Path, names: NameServer
) -> None:
    limit_s = 0.5 if "within" in error else 10.0
    with target(behave) as server:
        outcome = await check(server.port, ca_file, names, "localhost" if "host" in error else HERE, limit_s)

    assert (outcome.status, outcome.error) == (Status.DOWN, error.format(peer=server.peer))


def test_a_record_that_is_garbled_is_told_alike_by_every_openssl() -> None:
    error = ssl.SSLError(ssl.SSLErrorNumber.SSL_ERROR_SSL, "record layer failure")
    error.reason = "RECORD_LAYER_FAILURE"

    lines = [str(tls.fault(error, "192.0.2.1:443", phase=phase)) for phase in ("tls", "first byte")]

    assert lines == [
        "tls: handshake failed: 192.0.2.1:443 does not speak TLS",
        "tls: connection failed: decryption failed or bad record mac",
    ]


def test_what_python_has_no_name_for_is_told_in_the_words_of_openssl() -> None:
    error = ssl.SSLError(ssl.SSLErrorNumber.SSL_ERROR_SSL, NAMELESS)
    vars(error)["reason"] = None
    target_error = tls.fault(error, "192.0.2.1:443", phase="tls")

    assert str(target_error) == "tls: handshake failed: legacy sigalg disallowed or unsupported"
