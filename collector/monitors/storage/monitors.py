"""Monitors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.heartbeats.storage import heartbeats
from collector.history.storage import outages
from collector.monitors.storage import cadences
from collector.platform.monitor import Severity
from collector.platform.storage.db import Tx

_COLUMNS = """
    m.team_id, m.id, m.monitor, m.name, m.type, m.config, m.secrets, m.interval_s, m.timeout_s, m.locations,
    m.tags, m.description, m.severity, m.failure_threshold, m.recovery_threshold, m.quorum, m.group_name,
    m.depends_on, m.runbook_url, m.revision, m.down, m.told, m.paused_at, m.silenced_until, m.silence_reason,
    m.created_at, m.updated_at, (SELECT max(s.last_at) FROM states s WHERE s.monitor = m.monitor) AS last_at
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor:
    """A row; *secrets*: the secret fields of *config*, sealed; *last_at*: the start of the newest check."""

    team_id: int
    id: UUID
    monitor: int
    name: str
    type: str
    config: dict[str, Any]
    secrets: bytes | None
    interval_s: int
    timeout_s: int
    locations: list[str]
    tags: dict[str, str]
    description: str
    severity: Severity
    failure_threshold: int
    recovery_threshold: int
    quorum: str
    group_name: str | None
    depends_on: list[UUID]
    runbook_url: str | None
    revision: int
    down: bool
    told: bool
    paused_at: datetime | None
    silenced_until: datetime | None
    silence_reason: str | None
    created_at: datetime
    updated_at: datetime
    last_at: datetime | None


# The columns that a caller sets, in the order of the two statements below.
_SET = (
    "name",
    "config",
    "secrets",
    "interval_s",
    "timeout_s",
    "locations",
    "tags",
    "description",
    "severity",
    "failure_threshold",
    "recovery_threshold",
    "quorum",
    "group_name",
    "depends_on",
    "runbook_url",
)


async def insert(
    tx: Tx,
    team_id: int,
    rows: Mapping[UUID, tuple[str, Mapping[str, Any]]],
    now: datetime,
    *,
    most: int | None = None,
) -> list[Monitor]:
    """Add monitors; *rows*: by id, the type and every column that a caller sets. Return them in this order.

    Their cadences are to be noted by the caller. The commit raises Conflict if the team then has more than
    *most* monitors.
    """
    given = [
        {"id": id_, "type": type_, **columns, "secrets": _hex(columns["secrets"])}
        for id_, (type_, columns) in rows.items()
    ]
    records = await tx.fetch(
        f"""
        INSERT INTO monitors AS m (team_id, id, type, changed_at, created_at, updated_at, {", ".join(_SET)})
        SELECT $1, u.id, u.type, $2, $2, $2, {", ".join(f"u.{name}" for name in _SET)}
        FROM jsonb_populate_recordset(NULL::monitors, $4) AS u
        RETURNING {_COLUMNS}, set_config('tocsin.most_monitors', $3, true) AS most
        """,
        team_id,
        now,
        "" if most is None else str(most),
        given,
    )
    made = {
        row["id"]: Monitor(**{name: value for name, value in row.items() if name != "most"})
        for row in records
    }
    return [made[id_] for id_ in rows]


def _hex(secrets: bytes | None) -> str | None:
    """Return bytes as JSON carries them to PostgreSQL."""
    return None if secrets is None else f"\\x{secrets.hex()}"


async def save(
    tx: Tx, team_id: int, id_: UUID, columns: dict[str, Any], revision: int, now: datetime
) -> None:
    """Write a caller's changes."""
    await tx.execute(
        f"""
        UPDATE monitors SET revision = $3, updated_at = $4,
            {", ".join(f"{name} = ${place}" for place, name in enumerate(_SET, start=5))}
        WHERE team_id = $1 AND id = $2
        """,
        team_id,
        id_,
        revision,
        now,
        *(columns[name] for name in _SET),
    )
    await cadences.note(tx, team_id, [id_], now)
    await outages.leave(tx, team_id, id_, now)


async def get(tx: Tx, team_id: int, id_: UUID) -> Monitor | None:
    row = await tx.fetchrow(
        f"SELECT {_COLUMNS} FROM monitors m WHERE m.team_id = $1 AND m.id = $2", team_id, id_
    )
    return Monitor(**row) if row else None


async def some(tx: Tx, team_id: int, ids: Sequence[UUID]) -> list[Monitor]:
    """Return these of the team's monitors, as far as they exist, oldest first."""
    rows = await tx.fetch(
        f"SELECT {_COLUMNS} FROM monitors m WHERE m.team_id = $1 AND m.id = ANY ($2) ORDER BY m.id",
        team_id,
        ids,
    )
    return [Monitor(**row) for row in rows]


async def all_names(tx: Tx, team_id: int) -> list[tuple[UUID, str]]:
    """Return the id and the name of every monitor of the team, oldest first."""
    rows = await tx.fetch("SELECT id, name FROM monitors WHERE team_id = $1 ORDER BY id", team_id)
    return [(row["id"], row["name"]) for row in rows]


async def lock(tx: Tx, team_id: int, id_: UUID) -> Monitor | None:
    """Return the monitor, its row locked until the transaction ends, which must use `giving_way`."""
    monitor = await _lock(tx, team_id, id_, "m.type <> 'heartbeat'")
    if monitor is None and await heartbeats.hold(tx, team_id, id_):
        return await _lock(tx, team_id, id_, "m.type = 'heartbeat'")
    return monitor


