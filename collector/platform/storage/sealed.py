"""Where sealed values lie, and which of them a given key opens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collector.platform.seal import SealScope
from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class Column:
    """A column of sealed values; *team* and *row* are SQL for the scope that a value is bound to."""

    table: str
    name: str
    team: str
    row: str


@dataclass(frozen=True, slots=True)
class SealedValue:
    """A sealed value and its location."""

    place: SealScope
    sealed: bytes


# Must list every sealed column: values of a missing one would keep their old key forever.
COLUMNS = (
    Column("monitors", "secrets", "team_id", "id::text"),
    Column("channels", "secrets", "team_id", "id::text"),
    Column("status_subscribers", "sealed_hook", "team_id", "id::text"),
    Column("status_subscribers", "sealed_link_key", "team_id", "id::text"),
    Column("status_page_access", "sealed_secret", "team_id", "page_id::text"),
    Column("authorities", "sealed_key", "0", "encode(fingerprint, 'hex')"),
    Column("idempotency_keys", "answer", "team_id", "encode(key, 'hex')"),
    Column("two_factor", "sealed_secret", "team_id", "user_id::text"),
)
# Older collectors stored idempotent answers unsealed; none of those begins with this byte.
_SEALED = r"substring({name} FROM 1 FOR 1) = '\x01'"
# Eight bytes after the version identify the key.
_KID = "substring({name} FROM 2 FOR 8)"


async def keys(tx: Tx, columns: Sequence[Column] = COLUMNS) -> set[str]:
    """The hex ids of all keys that seal any value."""
    found: set[str] = set()
    for column in columns:
        rows = await tx.fetch(
            f"""
            SELECT DISTINCT encode({_KID.format(name=column.name)}, 'hex') AS kid
            FROM {column.table} WHERE {_SEALED.format(name=column.name)}
            """
        )
        found |= {row["kid"] for row in rows}
    return found


async def under(tx: Tx, column: Column, kids: Sequence[bytes], limit: int) -> list[SealedValue]:
    """Some values of a column that are sealed with one of *kids*; rows locked by others are skipped."""
    rows = await tx.fetch(
        f"""
        SELECT {column.team} AS team_id, {column.row} AS row, {column.name} AS sealed FROM {column.table}
        WHERE {_SEALED.format(name=column.name)} AND {_KID.format(name=column.name)} = ANY($1)
        LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED
        """,
        list(kids), limit,
    )  # fmt: skip
    return [
        SealedValue(SealScope(row["team_id"], column.table, row["row"], column.name), row["sealed"])
        for row in rows
    ]


async def replace(tx: Tx, column: Column, sealed: Mapping[bytes, bytes]) -> None:
    """Replace each value; `under` has locked the rows."""
    await tx.execute(
        f"""
        UPDATE {column.table} SET {column.name} = u.new
        FROM unnest($1::bytea[], $2::bytea[]) AS u (old, new) WHERE {column.name} = u.old
        """,
        list(sealed), list(sealed.values()),
    )  # fmt: skip
