"""What an SLO measures: sums of hours and days, and the outages of several monitors together."""

from collections.abc import Sequence
from datetime import datetime

from collector.history.core.uptime import Span
from collector.history.core.window import Between
from collector.history.storage.maintenance import CONCERNS, TIME
from collector.platform.storage.db import Tx
from collector.slos.core.budget import Cell


async def rolled_until(tx: Tx) -> datetime | None:
    """Return the end of the last hour that is rolled up; None without any."""
    until: datetime | None = await tx.fetchval("SELECT until FROM rollups_done")
    return until


def _sums(table: str, length: str, since: str, until: str) -> str:
    return f"""
        SELECT r.monitor, r.at, r.at + interval '{length}' AS until, r.known_ms, r.down_ms, r.good, r.failed,
            r.answers, CASE WHEN $2::int IS NULL THEN 0 ELSE coalesce((
                SELECT sum(u.count) FROM unnest(r.buckets, r.counts) u (bucket, count) WHERE u.bucket > $2
            ), 0) END::int AS slow
        FROM unnest($1::int[]) m (monitor)
        CROSS JOIN unnest({since}::timestamptz[], {until}::timestamptz[]) s (since, until)
        CROSS JOIN LATERAL (
            SELECT * FROM {table} r WHERE r.monitor = m.monitor AND r.location = 0
                AND r.at >= s.since AND r.at < s.until OFFSET 0
        ) r
    """


async def cells(
    tx: Tx, monitors: Sequence[int], bucket: int | None, days: Sequence[Between], hours: Sequence[Between]
) -> list[Cell]:
    """Return the cells of whole *days* and *hours*; checks in a bucket above *bucket* are slow."""
    rows = await tx.fetch(
        f"""
        {_sums("rollups_day", "1 day", "$3", "$4")}
        UNION ALL {_sums("rollups_hour", "1 hour", "$5", "$6")}
        """,
        list(monitors),
        bucket,
        [since for since, _ in days],
        [until for _, until in days],
        [since for since, _ in hours],
        [until for _, until in hours],
    )
    return [Cell(*row) for row in rows]


async def outages(tx: Tx, monitors: Sequence[int], since: datetime, until: datetime) -> list[Span]:
    """Return the union of the outages of all monitors, each without its maintenance, in Unix milliseconds."""
    rows = await tx.fetch(
        f"""
        WITH down AS (
            SELECT monitor, range_agg(tstzrange(started_at, coalesce(ended_at, $3))) AS spans FROM outages
            WHERE monitor = ANY ($1) AND location = 0 AND started_at < $3
                AND (ended_at IS NULL OR ended_at > $2)
            GROUP BY monitor
        ), maintained AS (
            SELECT m.monitor, range_agg({TIME}) AS spans
            FROM maintenance_spans s JOIN monitors m ON m.team_id = s.team_id AND {CONCERNS}
            WHERE {TIME} && tstzrange($2, $3) AND m.monitor = ANY ($1) GROUP BY m.monitor
        ), parts AS (
            SELECT unnest(d.spans - coalesce(m.spans, '{{}}'::tstzmultirange)) AS part
            FROM down d LEFT JOIN maintained m USING (monitor)
        )
        SELECT (extract(epoch FROM lower(u)) * 1000)::bigint AS since,
            (extract(epoch FROM upper(u)) * 1000)::bigint AS until
        FROM (SELECT unnest(range_agg(part)) AS u FROM parts) together ORDER BY 1
        """,
        list(monitors),
        since,
        until,
    )
    return [(row["since"], row["until"]) for row in rows]
