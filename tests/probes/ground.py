"""Teams, monitors and probes as rows, for tests of what hands the ones to the others."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.storage.db import Db
from collector.probes.service.sessions import accept
from collector.probes.storage import enrolments
from collector.probes.storage.enrolments import Enrolled
from collector.probes.storage.probes import ProbeDescription, ProbeSignal, note
from shared.clock import utc_now
from shared.ids import uuid7


async def make_team(db: Db, now: datetime) -> int:
    async with db.transaction() as tx:
        team_id: int = await tx.fetchval(
            "INSERT INTO teams (id, name, plan, created_at) VALUES ($1, 'team', 'pro', $2) RETURNING team_id",
            uuid7(),
            now,
        )
    return team_id


async def make_monitors(
    db: Db,
    team_id: int,
    count: int = 1,
    *,
    locations: Sequence[str] = ("local",),
    now: datetime,
    type_: str = "http",
) -> list[int]:
    """Monitors that nobody checks yet; a minute apart, ten seconds each."""
    async with db.transaction() as tx:
        rows = await tx.fetch(
            """
            INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, severity,
                failure_threshold, recovery_threshold, changed_at, created_at, updated_at)
            SELECT $1, id, 'api', $5, '{"url": "https://example.com/"}', 60, 10, $3, 'critical', 3, 1,
                $4, $4, $4
            FROM unnest($2::uuid[]) AS u (id) RETURNING monitor
            """,
            team_id,
            [uuid7() for _ in range(count)],
            list(locations),
            now,
            type_,
        )
    return sorted(row["monitor"] for row in rows)


def newcomer(
    *locations: str,
    probe_id: UUID | None = None,
    boot_id: str = "boot-1",
    incarnations: Sequence[int] = (),
    stands_in: bool = False,
    kinds: Sequence[str] = ("http", "tcp"),
) -> ProbeDescription:
    return ProbeDescription(
        probe_id=probe_id or uuid7(),
        locations=locations,
        kinds=kinds,
        stands_in=stands_in,
        version="0.1.0",
        boot_id=boot_id,
        address="ipv4:127.0.0.1:4711",
        incarnations=incarnations,
    )


async def connect(db: Db, *locations: str, now: datetime, **says: Any) -> UUID:
    """A probe whose session has just begun."""
    probe = newcomer(*locations, **says)
    await enrol(db, probe.probe_id, probe.locations)
    await accept(db, probe, now)
    return probe.probe_id


async def enrol(db: Db, probe_id: UUID, locations: Sequence[str], team_id: int | None = None) -> None:
    """Have the probe known, as its enrolment does; it may stand in."""
    key_hash = hashlib.sha256(probe_id.bytes).digest()
    known = Enrolled(probe_id, team_id, locations, key_hash, None)
    async with db.transaction() as tx:
        await enrolments.put(tx, known, name="probe", may_stand_in=True, now=utc_now())


async def sign(db: Db, probe_id: UUID, at: datetime, *, ended: bool = False) -> None:
    """The probe's session was alive, or ended, at that time."""
    async with db.transaction() as tx:
        session = await tx.fetchval("SELECT session FROM probes WHERE probe_id = $1", probe_id)
        await note(tx, [ProbeSignal(probe_id, session, at, {}, ended=ended)])


async def eventually(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait until *holds* does, for what happens elsewhere and rings no bell here."""
    async with asyncio.timeout(20):
        while not await holds():
            await asyncio.sleep(0.01)


async def fetch(db: Db, sql: str, *args: Any) -> list[dict[str, Any]]:
    async with db.connection() as tx:
        return [dict(row) for row in await tx.fetch(sql, *args)]
