"""Redirects: followed as browsers do, without telling another origin what only the first may know."""

import socket
import time
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Auth, Http
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.targets import OK, sends, target

pytestmark = pytest.mark.races


async def check(url: str, **config: Any) -> Outcome:
    net = Net()
    try:
        return (await run(CHECKS["http"](Http(url=url, **config)), net, 5.0)).outcome
    finally:
        net.close()


def moved(location: str, code: int = 302) -> bytes:
    return f"HTTP/1.1 {code} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


def answers(seen: list[bytes], *in_turn: bytes) -> targets.Behaviour:
    """The first request gets the first answer, and so on; the last serves all that follow."""
    return targets.records(seen, lambda sock: sock.sendall(in_turn[min(len(seen), len(in_turn)) - 1]))


@pytest.mark.parametrize(
    ("url", "location", "line"),
    [
        ("/a/b", "c", "GET /a/c HTTP/1.1"),
        ("/a/b", "/c?d=e#f", "GET /c?d=e HTTP/1.1"),
        ("/a/b/", "../c", "GET /a/c HTTP/1.1"),
        ("/a?x=y", "?z", "GET /a?z HTTP/1.1"),
        ("/a", "//{peer}/c", "GET /c HTTP/1.1"),
        ("/a", "http://{peer}", "GET / HTTP/1.1"),
        ("/a", "/sp ace/ü", "GET /sp%20ace/%C3%BC HTTP/1.1"),
        ("/a", " /c\t", "GET /c HTTP/1.1"),
        ("/a", "", "GET /a HTTP/1.1"),
    ],
)
async def test_resolves_the_location(url: str, location: str, line: str) -> None:
    seen: list[bytes] = []
    hops: list[bytes] = []
    with target(targets.records(seen, lambda sock: sock.sendall(hops.pop()))) as server:
        hops += [OK, moved(location.format(peer=server.peer))]
        outcome = await check(f"http://{server.peer}{url}")

    assert outcome.status is Status.UP
    assert seen[1].decode().split("\r\n")[0] == line


@pytest.mark.parametrize(
    ("method", "code", "then", "body"),
    [
        ("GET", 301, "GET", b""),
        ("HEAD", 302, "HEAD", b""),
        ("HEAD", 303, "HEAD", b""),
        ("POST", 301, "GET", b""),
        ("POST", 302, "GET", b""),
        ("POST", 303, "GET", b""),
        ("PUT", 303, "GET", b""),
        ("PUT", 302, "PUT", b"body"),
        ("POST", 307, "POST", b"body"),
        ("PATCH", 308, "PATCH", b"body"),
    ],
)
async def test_keeps_or_changes_the_method_as_browsers_do(
    method: str, code: int, then: str, body: bytes
) -> None:
    seen: list[bytes] = []
    with target(answers(seen, moved("/next", code), OK)) as server:
        given = "body" if method in {"POST", "PUT", "PATCH"} else None
        outcome = await check(server.url, method=method, body=given, headers={"Content-Type": "text/plain"})

    head, _, sent = seen[1].partition(b"\r\n\r\n")
    assert outcome.status is Status.UP
    assert head.startswith(f"{then} /next ".encode())
    assert sent == body
    assert (b"Content-Type" in head) == (then == method)


async def test_another_origin_hears_no_secret() -> None:
    seen: list[bytes] = []
    with target(answers(seen, OK)) as other, target(sends(moved(f"{other.url}x"))) as first:
        outcome = await check(
            first.url,
            headers={
                "X-Api-Key": "hush",
                "Cookie": "hush",
                "Host": "inner.example.com",
                "Accept-Language": "en",
            },
            auth=Auth(type="bearer", token="hush"),
        )

    assert outcome.status is Status.UP
    assert b"hush" not in seen[0]
    assert b"inner.example.com" not in seen[0]
    assert b"Accept-Language: en" in seen[0]


async def test_the_same_origin_keeps_the_headers() -> None:
    seen: list[bytes] = []
    with target(answers(seen, moved("/next"), OK)) as server:
        await check(server.url, headers={"X-Api-Key": "key"}, auth=Auth(type="bearer", token="token"))

    assert b"X-Api-Key: key\r\n" in seen[1]
    assert b"Authorization: Bearer token\r\n" in seen[1]


async def test_credentials_in_the_url_are_used_once() -> None:
    seen: list[bytes] = []
    with target(answers(seen, OK)) as other, target(answers(seen, moved(other.url))) as first:
        await check(f"http://me:p%40ss@{first.peer}/")

    assert b"Authorization: Basic bWU6cEBzcw==\r\n" in seen[0]
    assert b"Authorization" not in seen[1]


async def test_a_loop_ends() -> None:
    with target(sends(moved("/"))) as server:
        outcome = await check(server.url)

    assert (outcome.error, outcome.code) == ("redirect: more than 10", 302)
    assert server.accepted == 11


@pytest.mark.parametrize(
    ("location", "error"),
    [
        ("ftp://127.0.0.1/", "redirect: to an address that is not http or https"),
        ("file:///etc/passwd", "redirect: to an address that is not http or https"),
        ("https://", "redirect: to an address that is none"),
        ("http://[::1/", "redirect: to an address that is none"),
        ("http://a:99999/", "redirect: to an address that is none"),
        ("http://a" + "b" * 64 + "ü/", "redirect: to an address that is none"),
        (
            "http://169.254.169.254/",
            "connect: 169.254.169.254 is a cloud metadata address, which is never allowed",
        ),
    ],
)
async def test_refuses_to_go_where_it_must_not(location: str, error: str) -> None:
    with target(sends(moved(location))) as server:
        outcome = await check(server.url)

    assert (outcome.status, outcome.error) == (Status.DOWN, error)


async def test_a_redirect_is_judged_itself_when_not_followed() -> None:
    with target(sends(moved("/next"))) as server:
        outcome = await check(server.url, follow_redirects=False)

    assert outcome.error == "status 302, expected 200-299"
    assert server.accepted == 1


async def test_a_redirect_is_enough_when_only_one_will_do() -> None:
    with target(sends(moved("/next", 301))) as server:
        outcome = await check(server.url, expected_status=["301", 308])

    assert (outcome.status, outcome.code, server.accepted) == (Status.UP, 301, 1)


async def test_a_redirect_to_nowhere_is_an_answer() -> None:
    with target(sends(b"HTTP/1.1 300 Choose\r\nContent-Length: 0\r\n\r\n")) as server:
        outcome = await check(server.url)

    assert outcome.error == "status 300, expected 200-299"


async def test_phases_add_up_over_hops() -> None:
    seen: list[bytes] = []

    def slowly(sock: socket.socket) -> None:
        time.sleep(0.05)
        sock.sendall(moved("/next") if len(seen) == 1 else OK)

    with target(targets.records(seen, slowly)) as server:
        phases = (await check(server.url)).phases

    assert (phases.first_byte_us or 0) >= 100_000
