"""The list of monitors as the console shows it: sorted, counted by state, with the latest checks."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from collector.monitors.storage.lists import MonitorFilter, conditions, containing
from collector.platform.storage.db import Tx
from shared.results import Status

# A monitor's state as the console colours it. What has no result yet is neither up nor down.
_STATE: Final = """
    CASE
        WHEN m.paused_at IS NOT NULL THEN 'paused'
        WHEN NOT EXISTS (SELECT FROM states s WHERE s.monitor = m.monitor AND s.last_at IS NOT NULL {how})
            THEN 'new'
        WHEN m.down THEN 'down'
        WHEN m.unmeasured_since IS NOT NULL THEN 'unmeasured'
        WHEN m.flapping_told THEN 'flapping'
        WHEN m.degraded_told THEN 'degraded'
        ELSE 'up'
    END
"""
STATE: Final = _STATE.format(how="")
# The same with a lookup for each monitor: for few of them it reads less.
STATE_OF_FEW: Final = _STATE.format(how="OFFSET 0")
# A condition that every monitor meets.
EVERY: Final = "true"
# What a monitor's own row says of it while it is in that state; those without an entry need its measurements.
_OF_ROW: Final = {
    "paused": "m.paused_at IS NOT NULL",
    "down": "m.paused_at IS NULL AND m.down",
    "unmeasured": "m.paused_at IS NULL AND m.unmeasured_since IS NOT NULL",
    "flapping": "m.paused_at IS NULL AND m.flapping_told",
    "degraded": "m.paused_at IS NULL AND m.degraded_told",
}
# In the order in which they need attention.
STATES: Final = ("down", "degraded", "flapping", "unmeasured", "new", "up", "paused")
_RANK: Final = f"array_position('{{{','.join(STATES)}}}'::text[], state)"
# Expressions over a row of the board. Ties are sorted by state and name.
_SORTS: Final = {
    "state": (_RANK,),
    "name": ("lower(name)",),
    "type": ("type",),
    "group": ("(group_name IS NULL)", "lower(group_name)"),
    "response": ("ms",),
    "checked": ("last_at",),
}
SORTS: Final = tuple(_SORTS)
_MEASURED: Final = """
    LEFT JOIN LATERAL (
        SELECT max(s.last_at) AS last_at, avg(s.last_ms) FILTER (WHERE s.last_status = {up})::float AS ms
        FROM states s WHERE s.monitor = m.monitor
    ) s ON true
"""
_MEASURED_UP: Final = _MEASURED.format(up=int(Status.UP))


def possible(states: Collection[str]) -> str:
    """Return a condition that all monitors in one of *states* meet, and few others.

    It saves the question of whether a monitor was ever measured for those that do not meet it.
    """
    if not {*states} <= _OF_ROW.keys():
        return EVERY
    return f"({' OR '.join(f'({_OF_ROW[state]})' for state in states)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorting:
    """*by*: one of SORTS."""

    by: str = "state"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A monitor in the list; *ms*: mean of its latest good checks, *error*: of a latest check that failed."""

    monitor: int
    id: UUID
    name: str
    type: str
    config: dict[str, Any]
    interval_s: int
    tags: dict[str, str]
    group_name: str | None
    silenced_until: datetime | None
    state: str
    last_at: datetime | None
    ms: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class BoardCount:
    """*count* monitors of the group are in *state*, of them *silenced* are silenced."""

    group_name: str | None
    state: str
    count: int
    silenced: int


@dataclass(frozen=True, slots=True)
class RecentCheck:
    monitor: int
    ts: datetime
    location: str
    status: int
    ms: int
    error: str | None


async def counts(tx: Tx, team_id: int, wanted: MonitorFilter, now: datetime) -> list[BoardCount]:
    """Count the monitors that match, of any state."""
    where, values = _where(team_id, replace(wanted, status=None, silenced_at=None))
    rows = await tx.fetch(
        f"""
        SELECT m.group_name, {STATE} AS state, count(*),
            count(*) FILTER (WHERE m.silenced_until > ${len(values) + 1}) AS silenced
        FROM monitors m WHERE {where} GROUP BY 1, 2
        """,
        *values,
        now,
    )
    return [BoardCount(**row) for row in rows]


async def page(
    tx: Tx, team_id: int, wanted: MonitorFilter, sorting: Sorting, limit: int, offset: int
) -> list[BoardRow]:
    """Return a page of the monitors that match; those never measured are last by *response* and *checked*."""
    board, values, order = _board(team_id, wanted, sorting)
    rows = await tx.fetch(
        f"""
        SELECT m.monitor, m.id, m.name, m.type, m.config, m.interval_s, m.tags, m.group_name,
            m.silenced_until, {STATE} AS state, s.last_at, s.ms, (
                SELECT max(e.text) FROM states s JOIN errors e ON e.error = s.last_error
                WHERE s.monitor = m.monitor AND s.last_status = {int(Status.DOWN)}
            ) AS error
        FROM unnest(ARRAY(
            SELECT id FROM ({board}) board
            ORDER BY {order} LIMIT ${len(values) + 1} OFFSET ${len(values) + 2}
        )) WITH ORDINALITY p (id, place)
        JOIN monitors m ON m.team_id = $1 AND m.id = p.id {_MEASURED_UP}
        ORDER BY p.place
        """,
        *values,
        limit,
        offset,
    )
    return [BoardRow(**row) for row in rows]


