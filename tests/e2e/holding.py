"""Monitors of one product, each with its own target and its own people: one for each row of a table."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.product import Caller, Product, eventually
from tests.receiver import Receiver, answer, receiving

# A rule reminds and escalates after a minute at the soonest.
A_MINUTE_AND_SOME: Final = 66.0
_SAID: Final = re.compile(r"(Down|Recovered|Escalation \d): ")


@dataclass(slots=True)
class Row:
    """A monitor that a rule watches: it tells *chat*, again each minute, and *boss* after one minute."""

    name: str
    product: Product
    caller: Caller
    target: Receiver
    chat: Receiver
    boss: Receiver
    hook: Receiver
    monitor: str = ""

    @property
    def path(self) -> str:
        return f"/v1/monitors/{self.monitor}"

    def breaks(self) -> None:
        self.target.always = answer(503)

    def heals(self) -> None:
        self.target.always = answer(200)

    def said(self) -> list[str]:
        """What the chat heard, each by its first word."""
        return [word for received in self.chat.received for word in _SAID.findall(received.json["text"])]

    def said_to_boss(self) -> list[str]:
        return [word for received in self.boss.received for word in _SAID.findall(received.json["text"])]

    def events(self, *kinds: str) -> list[str]:
        """The events that the webhook heard: of these kinds, or all."""
        heard = [received.headers["x-service-event"] for received in self.hook.received]
        return [kind for kind in heard if kind in kinds or not kinds]

    def heard(self) -> tuple[list[str], list[str], list[str]]:
        return self.said(), self.said_to_boss(), self.events("monitor.down", "monitor.up")

    async def hears(self, lines: list[str], to_boss: list[str], events: list[str]) -> None:
        """Soon all have heard just that."""
        wanted = (lines, to_boss, events)

        async def have() -> bool:
            return self.heard() == wanted

        try:
            await eventually(have)
        except TimeoutError:
            raise AssertionError(f"{self.name}: heard {self.heard()}, not {wanted}") from None

    async def all_hear_the_end(self) -> None:
        async def have() -> bool:
            ends = (self.said()[-1], self.said_to_boss()[-1], self.events()[-1])
            return ends == ("Recovered", "Recovered", "monitor.up")

        await eventually(have)
        assert self.said().count("Recovered") == self.said_to_boss().count("Recovered") == 1

    async def hears_nothing_new(self, seconds: float) -> None:
        before, until = self.heard(), time.monotonic() + seconds
        while time.monotonic() < until:
            await asyncio.sleep(0.2)
            assert self.heard() == before, self.name

    async def status(self, wanted: str) -> None:
        async def is_it() -> bool:
            return bool((await self.caller.got(self.path))["status"] == wanted)

        await eventually(is_it)

    async def failing(self) -> None:
        """Its checks fail, whatever becomes of that."""

        async def bad() -> bool:
            found = await self.caller.got(f"{self.path}/results?status=down&limit=1")
            return bool(found["meta"]["total"])

        await eventually(bad)

    async def incidents(self) -> list[dict[str, Any]]:
        path = f"/v1/incidents?monitor_id={self.monitor}"
        found: list[dict[str, Any]] = (await self.caller.got(path))["data"]
        return found

    async def incident(self, status: str = "open") -> dict[str, Any]:
        """Its only one, once that has this status."""

        async def only() -> dict[str, Any] | None:
            found = await self.incidents()
            assert len(found) <= 1, found
            return found[0] if found and found[0]["status"] == status else None

        found: dict[str, Any] = await eventually(only)
        return found

    async def does(self, path: str, body: Any = None) -> Any:
        return await self.caller.made(path, body)

    async def time_passes(self, sql: str) -> None:
        """For what takes ten minutes: the times in the database are moved back."""
        connection = await self.product.connect()
        try:
            done = await connection.execute(sql, self.name)
            assert done == "UPDATE 1", done
        finally:
            await connection.close()


@asynccontextmanager
async def row(name: str, product: Product, caller: Caller, **fields: Any) -> AsyncIterator[Row]:
    """A monitor that is up, checked each second, down after one failed check."""
    async with AsyncExitStack() as stack:
        target, chat, boss, hook = [await stack.enter_async_context(receiving()) for _ in range(4)]
        made = Row(name, product, caller, target, chat, boss, hook)
        asked = {
            "name": name,
            "type": "http",
            "interval": 1,
            "failureThreshold": 1,
            "locations": ["local"],
            "config": {"url": target.url("/")},
            **fields,
        }
        made.monitor = (await caller.made("/v1/monitors", asked))["id"]
        text, escalated = [await _chat(caller, who) for who in (chat, boss)]
        kinds = ["monitor.down", "monitor.up", "monitor.flapping", "probe.offline"]
        config = {"url": hook.url(), "events": kinds, "monitors": [made.monitor]}
        await caller.made("/v1/alert-channels", {"name": name, "type": "webhook", "config": config})
        rule = {
            "name": name,
            "channels": [text],
            "monitors": [made.monitor],
            "repeatMinutes": 1,
            "escalationPolicy": {"delayMinutes": 1, "escalateToChannels": [escalated], "maxEscalations": 1},
        }
        await caller.made("/v1/alert-rules", rule)
        await target.wait_for(1, 30)
        yield made


async def _chat(caller: Caller, at: Receiver) -> str:
    body = {"name": "chat", "type": "slack", "config": {"webhookUrl": at.url()}}
    id_: str = (await caller.made("/v1/alert-channels", body))["id"]
    return id_


Story = Callable[[Row], Awaitable[None]]
