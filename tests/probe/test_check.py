"""`tocsin check` tells one check with its phases, and its exit status says what it came to."""

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.receiver import Exchange, Receiver, answer, receiving

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def target() -> AsyncIterator[Receiver]:
    """Says 200, but 404 at /none, and nothing for 5 seconds at /slow."""

    async def by_path(exchange: Exchange) -> None:
        if exchange.request.target == "/slow":
            await asyncio.sleep(5)
        await answer(404 if exchange.request.target == "/none" else 200)(exchange)

    async with receiving(always=by_path) as receiver:
        yield receiver


async def check(*argv: str, program: Sequence[str] = (sys.executable,)) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *program,
        "-m",
        "probe.cli.check",
        *argv,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(20):
        out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def check_json(*argv: str) -> tuple[int, dict[str, Any]]:
    status, out, _ = await check(*argv, "--json")
    return status, json.loads(out)


async def test_a_good_one_is_told_with_its_phases(target: Receiver) -> None:
    status, out, err = await check("http", target.url("/"))
    verdict, empty, *rows = out.splitlines()
    assert (status, empty, err) == (0, "", "")
    assert verdict.split() == ["UP", target.url("/"), "status", "200"]
    assert [row.rsplit(None, 2)[0].strip() for row in rows] == ["connect", "first byte", "transfer", "total"]
    assert len({len(row) for row in rows}) == 1


async def test_a_failing_one_says_why(target: Receiver) -> None:
    status, out, _ = await check("http", target.url("/none"))
    assert status == 1
    assert out.splitlines()[0].split() == ["DOWN", target.url("/none"), "status", "404"]
    assert out.splitlines()[1].strip() == "status 404, expected 200-299"


async def test_what_cannot_be_known_from_here_has_a_status_of_its_own() -> None:
    """In a network of its own, as nobody, it may not ping."""
    alone = ["unshare", "--user", "--net"]
    if (await (await asyncio.create_subprocess_exec(*alone, "true", stderr=DEVNULL)).wait()) != 0:
        pytest.skip("no user namespace can be made here, as within a chroot")
    status, out, _ = await check("icmp", "127.0.0.1", program=[*alone, sys.executable])
    assert status == 3
    assert out.splitlines()[0].split() == ["UNKNOWN", "127.0.0.1"]
    assert out.splitlines()[1].strip().startswith("probe: not permitted to ping")


async def test_a_tcp_port_is_open_or_refused(target: Receiver) -> None:
    port = target.url("/").rsplit(":", 1)[1].strip("/")
    assert (await check_json("tcp", f"127.0.0.1:{port}"))[0] == 0
    status, told = await check_json("tcp", "127.0.0.1:1")
    assert status == 1
    assert told["status"] == "down"
    assert told["error"] == "connect: refused by 127.0.0.1:1"


async def test_as_json_nothing_is_left_out(target: Receiver) -> None:
    status, told = await check_json("http", target.url("/none"), "--expected-status", "200-299,404")
    assert status == 0
    assert {name: told[name] for name in ("success", "type", "target", "status", "statusCode", "error")} == {
        "success": True,
        "type": "http",
        "target": target.url("/none"),
        "status": "up",
        "statusCode": 404,
        "error": None,
    }
    assert set(told["phases"]) == {"dns", "connect", "tls", "firstByte", "transfer"}
    assert told["phases"]["tls"] is None
    assert 0 < told["phases"]["connect"] <= told["responseTime"]


async def test_what_is_asked_is_sent(target: Receiver) -> None:
    flags = [
        "--method",
        "post",
        "--header",
        "X-Key: a: b",
        "--header",
        "Accept:text/plain",
        "--body",
        "hello",
    ]
    status, _ = await check_json("http", target.url("/deep?x=1"), *flags)
    assert status == 0
    [request] = target.received
    assert (request.method, request.target, request.body) == ("POST", "/deep?x=1", b"hello")
    assert (request.headers["x-key"], request.headers["accept"]) == ("a: b", "text/plain")


async def test_the_time_limit_is_kept(target: Receiver) -> None:
    status, told = await check_json("http", target.url("/slow"), "--timeout", "0.3")
    assert status == 1
    assert told["error"].startswith("first byte: ")
    assert 250 < told["responseTime"] < 3000


async def test_credentials_in_a_url_are_used_and_not_repeated(target: Receiver) -> None:
    _, out, _ = await check("http", target.url("/").replace("//", "//someone:hush@"))
    [request] = target.received
    assert request.headers["authorization"].startswith("Basic ")
    assert "hush" not in out


@pytest.mark.parametrize(
    ("argv", "fault"),
    [
        pytest.param([], "TYPE", id="no type"),
        pytest.param(["gopher", "192.0.2.1"], "gopher", id="a type that there is not"),
        pytest.param(["http"], "URL", id="no target"),
        pytest.param(["http", "ftp://example.com"], "http or https URL", id="not http"),
        pytest.param(["http", "http://example.com:0/"], "http or https URL", id="port 0"),
        pytest.param(["http", "http://example.com", "--header", "Host"], "NAME: VALUE", id="half a header"),
        pytest.param(["http", "http://example.com", "--header", "TE: x"], "frames", id="a framing header"),
        pytest.param(["http", "http://example.com", "--expected-status", "20"], "status", id="no status"),
        pytest.param(["http", "http://example.com", "--method", "BREW"], "--method", id="no method"),
        pytest.param(["http", "http://example.com", "--timeout", "0"], "seconds", id="no time"),
        pytest.param(["tcp", "example.com"], "host:port", id="no port"),
        pytest.param(["tcp", "example.com:99999"], "65535", id="too large a port"),
        pytest.param(["tcp", "exa mple.com:1"], "host name", id="no host"),
        pytest.param(["icmp", "exa mple.com"], "host name", id="no host to ping"),
        pytest.param(["icmp", "192.0.2.1", "--count", "0"], "--count", id="no ping at all"),
    ],
)
async def test_misuse_is_told_with_status_2(argv: list[str], fault: str) -> None:
    status, out, err = await check(*argv)
    assert (status, out) == (2, "")
    assert fault in err


async def test_an_option_that_the_type_has_not_is_told_with_those_that_it_has() -> None:
    status, _, err = await check("http", "http://example.com/", "--count", "3")

    assert status == 2
    assert err.startswith("usage: tocsin check http ")
    assert "unrecognized arguments: --count 3" in err
