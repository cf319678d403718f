"""What is kept no longer: each function deletes a bounded number of rows and says how many it were."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from collector.storage.db import Tx

_HISTORY = ("results", "failures", "outages", "cadences", "rollups_dirty", "rollups_hour", "rollups_day")


async def forget(tx: Tx, monitors: Sequence[int]) -> None:
    """All history of monitors that are gone."""
    for table in _HISTORY:
        await tx.execute(f"DELETE FROM {table} WHERE monitor = ANY($1)", monitors)


async def gone(
    tx: Tx, after: int, limit: int, table: Literal["rollups_day", "ping_bodies"] = "rollups_day"
) -> tuple[list[int], int | None]:
    """Of the next monitors after *after* that are in *table*, those that are gone; None when no more follow.

    A deletion leaves history behind when its collector dies in it, or when others were just adding some.
    """
    rows = await tx.fetch(
        f"""
        WITH RECURSIVE past (monitor) AS (
            SELECT (SELECT min(monitor) FROM {table} WHERE monitor > $1)
            UNION ALL
            SELECT (SELECT min(r.monitor) FROM {table} r WHERE r.monitor > past.monitor)
            FROM past WHERE past.monitor IS NOT NULL
        ), next AS (SELECT monitor FROM past WHERE monitor IS NOT NULL LIMIT $2)
        SELECT next.monitor, m.monitor IS NULL AS gone FROM next LEFT JOIN monitors m USING (monitor)
        ORDER BY next.monitor
        """,
        after,
        limit,
    )
    there = [row["monitor"] for row in rows]
    return [row["monitor"] for row in rows if row["gone"]], there[-1] if len(there) == limit else None


async def gone_otherwise(tx: Tx, limit: int) -> list[int]:
    """Some monitors that are gone and have outages, cadences or marks, be it without rollups."""
    rows = await tx.fetch(
        """
        SELECT monitor FROM (
            SELECT monitor FROM cadences
            UNION SELECT monitor FROM outages
            UNION SELECT monitor FROM rollups_dirty
        ) past
        WHERE NOT EXISTS (SELECT FROM monitors m WHERE m.monitor = past.monitor) LIMIT $1
        """,
        limit,
    )
    return [row["monitor"] for row in rows]


async def rollups(tx: Tx, monitors: Sequence[int], before: datetime) -> None:
    """Numbers of these monitors from before *before*, a day's beginning."""
    for table in ("rollups_hour", "rollups_day"):
        await tx.execute(
            f"""
            DELETE FROM {table} r
            USING unnest($1::int[]) AS u (monitor), (SELECT location FROM locations UNION ALL SELECT 0) l
            WHERE r.monitor = u.monitor AND r.location = l.location AND r.at < $2
            """,
            monitors,
            before,
        )


async def outages(tx: Tx, before: datetime, limit: int) -> int:
    """Outages that ended before *before*."""
    return await _delete(tx, "outages", "ended_at < $1", before, limit)


async def cadences(tx: Tx, before: datetime, limit: int) -> int:
    """Cadences that held before *before* only."""
    later = (
        "EXISTS (SELECT FROM cadences c WHERE c.monitor = t.monitor AND c.since > t.since AND c.since <= $1)"
    )
    return await _delete(tx, "cadences", later, before, limit)


async def failures(tx: Tx, before: datetime, limit: int) -> int:
    """What failed checks saw, of streaks whose last of them was before *before*."""
    return await _delete(tx, "failures", "at < $1", before, limit)


async def refused(tx: Tx, before: datetime, limit: int) -> int:
    """Refused results, with their reasons."""
    return await _delete(tx, "refused_results", "at < $1", before, limit)


async def gaps(tx: Tx, before: datetime, limit: int) -> int:
    """What probes told of lost results."""
    return await _delete(tx, "result_gaps", "at < $1", before, limit)


async def probes(tx: Tx, before: datetime, limit: int) -> int:
    """Probes that nobody heard of since *before* and that cannot come back by themselves.

    Those that were revoked stay: they are to be known if they ask to join again.
    """
    gone = """
        coalesce(seen_at, created_at) < $1 AND revoked_at IS NULL
        AND NOT EXISTS (SELECT FROM states s WHERE s.probe_id = t.probe_id)
        AND NOT EXISTS (SELECT FROM probe_certificates c WHERE c.probe_id = t.probe_id AND c.not_after >= $1)
    """
    return await _delete(tx, "probes", gone, before, limit)


async def deliveries(tx: Tx, before: datetime, limit: int) -> int:
    """Deliveries that were finished before *before*, with their attempts; not those of open incidents."""
    finished = f"""
        status <> 0 AND finished_at < $1 AND NOT EXISTS (
            SELECT FROM events e WHERE e.team_id = t.team_id AND e.id = t.event_id AND {_OPEN}
        )
    """
    return await _delete(tx, "deliveries", finished, before, limit)


async def events(tx: Tx, before: datetime, limit: int) -> int:
    """Events from before *before* that were routed and have no delivery left; not those of open incidents."""
    told = f"""
        created_at < $1 AND NOT {_OPEN.replace("e.", "t.")}
        AND NOT EXISTS (SELECT FROM deliveries d WHERE d.team_id = t.team_id AND d.event_id = t.id)
        AND EXISTS (
            SELECT FROM streams s
            WHERE s.team_id = t.team_id AND s.stream_id = t.stream_id AND s.routed >= t.sequence
        )
    """
    return await _delete(tx, "events", told, before, limit)


async def audit(tx: Tx, before: datetime, limit: int) -> int:
    """Entries of the audit log from before *before*; the database keeps each for three years at least."""
    return await _delete(tx, "audit_log", "at < least($1, now() - interval '1095 days')", before, limit)


# Who was told of an incident hears of its end, however long it lasts.
_OPEN = """
    EXISTS (
        SELECT FROM incidents i
        WHERE i.team_id = e.team_id AND i.id = e.incident_id AND i.status <> 'resolved'
    )
"""


async def _delete(tx: Tx, table: str, which: str, before: datetime, limit: int) -> int:
    tag = await tx.execute(
        f"""
        DELETE FROM {table} WHERE ctid = ANY(ARRAY(
            SELECT t.ctid FROM {table} t WHERE {which} LIMIT $2 FOR UPDATE SKIP LOCKED
        ))
        """,
        before,
        limit,
    )
    return int(tag.split()[-1])