async def _lock(tx: Tx, team_id: int, id_: UUID, which: str) -> Monitor | None:
    row = await tx.fetchrow(
        f"""
        SELECT {_COLUMNS} FROM monitors m WHERE m.team_id = $1 AND m.id = $2 AND {which}
        FOR NO KEY UPDATE OF m
        """,
        team_id,
        id_,
    )
    return Monitor(**row) if row else None


async def lock_all(tx: Tx, team_id: int, ids: Sequence[UUID]) -> list[Monitor]:
    """Return these of the team's monitors, as far as they exist, locked in the order of their keys.

    Their heartbeats and states are locked before, if both are written.
    """
    rows = await tx.fetch(
        f"""
        SELECT {_COLUMNS} FROM monitors m WHERE m.team_id = $1 AND m.id = ANY ($2)
        ORDER BY m.monitor FOR NO KEY UPDATE OF m
        """,
        team_id,
        ids,
    )
    return [Monitor(**row) for row in rows]


async def save_all(
    tx: Tx, team_id: int, rows: Mapping[UUID, tuple[int, Mapping[str, Any]]], now: datetime
) -> None:
    """Write changes that leave locations as they are; *rows*: by id, the revision and every column.

    Their cadences are to be noted by the caller.
    """
    given = [
        {"id": str(id_), "revision": revision, **columns, "secrets": _hex(columns["secrets"])}
        for id_, (revision, columns) in rows.items()
    ]
    await tx.execute(
        f"""
        UPDATE monitors m SET revision = u.revision, updated_at = $2,
            {", ".join(f"{name} = u.{name}" for name in _SET)}
        FROM jsonb_populate_recordset(NULL::monitors, $3) AS u
        WHERE m.team_id = $1 AND m.id = u.id
        """,
        team_id,
        now,
        given,
    )


async def pause(tx: Tx, team_id: int, id_: UUID, revision: int, now: datetime) -> None:
    await tx.execute(
        """
        UPDATE monitors SET paused_at = $4, updated_at = $4, revision = $3
        WHERE team_id = $1 AND id = $2
        """,
        team_id,
        id_,
        revision,
        now,
    )
    await cadences.note(tx, team_id, [id_], now)


async def resume(tx: Tx, team_id: int, id_: UUID, revision: int, now: datetime) -> None:
    await tx.execute(
        """
        UPDATE monitors SET paused_at = NULL, updated_at = $4, revision = $3
        WHERE team_id = $1 AND id = $2
        """,
        team_id,
        id_,
        revision,
        now,
    )
    await cadences.note(tx, team_id, [id_], now)
    await outages.leave(tx, team_id, id_, now)


async def forget_checks(tx: Tx, monitor: int) -> None:
    """Reset the newest check at all locations after a resume; which of them were failing stays."""
    await tx.execute(
        """
        UPDATE states SET last_at = NULL, last_status = NULL, last_ms = NULL, last_error = NULL
        WHERE monitor = $1
        """,
        monitor,
    )


async def silence(tx: Tx, team_id: int, id_: UUID, until: datetime | None, reason: str | None) -> bool:
    """Set the silence, or end it with *until* None; False if there is no such monitor."""
    found = await tx.fetchval(
        """
        UPDATE monitors SET silenced_until = $3, silence_reason = $4
        WHERE team_id = $1 AND id = $2 RETURNING true
        """,
        team_id,
        id_,
        until,
        reason,
    )
    return bool(found)


async def delete(tx: Tx, team_id: int, ids: Sequence[UUID]) -> None:
    """Delete monitors, and remove them from others' dependencies."""
    await tx.execute("DELETE FROM monitors WHERE team_id = $1 AND id = ANY ($2)", team_id, ids)
    await tx.execute(
        """
        UPDATE monitors SET depends_on = ARRAY(
            SELECT id FROM unnest(depends_on) WITH ORDINALITY AS u (id, place)
            WHERE id <> ALL ($2) ORDER BY place
        )
        WHERE team_id = $1 AND depends_on && $2
        """,
        team_id,
        ids,
    )


async def known(tx: Tx, team_id: int, wanted: Sequence[UUID]) -> set[UUID]:
    """Return the *wanted* ids that are monitors of the team."""
    rows = await tx.fetch(
        "SELECT id FROM monitors WHERE team_id = $1 AND id = ANY($2)", team_id, list(wanted)
    )
    return {row["id"] for row in rows}


async def ancestors(tx: Tx, team_id: int, parents: Sequence[UUID]) -> set[UUID]:
    """Return the parents and their ancestors; locks the team against other changes of dependencies."""
    await tx.execute("SELECT FROM teams WHERE team_id = $1 FOR NO KEY UPDATE", team_id)
    rows = await tx.fetch(
        """
        WITH RECURSIVE above (id) AS (
            SELECT unnest($2::uuid[])
            UNION
            SELECT parent FROM above JOIN monitors m ON m.team_id = $1 AND m.id = above.id,
                unnest(m.depends_on) AS parent
        )
        SELECT id FROM above
        """,
        team_id,
        list(parents),
    )
    return {row["id"] for row in rows}
