"""Checks that libcurl runs keep the engine's rules: loaded late, bounded, guarded, and in nobody's way."""

import asyncio
import gzip
import socket
import subprocess
import sys
import threading
from asyncio import gather
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.curl import options
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.assertions import Assertion
from shared.kinds.http import Auth, Http
from shared.results import Status
from tests.probe import targets
from tests.probe.net import h2_server as h2
from tests.probe.net import proxies
from tests.probe.net.curl_check import check
from tests.probe.net.nameserver import name_server
from tests.probe.net.test_guard import SPELLINGS, bracketed
from tests.probe.targets import OK, Target, says, target

pytestmark = pytest.mark.races

HELLO = b"HTTP/1.1 200 OK\r\n"
MIB = 1_048_576


def test_libcurl_is_loaded_by_the_first_monitor_that_needs_it_and_by_no_other() -> None:
    program = """
import sys
import probe.app, probe.cli.check
from probe.checks import CHECKS
from shared.kinds.http import Http
CHECKS["http"](Http(url="https://example.com/"))
assert "pycurl" not in sys.modules
CHECKS["http"](Http(url="https://example.com/", http_version="2"))
assert "pycurl" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.parametrize("other", [{"proxy": "socks5://proxy.example.com"}, {"http_version": "3"}])
def test_each_other_way_loads_it_too(other: dict[str, Any]) -> None:
    assert callable(CHECKS["http"](Http(url="https://example.com/", **other)))


async def test_sends_what_the_monitor_says() -> None:
    seen: list[bytes] = []
    with (
        target(targets.records(seen, targets.sends(OK))) as server,
        target(proxies.socks5([])) as proxy,
    ):
        await check(
            f"http://127.0.0.1:{server.port}/a b/ü/../c?q=%20x#part",
            proxy=f"socks5://{proxy.peer}",
            method="PUT",
            headers={"X-Key": "value", "user-agent": "mine", "Empty": "", "X-Word": "ü"},
            body='{"a": "ü"}',
            auth=Auth(type="basic", username="me", password="secret"),
        )

    assert seen[0].decode() == (
        "PUT /a%20b/%C3%BC/../c?q=%20x HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{server.port}\r\n"
        "Accept: */*\r\n"
        "X-Key: value\r\n"
        "user-agent: mine\r\n"
        "Empty:\r\n"
        "X-Word: ü\r\n"
        "Authorization: Basic bWU6c2VjcmV0\r\n"
        "Content-Length: 11\r\n"
        "Connection: close\r\n"
        '\r\n{"a": "ü"}'
    )


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [("POST", None, b"0"), ("PUT", "", b"0"), ("PATCH", "x" * 3 * MIB, b"3145728")],
)
async def test_a_body_of_any_size_is_sent_whole_and_at_once(
    method: str, body: str | None, length: bytes
) -> None:
    seen: list[bytes] = []
    with target(targets.records(seen, targets.sends(OK))) as server, target(proxies.socks5([])) as proxy:
        outcome = await check(server.url, proxy=f"socks5://{proxy.peer}", method=method, body=body)

    assert outcome.status is Status.UP
    head, _, sent = seen[0].partition(b"\r\n\r\n")
    assert b"Content-Length: " + length in head
    assert b"Expect" not in head
    assert b"Content-Type" not in head
    assert sent == (body or "").encode()


async def test_a_request_that_is_not_taken_times_out() -> None:
    with target(targets.stall_unread) as server:
        outcome = await check(server.url, 0.3, http_version="2", method="POST", body="x" * 16_000_000)

    assert outcome.error == "send: not complete within 0.3 s"


@pytest.mark.parametrize(
    ("behave", "config"),
    [
        pytest.param(says(HELLO + b"\r\nuntil close"), {}, id="ends its body by closing"),
        pytest.param(
            says(HELLO + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nX: y\r\n\r\n"),
            {"assertions": [Assertion(source="body", op="eq", value="ok")]},
            id="sends chunks and trailers",
        ),
        pytest.param(says(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK), {}, id="gives early hints"),
        pytest.param(targets.says_then_stalls(OK), {}, id="stays open after its answer"),
        pytest.param(
            targets.says_then_stalls(HELLO + b"Content-Length: 100\r\n\r\n"),
            {"method": "HEAD"},
            id="has no body for HEAD",
        ),
        pytest.param(
            targets.repeats(HELLO + b"\r\n", b"x" * 65_536),
            {"max_body_bytes": 500_000},
            id="never ends its body",
        ),
        pytest.param(
            targets.says_then_stalls(HELLO + b"Content-Length: 9\r\n\r\n"),
            {"max_body_bytes": 0},
            id="is not read at all",
        ),
        pytest.param(
            says(HELLO + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"well" * 99)),
            {"assertions": [Assertion(source="body", op="contains", value="wellwell")]},
            id="packs its body",
        ),
    ],
)
async def test_is_content_through_a_proxy_with_a_target_that(
    behave: targets.Behaviour, config: dict[str, Any]
) -> None:
    with target(behave) as server, target(proxies.socks5([])) as proxy:
        outcome = await check(server.url, proxy=f"socks5://{proxy.peer}", **config)

    assert (outcome.status, outcome.error) == (Status.UP, "")


async def test_a_bomb_is_not_unpacked() -> None:
    bomb = gzip.compress(bytes(64 * MIB))
    behave = h2.answers(
        h2.headers(200, h2.field("content-encoding", "gzip")),
        *[
            h2.data(bomb[at : at + 16_000], end=at + 16_000 >= len(bomb))
            for at in range(0, len(bomb), 16_000)
        ],
    )
    wanted = Assertion(source="body", op="contains", value="x")
    with target(behave) as server:
        outcome = await check(server.url, http_version="2", assertions=[wanted], max_body_bytes=16 * MIB)

    assert outcome.error == "body: gzip of more than 250 times its size"


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_an_inner_address_is_a_way_around(host: str) -> None:
    with target(targets.stall) as server:
        url = f"http://{bracketed(host)}:{server.port}/"
        outcome = await check(url, 2.0, allow_private=False, http_version="2")
        accepted = server.accepted

    assert outcome.status is not Status.UP
    assert accepted == 0


@pytest.mark.parametrize("scheme", ["http", "socks5", "socks5h"])
@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "2852039166", "0xa9fea9fe", "0251.254.169.254", "::ffff:a9fe:a9fe", "fd00:ec2::254"],
)
async def test_no_proxy_is_sent_to_the_metadata_however_that_is_written(host: str, scheme: str) -> None:
    seen: list[str] = []
    behave = proxies.http(seen) if scheme == "http" else proxies.socks5(seen)
    with target(behave) as proxy:
        url = f"http://{bracketed(host)}/latest/"
        outcome = await check(url, 2.0, proxy=f"{scheme}://{proxy.peer}")

    assert outcome.error.endswith("which is never allowed")
    assert seen == []


async def test_no_redirect_leads_a_proxy_to_the_metadata() -> None:
    seen: list[str] = []
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://2852039166/\r\nContent-Length: 0\r\n\r\n"
    with target(says(answer)) as server, target(proxies.socks5(seen)) as proxy:
        outcome = await check(server.url, proxy=f"socks5h://{proxy.peer}")

    assert outcome.error.endswith("which is never allowed")
    assert seen == [server.peer]


async def test_what_a_proxy_repeats_of_its_password_is_hidden() -> None:
    data = b"bad login: user:p4ssword-x dXNlcjpwNHNzd29yZC14"
    answer = b"HTTP/1.1 407 No\r\nContent-Length: %d\r\n\r\n" % len(data) + data
    with target(says(answer)) as proxy:
        way = f"http://user:p4ssword-x@{proxy.peer}"
        wanted = Assertion(source="body", op="contains", value="well")
        outcome = await check("http://a.example.com/", proxy=way, assertions=[wanted], expected_status=407)

    assert outcome.evidence is not None
    shown = f"{outcome.error} {outcome.evidence()}"
    assert "p4ssword" not in shown
    assert "dXNlcjpwNHNz" not in shown
    assert proxy.peer in shown


async def test_a_thousand_at_once_with_a_stalled_half_delay_no_check_of_the_engine() -> None:
    good = h2.answers(h2.headers(), h2.data(b"ok"), then=h2.ends)
    net = Net()
    with target(good) as server, target(targets.stall) as silent, target(says(OK)) as plain:
        quick = CHECKS["http"](Http(url=server.url, http_version="2"))
        stalled = CHECKS["http"](Http(url=silent.url, http_version="2"))
        own = CHECKS["http"](Http(url=plain.url))
        many = gather(
            *(run(one, net, 20.0) for one in [quick] * 500), *(run(one, net, 2.0) for one in [stalled] * 500)
        )
        beside = [await run(own, net, 20.0) for _ in range(50)]
        ran = await many
    net.close()

    assert all(one.outcome.status is Status.UP for one in beside)
    assert {one.outcome.error for one in ran[:500]} == {""}
    assert {one.outcome.error for one in ran[500:]} == {"first byte: no answer within 2.0 s"}


@pytest.mark.parametrize(
    "config", [{"http_version": "2"}, {"http_version": "3"}, {"proxy": "socks5://{peer}"}]
)
async def test_a_machine_out_of_descriptors_says_so(config: dict[str, str], deaf: Target) -> None:
    way = {name: value.format(peer=deaf.peer) for name, value in config.items()}
    probed = CHECKS["http"](Http(url=f"https://{deaf.peer}/", **way))  # type: ignore[arg-type]
    net = Net()
    await run(probed, net, 0.1)
    with targets.no_more_descriptors():
        outcome = (await run(probed, net, 1.0)).outcome
    net.close()

    assert (outcome.status, outcome.error) == (Status.UNKNOWN, "probe: out of file descriptors")


async def test_a_libcurl_without_http_3_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "HAS_HTTP_3", False)
    outcome = await check("https://127.0.0.1:9/", http_version="3")

    assert (outcome.status, outcome.error) == (Status.UNKNOWN, "probe: its libcurl does not speak HTTP/3")


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"url": "http://{peer}/", "http_version": "2"}, "first byte: connection reset by {peer}"),
        ({"url": "https://{peer}/", "http_version": "2"}, "tls: connection reset by {peer}"),
        (
            {"url": "http://127.0.0.1:9/", "proxy": "socks5://{peer}"},
            "connect: connection reset by proxy {peer}",
        ),
    ],
    ids=["plain", "secure", "proxy"],
)
async def test_a_reset_that_is_there_before_we_look_is_told_as_such(
    config: dict[str, str], error: str
) -> None:
    gone = threading.Event()

    def behave(sock: socket.socket) -> None:
        targets.reset(sock)
        gone.set()

    net = Net()
    with target(behave) as server:
        way = {name: value.format(peer=server.peer) for name, value in config.items()}
        checking = asyncio.ensure_future(run(CHECKS["http"](Http(**way)), net, 5.0))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        assert gone.wait(10)
        outcome = (await checking).outcome
    net.close()

    assert outcome.error == error.format(peer=server.peer)


def foreign_threads() -> set[str]:
    """Ids of those that Python has not started."""
    own = {str(thread.native_id) for thread in threading.enumerate()}
    return {path.name for path in Path("/proc/self/task").iterdir()} - own


async def test_libcurl_starts_no_thread_whoever_looks_a_name_up() -> None:
    with name_server() as names, target(targets.stall) as server:
        names.names = {"a.example.com": ["127.0.0.1"]}
        net = Net(nameservers=[names.address])
        url = f"http://a.example.com:{server.port}/"
        await run(CHECKS["http"](Http(url=url)), net, 0.1)
        before = foreign_threads()
        for scheme in ("http", "https", "socks5", "socks5h"):
            way = f"{scheme}://a.example.com:{server.port}"
            await run(CHECKS["http"](Http(url=url, proxy=way)), net, 0.1)
        for version in ("2", "3"):
            secure = Http(url=url.replace("http:", "https:"), http_version=version)
            await run(CHECKS["http"](secure), net, 0.1)
        after = foreign_threads()
        net.close()

    # Threads of other tests' libraries may end meanwhile; none may begin.
    assert not after - before


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_nothing_is_left_of_checks_that_ended_in_any_way(deaf: Target) -> None:
    net = Net()
    with target(h2.answers(h2.headers(), h2.data(b"ok"))) as server:
        checks = [
            CHECKS["http"](Http(url=url, http_version="2"))
            for url in (server.url, deaf.url, "http://127.0.0.1:1/")
        ]
        await gather(*(run(check, net, 0.2) for check in checks))
        before = descriptors()
        for _ in range(5):
            await gather(*(run(check, net, 0.2) for check in checks))
        waiting = asyncio.ensure_future(run(checks[1], net, 20.0))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
    assert net.curl is not None
    assert net.curl._transfers == {}
    assert descriptors() <= before + 2
    net.close()


async def test_whoever_waits_when_the_engine_closes_is_cancelled(deaf: Target) -> None:
    net = Net()
    waiting = asyncio.ensure_future(run(CHECKS["http"](Http(url=deaf.url, http_version="2")), net, 20.0))
    while deaf.accepted == 0:
        await asyncio.sleep(0.001)
    net.close()
    await asyncio.wait([waiting])

    assert waiting.cancelled()


@pytest.fixture
def deaf() -> Iterator[Target]:
    with target(targets.stall) as server:
        yield server
