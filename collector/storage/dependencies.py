"""The monitors that others depend on, as the verdict on the others sees them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from collector.core.dependencies import At, Parent
from collector.core.quorum import Vote
from collector.storage.db import Tx
from shared.kinds import RECEIVING

# A monitor's team and id.
Key = tuple[int, UUID]


async def standing(tx: Tx, keys: Sequence[Key]) -> dict[Key, Parent]:
    """Those of *keys* that are there, not locked, with their open automatic incidents."""
    rows = await tx.fetch(
        """
        SELECT m.team_id, m.id, m.name, m.quorum, m.down, m.paused_at IS NOT NULL AS paused,
            m.turned_at[cardinality(m.turned_at)] AS turned_at,
            (SELECT i.id FROM incidents i WHERE i.team_id = m.team_id AND i.monitor_id = m.id
                AND i.automatic AND i.status <> 'resolved') AS incident_id,
            l.name AS location, s.failing, s.fails, s.last_at, least(p.seen_at, p.blind_since) AS seen_at,
            m.type = ANY($3) AS receives
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, id)
        JOIN monitors m ON m.team_id = u.team_id AND m.id = u.id
        LEFT JOIN states s ON s.monitor = m.monitor LEFT JOIN locations l USING (location)
        LEFT JOIN probes p USING (probe_id)
        """,
        [team_id for team_id, _ in keys],
        [id_ for _, id_ in keys],
        list(RECEIVING),
    )
    parts: defaultdict[Key, list[Any]] = defaultdict(list)
    for row in rows:
        parts[row["team_id"], row["id"]].append(row)
    return {key: _parent(of_one) for key, of_one in parts.items()}


def _parent(rows: Sequence[Any]) -> Parent:
    first = rows[0]
    places = [
        At(
            Vote(
                row["location"], row["failing"], row["seen_at"], row["last_at"] is not None, row["receives"]
            ),
            row["fails"],
            row["last_at"],
        )
        for row in rows
        if row["location"] is not None
    ]
    names = ("id", "name", "quorum", "down", "paused", "turned_at", "incident_id")
    return Parent(**{name: first[name] for name in names}, places=places)
