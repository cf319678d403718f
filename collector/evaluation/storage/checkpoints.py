"""State that checks keep between runs, from the probe that has the assignment."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from collector.platform.storage.db import Tx


class CheckpointKey(NamedTuple):
    """Identifies a checkpoint: an incarnation of a probe, its *ordinal*, stored it under that assignment."""

    monitor: int
    location: int
    assignment: int
    probe_id: UUID
    ordinal: int


# A checkpoint of an older incarnation comes late: the newest one has continued from another.
_NEWEST = """
    newest AS (
        SELECT probe_id, max(ordinal) AS ordinal FROM probe_cursors WHERE probe_id = ANY($4) GROUP BY probe_id
    )
"""
_CURRENT = "s.monitor = u.monitor AND s.location = u.location AND s.assignment = u.assignment"


async def save(tx: Tx, checkpoints: Mapping[CheckpointKey, bytes]) -> None:
    """Store checkpoints for the next start of their checks.

    Most are unchanged, and not written.
    """
    keys = sorted(checkpoints)
    await tx.execute(
        f"""
        WITH {_NEWEST}
        UPDATE states s SET checkpoint = u.checkpoint
        FROM unnest($1::int[], $2::smallint[], $3::bigint[], $4::uuid[], $5::bigint[], $6::bytea[])
                AS u (monitor, location, assignment, probe_id, ordinal, checkpoint)
            JOIN newest n ON n.probe_id = u.probe_id AND n.ordinal <= u.ordinal
        WHERE {_CURRENT} AND s.probe_id = u.probe_id AND s.checkpoint IS DISTINCT FROM u.checkpoint
        """,
        *_columns(keys),
        [checkpoints[key] for key in keys],
    )


async def standing(tx: Tx, keys: Sequence[CheckpointKey]) -> dict[CheckpointKey, bool]:
    """The *keys* with a current assignment, locked in key order; True where `save` stores the checkpoint."""
    rows = await tx.fetch(
        f"""
        WITH {_NEWEST}
        SELECT u.*, n.ordinal <= u.ordinal AS newest
        FROM unnest($1::int[], $2::smallint[], $3::bigint[], $4::uuid[], $5::bigint[])
                AS u (monitor, location, assignment, probe_id, ordinal)
            JOIN newest n ON n.probe_id = u.probe_id
            JOIN states s ON {_CURRENT} AND s.probe_id = u.probe_id
        ORDER BY s.monitor, s.location FOR NO KEY UPDATE OF s
        """,
        *_columns(keys),
    )
    return {CheckpointKey(*row[:5]): row["newest"] for row in rows}


async def of_places(tx: Tx, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bytes | None]:
    """The checkpoints stored at these *places*, each a monitor and a location, from any probe."""
    rows = await tx.fetch(
        """
        SELECT monitor, location, s.checkpoint
        FROM unnest($1::int[], $2::smallint[]) AS u (monitor, location)
        JOIN states s USING (monitor, location)
        """,
        [monitor for monitor, _ in places],
        [location for _, location in places],
    )
    return {(row["monitor"], row["location"]): row["checkpoint"] for row in rows}


def _columns(keys: Iterable[CheckpointKey]) -> tuple[Sequence[Any], ...]:
    return tuple(zip(*keys, strict=True))
