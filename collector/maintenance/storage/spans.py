"""Spans of maintenance: when windows are in force, for which monitors, and what changes with them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from collector.history.storage.maintenance import CONCERNS, TIME
from collector.maintenance.core.windows import Selection, WindowSpan
from collector.platform.storage.db import Tx

# The number of adjoining spans that are followed.
_MOST_LINKS = 6


async def active(tx: Tx, monitors: Sequence[int], now: datetime) -> dict[int, datetime]:
    """Return the *monitors* under maintenance, and until when; adjoining spans count as one.

    Only the first few adjoining spans are followed; the rest are found when those end.
    """
    rows = await tx.fetch(
        f"""
        SELECT m.monitor, max(s.ends_at) AS until
        FROM (SELECT * FROM maintenance_spans s WHERE {TIME} @> $2::timestamptz OFFSET 0) s
        JOIN monitors m USING (team_id) WHERE m.monitor = ANY ($1) AND {CONCERNS} GROUP BY m.monitor
        """,
        list(monitors),
        now,
    )
    held = further = {row["monitor"]: row["until"] for row in rows}
    for _ in range(_MOST_LINKS):
        if not further:
            break
        further = await _ends(tx, further)
        held = held | further
    return held


async def _ends(tx: Tx, moments: Mapping[int, datetime]) -> dict[int, datetime]:
    """Return each monitor's last end of the spans at its moment; those without one are left out."""
    rows = await tx.fetch(
        f"""
        SELECT m.monitor, max(s.ends_at) AS until
        FROM unnest($1::int[], $2::timestamptz[]) AS u (monitor, at)
        JOIN maintenance_spans s ON {TIME} @> u.at JOIN monitors m ON m.team_id = s.team_id
        WHERE m.monitor = u.monitor AND {CONCERNS} GROUP BY m.monitor
        """,
        list(moments),
        list(moments.values()),
    )
    return {row["monitor"]: row["until"] for row in rows}


async def lay(
    tx: Tx, team_id: int, window_id: UUID, spans: Iterable[WindowSpan], selection: Selection, now: datetime
) -> None:
    """Add *spans*; the hours of one that begins in the past are recomputed."""
    once = {span.starts_at: span for span in spans}
    await tx.execute(
        """
        INSERT INTO maintenance_spans AS s
            (team_id, window_id, starts_at, ends_at, every, monitors, names, pairs, recount_until)
        SELECT $1, $2, u.starts_at, u.ends_at, $5, $6, $7, $8, CASE WHEN u.starts_at < $9 THEN $9 END
        FROM unnest($3::timestamptz[], $4::timestamptz[]) AS u (starts_at, ends_at)
        ON CONFLICT (team_id, window_id, starts_at)
            DO UPDATE SET ends_at = greatest(s.ends_at, excluded.ends_at)
        """,
        team_id,
        window_id,
        list(once),
        [span.ends_at for span in once.values()],
        *_selected(selection),
        now,
    )


async def end(tx: Tx, team_id: int, window_id: UUID, now: datetime) -> bool:
    """End the running span; return whether there was one."""
    ended = await tx.execute(
        """
        UPDATE maintenance_spans SET ends_at = $3
        WHERE team_id = $1 AND window_id = $2 AND starts_at <= $3 AND ends_at > $3
        """,
        team_id,
        window_id,
        now,
    )
    return ended != "UPDATE 0"


async def cut(tx: Tx, team_id: int, window_id: UUID, now: datetime) -> None:
    """End the running span, and delete those that have not begun."""
    await tx.execute(
        "DELETE FROM maintenance_spans WHERE team_id = $1 AND window_id = $2 AND starts_at >= $3",
        team_id,
        window_id,
        now,
    )
    await end(tx, team_id, window_id, now)


async def reselect(tx: Tx, team_id: int, window_id: UUID, selection: Selection, now: datetime) -> None:
    """Change the monitors from now on; the rest of a running span becomes a span of its own."""
    until = await tx.fetchval(
        """
        SELECT max(ends_at) FROM maintenance_spans
        WHERE team_id = $1 AND window_id = $2 AND starts_at < $3 AND ends_at > $3
        """,
        team_id,
        window_id,
        now,
    )
    await tx.execute(
        """
        UPDATE maintenance_spans SET every = $4, monitors = $5, names = $6, pairs = $7
        WHERE team_id = $1 AND window_id = $2 AND starts_at >= $3
        """,
        team_id,
        window_id,
        now,
        *_selected(selection),
    )
    if until is not None:
        await end(tx, team_id, window_id, now)
        await lay(tx, team_id, window_id, [WindowSpan(now, until)], selection, now)


