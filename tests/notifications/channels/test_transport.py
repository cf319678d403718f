"""The way out: bounded in time and size, guarded by address, silent about what it carries."""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import trustme

from collector.platform.transport import HttpAnswer, NoAnswer, Transport
from tests.probe.net.nameserver import NXDOMAIN, name_server
from tests.receiver import (
    Step,
    after,
    answer,
    drip,
    drip_head,
    hang_up,
    raw,
    receiving,
    reset,
    stall,
)

pytestmark = pytest.mark.races

OPEN_FILES = Path("/proc/self/fd")
BIG = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + b"x" * 1_000_000


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    opened = Transport(allow_private=True)
    yield opened
    await opened.close()


async def post(transport: Transport, url: str, *, timeout_s: float = 5, **headers: str) -> HttpAnswer:
    return await transport.request("POST", url, headers, b"{}", timeout_s=timeout_s)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        pytest.param(stall, "no answer within 0.5 s", id="no answer"),
        pytest.param(after(2, answer()), "no answer within 0.5 s", id="an answer that comes too late"),
        pytest.param(drip_head(), "no answer within 0.5 s", id="a head that never ends"),
        pytest.param(reset, "connection reset", id="a reset"),
        pytest.param(hang_up, "connection closed without an answer", id="hanging up"),
        pytest.param(raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "the answer is not HTTP", id="another protocol"),
        pytest.param(
            raw(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n"),
            "the answer is not HTTP",
            id="a header without measure",
        ),
        pytest.param(
            raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50),
            "connection closed without an answer",
            id="only hints",
        ),
    ],
)
async def test_a_fault_of_the_receiver_is_told_in_plain_words(
    transport: Transport, step: Step, why: str
) -> None:
    async with receiving(step) as receiver:
        with pytest.raises(NoAnswer) as caught:
            await post(transport, receiver.url("/SEEDED"), timeout_s=0.5)

    assert str(caught.value) == why


@pytest.mark.parametrize(
    "step", [pytest.param(drip(), id="drips for ever"), pytest.param(raw(BIG), id="is a gigabyte")]
)
async def test_a_body_that_is_too_much_is_left_and_the_status_stands(
    transport: Transport, step: Step
) -> None:
    async with receiving(step) as receiver:
        started = time.monotonic()
        assert (await post(transport, receiver.url(), timeout_s=10)).status == 200
        assert time.monotonic() - started < 3


async def test_a_zip_bomb_is_not_opened(transport: Transport) -> None:
    async with receiving(answer(200, {"Content-Encoding": "gzip"}, b"not gzip at all")) as receiver:
        assert (await post(transport, receiver.url())).status == 200
        assert "accept-encoding" not in receiver.received[0].headers


async def test_a_redirect_is_an_answer_not_a_way(transport: Transport) -> None:
    async with receiving() as beyond, receiving(answer(307, {"Location": beyond.url()})) as receiver:
        assert (await post(transport, receiver.url())).status == 307

    assert beyond.connections == 0


async def test_each_request_has_a_connection_of_its_own_and_no_cookies(transport: Transport) -> None:
    async with receiving(always=answer(200, {"Set-Cookie": "a=b"})) as receiver:
        for _ in range(3):
            await post(transport, receiver.url())

    assert receiver.connections == 3
    assert not any("cookie" in request.headers for request in receiver.received)


async def test_nobody_listens(transport: Transport) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(NoAnswer, match=r"^connection refused$"):
            await post(transport, f"http://127.0.0.1:{unused.getsockname()[1]}/")


async def test_a_name_that_does_not_exist(transport: Transport) -> None:
    with pytest.raises(NoAnswer, match=r"^the host name does not resolve$"):
        await post(transport, "http://nothing.invalid/")
    with pytest.raises(NoAnswer, match=r"^the host name does not resolve$"):
        await post(transport, "http://[fe80::1%25nowhere]:1/")


async def test_a_name_that_is_back_is_reached_though_its_zone_says_an_hour() -> None:
    with name_server() as names:
        transport = Transport(allow_private=True, nameservers=[names.address])
        async with receiving() as receiver:
            url = f"http://hooks.example.com:{receiver.port}/"
            names.names["hooks.example.com"] = NXDOMAIN
            with pytest.raises(NoAnswer, match=r"^the host name does not resolve$"):
                await post(transport, url)
            names.names["hooks.example.com"] = ["127.0.0.1"]
            await asyncio.sleep(1.1)  # the first retry of a delivery

            assert (await post(transport, url)).status == 200
        await transport.close()


