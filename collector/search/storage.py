"""Searches a team's monitors, incidents and other named things."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.monitors.storage.board import STATE
from collector.monitors.storage.lists import containing
from collector.platform.storage.db import Tx

# Older incidents than so many are not searched: their number has no limit.
_NEWEST = 2_000
# Tables of named things, by the prefix of their ids.
_NAMED = {"sp": "status_pages", "rule": "rules", "chan": "channels", "mw": "maintenance_windows"}


@dataclass(frozen=True, slots=True)
class FoundMonitor:
    id: UUID
    name: str
    config: dict[str, Any]
    group_name: str | None
    state: str


@dataclass(frozen=True, slots=True)
class FoundIncident:
    id: UUID
    title: str
    status: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NamedThing:
    """*kind*: the prefix of its id, such as ``rule``."""

    kind: str
    id: UUID
    name: str


async def monitors(tx: Tx, team_id: int, words: Sequence[str], limit: int) -> list[FoundMonitor]:
    """Return monitors with all *words* in name, URL, host, domain, group or tags.

    A name that equals the search comes first, then names that begin with it or contain all words.
    """
    rows = await tx.fetch(
        f"""
        SELECT m.id, m.name, m.config, m.group_name, {STATE} AS state
        FROM (
            SELECT m.id, CASE
                WHEN lower(m.name) = lower($3) THEN 0 WHEN starts_with(lower(m.name), lower($3)) THEN 1
                WHEN m.name ILIKE ALL ($2) THEN 2 ELSE 3 END AS rank
            FROM monitors m
            WHERE m.team_id = $1
                AND m.searched LIKE ALL (ARRAY(SELECT lower(word) FROM unnest($2::text[]) word))
            ORDER BY rank, lower(m.name), m.id LIMIT $4
        ) found JOIN monitors m ON m.team_id = $1 AND m.id = found.id
        ORDER BY found.rank, lower(m.name), m.id
        """,
        team_id,
        [containing(word) for word in words],
        " ".join(words),
        limit,
    )
    return [FoundMonitor(**row) for row in rows]


async def incidents(tx: Tx, team_id: int, words: Sequence[str], limit: int) -> list[FoundIncident]:
    """Return incidents with all *words* in the title or the monitor's name, the unresolved first."""
    rows = await tx.fetch(
        """
        SELECT id, title, status, created_at FROM (
            SELECT id, title, status, monitor_name, created_at FROM incidents
            WHERE team_id = $1 ORDER BY created_at DESC, id DESC LIMIT $4
        ) newest
        WHERE concat_ws(E'\\n', title, monitor_name) ILIKE ALL ($2)
        ORDER BY status = 'resolved', created_at DESC, id DESC LIMIT $3
        """,
        team_id,
        [containing(word) for word in words],
        limit,
        _NEWEST,
    )
    return [FoundIncident(**row) for row in rows]


async def named(tx: Tx, team_id: int, words: Sequence[str], limit: int) -> list[NamedThing]:
    """Return status pages, rules, channels and maintenance windows with all *words* in the name."""
    each = " UNION ALL ".join(
        f"SELECT '{kind}' AS kind, id, name FROM {table} WHERE team_id = $1 AND name ILIKE ALL ($2)"
        for kind, table in _NAMED.items()
    )
    rows = await tx.fetch(
        f"SELECT * FROM ({each}) found ORDER BY kind, lower(name), id LIMIT $3",
        team_id,
        [containing(word) for word in words],
        limit,
    )
    return [NamedThing(**row) for row in rows]
