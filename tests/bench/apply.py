"""Configuration as code: ``python -m tests.bench.apply``. Large sets of monitors, applied and planned."""

import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

import aiohttp
import structlog
import uvloop

from collector.accounts.storage import teams
from collector.declarative.service import apply
from collector.platform.access import operator
from collector.platform.context import ServiceContext
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.status_pages.service.domains import ServiceNames
from shared import ids
from shared.clock import utc_now
from shared.tokens import new_key
from tests.bench.api import Served, collector
from tests.bench.database import database
from tests.bench.figures import Figure

BATCH = 500


def run() -> Iterator[Figure]:
    """By the API of a collector, in batches; then by the service, in a request each."""
    yield from uvloop.run(_through_the_api())
    yield from uvloop.run(_at_once())


async def _through_the_api() -> list[Figure]:
    async with collector() as served:
        return [
            Figure("apply, 5,000 monitors by batches of 500", await _batches(served, 5_000), "s", at_most=10),
            Figure("apply, the same batches again", await _batches(served, 5_000), "s", at_most=10),
        ]


async def _at_once() -> list[Figure]:
    async with database() as db:
        async with db.transaction() as tx:
            team_id = await teams.insert(tx, ids.uuid7(), "shop", "enterprise", utc_now())
        few, many = monitors(4_000), monitors(10_000)
        changed = [{**body, "interval": 120} for body in many]
        return [
            Figure("apply, plan of 4,000 monitors", await took(db, team_id, few, plan=True), "s", at_most=2),
            Figure("apply, 10,000 monitors", await took(db, team_id, many), "s", at_most=20),
            Figure("apply, plan of 10,000 unchanged monitors", await took(db, team_id, many, plan=True), "s"),
            Figure("apply, 10,000 changed monitors", await took(db, team_id, changed), "s", at_most=20),
            Figure(
                "apply, 9,999 of them deleted",
                await took(db, team_id, changed[:1], prune=True),
                "s",
                at_most=20,
            ),
        ]


def monitors(count: int) -> list[dict[str, Any]]:
    """Declared monitors: most by HTTP, each tenth by TCP, each hundredth below the one before."""
    return [_monitor(n) for n in range(count)]


def _monitor(n: int) -> dict[str, Any]:
    body: dict[str, Any] = {
        "key": f"shop-{n}",
        "name": f"Shop {n}",
        "tags": {"team": str(n % 9), "env": "production"},
        "group": f"group {n % 20}",
    }
    if n % 10 == 9:
        body |= {"type": "tcp", "config": {"host": f"db-{n}.example.com", "port": 5432}}
    else:
        headers = {"Accept": "text/html"}
        body |= {"type": "http", "config": {"url": f"https://shop-{n}.example.com/", "headers": headers}}
    if n % 100 == 50:
        body["dependsOn"] = [f"shop-{n - 1}"]
    return body


async def _batches(served: Served, count: int) -> float:
    """Return the seconds for *count* monitors, a request for each batch."""
    headers = {"Authorization": f"Bearer {served.token}"}
    declared = monitors(count)
    began = time.monotonic()
    async with aiohttp.ClientSession(served.url, headers=headers) as session:
        for start in range(0, count, BATCH):
            body = {"monitors": declared[start : start + BATCH]}
            async with session.post("/v1/apply", json=body) as response:
                assert response.status == 200, await response.text()
    return time.monotonic() - began


async def took(
    db: Db, team_id: int, declared: Sequence[Any], *, plan: bool = False, prune: bool = False
) -> float:
    """Return the seconds for these monitors in one request."""
    who = operator(team_id)
    context = ServiceContext(db, _KEYRING, Signals(db), 10, who)
    own = ServiceNames("https://tocsin.example.com", ())
    body = {"monitors": declared, "plan": plan, "prune": prune}
    began = time.monotonic()
    await apply.apply(context, who, body, utc_now, own=own)
    return time.monotonic() - began


_KEYRING = Keyring.parse(new_key())

if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for figure in run():
        print(figure, flush=True)
