"""The components of status pages, and the state of their monitors."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from collector.history.storage.maintenance import CONCERNS, TIME
from collector.platform.storage.db import Tx
from collector.status_pages.core.status_page import Health, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """*held*: a status set by hand; None: the component follows its monitor.

    *essential*: its outage is a major one of the page; *show_uptime*: whether the page shows its days.
    """

    team_id: int
    id: UUID
    page_id: UUID
    name: str
    description: str
    group_name: str | None
    monitor_id: UUID | None
    position: int
    held: Status | None
    message: str
    essential: bool
    show_uptime: bool
    created_at: datetime
    updated_at: datetime


_COLUMNS = [field.name for field in fields(Component)]
_NAMES = ", ".join(f"c.{name}" for name in _COLUMNS)
_FIXED = {"team_id", "id", "page_id", "created_at"}


async def insert(tx: Tx, component: Component) -> None:
    places = ", ".join(f"${place}" for place in range(1, len(_COLUMNS) + 1))
    await tx.execute(
        f"INSERT INTO status_components ({', '.join(_COLUMNS)}) VALUES ({places})",
        *(getattr(component, name) for name in _COLUMNS),
    )


async def save(tx: Tx, component: Component) -> None:
    """Write the mutable columns of a component."""
    names = [name for name in _COLUMNS if name not in _FIXED]
    terms = ", ".join(f"{name} = ${place}" for place, name in enumerate(names, start=3))
    await tx.execute(
        f"UPDATE status_components SET {terms} WHERE team_id = $1 AND id = $2",
        component.team_id,
        component.id,
        *(getattr(component, name) for name in names),
    )


async def get(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> Component | None:
    row = await tx.fetchrow(
        f"SELECT {_NAMES} FROM status_components c WHERE c.team_id = $1 AND c.page_id = $2 AND c.id = $3",
        team_id,
        page_id,
        id_,
    )
    return Component(**row) if row else None


async def of_page(tx: Tx, team_id: int, page_id: UUID) -> list[Component]:
    """The components of a page in their order."""
    rows = await tx.fetch(
        f"""
        SELECT {_NAMES} FROM status_components c WHERE c.team_id = $1 AND c.page_id = $2
        ORDER BY c.position, c.id
        """,
        team_id,
        page_id,
    )
    return [Component(**row) for row in rows]


async def delete(tx: Tx, team_id: int, page_id: UUID, id_: UUID) -> None:
    """Delete a component, also from the page's incidents and its subscribers' preferences."""
    await tx.execute(
        "DELETE FROM status_components WHERE team_id = $1 AND page_id = $2 AND id = $3",
        team_id,
        page_id,
        id_,
    )
    for table in ("status_incidents", "status_subscribers"):
        await tx.execute(
            f"""
            UPDATE {table} SET components = array_remove(components, $3)
            WHERE team_id = $1 AND page_id = $2 AND components @> ARRAY[$3::uuid]
            """,
            team_id,
            page_id,
            id_,
        )


async def arrange(tx: Tx, team_id: int, page_id: UUID, order: Sequence[UUID], now: datetime) -> None:
    """Number the components in this order."""
    await tx.execute(
        """
        UPDATE status_components c SET position = u.place, updated_at = $4
        FROM unnest($3::uuid[]) WITH ORDINALITY AS u (id, place)
        WHERE c.team_id = $1 AND c.page_id = $2 AND c.id = u.id AND c.position <> u.place
        """,
        team_id,
        page_id,
        list(order),
        now,
    )


async def hold(tx: Tx, team_id: int, page_id: UUID, held: dict[UUID, Status | None], now: datetime) -> None:
    """Set the manual status of each component; None removes it."""
    await tx.execute(
        """
        UPDATE status_components c SET held = u.held, updated_at = $5
        FROM unnest($3::uuid[], $4::text[]) AS u (id, held)
        WHERE c.team_id = $1 AND c.page_id = $2 AND c.id = u.id AND c.held IS DISTINCT FROM u.held
        """,
        team_id,
        page_id,
        list(held),
        list(held.values()),
        now,
    )


async def health(tx: Tx, team_id: int, monitors: Sequence[UUID], now: datetime) -> dict[UUID, Health]:
    """The state of each monitor; deleted ones are left out."""
    rows = await tx.fetch(
        f"""
        SELECT m.id, m.down, m.degraded_since IS NOT NULL AS degraded, m.paused_at IS NOT NULL AS paused,
            m.paused_at IS NULL AND (l.last_at IS NULL OR m.unmeasured_since IS NOT NULL) AS unknown,
            CASE WHEN m.paused_at IS NOT NULL THEN m.paused_at WHEN l.last_at IS NULL THEN m.created_at
                WHEN m.unmeasured_since IS NOT NULL THEN m.unmeasured_since
                WHEN m.type <> 'heartbeat'
                    AND l.last_at < $3::timestamptz - greatest(180, 3 * m.interval_s) * interval '1 s'
                THEN l.last_at END AS unmeasured_since,
            EXISTS (SELECT FROM alerts a WHERE a.team_id = m.team_id AND a.monitor_id = m.id
                AND a.status <> 'recovered' AND a.reason = 'latencyThresholdMs') AS slow,
            EXISTS (SELECT FROM maintenance_spans s WHERE s.team_id = m.team_id
                AND {TIME} @> $3 AND {CONCERNS}) AS maintained
        FROM monitors m, LATERAL
            (SELECT max(s.last_at) AS last_at FROM states s WHERE s.monitor = m.monitor) l
        WHERE m.team_id = $1 AND m.id = ANY ($2)
        """,
        team_id,
        list(monitors),
        now,
    )
    return {
        row["id"]: Health(
            down=row["down"],
            degraded=row["degraded"],
            slow=row["slow"],
            maintained=row["maintained"],
            paused=row["paused"],
            unmeasured_since=row["unmeasured_since"],
            unknown=row["unknown"],
        )
        for row in rows
    }
