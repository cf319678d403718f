"""Who can be asked for an immediate check: other locations, parents and children of a monitor."""

from collections.abc import Sequence
from dataclasses import dataclass

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class MonitorLocation:
    """A monitor at a location, and the session of the probe that checks it there."""

    monitor: int
    location: int
    session: int


async def to_ask(tx: Tx, doubted: Sequence[int], risen: Sequence[int], limit: int) -> list[MonitorLocation]:
    """Locations without trouble of the *doubted* and their parents; all locations of the children of *risen*.

    Where there is trouble already, the probe rechecks unasked; but a child may have only now recovered.
    """
    rows = await tx.fetch(
        """
        WITH asked AS (
            SELECT unnest($1::int[]) AS monitor, false AS child
            UNION
            SELECT p.monitor, false FROM monitors m JOIN monitors p
                ON p.team_id = m.team_id AND p.id = ANY(m.depends_on) AND p.paused_at IS NULL
            WHERE m.monitor = ANY($1)
            UNION
            SELECT c.monitor, true FROM monitors c CROSS JOIN unnest(c.depends_on) AS named (id)
                JOIN monitors r ON r.team_id = c.team_id AND r.id = named.id
            WHERE c.down AND c.paused_at IS NULL AND r.monitor = ANY($2)
        )
        SELECT s.monitor, s.location, p.session
        FROM asked JOIN states s USING (monitor) JOIN probes p USING (probe_id)
        WHERE p.session IS NOT NULL AND p.ended_at IS NULL AND p.revoked_at IS NULL
            AND (asked.child OR NOT (s.failing OR s.fails > 0))
        ORDER BY s.monitor, s.location LIMIT $3
        """,
        list(doubted),
        list(risen),
        limit,
    )
    return [MonitorLocation(**row) for row in rows]
