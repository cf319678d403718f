"""Ownership of resources by sets of files, and the key of each."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from collector.platform.storage.db import Tx

_ONE_AT_A_TIME = 0x6170706C  # "appl": the first half of the key of the advisory lock below


async def lock(tx: Tx, team_id: int) -> bool:
    """Lock the team against other applies until the transaction ends; False if another one runs."""
    free: bool = await tx.fetchval("SELECT pg_try_advisory_xact_lock($1, $2)", _ONE_AT_A_TIME, team_id)
    return free


async def all_(tx: Tx, team_id: int) -> dict[str, dict[str, dict[str, UUID]]]:
    """Return the id of each key, by set and section."""
    rows = await tx.fetch(
        "SELECT set_name, section, key, id FROM managed WHERE team_id = $1 ORDER BY key", team_id
    )
    found: dict[str, dict[str, dict[str, UUID]]] = {}
    for row in rows:
        found.setdefault(row["set_name"], {}).setdefault(row["section"], {})[row["key"]] = row["id"]
    return found


async def put(tx: Tx, team_id: int, set_name: str, section: str, keys: Mapping[str, UUID]) -> None:
    """Assign these keys of this set to these ids, and remove all other assignments of either."""
    await tx.execute(
        "DELETE FROM managed WHERE team_id = $1 AND section = $2 AND (key = ANY ($3) OR id = ANY ($4))",
        team_id, section, list(keys), list(keys.values()),
    )  # fmt: skip
    await tx.execute(
        """
        INSERT INTO managed (team_id, set_name, section, key, id)
        SELECT $1, $5, $2, key, id FROM unnest($3::text[], $4::uuid[]) AS u (key, id)
        """,
        team_id, section, list(keys), list(keys.values()), set_name,
    )  # fmt: skip


async def drop(tx: Tx, team_id: int, set_name: str, section: str, keys: Sequence[str]) -> None:
    """Delete these keys of this set."""
    await tx.execute(
        "DELETE FROM managed WHERE team_id = $1 AND section = $2 AND key = ANY ($3) AND set_name = $4",
        team_id, section, list(keys), set_name,
    )  # fmt: skip
