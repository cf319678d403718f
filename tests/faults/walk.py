"""A random walk: outages amid one to three faults at a time, by a seed that repeats it."""

import asyncio
import os
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from probe.spool.segments import Sealed, scan
from shared.wire.convert import decode
from tests.e2e.cable import Cable, cable
from tests.e2e.fleet import Part
from tests.e2e.product import Caller, Product, eventually, running
from tests.receiver import Receiver, answer, receiving, reset, stall

BUSY: Final = 20
LOCATIONS: Final = ("local", "far")
# A delivery has six sends at most: four tries, and two more after senders that died.
MOST_SENDS: Final = 6
_PATIENCE_S: Final = 90.0

Fault = Callable[["World"], Awaitable[None]]


@dataclass(slots=True)
class World:
    """A product with its own probe, another probe behind *line*, and *hook*, which is notified.

    *broken*: the monitors that had an outage, one each; *log*: the faults so far, in order.
    """

    product: Product
    caller: Caller
    far: Part
    line: Cable
    hook: Receiver
    chance: random.Random
    broken: list[str] = field(default_factory=list)
    revoked: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    async def rows(self, sql: str) -> list[dict[str, Any]]:
        connection = await self.product.connect()
        try:
            return [dict(row) for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    async def made(self, path: str, body: Any) -> Any:
        """Repeat the call until it is answered: the collector may be down."""

        async def call() -> Any:
            with suppress(OSError):
                status, body_ = await self.caller.call("POST", path, body)
                assert status < 500 or status == 503, body_
                return None if status == 503 else (status, body_)
            return None

        status, answered = await eventually(call, _PATIENCE_S)
        assert status in {200, 201}, answered
        return answered


def _kill(*victims: str) -> Fault:
    async def fault(world: World) -> None:
        world.product.kill(*victims)
        if "up" in victims:
            world.product.start()

    return fault


def _pause(part: str) -> Fault:
    """Stop all of its processes for a while, as a machine that hangs."""

    async def fault(world: World) -> None:
        with stopped(world.product.pids(part)):
            await asyncio.sleep(world.chance.uniform(0.5, 4))

    return fault


@contextmanager
def stopped(pids: Iterable[int]) -> Iterator[None]:
    """Stop these processes, of which some may be gone, for the block."""

    def send(number: signal.Signals) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    try:
        send(signal.SIGSTOP)
        yield
    finally:
        send(signal.SIGCONT)


async def _cut(world: World) -> None:
    world.line.whole.clear()
    await asyncio.sleep(world.chance.uniform(1, 8))
    world.line.whole.set()


async def _kill_far(world: World) -> None:
    world.far.send(signal.SIGKILL)
    await asyncio.sleep(world.chance.uniform(0, 2))
    world.far.start()


async def _terminate(world: World) -> None:
    """End every connection of the collector to its database."""
    with suppress(Exception):
        await world.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def _refuse(world: World) -> None:
    """The receiver refuses, hangs or resets for less than the time of three tries."""
    world.hook.always = world.chance.choice((answer(503), answer(429), stall, reset))
    await asyncio.sleep(world.chance.uniform(0.5, 3))
    world.hook.always = answer()


FAULTS: Final[dict[str, Fault]] = {
    "kill probe": _kill("probe"),
    "kill collector": _kill("collector"),
    "kill postgres": _kill("postgres"),
    "kill collector and probe": _kill("collector", "probe"),
    "kill everything": _kill("up", "collector", "probe", "postgres"),
    "pause collector": _pause("collector"),
    "pause probe": _pause("probe"),
    "pause postgres": _pause("postgres"),
    "cut the far probe off": _cut,
    "kill the far probe": _kill_far,
    "end all connections to the database": _terminate,
    "receiver refuses": _refuse,
}


@asynccontextmanager
async def world(directory: Path, seed: int) -> AsyncIterator[World]:
    """All of it, running, with monitors that nothing befalls."""
    async with AsyncExitStack() as stack:
        hook = await stack.enter_async_context(receiving())
        target = await stack.enter_async_context(receiving())
        product, caller = await stack.enter_async_context(running(directory))
        line = await stack.enter_async_context(cable(f"127.0.0.1:{product.grpc}"))
        token = (await caller.made("/v1/probe-tokens", {"location": "far", "uses": 1}))["token"]
        settings = {"COLLECTOR": f"127.0.0.1:{line.port}", "JOIN_TOKEN": token, "CANARIES": "none"}
        far = Part("probe", directory / "far", settings)
        far.start()
        stack.callback(_end, far)
        config = {"url": hook.url(), "events": ["monitor.down", "monitor.up"]}
        await caller.made("/v1/alert-channels", {"name": "hook", "type": "webhook", "config": config})
        made = World(product, caller, far, line, hook, random.Random(seed))
        for number in range(BUSY):
            where = LOCATIONS[number % len(LOCATIONS)]
            await caller.made("/v1/monitors", _monitor(f"busy {number}", where, target))
        yield made


def _end(part: Part) -> None:
    if part.process is not None and part.process.poll() is None:
        part.send(signal.SIGKILL)


async def walk(world: World, seconds: float) -> int:
    """Have one outage at each location after the other until the time is over; the number of rounds."""
    until, rounds = time.monotonic() + seconds, 0
    while rounds == 0 or time.monotonic() < until:
        await _round(world, rounds)
        rounds += 1
    return rounds


async def _round(world: World, number: int) -> None:
    async with receiving() as target:
        monitors = [
            (await world.made("/v1/monitors", _monitor(f"victim {number} {where}", where, target)))["id"]
            for where in LOCATIONS
        ]
        await eventually(lambda: _checked(world, monitors), _PATIENCE_S)
        target.always = answer(503)
        await _befall(world)
        await eventually(lambda: _incidents(world, monitors, "open"), _PATIENCE_S)
        target.always = answer(200)
        await _befall(world)
        await eventually(lambda: _incidents(world, monitors, "resolved"), _PATIENCE_S)
        world.broken += monitors
        await _revoke(world, number)
        for monitor in monitors:
            await world.made(f"/v1/monitors/{monitor}/pause", None)


async def _befall(world: World) -> None:
    """One to three faults at random moments of the next seconds; then everything runs again."""
    names = world.chance.sample(sorted(FAULTS), world.chance.randint(1, 3))
    delays = [world.chance.uniform(0, 3) for _ in names]
    world.log.append(" + ".join(names))

    async def after(delay_s: float, name: str) -> None:
        await asyncio.sleep(delay_s)
        await FAULTS[name](world)

    await asyncio.gather(*map(after, delays, names))
    await world.product.ready(_PATIENCE_S)


async def _revoke(world: World, number: int) -> None:
    """A token that is made, used and revoked; from the answer on it is refused (I6)."""
    made = await world.made("/v1/tokens", {"name": f"token {number}", "permission": "read-only"})
    token = Caller(world.product, world.caller.session, made["token"])
    assert (await token.call("GET", "/v1/monitors?limit=1"))[0] == 200
    assert (await world.caller.call("DELETE", f"/v1/tokens/{made['id']}"))[0] == 204
    world.revoked.append(made["token"])
    for each in world.revoked:
        token = Caller(world.product, world.caller.session, each)
        assert (await token.call("GET", "/v1/monitors?limit=1"))[0] == 401


async def _checked(world: World, monitors: list[str]) -> bool:
    with suppress(OSError):
        found = [await world.caller.call("GET", f"/v1/monitors/{monitor}") for monitor in monitors]
        return all(status == 200 and body["status"] == "up" for status, body in found)
    return False


async def _incidents(world: World, monitors: list[str], status: str) -> bool:
    with suppress(OSError):
        for monitor in monitors:
            path = f"/v1/incidents?monitor_id={monitor}&status={status}"
            code, body = await world.caller.call("GET", path)
            if code != 200 or not body["data"]:
                return False
        return True
    return False


async def check(world: World) -> None:
    """Wait until all is quiet, then hold the journals, the database and the receiver's log to I1 to I5."""
    await eventually(lambda: _all_delivered(world), _PATIENCE_S)
    for page in (1, 2, 3, 4):
        code, body = await world.caller.call("GET", f"/v1/monitors?limit=100&page={page}")
        for monitor in body["data"] if code == 200 else ():
            await world.caller.call("POST", f"/v1/monitors/{monitor['id']}/pause")
    await eventually(lambda: _stored_once(world), _PATIENCE_S)
    await _one_incident_each(world)
    _notified(world)
    await _nothing_missing(world)


async def _all_delivered(world: World) -> bool:
    rows = await world.rows("SELECT count(*) FILTER (WHERE status = 0) AS waiting FROM deliveries")
    heard = {(each.json["monitor"]["id"], each.json["event"]) for each in world.hook.received}
    wanted = {(monitor, event) for monitor in world.broken for event in ("monitor.down", "monitor.up")}
    return rows == [{"waiting": 0}] and wanted <= heard


async def _stored_once(world: World) -> bool:
    """I1: the database has each result of the probes' spools once, and no other."""
    spooled = Counter(
        monitor for data in sealed(world.product.data_dir, world.far.home) for monitor in decode(data).monitor
    )
    rows = await world.rows("SELECT monitor, count(*) FROM results GROUP BY monitor")
    return {row["monitor"]: row["count"] for row in rows} == dict(spooled)


def sealed(*homes: Path) -> list[bytes]:
    """The batches in the spools below these directories, each once."""
    batches = {
        (record.incarnation, record.seq): record.data
        for home in homes
        for path in sorted(home.rglob("*.seg"))
        for record in scan(path.read_bytes())
        if isinstance(record, Sealed)
    }
    return list(batches.values())


async def _one_incident_each(world: World) -> None:
    """I2: an outage has one incident, a monitor without outage has none, and none stays open."""
    rows = await world.rows("SELECT monitor_id, status FROM incidents")
    assert Counter(row["status"] for row in rows) == {"resolved": len(world.broken)}, world.log
    assert len({row["monitor_id"] for row in rows}) == len(rows), world.log


def _notified(world: World) -> None:
    """I3 and I4: each transition was sent under one id, six times at most, in order; and nothing else was."""
    ids: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    sends: Counter[str] = Counter()
    for each in world.hook.received:
        payload = each.json
        ids[payload["monitor"]["id"], payload["event"]].add(payload["id"])
        sends[payload["id"]] += 1
        assert payload["event"] == "monitor.down" or (payload["monitor"]["id"], "monitor.down") in ids
    assert {monitor for monitor, _ in ids} == set(world.broken), world.log
    assert all(len(each) == 1 for each in ids.values()), world.log
    assert max(sends.values()) <= MOST_SENDS, world.log


async def _nothing_missing(world: World) -> None:
    """I1 and I5: no result was lost or refused, streams have no hole, timelines begin and end."""
    [counts] = await world.rows(
        """
        SELECT (SELECT count(*) FROM result_gaps) AS gaps,
            (SELECT count(*) FROM refused_results) AS refused,
            (SELECT count(*) FROM (
                SELECT FROM events GROUP BY team_id, stream_id
                HAVING max(sequence) - min(sequence) + 1 <> count(*)
            ) AS holes) AS holes,
            (SELECT count(*) FROM deliveries WHERE status = 2) AS failed
        """
    )
    assert counts == {"gaps": 0, "refused": 0, "holes": 0, "failed": 0}, world.log
    rows = await world.rows(
        "SELECT array_agg(type ORDER BY n) AS types FROM timeline GROUP BY team_id, incident_id"
    )
    assert all(row["types"].count("resolved") == 1 for row in rows), world.log


def _monitor(name: str, location: str, target: Receiver) -> dict[str, Any]:
    config = {"url": target.url("/")}
    return {
        "name": name,
        "type": "http",
        "interval": 1,
        "timeout": 1,
        "locations": [location],
        "config": config,
    }
