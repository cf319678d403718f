"""What libcurl's checks say of a broken target is what the engine's say: the same tables, both ways."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.results import Status
from tests.probe import targets
from tests.probe.net import (
    proxies,
    test_broken_targets_http,
    test_broken_targets_tls,
)
from tests.probe.net.curl_check import check
from tests.probe.net.nameserver import NameServer, name_server
from tests.probe.net.test_broken_targets_net import HOST as NAME
from tests.probe.net.test_broken_targets_net import NAMES, PORTS, Name, Port, port_of
from tests.probe.net.test_broken_targets_tls import HANDSHAKES, HOST
from tests.probe.net.zoo import HERE, ROOT
from tests.probe.targets import OK, Target, over_tls, says, target

# libcurl shows whole lines only, and does not tell what is wrong with a status line.
OTHERWISE = {
    "closes in the status line": "first byte: connection closed by {peer} without an answer",
    "drips": "first byte: no answer within 0.3 s",
    "has a status of two digits": "http: not an HTTP response",
    "redirects to a shut port": "connect: {peer} is refused by the target",
}
# Who sends before the other end has judged may hear of a reset in place of the verdict; and what is garbled
# comes after all that the client says was read at once.
RACES = {"wants a client certificate (1.3)", "garbles its answer"}
# An answer over TLS that names no version of HTTP is one of HTTP/1.1.
ONE = {"answers 502", "ends its answer too soon"}


@pytest.fixture(scope="module")
def proxy() -> Iterator[Target]:
    with target(proxies.socks5([])) as server:
        yield server


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    with name_server() as server:
        server.names = {HOST: [HERE], f"a.{HOST}": [HERE], "localhost": [HERE]}
        yield server


@pytest.fixture(scope="module")
def ca_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zoo") / "root.pem"
    path.write_bytes(ROOT.pem)
    return path


@pytest.mark.parametrize("row", test_broken_targets_http.ROWS, ids=lambda row: row.does)
async def test_the_same_is_said_through_a_proxy_of_a_server_that(
    row: test_broken_targets_http.Row, proxy: Target
) -> None:
    with target(row.behave) as server:
        outcome = await check(server.url, row.timeout_s, proxy=f"socks5h://{proxy.peer}")

    expected = OTHERWISE.get(row.does, row.error).format(peer=f"proxy {proxy.peer}")
    assert (outcome.status, outcome.error, outcome.code) == (Status.DOWN, expected, row.code)
    assert outcome.phases.connect_us is not None


@pytest.mark.parametrize("way", ["HTTP/2", "proxy"])
@pytest.mark.parametrize("row", test_broken_targets_tls.ROWS, ids=lambda row: row.has)
async def test_the_same_is_said_of_a_certificate_that_has(
    row: test_broken_targets_tls.Row, way: str, ca_file: Path, names: NameServer, proxy: Target
) -> None:
    config: dict[str, Any] = {"http_version": "2"} if way == "HTTP/2" else {"proxy": f"socks5://{proxy.peer}"}
    with target(over_tls(row.make(), says(OK))) as server:
        url = f"https://{row.host}:{server.port}/"
        outcome = await check(url, ca_file=ca_file, nameservers=[names.address], **config)

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error)
    assert outcome.phases.connect_us is not None


@pytest.mark.parametrize("way", ["HTTP/2", "proxy"])
@pytest.mark.parametrize(
    ("does", "behave", "error"),
    [pytest.param(*row, id=row[0]) for row in HANDSHAKES if row[0] not in RACES],
)
async def test_the_same_is_said_of_a_handshake_that(
    does: str,
    behave: targets.Behaviour,
    error: str,
    way: str,
    ca_file: Path,
    names: NameServer,
    proxy: Target,
) -> None:
    config: dict[str, Any] = {"http_version": "2"} if way == "HTTP/2" else {"proxy": f"socks5://{proxy.peer}"}
    host = "localhost" if "host" in error else HERE
    with target(behave) as server:
        url = f"https://{host}:{server.port}/"
        outcome = await check(url, 0.5, ca_file=ca_file, nameservers=[names.address], **config)

    peer = server.peer if way == "HTTP/2" else f"proxy {proxy.peer}"
    if way == "HTTP/2" and does in ONE:
        error = "http: the server answers in HTTP/1.1, not in HTTP/2"
    assert (outcome.status, outcome.error) == (Status.DOWN, error.format(peer=peer))


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("row", NAMES, ids=lambda row: row.does)
async def test_the_same_is_said_of_a_name_that(row: Name, version: str) -> None:
    with name_server() as names:
        if row.answer is not None:
            names.names[NAME] = row.answer
        names.spoil = row.spoil
        outcome = await check(
            f"https://{NAME}/",
            0.5,
            nameservers=[names.address],
            allow_private=row.allow_private,
            http_version=version,
            **dict[str, Any](row.config),
        )

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error)


@pytest.mark.parametrize("row", PORTS, ids=lambda row: row.does)
async def test_the_same_is_said_of_a_port_that(row: Port) -> None:
    with name_server() as names, port_of(row) as port:
        names.names[NAME] = row.addresses
        outcome = await check(f"http://{NAME}:{port}/", 0.5, nameservers=[names.address], http_version="2")

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error % port)
    assert outcome.phases.connect_us is None
