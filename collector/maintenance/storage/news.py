"""Maintenance windows that start or end: what to announce, and what was announced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from collector.events.core.payloads import EventWindow
from collector.history.storage.maintenance import TIME
from collector.platform.answer_json import encode
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class StartedWindow:
    """A window in force, and its end as currently scheduled."""

    team_id: int
    window_id: UUID
    name: str
    description: str
    every: bool
    monitors: Sequence[UUID]
    tags: Mapping[str, str] | Sequence[str]
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class EndedWindow:
    """A window that was in force; *shown* is its data as announced at the start."""

    team_id: int
    window_id: UUID
    shown: Mapping[str, Any]
    ended_at: datetime


async def begun(tx: Tx, now: datetime, limit: int) -> list[StartedWindow]:
    """Windows in force whose start was not announced."""
    rows = await tx.fetch(
        f"""
        SELECT w.team_id, w.id AS window_id, w.name, w.description, w.every, w.monitors, w.tags,
            s.starts_at, s.ends_at
        FROM (
            SELECT s.team_id, s.window_id, min(s.starts_at) AS starts_at, max(s.ends_at) AS ends_at
            FROM maintenance_spans s WHERE {TIME} @> $1::timestamptz GROUP BY s.team_id, s.window_id
        ) s
        JOIN maintenance_windows w ON w.team_id = s.team_id AND w.id = s.window_id
        WHERE NOT EXISTS (
            SELECT FROM maintenance_underway u
            WHERE u.team_id = w.team_id AND u.window_id = w.id AND (NOT u.over OR u.ends_at >= s.ends_at)
        )
        ORDER BY w.team_id, w.id LIMIT $2
        """,
        now,
        limit,
    )
    return [StartedWindow(**row) for row in rows]


async def note(tx: Tx, begun: Sequence[StartedWindow], shown: Sequence[EventWindow]) -> set[tuple[int, UUID]]:
    """Record these starts; return those that must be announced, by team and window: new in this call."""
    rows = await tx.fetch(
        """
        INSERT INTO maintenance_underway AS u (team_id, window_id, shown, ends_at)
        SELECT * FROM unnest($1::int[], $2::uuid[], $3::jsonb[], $4::timestamptz[])
        ON CONFLICT (team_id, window_id)
            DO UPDATE SET shown = excluded.shown, ends_at = excluded.ends_at, over = false
            WHERE u.over AND u.ends_at < excluded.ends_at
        RETURNING team_id, window_id
        """,
        [one.team_id for one in begun],
        [one.window_id for one in begun],
        [orjson.Fragment(encode(window)) for window in shown],
        [one.ends_at for one in begun],
    )
    return {(row["team_id"], row["window_id"]) for row in rows}


async def over(tx: Tx, now: datetime, limit: int) -> list[EndedWindow]:
    """Claim announced windows that are no longer in force, skipping locked ones."""
    rows = await tx.fetch(
        """
        WITH due AS (
            SELECT u.team_id, u.window_id FROM maintenance_underway u
            WHERE NOT u.over AND NOT EXISTS (
                SELECT FROM maintenance_spans s
                WHERE s.team_id = u.team_id AND s.window_id = u.window_id
                    AND s.starts_at <= $1 AND s.ends_at > $1
            )
            ORDER BY u.team_id, u.window_id LIMIT $2 FOR UPDATE SKIP LOCKED
        )
        UPDATE maintenance_underway u SET over = true, ends_at = least($1, coalesce((
            SELECT max(s.ends_at) FROM maintenance_spans s
            WHERE s.team_id = u.team_id AND s.window_id = u.window_id AND s.starts_at <= $1
        ), u.ends_at))
        FROM due WHERE u.team_id = due.team_id AND u.window_id = due.window_id
        RETURNING u.team_id, u.window_id, u.shown, u.ends_at AS ended_at
        """,
        now,
        limit,
    )
    return [EndedWindow(**row) for row in rows]


async def forget(tx: Tx, before: datetime) -> None:
    """Delete ended windows from before *before*, which nobody can mistake for current ones."""
    await tx.execute("DELETE FROM maintenance_underway WHERE over AND ends_at < $1", before)
