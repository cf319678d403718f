"""HTTP/3 with a real server of it: good answers, and each way to fail at one."""

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shared.assertions import Assertion
from shared.results import Status
from tests.probe.net.curl_check import check
from tests.probe.net.h3_server import Deed, closes, h3_server, is_silent, resets, says
from tests.probe.net.nameserver import NameServer, name_server
from tests.probe.net.zoo import DAY, HERE, MIDDLE, ROOT, Issued, issue

HOST = "api.example.com"
LEAF = issue("leaf", MIDDLE)


@pytest.fixture(scope="module")
def ca_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zoo") / "root.pem"
    path.write_bytes(ROOT.pem)
    return path


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    with name_server() as server:
        server.names = {HOST: ["127.0.0.9", HERE]}
        yield server


async def test_a_good_answer_is_measured_in_all_its_phases(ca_file: Path) -> None:
    with h3_server(says(), LEAF, MIDDLE) as (port, seen):
        url = f"https://{HERE}:{port}/a%20b?c=d"
        outcome = await check(url, ca_file=ca_file, http_version="3", headers={"X-Key": "value"})

    assert (outcome.status, outcome.error, outcome.code) == (Status.UP, "", 200)
    phases = outcome.phases
    assert None not in (phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us)
    assert outcome.ends is not None
    assert outcome.address == HERE
    assert {(b":method", b"GET"), (b":path", b"/a%20b?c=d"), (b"x-key", b"value")} <= set(seen[0])


async def test_a_body_is_sent_and_read(ca_file: Path) -> None:
    wanted = Assertion(source="body", op="contains", value="xyz")
    with h3_server(says(200, b"x" * 300_000 + b"xyz"), LEAF, MIDDLE) as (port, seen):
        url = f"https://{HERE}:{port}/"
        config: dict[str, Any] = {"method": "POST", "body": "b" * 100_000, "assertions": [wanted]}
        outcome = await check(url, ca_file=ca_file, http_version="3", **config)

    assert (outcome.status, outcome.error) == (Status.UP, "")
    assert (b"content-length", b"100000") in seen[0]


async def test_a_body_is_read_no_further_than_was_said(ca_file: Path) -> None:
    with h3_server(says(200, b"x" * 300_000, end=False), LEAF, MIDDLE) as (port, _):
        url = f"https://{HERE}:{port}/"
        outcome = await check(url, ca_file=ca_file, http_version="3", max_body_bytes=1_000)

    assert (outcome.status, outcome.error) == (Status.UP, "")


async def test_of_a_name_s_addresses_the_one_that_answers_is_found(ca_file: Path, names: NameServer) -> None:
    leaf = issue("leaf", MIDDLE, hosts=[HOST])
    with h3_server(says(), leaf, MIDDLE) as (port, _):
        url = f"https://{HOST}:{port}/"
        outcome = await check(url, ca_file=ca_file, nameservers=[names.address], http_version="3")

    assert (outcome.status, outcome.error, outcome.address) == (Status.UP, "", HERE)


@dataclass(frozen=True)
class Row:
    does: str
    deed: Deed
    error: str
    code: int = 0
    timeout_s: float = 5.0
    leaf: Issued = LEAF
    config: dict[str, Any] = field(default_factory=dict)


ROWS = [
    Row("answers 500", says(500), "status 500, expected 200-299", 500),
    Row("is silent", is_silent, "first byte: no answer within 0.5 s", timeout_s=0.5),
    Row("never ends its body", says(end=False), "body: not complete within 0.5 s", 200, 0.5),
    Row("resets the stream", resets(0x102), "first byte: stream reset by the server (INTERNAL_ERROR)"),
    Row("rejects the request", resets(0x10B), "http: the server refused the request unprocessed"),
    Row("closes the connection", closes(0x100), "first byte: connection closed by {peer}"),
    Row(
        "sends less than it said",
        says(200, b"ok", (b"content-length", b"9")),
        "http: HTTP/3 of the server is malformed",
        200,
    ),
    Row(
        "has an old certificate",
        says(),
        "tls: certificate expired 3 days ago",
        leaf=issue("leaf", MIDDLE, ends=-3 * DAY),
    ),
    Row(
        "has another's certificate",
        says(),
        f"tls: certificate is for a.example.com, not {HERE}",
        leaf=issue("leaf", MIDDLE, hosts=["a.example.com"]),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.does)
async def test_says_what_is_wrong_with_a_server_that(row: Row, ca_file: Path) -> None:
    with h3_server(row.deed, row.leaf, MIDDLE) as (port, _):
        url = f"https://{HERE}:{port}/"
        outcome = await check(url, row.timeout_s, ca_file=ca_file, http_version="3", **row.config)

    expected = row.error.format(peer=f"{HERE}:{port}")
    assert (outcome.status, outcome.error, outcome.code) == (Status.DOWN, expected, row.code)


async def test_a_redirect_to_plain_http_is_not_followed(ca_file: Path) -> None:
    deed = says(302, b"", (b"location", b"http://a.example.com/"))
    with h3_server(deed, LEAF, MIDDLE) as (port, _):
        outcome = await check(f"https://{HERE}:{port}/", ca_file=ca_file, http_version="3")

    assert outcome.error == "redirect: to http, where there is no HTTP/3"


async def test_any_certificate_will_do_where_that_is_said() -> None:
    with h3_server(says(), issue("alone"), MIDDLE) as (port, _):
        outcome = await check(f"https://{HERE}:{port}/", http_version="3", verify_tls=False)

    assert (outcome.status, outcome.error) == (Status.UP, "")


async def test_a_server_of_another_protocol_is_named(ca_file: Path) -> None:
    with h3_server(says(), LEAF, MIDDLE, protocols=["hq-interop"]) as (port, _):
        outcome = await check(f"https://{HERE}:{port}/", ca_file=ca_file, http_version="3")

    assert outcome.error == f"connect: no HTTP/3 with {HERE}:{port}"


async def test_a_shut_port_refuses() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        sock.bind((HERE, 0))
        port = sock.getsockname()[1]
    outcome = await check(f"https://{HERE}:{port}/", http_version="3")

    assert (outcome.status, outcome.error) == (Status.DOWN, f"connect: refused by {HERE}:{port}")


async def test_a_silent_port_times_out() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        sock.bind((HERE, 0))
        port = sock.getsockname()[1]
        outcome = await check(f"https://{HERE}:{port}/", 0.5, http_version="3")

    assert outcome.error == f"connect: timed out after 0.5 s to {HERE}:{port}"


async def test_no_datagram_goes_where_it_must_not() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        sock.bind((HERE, 0))
        sock.setblocking(False)
        url = f"https://{HERE}:{sock.getsockname()[1]}/"
        outcome = await check(url, 0.5, http_version="3", allow_private=False)
        with pytest.raises(BlockingIOError):
            sock.recv(1)

    assert outcome.error == f"connect: {HERE} is a loopback address, which is not allowed here"
