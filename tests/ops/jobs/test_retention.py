"""What is too old goes, in pieces; what is still needed stays, however old it is."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from collector.ops.jobs.retention import Retention
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.ids import uuid7
from tests.probes.ground import connect, fetch, make_monitors, make_team

DAY = timedelta(days=1)
NOW = utc_now().replace(microsecond=0)
RAW, NUMBERS = 30 * DAY, 365 * DAY


def days_ago(days: float) -> datetime:
    return NOW - days * DAY


async def clean(db: Db) -> None:
    """Round by round, until none deletes anything."""
    work = Retention(db, keep=RAW, keep_rollups=NUMBERS, now=lambda: NOW)
    before = None
    while before != (before := await all_rows(db)):
        while await work.turn():
            pass


async def all_rows(db: Db) -> list[dict[str, Any]]:
    tables = await fetch(
        db, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    )
    counts = (f"SELECT '{table['relname']}' AS name, count(*) FROM {table['relname']}" for table in tables)
    return await fetch(db, " UNION ALL ".join(counts))


async def run(db: Db, sql: str, *args: Any) -> None:
    async with db.connection() as tx:
        await tx.execute(sql, *args)


async def count(db: Db, table: str) -> int:
    [row] = await fetch(db, f"SELECT count(*) AS count FROM {table}")
    found: int = row["count"]
    return found


async def a_monitor(db: Db) -> int:
    [monitor] = await make_monitors(db, await make_team(db, NOW), now=NOW)
    return monitor


async def test_numbers_go_by_whole_days_when_they_are_too_old(db: Db) -> None:
    monitor = await a_monitor(db)
    for table in ("rollups_hour", "rollups_day"):
        await run(
            db,
            f"""
            INSERT INTO {table} SELECT $1, 0, at, 1, 1, 0, 0, 1, 5, '{{5}}', '{{1}}', 1, 0
            FROM generate_series($2::timestamptz, $3, interval '1 day') at
            """,
            monitor,
            days_ago(400).replace(hour=0, minute=0, second=0),
            NOW,
        )
    await clean(db)
    midnight = days_ago(365).replace(hour=0, minute=0, second=0)
    for table in ("rollups_hour", "rollups_day"):
        [row] = await fetch(db, f"SELECT min(at) AS at, count(*) FROM {table}")
        assert row == {"at": midnight, "count": 366}


async def test_outages_go_when_all_of_them_is_too_old(db: Db) -> None:
    monitor = await a_monitor(db)
    for start, end in ((500, 400), (399, 300), (200, None)):
        await run(
            db, "INSERT INTO outages VALUES ($1, 0, $2, $3)", monitor, days_ago(start), end and days_ago(end)
        )
    await clean(db)
    rows = await fetch(db, "SELECT started_at FROM outages ORDER BY 1")
    assert [row["started_at"] for row in rows] == [days_ago(399), days_ago(200)]


async def test_the_cadence_that_held_when_results_begin_stays(db: Db) -> None:
    monitor = await a_monitor(db)
    for since in (100, 50, 40, 20, 1):
        await run(db, "INSERT INTO cadences VALUES ($1, $2, 85)", monitor, days_ago(since))
    await clean(db)
    rows = await fetch(db, "SELECT since FROM cadences ORDER BY 1")
    assert [row["since"] for row in rows] == [days_ago(40), days_ago(20), days_ago(1)]


async def test_rows_that_are_not_packed_go_after_ninety_days_however_long_results_stay(db: Db) -> None:
    for at in (days_ago(91), days_ago(89)):
        await run(db, "INSERT INTO result_gaps VALUES ($1, 1, 1, 1, 1, 'full', $2)", uuid7(), at)
    work = Retention(db, keep=400 * DAY, keep_rollups=NUMBERS, now=lambda: NOW)
    while await work.turn():
        pass
    assert [row["at"] for row in await fetch(db, "SELECT at FROM result_gaps")] == [days_ago(89)]


async def test_refused_results_and_gaps_go_in_pieces(db: Db) -> None:
    probe = uuid7()
    for at, first, last in ((days_ago(31), 1, 4_500), (days_ago(29), 4_501, 4_503)):
        await run(
            db,
            """
            INSERT INTO refused_results
            SELECT $1, 1, n, 0, '{}', 'odd', $2 FROM generate_series($3::int, $4) n
            """,
            probe, at, first, last,
        )  # fmt: skip
        await run(
            db,
            "INSERT INTO result_gaps SELECT $1, 1, n, n, 1, 'full', $2 FROM generate_series($3::int, $4) n",
            probe, at, first, last,
        )  # fmt: skip
    await clean(db)
    assert (await count(db, "refused_results"), await count(db, "result_gaps")) == (3, 3)


class Told:
    """A team with a channel, and events of one stream."""

    def __init__(self, db: Db, team_id: int, channel: UUID) -> None:
        self.db, self.team_id, self.channel, self.stream = db, team_id, channel, uuid7()
        self.sequence = 0

    async def event(self, age: float, *, finished: float | None, incident: UUID | None = None) -> UUID:
        """One with a delivery, which is pending unless *finished*."""
        self.sequence += 1
        id_ = uuid7()
        await run(
            self.db,
            """
            INSERT INTO events (team_id, stream_id, sequence, id, kind, payload, incident_id, created_at,
                position)
            VALUES ($1, $2, $3, $4, 'monitor.down', '{}', $6, $5, $3)
            """,
            self.team_id, self.stream, self.sequence, id_, days_ago(age), incident,
        )  # fmt: skip
        await run(
            self.db,
            """
            INSERT INTO deliveries (team_id, id, channel_id, stream_id, sequence, event_id, event_kind,
                status, due_at, created_at, finished_at)
            VALUES ($1, $2, $3, $4, $5, $2, 'monitor.down', $6, $7, $7, $8)
            """,
            self.team_id, id_, self.channel, self.stream, self.sequence, 0 if finished is None else 1,
            days_ago(age), None if finished is None else days_ago(finished),
        )  # fmt: skip
        await run(
            self.db,
            "INSERT INTO delivery_attempts VALUES ($1, $2, 1, $3, 200, 5, NULL)",
            self.team_id, id_, days_ago(age),
        )  # fmt: skip
        return id_


async def told(db: Db, *, routed: int) -> Told:
    team_id = await make_team(db, NOW)
    channel = uuid7()
    await run(
        db,
        """
        INSERT INTO channels (team_id, id, name, type, enabled, config, created_at, updated_at)
        VALUES ($1, $2, 'hook', 'webhook', true, '{}', $3, $3)
        """,
        team_id, channel, NOW,
    )  # fmt: skip
    one = Told(db, team_id, channel)
    await run(db, "INSERT INTO streams VALUES ($1, $2, 9, $3)", team_id, one.stream, routed)
    return one


async def _incident(one: Told, status: str) -> UUID:
    id_ = uuid7()
    await run(
        one.db,
        """
        INSERT INTO incidents (team_id, id, automatic, title, status, severity, started_at,
            created_at, span_from)
        VALUES ($1, $2, true, 'down', $3, 'high', $4, $4, $4)
        """,
        one.team_id, id_, status, days_ago(50),
    )  # fmt: skip
    return id_


async def test_of_events_and_deliveries_those_go_that_nobody_waits_for(db: Db) -> None:
    one = await told(db, routed=6)
    resolved = await _incident(one, "resolved")
    await one.event(40, finished=40)
    await one.event(40, finished=39, incident=resolved)
    pending = await one.event(40, finished=None)
    lately = await one.event(40, finished=2)
    open_ = await one.event(40, finished=40, incident=await _incident(one, "open"))
    young = await one.event(29, finished=29)
    unrouted = await one.event(40, finished=40)
    await clean(db)
    kept = {row["id"] for row in await fetch(db, "SELECT id FROM events")}
    assert kept == {pending, lately, open_, young, unrouted}
    deliveries = {row["id"] for row in await fetch(db, "SELECT id FROM deliveries")}
    assert deliveries == {pending, lately, open_, young}
    assert await count(db, "delivery_attempts") == 4


async def test_of_a_monitor_that_is_gone_nothing_stays(db: Db) -> None:
    there = await a_monitor(db)
    for monitor in (there, 1_000_001, 1_000_002):
        await run(db, "INSERT INTO outages VALUES ($1, 0, $2, NULL)", monitor, NOW)
        await run(db, "INSERT INTO cadences VALUES ($1, $2, 85)", monitor, NOW)
        await run(db, "INSERT INTO rollups_dirty (monitor, at) VALUES ($1, $2)", monitor, NOW)
        for table in ("rollups_hour", "rollups_day"):
            await run(
                db,
                f"INSERT INTO {table} VALUES ($1, 3, $2, 1, 1, 0, 0, 1, 5, '{{5}}', '{{1}}', 1, 0)",
                monitor,
                NOW,
            )
    await clean(db)
    for table in ("outages", "cadences", "rollups_dirty", "rollups_hour", "rollups_day"):
        assert [row["monitor"] for row in await fetch(db, f"SELECT monitor FROM {table}")] == [there]


async def test_the_audit_log_is_kept_for_three_years_whatever_else_is(db: Db) -> None:
    team_id = await make_team(db, NOW)
    for age, entries in ((1096, 2_500), (1094, 3), (0, 1)):
        await run(
            db,
            """
            INSERT INTO audit_log SELECT $1, gen_random_uuid(), $2, 'operator', NULL, 'Operator', NULL, NULL,
                NULL, 'update', 'team', 'team_1', 'Default', '{}' FROM generate_series(1, $3)
            """,
            team_id, days_ago(age), entries,
        )  # fmt: skip
    await clean(db)
    assert await count(db, "audit_log") == 4


async def test_only_the_holder_of_the_lease_cleans(db: Db) -> None:
    first, second = (Retention(db, keep=RAW, keep_rollups=NUMBERS, now=lambda: NOW) for _ in range(2))
    assert await first.turn()
    assert not await second.turn()


async def test_a_round_takes_a_day_of_anything_at_the_most(db: Db) -> None:
    """Whatever made so much too old, such as a clock: there is time to notice."""
    monitor = await a_monitor(db)
    probe = uuid7()
    for day in range(400, 420):
        at = days_ago(day).replace(hour=12)
        await run(db, "INSERT INTO outages VALUES ($1, 0, $2, $2)", monitor, at)
        await run(
            db, "INSERT INTO result_gaps SELECT $1, $3, n, n, 1, 'full', $2 FROM generate_series(1, 3) n",
            probe, at, day,
        )  # fmt: skip
        for table in ("rollups_hour", "rollups_day"):
            await run(
                db,
                f"INSERT INTO {table} VALUES ($1, 0, $2, 1, 1, 0, 0, 1, 5, '{{5}}', '{{1}}', 1, 0)",
                monitor, at.replace(hour=0),
            )  # fmt: skip
    work = Retention(db, keep=RAW, keep_rollups=NUMBERS, now=lambda: NOW)
    for left in (19, 18, 17):
        while await work.turn():
            pass
        assert await count(db, "outages") == left
        assert await count(db, "result_gaps") == 3 * left
        assert await count(db, "rollups_hour") == await count(db, "rollups_day") == left


async def test_times_of_listening_and_maintenance_are_kept_for_more_than_a_year(db: Db) -> None:
    team_id = await make_team(db, NOW)
    for age in (399, 401):
        await run(db, "INSERT INTO listening VALUES ($1, $2, $2)", uuid7(), days_ago(age))
        await run(
            db,
            """
            INSERT INTO maintenance_spans
                (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs)
            VALUES ($1, $2, $3, $3, true, '{}', '{}', '{}')
            """,
            team_id, uuid7(), days_ago(age),
        )  # fmt: skip
    await clean(db)
    assert (await count(db, "listening"), await count(db, "maintenance_spans")) == (1, 1)


async def test_hours_of_probes_are_kept_as_long_as_those_of_monitors(db: Db) -> None:
    probe_id = await connect(db, "eu", now=NOW)
    for age in (364, 366):
        await run(
            db,
            "INSERT INTO agent_metrics_hour VALUES ($1, $2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
            probe_id,
            days_ago(age),
        )
    await clean(db)
    assert await count(db, "agent_metrics_hour") == 1
