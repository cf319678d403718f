"""The HTTP check of a server that lets in by certificate."""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Http
from shared.results import Outcome, Status
from tests.probe.net.zoo import HERE, MIDDLE, ROOT, Issued, issue, serving
from tests.probe.targets import OK, Target, over_tls, says, target

CLIENT = issue("probe.example.com", by=MIDDLE)
STRANGER = issue("stranger.example.com")


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


@contextmanager
def demanding(answer: bytes = OK) -> Iterator[Target]:
    context = serving(issue(HERE, hosts=[HERE], by=MIDDLE), MIDDLE)
    context.verify_mode = ssl.CERT_REQUIRED
    with NamedTemporaryFile() as file:
        file.write(ROOT.pem)
        file.flush()
        context.load_verify_locations(file.name)
    with target(over_tls(context, says(answer))) as server:
        yield server


def pair(client: Issued, *chain: Issued) -> dict[str, str]:
    certificates = b"".join(one.pem for one in (client, *chain))
    return {"client_cert": certificates.decode(), "client_key": client.key_pem.decode()}


async def check(net: Net, server: Target, **config: Any) -> Outcome:
    kind = Http(url=f"https://{server.peer}/", **config)
    assert kind.faults() == {}
    return (await run(CHECKS["http"](kind), net, 5.0)).outcome


@pytest.mark.parametrize("verify_tls", [True, False])
async def test_who_shows_the_certificate_is_let_in(net: Net, verify_tls: bool) -> None:
    with demanding() as server:
        for _ in range(2):
            outcome = await check(net, server, **pair(CLIENT, MIDDLE), verify_tls=verify_tls)
            assert (outcome.status, outcome.error) == (Status.UP, "")


async def test_who_shows_none_is_told_so(net: Net) -> None:
    with demanding() as server:
        outcome = await check(net, server)

    assert outcome.error == "tls: handshake failed: the server demands a client certificate"


async def test_who_shows_another_is_told_so(net: Net) -> None:
    with demanding() as server:
        outcome = await check(net, server, **pair(STRANGER))

    assert outcome.status is Status.DOWN
    assert outcome.error == "tls: connection failed: the server does not trust us"


async def test_the_server_is_verified_all_the_same(net: Net) -> None:
    with target(over_tls(serving(issue(HERE, hosts=[HERE])), says(OK))) as server:
        outcome = await check(net, server, **pair(CLIENT, MIDDLE))

    assert outcome.error == "tls: self-signed certificate"


async def test_a_redirect_elsewhere_is_not_shown_it(net: Net) -> None:
    with demanding() as other:
        there = f"HTTP/1.1 302 Found\r\nLocation: https://{other.peer}/\r\nContent-Length: 0\r\n\r\n"
        with demanding(there.encode()) as server:
            outcome = await check(net, server, **pair(CLIENT, MIDDLE))

    assert outcome.error == "tls: handshake failed: the server demands a client certificate"


@pytest.mark.parametrize(
    ("config", "faults"),
    [
        ({"client_cert": "x"}, {"clientKey": "is required beside the other"}),
        ({"client_key": "x"}, {"clientCert": "is required beside the other"}),
        ({**pair(CLIENT), "client_cert": "x"}, {"clientCert": "must be a certificate in PEM"}),
        (
            {**pair(CLIENT), "client_key": "x"},
            {"clientKey": "must be a private key in PEM that no password protects"},
        ),
        (
            {**pair(CLIENT), "client_key": pair(STRANGER)["client_key"]},
            {"clientKey": "is not the key of this certificate"},
        ),
    ],
)
def test_a_pair_that_is_none_is_refused(config: dict[str, str], faults: dict[str, str]) -> None:
    assert Http(url="https://example.com/", **config).faults() == faults  # type: ignore[arg-type]
