"""Which keys this database needs: a known text, sealed with each."""

from datetime import datetime

from collector.storage.db import Tx


async def lock(tx: Tx) -> None:
    """Several collectors that start at once go through here one by one."""
    await tx.execute("LOCK TABLE secret_keys IN SHARE ROW EXCLUSIVE MODE")


async def proofs(tx: Tx) -> dict[str, bytes]:
    """The proof of each key, by its id in hex."""
    return {row["kid"]: row["proof"] for row in await tx.fetch("SELECT kid, proof FROM secret_keys")}


async def insert(tx: Tx, kid: str, proof: bytes, now: datetime) -> None:
    await tx.execute("INSERT INTO secret_keys (kid, proof, created_at) VALUES ($1, $2, $3)", kid, proof, now)
