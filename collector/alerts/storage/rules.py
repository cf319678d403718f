"""Alert rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.maintenance.core.windows import Selection
from collector.platform.storage.db import Tx

# Whether the rule *r* applies to the monitor *m*.
CONCERNS = "(r.every OR m.id = ANY (r.monitors) OR m.tags ?| r.names OR m.tags @> ANY (r.pairs))"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """*conditions* and *escalation* as callers write them; *escalate_to*: the latter's channels."""

    team_id: int
    id: UUID
    name: str
    enabled: bool
    conditions: Mapping[str, Any]
    channels: Sequence[UUID]
    every: bool
    monitors: Sequence[UUID]
    tags: Mapping[str, str] | Sequence[str]
    notify_on_recovery: bool
    repeat_minutes: int | None
    escalation: Mapping[str, Any] | None
    escalate_to: Sequence[UUID]
    revision: int
    created_at: datetime
    updated_at: datetime

    @property
    def selection(self) -> Selection:
        return Selection(self.every, self.monitors, self.tags)


_COLUMNS = [field.name for field in fields(RuleRow)]
_NAMES = ", ".join(f"r.{name}" for name in _COLUMNS)
_FIXED = {"team_id", "id", "created_at"}


async def insert(tx: Tx, row: RuleRow) -> None:
    names = [*_COLUMNS, "names", "pairs"]
    places = ", ".join(f"${place}" for place in range(1, len(names) + 1))
    await tx.execute(f"INSERT INTO rules ({', '.join(names)}) VALUES ({places})", *_values(row, _COLUMNS))


async def save(tx: Tx, row: RuleRow) -> None:
    """Write the columns that may change."""
    changing = [name for name in _COLUMNS if name not in _FIXED]
    terms = ", ".join(f"{name} = ${at}" for at, name in enumerate([*changing, "names", "pairs"], start=3))
    await tx.execute(
        f"UPDATE rules SET {terms} WHERE team_id = $1 AND id = $2",
        row.team_id,
        row.id,
        *_values(row, changing),
    )


async def get(tx: Tx, team_id: int, id_: UUID) -> RuleRow | None:
    row = await tx.fetchrow(f"SELECT {_NAMES} FROM rules r WHERE r.team_id = $1 AND r.id = $2", team_id, id_)
    return RuleRow(**row) if row else None


async def lock(tx: Tx, team_id: int, id_: UUID) -> RuleRow | None:
    """As `get`, and lock it until the transaction ends."""
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM rules r WHERE r.team_id = $1 AND r.id = $2 FOR NO KEY UPDATE", team_id, id_
    )
    return RuleRow(**row) if row else None


@dataclass(frozen=True, slots=True)
class RuleFilter:
    """*monitor_id*: rules that apply to this monitor, by id or tag."""

    enabled: bool | None = None
    monitor_id: UUID | None = None


_WHICH = f"""
    r.team_id = $1 AND ($2::boolean IS NULL OR r.enabled = $2) AND ($3::uuid IS NULL OR EXISTS (
        SELECT FROM monitors m WHERE m.team_id = $1 AND m.id = $3 AND {CONCERNS}
    ))
"""


