"""A database with a row in every table of the catalogue, as odd as its columns let it be."""

import re
from datetime import UTC, date, datetime
from typing import Any, Final

from collector.history.storage import partitions
from collector.platform.seal import Keyring, SealScope
from collector.platform.storage import sealed
from collector.platform.storage.connector import Connection

DAY: Final = date(2021, 3, 28)
SECRET: Final = "canary-of-a-secret"
TEXT: Final = "tab\tback\\slash \\N \\. line\nreturn\r quote\" ' é 🔔"
_AT: Final = datetime(2021, 3, 28, 1, 59, 59, 123_456, UTC)
# The same everywhere, so that every reference finds what it names.
_ID: Final = "00000000-0000-7000-8000-0000000000ff"
_VALUES: Final[dict[str, str]] = {
    "uuid": f"'{_ID}'",
    "integer": "1",
    "smallint": "1",
    "bigint": "1",
    "boolean": "true",
    "double precision": "0.1::float8 + 0.2::float8",
    "bytea": r"'\x00095c0a2eff'",
    "jsonb": """'{"k": "a\\\\b\\n\\t\\\\.", "n": [1.50, null]}'""",
    "date": f"'{DAY}'",
    "timestamp without time zone": "'infinity'",
}
# Where constraints want something else of two columns together.
_OWN: Final = {
    **{("status_subscribers", name): "NULL" for name in ("email", "link_key")},
    ("slos", "threshold_ms"): "NULL",
}


async def fill(connection: Connection, order: list[str], keyring: Keyring) -> None:
    """One row in each table of *order*, and a result in a day of its own."""
    async with connection.transaction():
        await partitions.make_days(connection, [DAY])
        for table in order:
            await _insert(connection, table, keyring)


async def _insert(connection: Connection, table: str, keyring: Keyring) -> None:
    rows = await connection.fetch(
        """
        SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type,
            (SELECT string_agg(pg_get_constraintdef(k.oid), ' ') FROM pg_constraint k
             WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) AS checks
        FROM pg_attribute a
        WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        ORDER BY a.attnum
        """,
        table,
    )
    values = [_value(table, row["name"], row["type"], row["checks"] or "", keyring) for row in rows]
    names = ", ".join(row["name"] for row in rows)
    await connection.execute(
        f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({', '.join(values)})"
    )


def _value(table: str, column: str, type_: str, checks: str, keyring: Keyring) -> str:
    if (table, column) in _OWN:
        return _OWN[table, column]
    for each in sealed.COLUMNS:
        if (each.table, each.name) == (table, column):
            place = SealScope(1, table, _ID, column)
            return rf"'\x{keyring.seal(SECRET.encode(), place).hex()}'"
    if type_.endswith("[]"):
        return f"ARRAY[{_value(table, column, type_[:-2], '', keyring)}, NULL]::{type_}"
    if type_ == "text":
        allowed = re.search(r"'([^']+)'::text", checks)
        return f"'{allowed[1]}'" if allowed else "$text$" + TEXT + "$text$"
    if type_.startswith("timestamp") and "with time zone" in type_:
        return f"'{_AT.isoformat()}'"
    return _VALUES[type_]


async def content(connection: Connection) -> dict[str, list[Any]]:
    """Every table of the catalogue with its rows as text, and the partition in which each lies."""
    names = [
        row["relname"]
        for row in await connection.fetch(
            """
            SELECT relname FROM pg_class
            WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
            ORDER BY relname
            """
        )
    ]
    await connection.execute("SET timezone = 'UTC'")
    return {
        name: [
            tuple(row)
            for row in await connection.fetch(
                f"SELECT tableoid::regclass::text, t::text FROM {name} t ORDER BY 1, 2"
            )
        ]
        for name in names
    }
