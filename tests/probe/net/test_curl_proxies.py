"""Checks through each kind of proxy: what it receives, what it must not receive, and how it can fail."""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shared.results import Status
from tests.probe import targets
from tests.probe.net import h2_server as h2
from tests.probe.net import proxies
from tests.probe.net.curl_check import check
from tests.probe.net.nameserver import NXDOMAIN, NameServer, name_server
from tests.probe.net.proxies import LOGIN
from tests.probe.net.zoo import DAY, HERE, MIDDLE, ROOT, issue, serving
from tests.probe.targets import OK, Behaviour, over_tls, says, shut_port, target

HOST = "api.example.com"
PROXY = "proxy.example.com"
WITH_LOGIN = "user:pass%20word@"
SECURE = serving(issue("leaf", MIDDLE, hosts=[HERE, HOST, PROXY, "localhost"]), MIDDLE)


@pytest.fixture(scope="module")
def ca_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zoo") / "root.pem"
    path.write_bytes(ROOT.pem)
    return path


@pytest.fixture(scope="module")
def names() -> Iterator[NameServer]:
    with name_server() as server:
        server.names = {HOST: [HERE], PROXY: [HERE], "gone.example.com": NXDOMAIN}
        yield server


def proxy_of(scheme: str, seen: list[str], login: tuple[str, str] | None = None) -> Behaviour:
    if scheme.startswith("socks"):
        return proxies.socks5(seen, login=login)
    plain = proxies.http(seen, login=login)
    return over_tls(SECURE, plain) if scheme == "https" else plain


@pytest.mark.parametrize("scheme", ["http", "https", "socks5", "socks5h"])
@pytest.mark.parametrize("login", [None, LOGIN], ids=["open", "with a login"])
@pytest.mark.parametrize("kind", ["plain", "secure", "HTTP/2", "plain HTTP/2"])
async def test_a_target_is_reached_through_a_proxy_of(
    scheme: str, login: tuple[str, str] | None, kind: str, ca_file: Path
) -> None:
    seen: list[str] = []
    answer = h2.answers(h2.headers(), h2.data(b"ok")) if "2" in kind else says(OK)
    context = h2.context(issue("leaf", MIDDLE), MIDDLE)
    secure = "plain" not in kind
    with (
        target(over_tls(context, answer) if secure else answer) as server,
        target(proxy_of(scheme, seen, login)) as proxy,
    ):
        outcome = await check(
            f"{'https' if secure else 'http'}://{server.peer}/",
            ca_file=ca_file,
            proxy=f"{scheme}://{WITH_LOGIN if login else ''}{proxy.peer}",
            http_version="2" if "2" in kind else "1.1",
        )

    assert (outcome.status, outcome.error, outcome.code) == (Status.UP, "", 200)
    assert (outcome.phases.tls_us is None) == (not secure)
    assert None not in (outcome.phases.connect_us, outcome.phases.first_byte_us)
    assert server.peer in seen[-1]
    assert server.accepted == 1


@pytest.mark.parametrize(
    ("scheme", "told"), [("socks5", HERE), ("socks5h", "localhost"), ("http", "localhost")]
)
async def test_the_name_is_looked_up_where_the_scheme_says(scheme: str, told: str, names: NameServer) -> None:
    seen: list[str] = []
    with target(says(OK)) as server, target(proxy_of(scheme, seen)) as proxy:
        config: dict[str, Any] = {"proxy": f"{scheme}://{proxy.peer}", "nameservers": [names.address]}
        names.names["localhost"] = [HERE]
        outcome = await check(f"http://localhost:{server.port}/", **config)

    assert outcome.status is Status.UP
    assert f"{told}:{server.port}" in seen[0]


async def test_a_name_that_only_the_proxy_knows_is_not_asked_for_here(names: NameServer) -> None:
    before = len(names.asked)
    with target(proxies.socks5([])) as proxy:
        config: dict[str, Any] = {"proxy": f"socks5h://{proxy.peer}", "nameservers": [names.address]}
        outcome = await check("http://only-there.invalid/", **config)

    assert outcome.error == f"connect: proxy {proxy.peer} cannot reach the target"
    assert len(names.asked) == before


async def test_the_proxy_s_own_name_is_looked_up_and_verified(names: NameServer, ca_file: Path) -> None:
    with target(says(OK)) as server, target(proxy_of("https", [])) as proxy:
        config: dict[str, Any] = {"ca_file": ca_file, "nameservers": [names.address]}
        good = await check(server.url, proxy=f"https://{PROXY}:{proxy.port}", **config)
        names.names["other.example.com"] = [HERE]
        bad = await check(server.url, proxy=f"https://other.example.com:{proxy.port}", **config)

    assert (good.status, good.error) == (Status.UP, "")
    assert bad.error == "tls: certificate is for another host (proxy)"


async def test_the_target_s_certificate_is_judged_as_without_a_proxy(ca_file: Path) -> None:
    old = serving(issue("leaf", MIDDLE, ends=-3 * DAY), MIDDLE)
    with target(over_tls(old, says(OK))) as server, target(proxies.http([])) as proxy:
        url, way = f"https://{server.peer}/", f"http://{proxy.peer}"
        refused = await check(url, ca_file=ca_file, proxy=way)
        taken = await check(url, ca_file=ca_file, proxy=way, verify_tls=False)

    assert refused.error == "tls: certificate expired 3 days ago"
    assert (taken.status, taken.error) == (Status.UP, "")


