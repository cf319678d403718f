"""Probes that went offline before such notifications existed cause none after an upgrade."""

from datetime import timedelta

import asyncpg

from collector.platform.storage.migrate import known, migrate
from shared.clock import utc_now
from shared.ids import uuid7

NOW = utc_now()


async def test_those_gone_for_an_hour_are_called_offline_already(empty_database_url: str) -> None:
    await migrate(empty_database_url, NOW, [each for each in known() if each.version < 6])
    gone, here, never = uuid7(), uuid7(), uuid7()
    connection = await asyncpg.connect(empty_database_url)
    try:
        for probe_id, seen_at in ((gone, NOW - timedelta(days=30)), (here, NOW), (never, None)):
            await connection.execute(
                """
                INSERT INTO probes (probe_id, name, locations, session, seen_at, created_at)
                VALUES ($1, 'probe', '{eu}', 1, $2, $3)
                """,
                probe_id,
                seen_at,
                NOW,
            )
        await migrate(empty_database_url, NOW)
        rows = await connection.fetch("SELECT probe_id, offline FROM agent_metrics")
    finally:
        await connection.close()
    assert [tuple(row) for row in rows] == [(gone, "lost")]
