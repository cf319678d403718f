"""Web3 monitors from outside: a collector, probes, chains, and a hook and a mailbox that hear of them."""

import asyncio
import contextlib
import hashlib
import hmac
import http.client
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

import aiohttp

from tests.e2e.fleet import Fleet, fleet
from tests.e2e.product import eventually
from tests.mailbox import Mailbox, mailbox
from tests.probe.web3 import chain as chains
from tests.probe.web3.chain import Chain
from tests.receiver import Exchange, Receiver, Step, answer, receiving

# What a provider's URL carries in its path, and nobody but its node may be told.
KEY: Final = "SEEDED-key-of-a-provider"
SIGNING: Final = "SEEDED-secret-that-signs"
PLAIN: Final = "Plain(uint256 amount, address by)"
# A point, a pair of points, flags, three bytes: tuples with arrays in them, all dynamic.
NESTED: Final = "Nested((int256 x,uint8[] weights,string label) point,(int256,uint8[],string)[2] pair,bool[] flags,bytes3 code)"  # noqa: E501 - a signature


@dataclass(slots=True)
class Stage:
    """*hook* hears all events of a webhook channel that asks for none by name; *box* what the rules tell."""

    fleet: Fleet
    hook: Receiver
    box: Mailbox
    numbers: Iterator[int] = field(default_factory=count)

    async def monitor(self, type_: str, config: Any, *locations: str, **fields: Any) -> str:
        """The id of a monitor that is checked each second, once each of its locations has checked it."""
        asked = {
            "name": f"{type_} {next(self.numbers)}",
            "type": type_,
            "interval": 1,
            "timeout": 1,
            "locations": list(locations or ("eu",)),
            "config": config,
            **fields,
        }
        id_: str = (await self.fleet.made("/v1/monitors", asked))["id"]
        await eventually(lambda: self._looked_at(id_), timeout_s=40)
        return id_

    async def _looked_at(self, monitor: str) -> bool:
        states = (await self.fleet.got(f"/v1/monitors/{monitor}"))["locationStates"]
        return bool(states) and all(state["lastCheckedAt"] for state in states)

    def told(self, monitor: str) -> list[Any]:
        """What the hook received of it, in order, each event once: a delivery may be repeated."""
        known, found = set[str](), list[Any]()
        for payload in (received.json for received in self.hook.received):
            if payload.get("monitor", {}).get("id") == monitor and payload["id"] not in known:
                known.add(payload["id"])
                found.append(payload)
        return found

    def words(self, monitor: str) -> list[str]:
        return [word(payload) for payload in self.told(monitor)]

    async def hears(self, monitor: str, *wanted: str, timeout_s: float = 20) -> list[Any]:
        """Soon the hook has received just this, in any order; return what it received."""

        async def have() -> bool:
            return Counter(self.words(monitor)) == Counter(wanted)

        try:
            await eventually(have, timeout_s)
        except TimeoutError:
            faults = [
                item["incident"]["lastError"] for item in self.told(monitor) if word(item) == "monitor.down"
            ]
            msg = f"heard {self.words(monitor)}, not {list(wanted)}; faults: {faults}"
            raise AssertionError(msg) from None
        return self.told(monitor)

    async def checked(self, monitor: str, times: int = 2) -> None:
        """So many more checks of each of its locations are done and decided upon."""
        path = f"/v1/monitors/{monitor}"
        places = (await self.fleet.got(path))["locations"]
        before = {place: await self._count(path, place) for place in places}

        async def more() -> bool:
            return all([await self._count(path, place) >= before[place] + times for place in places])

        await eventually(more, timeout_s=40)

    async def _count(self, path: str, location: str) -> int:
        total: int = (await self.fleet.got(f"{path}/results?limit=1&location={location}"))["meta"]["total"]
        return total

    async def mailed(self, *texts: str) -> str:
        """Soon a mail has all these texts in it; that mail."""

        async def found() -> str | None:
            mails = (f"{one.message['subject']}\n{one.part('plain')}" for one in self.box.mails)
            return next((mail for mail in mails if all(text in mail for text in texts)), None)

        try:
            mail: str = await eventually(found)
        except TimeoutError:
            subjects = [one.message["subject"] for one in self.box.mails]
            raise AssertionError(f"no mail with {texts} among {subjects}") from None
        return mail

    def assert_signed(self) -> None:
        """Every delivery carries the HMAC of its very bytes."""
        for received in self.hook.received:
            wanted = hmac.digest(SIGNING.encode(), received.body, hashlib.sha256).hex()
            assert received.headers["x-service-signature"] == wanted