async def newest(tx: Tx, team_id: int, wanted: RuleFilter, limit: int | None, offset: int) -> list[RuleRow]:
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM rules r WHERE {_WHICH}
        ORDER BY r.created_at DESC, r.id DESC LIMIT $4 OFFSET $5
        """,
        team_id,
        wanted.enabled,
        wanted.monitor_id,
        limit,
        offset,
    )
    return [RuleRow(**row) for row in rows]


async def count(tx: Tx, team_id: int, wanted: RuleFilter) -> int:
    total: int = await tx.fetchval(
        f"SELECT count(*) FROM rules r WHERE {_WHICH}", team_id, wanted.enabled, wanted.monitor_id
    )
    return total


async def delete(tx: Tx, team_id: int, id_: UUID) -> None:
    await tx.execute("DELETE FROM rules WHERE team_id = $1 AND id = $2", team_id, id_)


async def unknown_channels(tx: Tx, team_id: int, channel_ids: Sequence[UUID]) -> set[UUID]:
    """The *channel_ids* that are no channel of the team; the others are locked against deletion."""
    rows = await tx.fetch(
        "SELECT id FROM channels WHERE team_id = $1 AND id = ANY ($2) ORDER BY id FOR KEY SHARE",
        team_id,
        channel_ids,
    )
    return set(channel_ids) - {row["id"] for row in rows}


async def selects_any(tx: Tx, team_id: int, id_: UUID) -> bool:
    """Whether the rule applies to any monitor."""
    found: bool = await tx.fetchval(
        f"""
        SELECT EXISTS (
            SELECT FROM rules r JOIN monitors m USING (team_id)
            WHERE r.team_id = $1 AND r.id = $2 AND {CONCERNS}
        )
        """,
        team_id,
        id_,
    )
    return found


async def trigger_monitors(tx: Tx, team_id: int, rule_id: UUID) -> None:
    """After a change of a rule: mark the monitors in trouble that it covers, and those that it fired for.

    A rate may be bad although its monitor is up by now: for an error rate mark all, for an
    availability those that were down within its day.
    """
    await tx.execute(
        f"""
        INSERT INTO alert_marks (team_id, monitor_id)
        SELECT $1, m.id FROM rules r JOIN monitors m USING (team_id)
        WHERE r.team_id = $1 AND r.id = $2 AND r.enabled AND {CONCERNS} AND (m.down OR EXISTS (
            SELECT FROM states s WHERE s.monitor = m.monitor AND (s.failing OR s.fails > 0)
        ) OR EXISTS (
            SELECT FROM web3_alerts w
            WHERE w.team_id = m.team_id AND w.monitor_id = m.id AND w.told_at IS NOT NULL
        ) OR r.conditions ? 'errorRatePercent' OR (r.conditions ? 'availability' AND EXISTS (
            SELECT FROM outages o
            WHERE o.monitor = m.monitor AND o.location = 0 AND o.ended_at > now() - interval '1 day'
        )))
        UNION
        SELECT $1, a.monitor_id FROM alerts a
        WHERE a.team_id = $1 AND a.rule_id = $2 AND a.status <> 'recovered'
        """,
        team_id,
        rule_id,
    )


@dataclass(frozen=True, slots=True)
class ResolvedByHand:
    """A monitor that is still down although a user resolved its incident."""

    name: str
    resolved_at: datetime


async def resolved_by_hand(tx: Tx, team_id: int, id_: UUID, limit: int) -> list[ResolvedByHand]:
    """Return such monitors of the rule, by name."""
    rows = await tx.fetch(
        f"""
        SELECT m.name, i.resolved_at FROM rules r JOIN monitors m USING (team_id)
        CROSS JOIN LATERAL (
            SELECT max(i.resolved_at) AS resolved_at, bool_or(i.status <> 'resolved') AS open FROM incidents i
            WHERE i.team_id = m.team_id AND i.monitor_id = m.id AND i.automatic
                AND (i.status <> 'resolved' OR i.resolved_by ->> 'id' IS NOT NULL)
        ) i
        WHERE r.team_id = $1 AND r.id = $2 AND r.enabled AND {CONCERNS}
            AND m.down AND m.paused_at IS NULL AND i.resolved_at >= m.changed_at AND NOT i.open
        ORDER BY m.name, m.id LIMIT $3
        """,
        team_id,
        id_,
        limit,
    )
    return [ResolvedByHand(**row) for row in rows]


async def used_channels(tx: Tx, team_id: int) -> set[UUID]:
    """Return the channels that some enabled rule notifies."""
    rows = await tx.fetch(
        "SELECT DISTINCT unnest(channels || escalate_to) AS id FROM rules WHERE team_id = $1 AND enabled",
        team_id,
    )
    return {row["id"] for row in rows}


async def drop_channel(tx: Tx, team_id: int, channel_id: UUID) -> None:
    """Remove a channel that is being deleted from the rules that name it."""
    await tx.execute(
        """
        UPDATE rules SET channels = array_remove(channels, $2), escalate_to = array_remove(escalate_to, $2),
            revision = revision + 1
        WHERE team_id = $1 AND ($2 = ANY (channels) OR $2 = ANY (escalate_to))
        """,
        team_id,
        channel_id,
    )


async def drop_monitors(tx: Tx, team_id: int, monitors: Sequence[UUID]) -> None:
    """Remove monitors that are being deleted from their rules; a rule with no other then applies to none."""
    await tx.execute(
        """
        UPDATE rules SET revision = revision + 1, monitors = ARRAY(
            SELECT id FROM unnest(monitors) WITH ORDINALITY AS u (id, place)
            WHERE id <> ALL ($2) ORDER BY place
        )
        WHERE team_id = $1 AND monitors && $2
        """,
        team_id,
        monitors,
    )


def _values(row: RuleRow, names: Sequence[str]) -> list[object]:
    return [getattr(row, name) for name in names] + [row.selection.names, row.selection.pairs]
