"""Deletes expired rows, a little at a time, and never more than a day of anything at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from collector.platform.storage.db import Tx


async def gone(
    tx: Tx, after: int, limit: int, table: Literal["rollups_day", "ping_bodies"] = "rollups_day"
) -> tuple[list[int], int | None]:
    """The deleted ones among the next monitors in *table*; None: no more follow.

    History remains if a collector dies during a deletion, or if rows were inserted at that time.
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
    """Some deleted monitors that still have outages, cadences or marks, even without rollups."""
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
    """Delete rollups of these monitors before *before*, the start of a day: the oldest day of each."""
    for table in ("rollups_hour", "rollups_day"):
        await tx.execute(
            f"""
            DELETE FROM {table} r
            USING unnest($1::int[]) AS u (monitor), (SELECT location FROM locations UNION ALL SELECT 0) l,
                LATERAL (
                    SELECT o.at FROM {table} o WHERE o.monitor = u.monitor AND o.location = l.location
                    ORDER BY o.at LIMIT 1
                ) oldest
            WHERE r.monitor = u.monitor AND r.location = l.location AND r.at < $2
                AND r.at < date_trunc('day', oldest.at, 'UTC') + interval '1 day'
            """,
            monitors,
            before,
        )


@dataclass(frozen=True, slots=True)
class _Expiry:
    """Rows to delete individually: those whose *age*, a time, is before $1 and that meet *others*.

    In *others*, $2 is the time limit of the retention; $1 is at most a day after the oldest row.
    """

    table: str
    age: str
    others: str = "true"


# Whoever was notified of an incident learns of its end, however long it lasts.
_OPEN: Final = """
    EXISTS (
        SELECT FROM incidents i
        WHERE i.team_id = {}.team_id AND i.id = {}.incident_id AND i.status <> 'resolved'
    )
"""
_ROWS: Final[Mapping[str, _Expiry]] = {
    "outages": _Expiry("outages", "t.ended_at"),
    # Expired cadences, since the next one began.
    "cadences": _Expiry(
        "cadences", "(SELECT min(c.since) FROM cadences c WHERE c.monitor = t.monitor AND c.since > t.since)"
    ),
    "refused": _Expiry("refused_results", "t.at"),
    "gaps": _Expiry("result_gaps", "t.at"),
    "chain_logs": _Expiry("web3_logs", "t.found_at"),
    # Responses of failed checks in streaks that are too old.
    "failures": _Expiry("failures", "t.at"),
    # Probes that cannot return without enrolling. Revoked ones stay, to be recognized.
    "probes": _Expiry(
        "probes",
        "coalesce(t.seen_at, t.created_at)",
        """
        t.revoked_at IS NULL AND NOT EXISTS (SELECT FROM states s WHERE s.probe_id = t.probe_id)
        AND NOT EXISTS (SELECT FROM probe_certificates c WHERE c.probe_id = t.probe_id AND c.not_after >= $2)
        """,
    ),
    "deliveries": _Expiry(
        "deliveries",
        "t.finished_at",
        f"""
        t.status <> 0 AND NOT EXISTS (
            SELECT FROM events e
            WHERE e.team_id = t.team_id AND e.id = t.event_id AND {_OPEN.format("e", "e")}
        )
        """,
    ),
    # Events that were routed and have no deliveries left.
    "events": _Expiry(
        "events",
        "t.created_at",
        f"""
        NOT {_OPEN.format("t", "t")}
        AND NOT EXISTS (SELECT FROM deliveries d WHERE d.team_id = t.team_id AND d.event_id = t.id)
        AND EXISTS (
            SELECT FROM streams s
            WHERE s.team_id = t.team_id AND s.stream_id = t.stream_id AND s.routed >= t.sequence
        )
        """,
    ),
    # Recovered alerts. Those of an open incident show who was notified; those still due for evaluation
    # keep their rule from firing.
    "alerts": _Expiry(
        "alerts",
        "t.recovered_at",
        f"t.status = 'recovered' AND t.due_at IS NULL AND NOT {_OPEN.format('t', 't')}",
    ),
    # Independently of the argument, every entry is kept for three years.
    "audit": _Expiry("audit_log", "t.at", "t.at < now() - interval '1095 days'"),
    "answers": _Expiry("idempotency_keys", "t.created_at"),
    "ping_bodies": _Expiry("ping_bodies", "t.ts"),
    "agent_metrics": _Expiry("agent_metrics_hour", "t.at"),
    "listening": _Expiry("listening", "t.until"),
    "maintenance": _Expiry("maintenance_spans", "t.ends_at"),
    # Error texts that no result can reference; a paused monitor's state still may.
    "errors": _Expiry(
        "errors", "t.seen_at", "NOT EXISTS (SELECT FROM states s WHERE s.last_error = t.error)"
    ),
}


async def rows(tx: Tx, what: str, before: datetime, limit: int) -> int:
    """Delete rows older than *before*, only of the first day that has any; return their number."""
    old = _ROWS[what]
    oldest: datetime | None = await tx.fetchval(
        f"""
        SELECT date_trunc('day', {old.age}, 'UTC') FROM {old.table} t
        WHERE {old.age} < least($1::timestamptz, $2) AND {old.others} ORDER BY {old.age} LIMIT 1
        """,
        before,
        before,
    )
    if oldest is None:
        return 0
    tag = await tx.execute(
        f"""
        DELETE FROM {old.table} WHERE ctid = ANY(ARRAY(
            SELECT t.ctid FROM {old.table} t WHERE {old.age} < least($1::timestamptz, $2) AND {old.others}
            LIMIT $3 FOR UPDATE SKIP LOCKED
        ))
        """,
        oldest + timedelta(days=1),
        before,
        limit,
    )
    return int(tag.split()[-1])
