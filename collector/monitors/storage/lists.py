"""Lists of a team's monitors, newest first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson

from collector.platform.monitor import Severity
from collector.platform.storage.db import Tx
from collector.probes.storage.plans import CHECKED_AS
from shared.kinds import OF_CHAINS, UMBRELLA, WEB3

# The wildcards of LIKE.
_ANY = re.compile(r"[\\%_]")
# The number of timestamps at the end.
_MOMENTS = 6
_ESCAPED = r"\\\g<0>"
# How many parsed items are cached, of all teams together.
_MOST = 2_000
# The rules of core.monitor.status in SQL.
_STATUS = {
    "paused": "m.paused_at IS NOT NULL",
    "down": "m.paused_at IS NULL AND m.down AND EXISTS ({measured})",
    "up": "m.paused_at IS NULL AND NOT (m.down AND EXISTS ({measured}))",
}
# OFFSET forces a lookup per monitor: else all states are read for the few monitors that are down.
_MEASURED = "SELECT FROM states s WHERE s.monitor = m.monitor AND s.last_at IS NOT NULL OFFSET 0"


@dataclass(frozen=True, slots=True)
class ListedMonitor:
    """A monitor as lists show it."""

    id: UUID
    name: str
    type: str
    url: str | None
    interval_s: int
    timeout_s: int
    locations: list[str]
    tags: dict[str, str]
    severity: Severity
    group_name: str | None
    revision: int
    down: bool
    paused_at: datetime | None
    silenced_until: datetime | None
    created_at: datetime
    updated_at: datetime
    unmeasured_since: datetime | None
    last_at: datetime | None

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFilter:
    """Selects monitors; None means any. *tag* is a name, or ``name:value``; *text* is part of the name.

    *silenced_at*: monitors that are silenced at that moment.
    """

    status: str | None = None
    type: str | None = None
    group: str | None = None
    tag: str | None = None
    text: str | None = None
    location: str | None = None
    silenced_at: datetime | None = None


async def newest(tx: Tx, team_id: int, wanted: MonitorFilter, limit: int, offset: int) -> list[ListedMonitor]:
    where, values = conditions(team_id, wanted)
    rows = await tx.fetch(f"SELECT {_shown(where, len(values))} AS shown", *values, limit, offset)
    return [_read(text) for text in rows[0]["shown"]]


async def names(tx: Tx, team_id: int, ids: Sequence[UUID]) -> dict[UUID, str]:
    """Return the names of those *ids* that are the team's."""
    rows = await tx.fetch("SELECT id, name FROM monitors WHERE team_id = $1 AND id = ANY ($2)", team_id, ids)
    return {row["id"]: row["name"] for row in rows}


@dataclass(frozen=True, slots=True)
class MonitorPage:
    """*mark*: while it is the same, so is `total`. *of_status*: number of paused, down, or for up both."""

    items: list[ListedMonitor]
    mark: int
    of_status: int


async def page(tx: Tx, team_id: int, wanted: MonitorFilter, limit: int, offset: int) -> MonitorPage:
    """Return the page after *offset*, with the numbers for its total, all of one moment."""
    where, values = conditions(team_id, wanted)
    row = await tx.fetchrow(
        f"SELECT {_MARK}, {_counted(team_id, wanted)}, {_shown(where, len(values))} AS shown",
        *values,
        limit,
        offset,
    )
    assert row is not None  # noqa: S101 - a SELECT without FROM has its row
    return MonitorPage([_item(text) for text in row["shown"]], row["mark"], row["of_status"])


async def total(tx: Tx, team_id: int, wanted: MonitorFilter) -> tuple[int, int]:
    """Return the mark, and the number of monitors at it, of any status."""
    where, values = conditions(team_id, replace(wanted, status=None))
    row = await tx.fetchrow(
        f"SELECT {_MARK}, (SELECT count(*) FROM monitors m WHERE {where}) AS total", *values
    )
    assert row is not None  # noqa: S101 - a SELECT without FROM has its row
    return row["mark"], row["total"]


