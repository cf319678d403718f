"""A monitor or more, a probe with a session, and batches to submit: what the writer's tests stand on."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.evaluation.evaluate import NO_REQUESTS, CheckRequests
from collector.evaluation.watched_results import NOTHING_WATCHED, WatchedResults
from collector.evaluation.writer import ResultWriter, Submission
from collector.history.storage import partitions
from collector.platform.committed_events import commit_hook
from collector.platform.storage.db import Db, Tx
from shared.clock import EPOCH, utc_now
from shared.ids import uuid7
from shared.loop import Bell, forever
from shared.results import Run, Status
from shared.wire.convert import Batch, Gap
from tests.clocks import GivenClock


@dataclass(slots=True)
class World:
    """One team, one probe; *assignments* by (monitor, location)."""

    db: Db
    team_id: int
    probe_id: UUID
    session: int
    monitors: list[int]
    ids: dict[int, UUID]
    locations: dict[str, int]
    assignments: dict[tuple[int, int], int] = field(default_factory=dict)
    incarnation: int = 7
    seq: int = 0
    told: int = 0  # commits that appended events

    def __post_init__(self) -> None:
        self.db.pass_on = commit_hook(self._tell, lambda: None)

    def _tell(self) -> None:
        self.told += 1

    async def fetch(self, sql: str, *args: Any) -> list[dict[str, Any]]:
        async with self.db.connection() as connection:
            return [dict(row) for row in await connection.fetch(sql, *args)]

    async def value(self, sql: str, *args: Any) -> Any:
        async with self.db.connection() as connection:
            return await connection.fetchval(sql, *args)

    async def run(self, sql: str, *args: Any) -> None:
        async with self.db.connection() as connection:
            await connection.execute(sql, *args)

    def batch(
        self,
        *statuses: Status,
        monitor: int | None = None,
        location: str = "local",
        error: str = "connect: refused by 127.0.0.1:1",
        ago: timedelta = timedelta(seconds=1),
        seq: int | None = None,
        now: datetime | None = None,
    ) -> Submission:
        """The next batch: *statuses* of one monitor, a millisecond apart, the last *ago*."""
        monitor = monitor or self.monitors[0]
        where = self.locations[location]
        keys = [(monitor, where)] * len(statuses)
        return self.batch_of(keys, statuses, error=error, ago=ago, seq=seq, now=now)

    def batch_of(
        self,
        keys: Sequence[tuple[int, int]],
        statuses: Sequence[Status],
        *,
        error: str = "timeout",
        ago: timedelta = timedelta(seconds=1),
        seq: int | None = None,
        now: datetime | None = None,
    ) -> Submission:
        if seq is None:
            self.seq += 1
            seq = self.seq
        count = len(keys)
        base = int(((now or utc_now()) - ago - EPOCH).total_seconds() * 1e6)
        bad = any(status is Status.DOWN for status in statuses)
        return Submission(
            self.session,
            self.probe_id,
            Batch(
                incarnation=self.incarnation,
                first_seq=seq,
                seq=seq,
                boot_id="boot",
                base_us=base,
                wall_us=base,
                monitor=[monitor for monitor, _ in keys],
                location=[location for _, location in keys],
                assignment=[self.assignments.get(key, 1) for key in keys],
                revision=[1] * count,
                run=[Run.SCHEDULED] * count,
                start_us=[-1000 * (count - 1 - i) for i in range(count)],
                duration_us=[2500] * count,
                outcome=list(statuses),
                code=[200 if status is Status.UP else 0 for status in statuses],
                phases=[b"\x01\x02\x03"] * count,
                error=[1 if status is Status.DOWN else 0 for status in statuses],
                errors=[error] if bad else [],
            ),
            offset_us=0,
        )

    def gap(self, batches: int, results: int, reason: str = "spool full") -> Submission:
        first = self.seq + 1
        self.seq += batches
        lost = Gap(results, reason)
        batch = Batch(self.incarnation, first, self.seq, boot_id="boot", base_us=0, wall_us=0, gap=lost)
        return Submission(self.session, self.probe_id, batch, offset_us=0)


async def make_world(db: Db, *, monitors: int = 1, locations: Sequence[str] = ("local",)) -> World:
    """Monitors at every one of *locations*, all assigned to one probe that is connected now."""
    now = utc_now()
    async with db.transaction() as tx:
        await partitions.make(tx, now.date())
        team_id = await tx.fetchval(
            "INSERT INTO teams (id, name, plan, created_at) VALUES ($1, 'team', 'pro', $2) RETURNING team_id",
            uuid7(),
            now,
        )
        probe_id, session = await _make_probe(tx, locations, now)
        ids = await _make_monitors(tx, team_id, monitors, locations, now)
        numbers = await tx.fetch(
            "INSERT INTO locations (name) SELECT unnest($1::text[]) RETURNING name, location", list(locations)
        )
        states = await tx.fetch(
            """
            INSERT INTO states (monitor, location, turn, revision, assignment, probe_id)
            SELECT m, l, row_number() OVER (PARTITION BY m ORDER BY l), 1, nextval('assignment_numbers'), $3
            FROM unnest($1::int[]) AS m, unnest($2::smallint[]) AS l RETURNING monitor, location, assignment
            """,
            list(ids),
            [row["location"] for row in numbers],
            probe_id,
        )
    world = World(
        db,
        team_id,
        probe_id,
        session,
        sorted(ids),
        ids,
        {row["name"]: row["location"] for row in numbers},
        {(row["monitor"], row["location"]): row["assignment"] for row in states},
    )
    await new_incarnation(world, world.incarnation)
    return world


async def _make_probe(tx: Tx, locations: Sequence[str], now: datetime) -> tuple[UUID, int]:
    probe_id = uuid7()
    session: int = await tx.fetchval("SELECT nextval('session_numbers')")
    await tx.execute(
        """
        INSERT INTO probes (probe_id, name, locations, session, seen_at, connected_at, created_at)
        VALUES ($1, 'probe', $2, $3, $4, $4, $4)
        """,
        probe_id,
        list(locations),
        session,
        now,
    )
    return probe_id, session


async def _make_monitors(
    tx: Tx, team_id: int, count: int, locations: Sequence[str], now: datetime
) -> dict[int, UUID]:
    rows = await tx.fetch(
        """
        INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, severity,
            failure_threshold, recovery_threshold, changed_at, created_at, updated_at)
        SELECT $1, id, 'api ' || n, 'http', '{"url": "https://example.com/"}', 60, 10, $3, 'critical',
            3, 1, $4, $4, $4
        FROM unnest($2::uuid[]) WITH ORDINALITY AS u (id, n) RETURNING monitor, id
        """,
        team_id,
        [uuid7() for _ in range(count)],
        list(locations),
        now,
    )
    return {row["monitor"]: row["id"] for row in rows}


async def new_incarnation(world: World, incarnation: int) -> None:
    """The probe process was started anew: batches are from this incarnation on."""
    await world.run(
        "INSERT INTO probe_cursors (probe_id, incarnation, session, moved_at) VALUES ($1, $2, $3, now())",
        world.probe_id,
        incarnation,
        world.session,
    )
    world.incarnation, world.seq = incarnation, 0


@asynccontextmanager
async def writing(
    world: World,
    now: Callable[[], datetime] = utc_now,
    since: Callable[[], datetime | None] = lambda: utc_now() - timedelta(hours=1),
    opinions: CheckRequests = NO_REQUESTS,
    watch: WatchedResults = NOTHING_WATCHED,
    findings: Bell | None = None,
) -> AsyncIterator[ResultWriter]:
    """A writer at work, started long ago."""

    writer = ResultWriter(
        world.db, clock=GivenClock(now, since), opinions=opinions, watch=watch, findings=findings
    )
    task = asyncio.create_task(forever("writer", writer.turn, timedelta(milliseconds=10)))
    try:
        yield writer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
