"""The monitors that others depend on, as their verdicts need them."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from collector.evaluation.core.dependencies import ParentLocation, ParentState
from collector.evaluation.storage import states
from collector.platform.storage.db import Tx

# A monitor's team and id.
Key = tuple[int, UUID]


async def standing(tx: Tx, keys: Sequence[Key]) -> dict[Key, ParentState]:
    """The *keys* that exist, not locked, with their open automatic incidents."""
    rows = await tx.fetch(
        """
        SELECT m.monitor, m.team_id, m.id, m.name, m.quorum, m.down, m.paused_at IS NOT NULL AS paused,
            m.turned_at[cardinality(m.turned_at)] AS turned_at,
            (SELECT i.id FROM incidents i WHERE i.team_id = m.team_id AND i.monitor_id = m.id
                AND i.automatic AND i.status <> 'resolved') AS incident_id
        FROM unnest($1::int[], $2::uuid[]) AS u (team_id, id)
        JOIN monitors m ON m.team_id = u.team_id AND m.id = u.id
        """,
        [team_id for team_id, _ in keys],
        [id_ for _, id_ in keys],
    )
    places: defaultdict[int, list[ParentLocation]] = defaultdict(list)
    for monitor in await states.of_monitors(tx, [row["monitor"] for row in rows]):
        places[monitor.monitor].append(ParentLocation(monitor.vote, monitor.state.fails, monitor.last_at))
    names = ("id", "name", "quorum", "down", "paused", "turned_at", "incident_id")
    return {
        (row["team_id"], row["id"]): ParentState(
            **{name: row[name] for name in names}, places=places[row["monitor"]]
        )
        for row in rows
    }