async def test_the_proxy_hears_nothing_that_is_the_target_s_and_the_target_nothing_of_it() -> None:
    asked, connects = list[bytes](), list[bytes]()
    with (
        target(over_tls(SECURE, targets.records(asked, targets.sends(OK)))) as server,
        target(targets.records(connects, targets.sends(b"HTTP/1.1 403 No\r\n\r\n"))) as proxy,
    ):
        config: dict[str, Any] = {
            "headers": {"Authorization": "Bearer abc", "X-Key": "value"},
            "proxy": f"http://{WITH_LOGIN}{proxy.peer}",
            "verify_tls": False,
        }
        refused = await check(f"https://{server.peer}/", **config)
        with target(proxies.http([], login=LOGIN)) as good:
            config["proxy"] = f"http://{WITH_LOGIN}{good.peer}"
            outcome = await check(f"https://{server.peer}/", **config)

    assert refused.error == f"connect: proxy {proxy.peer} answers 403"
    assert b"Bearer" not in connects[0]
    assert b"X-Key" not in connects[0]
    assert outcome.status is Status.UP
    assert b"Proxy-" not in asked[0]


async def test_the_environment_s_proxies_are_of_no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    with target(h2.answers(h2.headers(), h2.data(b"ok"))) as server, shut_port() as shut:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://{HERE}:{shut}")
        direct = await check(server.url, http_version="2")
        monkeypatch.setenv("no_proxy", "*")
        through = await check(server.url, proxy=f"http://{HERE}:{shut}")

    assert (direct.status, direct.error) == (Status.UP, "")
    assert through.error == f"connect: refused by proxy {HERE}:{shut}"


def talks(*parts: bytes) -> Behaviour:
    """Answers each thing that it hears with the next of *parts*."""

    def behave(sock: socket.socket) -> None:
        for part in parts:
            sock.recv(65_536)
            sock.sendall(part)

    return behave


def stalls_later(sock: socket.socket) -> None:
    talks(b"\5\0")(sock)
    targets.stall(sock)


def hears_and_closes(sock: socket.socket) -> None:
    sock.recv(99)


@dataclass(frozen=True)
class Row:
    does: str
    scheme: str
    behave: Behaviour
    error: str
    timeout_s: float = 5.0


SOCKS_REFUSES = "connect: {peer} is refused by the target"
ROWS = [
    Row("does not know SOCKS", "socks5", targets.sends(OK), "connect: {peer} does not speak SOCKS5"),
    Row("closes", "socks5", hears_and_closes, "connect: connection closed by {peer}"),
    Row("resets", "socks5", targets.reset, "connect: connection reset by {peer}"),
    Row("is silent", "socks5", targets.stall, "connect: no answer from {peer} within 0.3 s", 0.3),
    Row("wants a login", "socks5", talks(b"\5\xff"), "connect: {peer} wants a login"),
    Row(
        "is not allowed to",
        "socks5",
        talks(b"\5\0", b"\5\2\0\1" + bytes(6)),
        "connect: {peer} does not allow it",
    ),
    Row(
        "finds no way",
        "socks5",
        talks(b"\5\0", b"\5\3\0\1" + bytes(6)),
        "connect: {peer} cannot reach the target's network",
    ),
    Row("is refused", "socks5", talks(b"\5\0", b"\5\5\0\1" + bytes(6)), SOCKS_REFUSES),
    Row(
        "stalls later",
        "socks5",
        stalls_later,
        "connect: no answer from {peer} within 0.3 s",
        0.3,
    ),
    Row(
        "wants a login over HTTP",
        "http",
        says(b"HTTP/1.1 407 Login\r\nContent-Length: 0\r\n\r\n"),
        "connect: {peer} wants a login, or another one (407)",
    ),
    Row(
        "cannot", "http", says(b"HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n"), "connect: {peer} answers 502"
    ),
    Row("is none", "http", says(b"SSH-2.0\r\n"), "connect: connection closed by {peer}"),
    Row("closes", "http", targets.close, "connect: connection closed by {peer}"),
    Row("resets over HTTP", "http", targets.reset_after_request, "connect: connection reset by {peer}"),
    Row("is silent over HTTP", "http", targets.stall, "connect: no answer from {peer} within 0.3 s", 0.3),
    Row(
        "drips its headers for ever",
        "http",
        targets.repeats(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 100),
        "connect: {peer} answers 200",
    ),
    Row("speaks no TLS", "https", targets.sends(OK), "tls: handshake failed: {peer} does not speak TLS"),
    Row("never shakes hands", "https", targets.stall, "connect: no answer from {peer} within 0.3 s", 0.3),
    Row(
        "is not trusted",
        "https",
        over_tls(serving(issue("alone")), says(OK)),
        "tls: self-signed certificate (proxy)",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.scheme} {row.does}")
async def test_says_what_is_wrong_with_a_proxy_that(row: Row) -> None:
    with target(row.behave) as proxy:
        outcome = await check(f"https://{HERE}:1/", row.timeout_s, proxy=f"{row.scheme}://{proxy.peer}")

    assert (outcome.status, outcome.error) == (Status.DOWN, row.error.format(peer=f"proxy {proxy.peer}"))
    assert outcome.address == ""
