"""A database of the version before history keeps what it knew of outages when it is brought up to date."""

from datetime import datetime, timedelta
from typing import Any

import asyncpg

from collector.platform.storage.migrate import known, migrate
from shared.clock import utc_now
from shared.ids import uuid7

NOW = utc_now().replace(microsecond=0)
MINUTE = timedelta(minutes=1)


def ago(minutes: int) -> datetime:
    return NOW - minutes * MINUTE


async def _monitor(connection: Any, team_id: int, *, down: bool, paused_at: datetime | None = None) -> Any:
    return await connection.fetchrow(
        """
        INSERT INTO monitors (team_id, id, name, type, config, interval_s, timeout_s, locations, severity,
            failure_threshold, recovery_threshold, down, changed_at, created_at, updated_at, paused_at)
        VALUES ($1, $2, 'api', 'http', '{}', 60, 10, '{local}', 'high', 3, 1, $3, $4, $5, $5, $6)
        RETURNING monitor, id
        """,
        team_id, uuid7(), down, ago(9), ago(500), paused_at,
    )  # fmt: skip


async def _incident(connection: Any, team_id: int, monitor_id: Any, start: int, end: int | None) -> None:
    await connection.execute(
        """
        INSERT INTO incidents (team_id, id, monitor_id, automatic, title, status, severity, started_at,
            created_at, span_from, resolved_at)
        VALUES ($1, $2, $3, true, 'down', $4, 'high', $5, $5, $5, $6)
        """,
        team_id,
        uuid7(),
        monitor_id,
        "open" if end is None else "resolved",
        ago(start),
        None if end is None else ago(end),
    )


async def test_outages_and_cadences_are_made_of_what_was_there(empty_database_url: str) -> None:
    await migrate(empty_database_url, NOW, [each for each in known() if each.version == 1])
    connection = await asyncpg.connect(empty_database_url)
    try:
        team_id = await connection.fetchval(
            "INSERT INTO teams (id, name, plan, created_at) VALUES ($1, 'team', 'pro', $2) RETURNING team_id",
            uuid7(),
            NOW,
        )
        down = await _monitor(connection, team_id, down=True)
        by_hand = await _monitor(connection, team_id, down=True)
        up = await _monitor(connection, team_id, down=False, paused_at=ago(3))
        for monitor, start, end in (
            (down, 100, 90),
            (down, 95, 80),
            (down, 20, None),
            (by_hand, 20, 10),
            (up, 50, None),
            (up, 60, 55),
        ):
            await _incident(connection, team_id, monitor["id"], start, end)
        location = await connection.fetchval(
            "INSERT INTO locations (name) VALUES ('local') RETURNING location"
        )
        await connection.execute(
            """
            INSERT INTO states (monitor, location, turn, revision, failing, failed_since)
            VALUES ($1, $2, 0, 1, true, $3)
            """,
            down["monitor"], location, ago(25),
        )  # fmt: skip
        await migrate(empty_database_url, NOW)
        outages = await connection.fetch("SELECT * FROM outages ORDER BY monitor, location, started_at")
        assert [tuple(row) for row in outages] == [
            (down["monitor"], 0, ago(100), ago(80)),
            (down["monitor"], 0, ago(20), None),
            (down["monitor"], location, ago(25), None),
            (by_hand["monitor"], 0, ago(20), ago(10)),
            (by_hand["monitor"], 0, ago(9), None),
            (up["monitor"], 0, ago(60), ago(55)),
        ]
        cadences = await connection.fetch("SELECT * FROM cadences WHERE monitor = $1", up["monitor"])
        assert [tuple(row) for row in cadences] == [
            (up["monitor"], ago(500), 85),
            (up["monitor"], ago(3), None),
        ]
    finally:
        await connection.close()
