"""A long history, and how fast it is read: ``python -m tests.bench.history [--results N] [--keep DIR]``."""

import argparse
import logging
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp
import structlog
import uvloop

from collector.accounts.service import tokens
from collector.accounts.storage import teams
from collector.events.stream import EventStreamHub
from collector.history.jobs.rollups import Rollups
from collector.history.service.statistics import summary
from collector.history.storage import partitions
from collector.http.context import Context
from collector.platform.access import Permission
from collector.platform.bucket import PLANS, TeamPlan
from collector.platform.embedded.server import Embedded
from collector.platform.seal import Keyring
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from collector.platform.transport import Transport
from collector.server import Features, make, serve
from shared import ids
from shared.clock import iso, utc_now
from shared.ids import uuid7
from shared.phases import pack
from shared.results import Phases
from shared.tokens import new_key
from tests.bench.figures import Figure
from tests.clocks import GivenClock
from tests.evaluation.world import make_world

DAYS = 91
EVERY = timedelta(minutes=2)
LOCATIONS = ("eu", "us", "ap")
USUAL, SOME = 20_000_000, 2_000_000
TIMES = 60
LATE_HOURS = 200

_PHASES = pack(Phases(dns_us=1200, connect_us=9400, tls_us=12_800, first_byte_us=31_000, transfer_us=400))

# One every two minutes at each location, with a jitter; down for 20 minutes every tenth day.
_RESULTS = """
    INSERT INTO results (ts, monitor, ms, error, location, n, run, status, code, phases)
    SELECT t + random() * interval '3 s', m.monitor,
        ((40 + 25 * (m.monitor % 9)) * exp(0.4 * (random() + random() + random() + random() - 2)))::int,
        NULL, l.location, 0, 1, CASE WHEN d.bad THEN 2 ELSE 1 END, CASE WHEN d.bad THEN NULL ELSE 200 END, $3
    FROM generate_series($1::timestamptz, $1::timestamptz + interval '1 day' - interval '1 s', $2::interval) t
    CROSS JOIN monitors m CROSS JOIN locations l
    CROSS JOIN LATERAL (
        SELECT (extract(epoch FROM $1::timestamptz)::bigint / 86400 + m.monitor) % 10 = 0
            AND t >= $1 + m.monitor % 23 * interval '1 hour'
            AND t < $1 + m.monitor % 23 * interval '1 hour' + interval '20 min' AS bad
    ) d ORDER BY t
"""
_OUTAGES = """
    INSERT INTO outages (monitor, location, started_at, ended_at)
    SELECT m.monitor, l.location, at.start, at.start + interval '20 min'
    FROM monitors m CROSS JOIN (SELECT location FROM locations UNION ALL SELECT 0) l
    CROSS JOIN LATERAL (SELECT $1::timestamptz + m.monitor % 23 * interval '1 hour' AS start) at
    WHERE (extract(epoch FROM $1::timestamptz)::bigint / 86400 + m.monitor) % 10 = 0
"""
_LATE = """
    WITH late AS (
        INSERT INTO results (ts, monitor, ms, location, n, run, status, code)
        SELECT $1::timestamptz + n * interval '7 min', m.monitor, 90, 1, 1, 1, 1, 200
        FROM generate_series(1, $2::int) n
        CROSS JOIN LATERAL (SELECT monitor FROM monitors ORDER BY monitor OFFSET n % 20 LIMIT 1) m
        RETURNING monitor, ts
    )
    INSERT INTO rollups_dirty (monitor, at) SELECT monitor, date_trunc('hour', ts, 'UTC') FROM late
"""


def run() -> Iterator[Figure]:
    """Over a tenth of the history that the bounds are for: ``make bench`` is not to take an hour."""
    yield from uvloop.run(_measure(SOME, None))