async def coming(
    tx: Tx, team_id: int, window_ids: Sequence[UUID], now: datetime, limit: int
) -> dict[UUID, list[WindowSpan]]:
    """Return the next spans of each window that are not over, by their starts."""
    rows = await tx.fetch(
        """
        SELECT w.id, s.starts_at, s.ends_at FROM unnest($2::uuid[]) AS w (id) CROSS JOIN LATERAL (
            SELECT starts_at, ends_at FROM maintenance_spans
            WHERE team_id = $1 AND window_id = w.id AND ends_at > $3 ORDER BY starts_at LIMIT $4
        ) s
        ORDER BY s.starts_at
        """,
        team_id,
        list(window_ids),
        now,
        limit,
    )
    found: dict[UUID, list[WindowSpan]] = {id_: [] for id_ in window_ids}
    for row in rows:
        found[row["id"]].append(WindowSpan(row["starts_at"], row["ends_at"]))
    return found


async def of_monitor(
    tx: Tx, monitor: int, since: datetime, until: datetime
) -> list[tuple[datetime, datetime]]:
    """Return the spans that apply to the monitor and overlap the window, oldest first."""
    rows = await tx.fetch(
        f"""
        SELECT s.starts_at, s.ends_at FROM monitors m JOIN maintenance_spans s USING (team_id)
        WHERE m.monitor = $1 AND {TIME} && tstzrange($2, $3) AND {CONCERNS}
        ORDER BY s.starts_at LIMIT 500
        """,
        monitor,
        since,
        until,
    )
    return [(row["starts_at"], row["ends_at"]) for row in rows]


async def concerns_any(tx: Tx, team_id: int, selection: Selection) -> bool:
    """Whether *selection* matches any monitor now."""
    found: bool = await tx.fetchval(
        f"""
        SELECT EXISTS (
            SELECT FROM monitors m, (
                SELECT $2::boolean AS every, $3::uuid[] AS monitors, $4::text[] AS names, $5::jsonb[] AS pairs
            ) s
            WHERE m.team_id = $1 AND {CONCERNS}
        )
        """,
        team_id,
        *_selected(selection),
    )
    return found


async def recount(tx: Tx, since: datetime, limit: int) -> bool:
    """Mark hours of some monitors for recomputation after a span was added later; return whether any was.

    *since*: hours before it cannot be recomputed.
    """
    marked = await tx.fetchval(
        f"""
        WITH due AS (
            SELECT * FROM maintenance_spans WHERE recount_until IS NOT NULL LIMIT 1 FOR UPDATE SKIP LOCKED
        ), few AS (
            SELECT m.monitor FROM due s JOIN monitors m USING (team_id)
            WHERE m.monitor > s.recount_after AND {CONCERNS} ORDER BY m.monitor LIMIT $2
        ), marks AS (
            INSERT INTO rollups_dirty (monitor, at)
            SELECT few.monitor, hour FROM due CROSS JOIN few CROSS JOIN LATERAL generate_series(
                date_trunc('hour', greatest(due.starts_at, $1), 'UTC'),
                least(due.ends_at, due.recount_until) - interval '1 microsecond', interval '1 hour'
            ) AS hour
        )
        UPDATE maintenance_spans s SET recount_after = coalesce((SELECT max(monitor) FROM few), 0),
            recount_until = CASE WHEN (SELECT count(*) FROM few) = $2 THEN s.recount_until END
        FROM due WHERE (s.team_id, s.window_id, s.starts_at) = (due.team_id, due.window_id, due.starts_at)
        RETURNING true
        """,
        since,
        limit,
    )
    return bool(marked)


def _selected(selection: Selection) -> tuple[bool, list[UUID], list[str], list[dict[str, str]]]:
    return selection.every, list(selection.monitors), selection.names, selection.pairs
