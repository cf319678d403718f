"""A service manager hears when the service works, that it lives, and when it stops."""

import asyncio
import secrets
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from shared.service_manager import ServiceManager

pytestmark = pytest.mark.races


@pytest.fixture(params=["path", "abstract"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "notify") if request.param == "path" else f"@tocsin-{secrets.token_hex(8)}"


@pytest.fixture
def manager(address: str) -> Iterator[socket.socket]:
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as sock:
        sock.bind(address.replace("@", "\0", 1))
        sock.setblocking(False)
        yield sock


async def heard(manager: socket.socket, count: int) -> list[str]:
    async with asyncio.timeout(10):
        return [(await asyncio.get_running_loop().sock_recv(manager, 4096)).decode() for _ in range(count)]


async def test_it_hears_readiness_life_and_the_end(address: str, manager: socket.socket) -> None:
    service = ServiceManager({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000"})
    with service.working():
        assert await heard(manager, 4) == ["READY=1", *["WATCHDOG=1"] * 3]
    *beats, last = await heard_until_the_end(manager)
    assert (set(beats) <= {"WATCHDOG=1"}, last) == (True, "STOPPING=1")


async def heard_until_the_end(manager: socket.socket) -> list[str]:
    words: list[str] = []
    while words[-1:] != ["STOPPING=1"]:
        words += await heard(manager, 1)
    return words


async def test_without_a_watchdog_no_beat_is_sent(address: str, manager: socket.socket) -> None:
    with ServiceManager({"NOTIFY_SOCKET": address}).working():
        pass
    assert await heard(manager, 2) == ["READY=1", "STOPPING=1"]


@pytest.mark.parametrize(
    "environment",
    [{}, {"WATCHDOG_USEC": "30000"}, {"NOTIFY_SOCKET": "/nonexistent/notify", "WATCHDOG_USEC": "30000"}],
    ids=["no manager", "no socket", "a socket that is away"],
)
async def test_a_service_works_without_a_manager(environment: dict[str, str]) -> None:
    with ServiceManager(environment).working():
        await asyncio.sleep(0)


async def test_a_manager_that_reads_nothing_does_not_stall_the_service(
    address: str, manager: socket.socket
) -> None:
    service = ServiceManager({"NOTIFY_SOCKET": address})
    async with asyncio.timeout(10):
        for _ in range(1_000):
            with service.working():
                pass
    assert (await heard(manager, 1)) == ["READY=1"]