@pytest.mark.parametrize("host", ["2852039166", "127.1", "0x7f.1"])
async def test_an_address_in_no_usual_form_is_not_guessed_at(transport: Transport, host: str) -> None:
    with pytest.raises(NoAnswer, match=r"^(the URL cannot be used|the host name does not resolve)$"):
        await post(transport, f"http://{host}:1/")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0"],
)
async def test_a_private_address_is_not_reached_where_that_is_forbidden(host: str) -> None:
    transport = Transport(allow_private=False)
    try:
        async with receiving() as receiver:
            with pytest.raises(NoAnswer, match=r"^(this address may not be reached|connection failed)"):
                await post(transport, f"http://{host}:{receiver.port}/")
            assert receiver.connections == 0
    finally:
        await transport.close()


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]"]
)
async def test_cloud_metadata_is_never_reached(transport: Transport, host: str) -> None:
    with pytest.raises(NoAnswer, match=r"^this address may not be reached from here$"):
        await post(transport, f"http://{host}/latest/meta-data/")


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
async def test_other_spellings_of_an_address_are_no_way_around(host: str) -> None:
    transport = Transport(allow_private=False)
    try:
        async with receiving() as receiver:
            with pytest.raises(NoAnswer):
                await post(transport, f"http://{host}:{receiver.port}/")
            assert receiver.connections == 0
    finally:
        await transport.close()


async def test_a_line_break_in_a_header_goes_nowhere(transport: Transport) -> None:
    async with receiving() as receiver:
        for header in ({"X-A": "b\r\nX-C: d"}, {"X-A\nX-C": "d"}, {"X-A": "\0"}):
            with pytest.raises(NoAnswer, match=r"^a header holds a line break$"):
                await transport.request("POST", receiver.url(), header, b"", timeout_s=1)
        assert receiver.connections == 0


async def test_a_certificate_that_nobody_vouches_for_is_refused(transport: Transport) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(server)
    async with receiving(tls=server) as receiver:
        with pytest.raises(NoAnswer, match=r"^certificate refused: "):
            await post(transport, receiver.url())

    assert receiver.received == []


async def test_the_url_is_sent_as_it_was_written(transport: Transport) -> None:
    target = "/a%2Fb/%7Euser?sig=a%2Fb%2Bc&x=%20&y=a+b"
    async with receiving() as receiver:
        await post(transport, receiver.url(target))

    assert receiver.received[0].target == target


async def test_a_login_in_the_url_is_basic_authentication_unless_the_header_is_set(
    transport: Transport,
) -> None:
    async with receiving() as receiver:
        url = receiver.url().replace("://", "://user:pass@")
        await post(transport, url)
        await post(transport, url, Authorization="Bearer token")

    assert [request.headers["authorization"] for request in receiver.received] == [
        "Basic dXNlcjpwYXNz",
        "Bearer token",
    ]


async def test_a_wish_to_wait_is_read_in_both_its_forms(transport: Transport) -> None:
    date = "Tue, 05 Nov 2999 08:49:37 GMT"
    async with receiving(
        answer(429, {"Retry-After": "120"}),
        answer(429, {"Retry-After": date}),
        answer(429, {"Retry-After": "soon"}),
        answer(429),
    ) as receiver:
        waits = [(await post(transport, receiver.url())).retry_after_s for _ in range(4)]

    assert waits[0] == 120
    assert waits[1] is not None
    assert waits[1] > 1_000_000
    assert waits[2:] == [None, None]


async def test_proxies_of_the_environment_are_not_asked(
    transport: Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    async with receiving() as receiver:
        assert (await post(transport, receiver.url())).status == 200


async def test_many_at_a_time_are_no_trouble(transport: Transport) -> None:
    async with receiving() as receiver:
        answers = await asyncio.gather(*(post(transport, receiver.url()) for _ in range(200)))

    assert {each.status for each in answers} == {200}


async def test_a_closed_way_out_leaves_no_file_open() -> None:
    """Its resolver has a thread, a poll and a pipe of its own, which end a moment after it is closed."""
    ways = [Transport(allow_private=True) for _ in range(10)]
    while_open = len(list(OPEN_FILES.iterdir()))
    for way in ways:
        await way.close()

    async with asyncio.timeout(10):
        while len(list(OPEN_FILES.iterdir())) > while_open - 20:
            await asyncio.sleep(0.01)