def word(payload: Any) -> str:
    """A short name of an event: the type of its alert, ``event`` or ``removed`` of a log, else its kind."""
    if payload["event"] in {"web3.alert", "web3.gas.alert"}:
        return str(payload["alert"]["type"])
    if payload["event"] == "web3.event":
        return "removed" if payload["log"]["removed"] else "event"
    return str(payload["event"])


@asynccontextmanager
async def stage(database_url: str, directory: Path, *locations: str, **settings: str) -> AsyncIterator[Stage]:
    """A collector, a probe in each of *locations*, and a webhook and a mailbox that a rule over all tells."""
    async with AsyncExitStack() as stack:
        hook = await stack.enter_async_context(receiving())
        box = await stack.enter_async_context(mailbox())
        made = await stack.enter_async_context(fleet(database_url, directory))
        collector = await made.collector(SMTP_URL=box.url(), LOG_LEVEL="debug", **settings)
        for location in locations:
            await made.probe(location, collector, LOG_LEVEL="debug")
        channels = []
        webhook = {"url": hook.url(), "signingSecret": SIGNING}
        for type_, config in (("webhook", webhook), ("email", {"recipients": ["oncall@example.com"]})):
            channel = await made.made("/v1/alert-channels", {"name": type_, "type": type_, "config": config})
            channels.append(channel["id"])
        await made.made("/v1/alert-rules", {"name": "all", "channels": channels})
        yield Stage(made, hook, box)


@contextlib.contextmanager
def chain(id_: int = 31337, *flags: str) -> Iterator[Chain]:
    """A chain of its own; skips without an EVM node."""
    with chains.running(id_, *flags) as made:
        yield made


def forward(to: Chain) -> Step:
    """Ask the chain's node, and pass its answer on."""

    async def step(exchange: Exchange) -> None:
        body = await asyncio.to_thread(_post, to.port, exchange.request.body)
        await answer(200, {"Content-Type": "application/json"}, body)(exchange)

    return step


def _post(port: int, body: bytes) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", "/", body, {"Content-Type": "application/json"})
        return connection.getresponse().read()
    finally:
        connection.close()


@asynccontextmanager
async def provider(to: Chain) -> AsyncIterator[Receiver]:
    """A node behind a key in its path, whose *always* a test may change: see `url_of`."""
    async with receiving(always=forward(to)) as made:
        yield made


def url_of(node: Receiver) -> str:
    return node.url(f"/v3/{KEY}")


def amounts(payloads: Iterable[Any]) -> list[str]:
    """The first argument of each log that was notified."""
    return [payload["log"]["args"]["amount"] for payload in payloads if payload["event"] == "web3.event"]


def plain(zoo: str, at: Chain, numbers: Sequence[int]) -> None:
    """Emit an event of each number."""
    for number in numbers:
        at.call(zoo, "plain(uint256)", number)


def of_events(to: Chain | Sequence[str], address: str, **more: Any) -> dict[str, Any]:
    """The configuration of a monitor of `PLAIN`; *to* may be the URLs of nodes."""
    urls = [to.url] if isinstance(to, Chain) else list(to)
    base = {"chainId": 31337, "address": address, "eventName": PLAIN, "rpcUrl": urls, "confirmations": 0}
    return {**base, **more}


async def texts_of(directory: Path, session: aiohttp.ClientSession, *urls: str) -> str:
    """All that was logged under *directory*, and what these URLs answer."""
    lines = [path.read_text() for path in sorted(directory.rglob("log"))]
    for url in urls:
        async with session.get(url) as response:
            lines.append(await response.text())
    return "\n".join(lines)
