"""Lists of monitors: pages of a team's, newest first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.storage.db import Tx

# As core.monitor.status says it of one monitor.
_STATUS = {
    "paused": "m.paused_at IS NOT NULL",
    "down": "m.paused_at IS NULL AND m.down AND EXISTS ({measured})",
    "up": "m.paused_at IS NULL AND NOT (m.down AND EXISTS ({measured}))",
}
_MEASURED = "SELECT FROM states s WHERE s.monitor = m.monitor AND s.last_at IS NOT NULL"


@dataclass(frozen=True, slots=True)
class Item:
    """A monitor as lists show it."""

    id: UUID
    name: str
    type: str
    url: str | None
    interval_s: int
    timeout_s: int
    locations: list[str]
    tags: dict[str, str]
    severity: str
    group_name: str | None
    revision: int
    down: bool
    paused_at: datetime | None
    silenced_until: datetime | None
    created_at: datetime
    updated_at: datetime
    last_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which monitors; None asks nothing. *tag* is a name, or ``name:value``."""

    status: str | None = None
    type: str | None = None
    group: str | None = None
    tag: str | None = None


async def newest(tx: Tx, team_id: int, wanted: Wanted, limit: int, offset: int) -> list[Item]:
    where, values = _where(team_id, wanted)
    rows = await tx.fetch(
        f"""
        SELECT m.id, m.name, m.type, CASE WHEN m.type = 'http' THEN m.config ->> 'url' END AS url,
            m.interval_s, m.timeout_s, m.locations, m.tags, m.severity, m.group_name, m.revision, m.down,
            m.paused_at, m.silenced_until, m.created_at, m.updated_at,
            (SELECT max(s.last_at) FROM states s WHERE s.monitor = m.monitor) AS last_at
        FROM monitors m WHERE {where}
        ORDER BY m.created_at DESC, m.id DESC LIMIT ${len(values) + 1} OFFSET ${len(values) + 2}
        """,
        *values,
        limit,
        offset,
    )
    return [Item(**row) for row in rows]


async def count(tx: Tx, team_id: int, wanted: Wanted) -> int:
    where, values = _where(team_id, wanted)
    total: int = await tx.fetchval(f"SELECT count(*) FROM monitors m WHERE {where}", *values)
    return total


def _where(team_id: int, wanted: Wanted) -> tuple[str, list[Any]]:
    """Only what is asked for is in the text, so that each combination gets the plan that fits it."""
    name, colon, value = (wanted.tag or "").partition(":")
    asked: dict[str, Any] = {
        "m.team_id = $": team_id,
        "m.type = $": wanted.type,
        "m.group_name = $": wanted.group,
        "m.tags ? $": name if name and not colon else None,
        "m.tags @> $": {name: value} if colon else None,
    }
    given = [(term, value) for term, value in asked.items() if value is not None]
    terms = [f"{term}{place}" for place, (term, _) in enumerate(given, start=1)]
    if wanted.status:
        terms.append(_STATUS[wanted.status].format(measured=_MEASURED))
    return " AND ".join(terms), [value for _, value in given]
