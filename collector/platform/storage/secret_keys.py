"""The keys that this database needs: a known text sealed with each."""

from collections.abc import Sequence
from datetime import datetime

from collector.platform.storage.db import Tx


async def lock(tx: Tx) -> None:
    """Serialize collectors that start at the same time."""
    await tx.execute("LOCK TABLE secret_keys IN SHARE ROW EXCLUSIVE MODE")


async def proofs(tx: Tx) -> dict[str, bytes]:
    """The proof of each key, by hex id."""
    return {row["kid"]: row["proof"] for row in await tx.fetch("SELECT kid, proof FROM secret_keys")}


async def newest(tx: Tx) -> str | None:
    """The hex id of the current sealing key, the one last taken up by a collector."""
    kid: str | None = await tx.fetchval("SELECT kid FROM secret_keys ORDER BY created_at DESC, kid LIMIT 1")
    return kid


async def take_up(tx: Tx, kid: str, proof: bytes, now: datetime) -> None:
    """Make this key, new or known, the sealing key."""
    await tx.execute(
        """
        INSERT INTO secret_keys (kid, proof, created_at)
        SELECT $1, $2, greatest($3, max(created_at) + interval '1 microsecond') FROM secret_keys
        ON CONFLICT (kid) DO UPDATE SET created_at = excluded.created_at
        """,
        kid, proof, now,
    )  # fmt: skip


async def keep(tx: Tx, kids: Sequence[str]) -> None:
    """Delete all other keys."""
    await tx.execute("DELETE FROM secret_keys WHERE NOT kid = ANY($1)", kids)


async def used(tx: Tx) -> list[str]:
    """The ids of all keys known to the database; none if it is empty."""
    if await tx.fetchval("SELECT to_regclass('secret_keys') IS NULL"):
        return []
    return sorted(await proofs(tx))