@dataclass(frozen=True, slots=True)
class Caller:
    """One connection to a server of the API; *monitors* are those it has, by id and by number."""

    session: aiohttp.ClientSession
    monitors: list[str]
    numbers: list[int]
    db: Db

    async def get(self, path: str) -> bytes:
        async with self.session.get(path) as response:
            body = await response.read()
            assert response.status == 200, body
            return body


async def _measure(results: int, directory: Path | None) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as scratch:
        embedded = Embedded(directory or Path(scratch))
        await embedded.start()
        try:
            await migrate(embedded.url, utc_now())
            db = await Db.open(embedded.url, size=2)
            try:
                made = await _generate(db, results)
                async with _calling(db) as caller:
                    return [*made, *[figure async for figure in _figures(caller)]]
            finally:
                await db.close()
        finally:
            await embedded.stop()


async def _generate(db: Db, results: int) -> list[Figure]:
    """Unless it is there from an earlier time."""
    async with db.connection() as tx:
        if await tx.fetchval("SELECT EXISTS (SELECT FROM monitors)"):
            return []
    start = time.monotonic()
    per_monitor = (DAYS - 1) * len(LOCATIONS) * (timedelta(days=1) // EVERY)
    await make_world(db, monitors=-(-results // per_monitor), locations=LOCATIONS)
    today = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
    first = today - timedelta(days=DAYS - 1)
    async with db.connection() as tx:
        await tx.execute("DELETE FROM cadences")
        await tx.execute("INSERT INTO cadences SELECT monitor, $1, 195 FROM monitors", first)
    for day in (first + timedelta(days=n) for n in range(DAYS)):
        async with db.transaction() as tx:
            await partitions.make(tx, day.date())
            await tx.execute(_RESULTS, day, EVERY, _PHASES)
            await tx.execute(_OUTAGES, day)
    # What is to come did not happen yet.
    async with db.connection() as tx:
        await tx.execute("DELETE FROM results WHERE ts > $1", utc_now())
        await tx.execute("DELETE FROM outages WHERE started_at > $1", utc_now())
        await tx.execute("VACUUM ANALYZE")
    made = time.monotonic()
    await _roll_up(db)
    rolled = time.monotonic()
    async with db.connection() as tx:
        await tx.execute(_LATE, first, LATE_HOURS)
    await _roll_up(db)
    async with db.connection() as tx:
        await tx.execute("VACUUM ANALYZE")
        count = await tx.fetchval("SELECT count(*) FROM results")
    return [
        Figure("history, results", count, "results"),
        Figure("   made", made - start, "s"),
        Figure("   rolled up", rolled - made, "s"),
    ]


async def _roll_up(db: Db) -> None:
    """By the product's own hand."""
    rollups = Rollups(db, clock=GivenClock(utc_now))
    while await rollups.turn():
        pass


async def _token(db: Db) -> str:
    """A new one of the team that has the monitors."""
    user_id = uuid7()
    async with db.transaction() as tx:
        team_id = await tx.fetchval("SELECT team_id FROM monitors LIMIT 1")
        await teams.insert_user(tx, team_id, user_id, f"{user_id}@example.com", "Bench", "admin", utc_now())
        return await tokens.issue(
            tx,
            team_id=team_id,
            user_id=user_id,
            name="bench",
            permission=Permission.READ_ONLY,
            now=utc_now(),
            expires_at=None,
        )


@asynccontextmanager
async def _calling(db: Db) -> AsyncIterator[Caller]:
    token = await _token(db)
    transport = Transport(allow_private=False)
    context = Context(
        db=db,
        keyring=Keyring.parse(new_key()),
        signals=Signals(db),
        transport=transport,
        public_url="https://tocsin.example.com",
        min_interval=1,
        now=utc_now,
        plans=dict.fromkeys(PLANS, TeamPlan(per_minute=60_000_000, burst=1_000_000)),
    )
    following = EventStreamHub(db, public_url="https://tocsin.example.com", now=utc_now)
    runner = await serve(make(context, Features(following=following)), "127.0.0.1:0")
    try:
        async with db.connection() as tx:
            rows = await tx.fetch("SELECT id, monitor FROM monitors ORDER BY monitor")
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(url, headers=headers) as session:
            shown = [ids.show("mon", row["id"]) for row in rows]
            yield Caller(session, shown, [row["monitor"] for row in rows], db)
    finally:
        await runner.cleanup()
        await transport.close()


async def _figures(caller: Caller) -> AsyncIterator[Figure]:
    """Medians over many monitors, warm; by HTTP, so with all that it costs."""
    days = "from={}&to={}"
    chance = random.Random(7)

    def any_day() -> str:
        day = utc_now() - timedelta(days=chance.randint(2, DAYS - 3))
        return days.format(iso(day), iso(day + timedelta(days=1)))

    def quarter() -> str:
        return days.format(iso(utc_now() - timedelta(days=DAYS - 2)), iso(utc_now()))

    def one(path: str, query: Callable[[], str]) -> Callable[[], str]:
        return lambda: f"/v1/monitors/{chance.choice(caller.monitors)}/{path}?{query()}"

    def fifty() -> str:
        some = chance.sample(caller.monitors, min(50, len(caller.monitors)))
        return f"/v1/monitors/uptime?days=90&ids={','.join(some)}"

    asked: tuple[tuple[str, Callable[[], str], float | None], ...] = (
        ("newest 100 results", one("results", lambda: "limit=100"), 5),
        ("1,000 results of any day", one("results", lambda: "limit=1000&" + any_day()), 20),
        ("100 results of 90 days", one("results", quarter), None),
        ("100 down results of 90 days", one("results", lambda: "status=down&" + quarter()), None),
        ("stats of 24 h", one("stats", lambda: "step=1h"), 10),
        ("stats of 90 days", one("stats", quarter), 10),
        ("stats of 24 h by 5 minutes", one("stats", lambda: "step=5m"), None),
        ("90 daily uptimes of 50 monitors", fifty, 50),
    )
    for name, path, at_most in asked:
        median = await _median_ms(caller.get, path)
        yield Figure(f"history, {name}", median, "ms", at_most=at_most)
    yield Figure("history, the stats of one monitor", await _summary_ms(caller, chance), "ms")
    yield Figure("history, a day dropped", await _drop_s(caller.db), "s", at_most=1)


async def _median_ms(ask: Callable[[str], Awaitable[object]], what: Callable[[], str]) -> float:
    """Each of some questions is asked once to warm its caches, then again."""
    questions = [what() for _ in range(TIMES)]
    for question in questions:
        await ask(question)
    times: list[float] = []
    for question in questions:
        start = time.perf_counter()
        await ask(question)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


async def _summary_ms(caller: Caller, chance: random.Random) -> float:
    async def ask(number: str) -> object:
        async with caller.db.connection() as tx:
            return await summary(tx, int(number), utc_now())

    return await _median_ms(ask, lambda: str(chance.choice(caller.numbers)))


async def _drop_s(db: Db) -> float:
    """A day in the middle, made again as it was: `--keep` measures it again the next time."""
    day = (utc_now() - timedelta(days=DAYS // 2)).date()
    async with db.transaction() as tx:
        name = (await partitions.before(tx, day + timedelta(days=1)))[-1]
        await tx.execute(f"CREATE TABLE kept_{name} AS TABLE {name}")
    start = time.perf_counter()
    async with db.transaction() as tx:
        await partitions.give_way(tx)
        await partitions.drop(tx, name)
    took = time.perf_counter() - start
    async with db.transaction() as tx:
        await partitions.make(tx, day)
        await tx.execute(f"INSERT INTO results SELECT * FROM kept_{name}")
        await tx.execute(f"DROP TABLE kept_{name}")
    return took


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=USUAL, help="how many to make")
    parser.add_argument("--keep", type=Path, help="a directory for the database, to measure it again")
    options = parser.parse_args(arguments)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    for figure in uvloop.run(_measure(options.results, options.keep)):
        print(figure, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
