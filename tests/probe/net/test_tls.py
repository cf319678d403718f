"""TLS: certificates good and bad, and what is said of each."""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.runner import run
from shared.kinds.http import Http
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.targets import OK, over_tls, says, target

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
AUTHORITY = trustme.CA()
STRANGER = trustme.CA()


def serving(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def self_signed() -> ssl.SSLContext:
    """Serves the authority's own certificate, which nobody but itself has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with AUTHORITY.private_key_pem.tempfile() as key, AUTHORITY.cert_pem.tempfile() as certificate:
        context.load_cert_chain(certificate, key)
    return context


def nothing_in_common() -> ssl.SSLContext:
    context = serving(AUTHORITY.issue_cert("127.0.0.1"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("PSK-AES128-GCM-SHA256@SECLEVEL=0")
    return context


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(path)
    return path


async def check(
    server: targets.Target, ca_file: Path | None, timeout_s: float = 5.0, **config: Any
) -> Outcome:
    net = Net(ca_file=ca_file)
    try:
        kind = Http(url=server.url.replace("http", "https"), **config)
        return (await run(CHECKS["http"](kind), net, timeout_s)).outcome
    finally:
        net.close()


async def test_a_good_certificate_is_up_and_its_handshake_timed(ca_file: Path) -> None:
    context = serving(AUTHORITY.issue_cert("127.0.0.1"))
    with target(over_tls(context, says(OK))) as server:
        outcome = await check(server, ca_file)

    assert (outcome.status, outcome.error, outcome.code) == (Status.UP, "", 200)
    assert (outcome.phases.tls_us or 0) > 0


@pytest.mark.parametrize(
    ("make", "error"),
    [
        pytest.param(
            lambda: serving(AUTHORITY.issue_cert("127.0.0.1", not_before=NOW - 9 * DAY, not_after=NOW - DAY)),
            "tls: certificate has expired",
            id="expired",
        ),
        pytest.param(
            lambda: serving(AUTHORITY.issue_cert("127.0.0.1", not_before=NOW + DAY, not_after=NOW + 9 * DAY)),
            "tls: certificate is not valid yet",
            id="from the future",
        ),
        pytest.param(
            lambda: serving(AUTHORITY.issue_cert("127.0.0.2", "other.example.com")),
            "tls: certificate is not for 127.0.0.1",
            id="for another host",
        ),
        pytest.param(
            lambda: serving(STRANGER.issue_cert("127.0.0.1")),
            "tls: certificate's issuer is not known, or missing from the chain",
            id="by a stranger",
        ),
    ],
)
async def test_a_bad_certificate_is_down_unless_that_does_not_matter(
    make: Callable[[], ssl.SSLContext], error: str, ca_file: Path
) -> None:
    with target(over_tls(make(), says(OK))) as server:
        strict = await check(server, ca_file)
        lax = await check(server, ca_file, verify_tls=False)

    assert (strict.status, strict.error) == (Status.DOWN, error)
    assert strict.phases.connect_us is not None
    assert lax.status is Status.UP


async def test_a_self_signed_certificate_is_called_that() -> None:
    with target(over_tls(self_signed(), says(OK))) as server:
        outcome = await check(server, None)

    assert outcome.error == "tls: self-signed certificate"


@pytest.mark.parametrize(
    ("behave", "error"),
    [
        pytest.param(says(OK), "tls: handshake not done within 0.4 s", id="plain HTTP that waits for a line"),
        pytest.param(
            targets.sends(b"220 mail.example.com\r\n"),
            "tls: handshake failed: {peer} does not speak TLS",
            id="SMTP",
        ),
        pytest.param(
            targets.sends(OK), "tls: handshake failed: {peer} does not speak TLS", id="plain HTTP at once"
        ),
        pytest.param(targets.stall, "tls: handshake not done within 0.4 s", id="silence"),
        pytest.param(
            lambda sock: sock.recv(1), "tls: connection reset by {peer}", id="close with data unread"
        ),
        pytest.param(
            lambda sock: sock.recv(9999),
            "tls: handshake failed: connection closed by {peer}",
            id="close after hello",
        ),
        pytest.param(
            targets.sends(b"\x15\x03\x01\x00\x02\x02\x28"),
            "tls: handshake failed: sslv3 alert handshake failure",
            id="an alert",
        ),
    ],
)
async def test_says_what_is_wrong_with_a_handshake(
    behave: targets.Behaviour, error: str, ca_file: Path
) -> None:
    with target(behave) as server:
        outcome = await check(server, ca_file, 0.4)

    assert (outcome.status, outcome.error) == (Status.DOWN, error.format(peer=server.peer))


async def test_a_server_without_a_cipher_in_common_is_told_of(ca_file: Path) -> None:
    with target(over_tls(nothing_in_common(), says(OK))) as server:
        outcome = await check(server, ca_file)

    assert outcome.error == "tls: handshake failed: sslv3 alert handshake failure"


async def test_an_answer_cut_under_tls_is_told_of(ca_file: Path) -> None:
    context = serving(AUTHORITY.issue_cert("127.0.0.1"))
    cut = says(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n0123456789")
    with target(over_tls(context, cut)) as server:
        outcome = await check(server, ca_file)

    assert outcome.error == "body: connection closed after 10 of 100 bytes"


async def test_a_large_body_comes_through_both_ways(ca_file: Path) -> None:
    context = serving(AUTHORITY.issue_cert("127.0.0.1"))
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + b"x" * 3_000_000
    with target(over_tls(context, says(answer))) as server:
        outcome = await check(server, ca_file, method="POST", body="y" * 2_000_000, max_body_bytes=4_000_000)

    assert (outcome.status, outcome.error) == (Status.UP, "")