async def matching(tx: Tx, team_id: int, wanted: MonitorFilter) -> list[UUID]:
    """Return the ids of all monitors that match."""
    board, values, _ = _board(team_id, wanted, Sorting())
    rows = await tx.fetch(f"SELECT id FROM ({board}) board ORDER BY id", *values)
    return [row["id"] for row in rows]


async def recent(tx: Tx, since: Sequence[tuple[int, datetime]], limit: int) -> list[RecentCheck]:
    """Return the latest checks of each monitor after its moment, the oldest first, from all its locations."""
    if not since:
        return []
    rows = await tx.fetch(
        """
        SELECT w.monitor, r.ts, l.name AS location, r.status, r.ms, e.text AS error
        FROM unnest($1::int[], $2::timestamptz[]) w (monitor, since)
        CROSS JOIN LATERAL (
            SELECT r.* FROM states s CROSS JOIN LATERAL (
                SELECT r.ts, r.location, r.status, r.ms, r.error
                FROM results_of(s.monitor, s.location, w.since, 'infinity') r
                WHERE r.ts >= $3 ORDER BY r.ts DESC LIMIT $4
            ) r
            WHERE s.monitor = w.monitor ORDER BY r.ts DESC LIMIT $4
        ) r
        JOIN locations l ON l.location = r.location LEFT JOIN errors e ON e.error = r.error
        ORDER BY w.monitor, r.ts
        """,
        [monitor for monitor, _ in since],
        [moment for _, moment in since],
        min(moment for _, moment in since),
        limit,
    )
    return [RecentCheck(**row) for row in rows]


async def tags(tx: Tx, team_id: int, limit: int) -> list[str]:
    """Return the most used tags, as a filter takes them."""
    rows = await tx.fetch(
        """
        SELECT t.key || CASE WHEN t.value = '' THEN '' ELSE ':' || t.value END AS tag
        FROM monitors m CROSS JOIN LATERAL jsonb_each_text(m.tags) t
        WHERE m.team_id = $1 GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT $2
        """,
        team_id,
        limit,
    )
    return [row["tag"] for row in rows]


def _board(team_id: int, wanted: MonitorFilter, sorting: Sorting) -> tuple[str, list[Any], str]:
    """Return the query of all that match, its values and its order."""
    where, values = _where(team_id, replace(wanted, status=None))
    if wanted.status:
        where += f" AND {possible([wanted.status])}"
    measured = sorting.by in {"response", "checked"}
    columns = "m.id, m.name, m.type, m.group_name" + (", s.last_at, s.ms" if measured else "")
    board = f"""
        SELECT * FROM (
            SELECT {columns}, {STATE} AS state
            FROM monitors m {_MEASURED_UP if measured else ""} WHERE {where}
        ) any_state
    """
    if wanted.status:
        values.append(wanted.status)
        board += f" WHERE state = ${len(values)}"
    direction = "DESC NULLS LAST" if sorting.descending else "ASC NULLS LAST"
    keys = [f"{key} {direction}" for key in _SORTS[sorting.by]]
    return board, values, ", ".join([*keys, _RANK, "lower(name)", "id"])


def _where(team_id: int, wanted: MonitorFilter) -> tuple[str, list[Any]]:
    """Match the text against name, URL, host, domain, group and tags."""
    where, values = conditions(team_id, replace(wanted, text=None))
    if wanted.text:
        values.append(containing(wanted.text))
        where += f" AND m.searched LIKE lower(${len(values)})"
    return where, values


@dataclass(frozen=True, slots=True)
class LatestCheck:
    """When a monitor was checked last, anywhere; *ms*: mean of its latest good checks."""

    monitor: int
    id: UUID
    interval_s: int
    last_at: datetime
    ms: float | None


async def latest(tx: Tx, team_id: int, ids: Collection[UUID]) -> list[LatestCheck]:
    """Return the latest check of those *ids* that have any."""
    rows = await tx.fetch(
        f"""
        SELECT m.monitor, m.id, m.interval_s, s.last_at, s.ms FROM monitors m {_MEASURED_UP}
        WHERE m.team_id = $1 AND m.id = ANY ($2) AND s.last_at IS NOT NULL
        """,
        team_id,
        list(ids),
    )
    return [LatestCheck(**row) for row in rows]