_MARK = "coalesce((SELECT mark FROM monitor_marks WHERE team_id = $1), 0) AS mark"


def _counted(team_id: int, wanted: MonitorFilter) -> str:
    """Return an expression for the number with the status, if it is rare; for up, of the others."""
    if wanted.status is None:
        return "0::bigint AS of_status"
    asked = ("paused", "down") if wanted.status == "up" else (wanted.status,)
    wheres = (conditions(team_id, replace(wanted, status=status))[0] for status in asked)
    counts = (f"(SELECT count(*) FROM monitors m WHERE {where})" for where in wheres)
    return f"{' + '.join(counts)} AS of_status"


# In the order of ListedMonitor's fields, as one text: equal texts are parsed once.
_TEXT = """
    json_build_array(
        m.id, m.name, m.type, CASE WHEN m.type = 'http' THEN m.config ->> 'url' END,
        m.interval_s, m.timeout_s, m.locations, m.tags, m.severity, m.group_name, m.revision, m.down,
        m.paused_at, m.silenced_until, m.created_at, m.updated_at, m.unmeasured_since,
        (SELECT max(s.last_at) FROM states s WHERE s.monitor = m.monitor)
    )::text
"""


def _shown(where: str, values: int) -> str:
    """Return an array of the texts of a page; rows before it are skipped within an index."""
    return f"""
        ARRAY(
            SELECT {_TEXT} FROM (
                SELECT m.team_id, m.id FROM monitors m WHERE {where}
                ORDER BY m.created_at DESC, m.id DESC LIMIT ${values + 1} OFFSET ${values + 2}
            ) p JOIN monitors m ON m.team_id = p.team_id AND m.id = p.id
            ORDER BY m.created_at DESC, m.id DESC
        )
    """


def _read(text: str) -> ListedMonitor:
    """Parse `_TEXT`; its plain values are between the id and the timestamps."""
    id_, *rest = orjson.loads(text)
    plain, moments = rest[:-_MOMENTS], rest[-_MOMENTS:]
    return ListedMonitor(UUID(id_), *plain, *(_moment(moment) for moment in moments))


_item = lru_cache(maxsize=_MOST)(_read)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def containing(text: str) -> str:
    """Return the pattern of LIKE that matches what contains *text*."""
    return f"%{_ANY.sub(_ESCAPED, text)}%"


def conditions(team_id: int, wanted: MonitorFilter) -> tuple[str, list[Any]]:
    """Build the condition with only the given filters, so that each combination gets a plan that fits."""
    name, colon, value = (wanted.tag or "").partition(":")
    asked: dict[str, Any] = {
        "m.team_id = $": team_id,
        **_of_type(wanted.type),
        "m.group_name = $": wanted.group,
        "m.tags ? $": name if name and not colon else None,
        "m.tags @> $": {name: value} if colon else None,
        "m.name ILIKE $": containing(wanted.text) if wanted.text else None,
        "m.locations @> $": [wanted.location] if wanted.location else None,
        "m.silenced_until > $": wanted.silenced_at,
    }
    given = [(term, value) for term, value in asked.items() if value is not None]
    terms = [term.replace("$", f"${place}") for place, (term, _) in enumerate(given, start=1)]
    if wanted.status:
        terms.append(_STATUS[wanted.status].format(measured=_MEASURED))
    return " AND ".join(terms), [value for _, value in given]


def _of_type(type_: str | None) -> dict[str, Any]:
    """Match a type; the umbrella of Web3 matches all of its types, which also exist on their own."""
    if type_ == UMBRELLA:
        return {"m.type = ANY($)": OF_CHAINS}
    if type_ in WEB3:
        return {"m.type = ANY($)": [UMBRELLA, type_], f"{CHECKED_AS} = $": type_}
    return {"m.type = $": type_}
