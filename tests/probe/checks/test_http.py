"""The HTTP check against targets that answer in every wrong way, and what it says of each."""

import json
import re
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.http import Auth, Http
from shared.results import Outcome, Status
from tests.probe import targets
from tests.probe.targets import OK, says, target

HELLO = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HELLO + b"Transfer-Encoding: chunked\r\n\r\n"


async def check(url: str, timeout_s: float = 5.0, *, allow_private: bool = True, **config: Any) -> Outcome:
    net = Net(allow_private=allow_private)
    try:
        return (await run(CHECKS["http"](Http(url=url, **config)), net, timeout_s)).outcome
    finally:
        net.close()


@pytest.mark.parametrize(
    ("behave", "config"),
    [
        pytest.param(says(OK), {}, id="says its length"),
        pytest.param(says(HELLO + b"\r\nuntil close"), {}, id="ends its body by closing"),
        pytest.param(says(CHUNKED + b"2\r\nok\r\n0\r\n\r\n"), {}, id="sends chunks"),
        pytest.param(
            says(CHUNKED + b"2;a=b\r\nok\r\n0\r\nX: y\r\n\r\n"), {}, id="has extensions and trailers"
        ),
        pytest.param(says(b"HTTP/1.1 204 None\r\n\r\n"), {}, id="answers 204"),
        pytest.param(says(b"HTTP/1.0 200\r\n\r\n"), {}, id="gives no reason"),
        pytest.param(says(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), {}, id="ends lines with LF alone"),
        pytest.param(says(OK + b"more than was said"), {}, id="sends more than it said"),
        pytest.param(says(OK + b"HTTP/1.1 500 Oops\r\n\r\n"), {}, id="sends a second response"),
        pytest.param(says(b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + OK), {}, id="says continue first"),
        pytest.param(says(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + OK), {}, id="gives early hints"),
        pytest.param(targets.says_then_stalls(OK), {}, id="stays open after its answer"),
        pytest.param(
            targets.says_then_stalls(HELLO + b"Content-Length: 100\r\n\r\n"),
            {"method": "HEAD"},
            id="has no body for HEAD",
        ),
        pytest.param(
            targets.says_then_stalls(b"HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n"),
            {"expected_status": 304},
            id="has no body for 304",
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
            targets.says_then_stalls(
                b"HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81\0"
            ),
            {"expected_status": "101", "headers": {"Sec-WebSocket-Version": "13"}},
            id="switches protocols",
        ),
        pytest.param(targets.drips(OK, 0.001), {}, id="is slow but done in time"),
        pytest.param(
            says(HELLO + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
            {},
            id="says its length and sends chunks",
        ),
    ],
)
async def test_is_content_with_a_target_that(behave: targets.Behaviour, config: dict[str, Any]) -> None:
    with target(behave) as server:
        outcome = await check(server.url, **config)

    assert (outcome.status, outcome.error) == (Status.UP, "")


async def test_resets_before_the_request_are_told_as_such() -> None:
    with target(targets.reset) as server:
        outcome = await check(server.url)

    assert outcome.status is Status.DOWN
    assert re.fullmatch(rf"(send|first byte): connection reset by {server.peer}", outcome.error)


async def test_a_shut_port_refuses() -> None:
    with targets.shut_port() as port:
        outcome = await check(f"http://127.0.0.1:{port}/")

    assert outcome.error == f"connect: refused by 127.0.0.1:{port}"


async def test_a_port_that_lets_nobody_in_times_out() -> None:
    with targets.mute_port() as port:
        outcome = await check(f"http://127.0.0.1:{port}/", 0.3)

    assert outcome.error == f"connect: timed out after 0.3 s to 127.0.0.1:{port}"


async def test_a_request_that_is_not_taken_times_out() -> None:
    with target(targets.stall_unread) as server:
        outcome = await check(server.url, 0.3, method="POST", body="x" * 16_000_000)

    assert outcome.error == "send: not complete within 0.3 s"


async def test_a_long_request_is_sent_whole() -> None:
    seen: list[bytes] = []
    with target(targets.records(seen, targets.sends(OK))) as server:
        outcome = await check(server.url, method="POST", body="x" * 3_000_000)

    assert outcome.status is Status.UP
    assert seen[0].endswith(b"\r\n\r\n" + b"x" * 3_000_000)


async def test_an_answer_that_comes_before_the_request_is_read_counts() -> None:
    large = targets.sends(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
    with target(large) as server:
        outcome = await check(server.url, method="POST", body="x" * 8_000_000)

    assert (outcome.code, outcome.error) == (413, "status 413, expected 200-299")


async def test_ipv6_loopback() -> None:
    with target(says(OK), "::1") as server:
        outcome = await check(server.url)
        refused = await check(server.url, ip_version="4")

    assert outcome.status is Status.UP
    assert refused.error == "dns: ::1 is no IPv4 address"


async def test_tells_how_long_each_phase_took() -> None:
    with target(says(OK)) as server:
        phases = (await check(server.url.replace("127.0.0.1", "localhost"), ip_version="4")).phases

    assert None not in (phases.dns_us, phases.connect_us, phases.first_byte_us, phases.transfer_us)
    assert phases.tls_us is None


async def test_a_failure_tells_the_phases_it_got_through() -> None:
    with target(targets.stall) as server:
        phases = (await check(server.url, 0.1)).phases

    assert phases.connect_us is not None
    assert phases.first_byte_us is None


@pytest.mark.parametrize(
    ("expected", "words"),
    [(200, "200"), ("200-204", "200-204"), ([200, "300-308"], "200, 300-308"), (None, "200-299")],
)
async def test_names_the_status_that_was_expected(expected: Any, words: str) -> None:
    with target(says(b"HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n")) as server:
        outcome = await check(server.url, expected_status=expected)

    assert outcome.error == f"status 418, expected {words}"


async def test_sends_what_the_monitor_says() -> None:
    seen: list[bytes] = []
    with target(targets.records(seen, targets.sends(OK))) as server:
        await check(
            f"http://127.0.0.1:{server.port}/a b/ü?q=%20x#part",
            method="PUT",
            headers={"X-Key": "value", "user-agent": "mine"},
            body=json.dumps({"a": "ü"}, ensure_ascii=False),
            auth=Auth(type="basic", username="me", password="secret"),
        )

    assert seen[0].decode() == (
        "PUT /a%20b/%C3%BC?q=%20x HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{server.port}\r\n"
        "Accept: */*\r\n"
        "X-Key: value\r\n"
        "user-agent: mine\r\n"
        "Authorization: Basic bWU6c2VjcmV0\r\n"
        "Content-Length: 11\r\n"
        "Connection: close\r\n"
        '\r\n{"a": "ü"}'
    )


async def test_private_targets_can_be_forbidden() -> None:
    with target(says(OK)) as server:
        outcome = await check(server.url, allow_private=False)

    assert outcome.error == "connect: 127.0.0.1 is a loopback address, which is not allowed here"
    assert server.accepted == 0


async def test_metadata_is_always_forbidden() -> None:
    outcome = await check("http://[::ffff:169.254.169.254]/latest/meta-data/")

    assert outcome.status is Status.DOWN
    assert outcome.error.endswith("is a cloud metadata address, which is never allowed")
