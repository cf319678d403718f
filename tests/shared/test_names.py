"""Names that were missing: asked for again, however long their zone would have that remembered."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import aiodns
import pytest

from shared.names import ForgetfulResolver
from tests.probe.net.nameserver import NXDOMAIN, NameServer, name_server

pytestmark = pytest.mark.races

HOSTS = ["one.example.com", "two.example.com", "three.example.com"]


@pytest.fixture
def names() -> Iterator[NameServer]:
    with name_server() as server:
        yield server


@pytest.fixture
async def resolver(names: NameServer) -> AsyncIterator[ForgetfulResolver]:
    resolver = ForgetfulResolver([names.address])
    yield resolver
    resolver.cancel()


async def found(resolver: ForgetfulResolver, host: str) -> bool:
    try:
        return bool((await resolver.getaddrinfo(host)).nodes)
    except aiodns.error.DNSError:
        return False


async def until_found(resolver: ForgetfulResolver, host: str) -> None:
    async with asyncio.timeout(5):
        while not await found(resolver, host):
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("missing", [NXDOMAIN, []], ids=["no such name", "no address"])
async def test_a_name_that_is_back_is_found(
    resolver: ForgetfulResolver, names: NameServer, missing: list[str] | int
) -> None:
    names.names[HOSTS[0]] = missing
    assert not await found(resolver, HOSTS[0])

    names.names[HOSTS[0]] = ["127.0.0.1"]
    await until_found(resolver, HOSTS[0])


async def test_names_that_fail_right_after_each_other_are_all_forgotten(
    resolver: ForgetfulResolver, names: NameServer
) -> None:
    names.names.update(dict.fromkeys(HOSTS, NXDOMAIN))
    assert not await found(resolver, HOSTS[0])
    await until_forgotten(resolver, names, HOSTS[0])
    assert [await found(resolver, host) for host in HOSTS[1:]] == [False, False]

    names.names.update({host: ["127.0.0.1"] for host in HOSTS})
    for host in HOSTS:
        await until_found(resolver, host)


async def until_forgotten(resolver: ForgetfulResolver, names: NameServer, host: str) -> None:
    """The cache was emptied just now, and not again within a second."""
    asked = len(names.asked)
    async with asyncio.timeout(5):
        while len(names.asked) == asked:
            assert not await found(resolver, host)
            await asyncio.sleep(0.005)


async def test_a_missing_name_costs_its_server_a_question_a_second(
    resolver: ForgetfulResolver, names: NameServer
) -> None:
    names.names[HOSTS[0]] = NXDOMAIN
    began = asyncio.get_running_loop().time()
    for _ in range(500):
        await found(resolver, HOSTS[0])
    seconds = asyncio.get_running_loop().time() - began

    assert len(names.asked) <= 2 * (2 + seconds)  # A and AAAA each time


async def test_a_resolver_that_was_cancelled_asks_no_more(names: NameServer) -> None:
    resolver = ForgetfulResolver([names.address])
    waiting = asyncio.ensure_future(resolver.getaddrinfo("silent.example.com"))
    await asyncio.sleep(0)
    resolver.cancel()

    with pytest.raises(aiodns.error.DNSError):
        await waiting
    await asyncio.sleep(0)
    assert resolver._emptying is None
    assert resolver._emptied_at == float("-inf")


async def test_a_resolver_may_be_closed_twice(names: NameServer) -> None:
    """Its client of HTTP closes it, and so does who made both."""
    resolver = ForgetfulResolver([names.address])
    await resolver.close()
    await resolver.close()
