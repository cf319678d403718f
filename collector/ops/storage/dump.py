"""The contents of a backup: tables in an order in which they can be restored, sequences, keys."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Final

import asyncpg

from collector.platform.storage import sealed
from collector.platform.storage.connector import BRIEFLY_S, Connection, patient
from collector.platform.storage.db import OLDEST
from shared.errors import CannotStart, TocsinError

# Must list every table to back up: the others are lost with the database.
TAKEN: Final = (
    "agent_metrics", "agent_metrics_hour", "alert_marks", "alerts", "audit_log", "authorities", "cadences",
    "certificate_warnings", "channel_faults", "channels", "deliveries", "delivery_attempts", "errors",
    "event_positions", "events", "failures", "heartbeats", "incident_evidence", "incident_notes",
    "incident_templates", "incidents",
    "join_token_uses", "join_tokens", "listening", "locations", "mail_addresses", "maintenance_spans",
    "maintenance_underway",
    "maintenance_windows", "managed", "monitor_marks", "monitors", "outages", "packed_days", "packed_results",
    "passkeys", "ping_bodies",
    "postmortems",
    "probe_certificates", "probe_cursors", "probe_notices", "probes", "receptions", "recovery_codes",
    "refused_results", "report_editions", "report_mails", "reports",
    "result_gaps", "results", "rollups_day", "rollups_dirty", "rollups_done", "rollups_hour", "rules",
    "saved_filters",
    "secret_keys", "series", "series_conditions", "slos", "states", "status_components", "status_incidents",
    "status_letters", "status_news", "status_page_access",
    "status_page_addresses", "status_pages", "status_subscribers",
    "status_updates", "streams", "teams", "timeline", "tokens", "two_factor", "users", "wall_links",
    "web3_alerts", "web3_logs",
)  # fmt: skip
# Reasons why the other tables are left out.
LEFT_OUT: Final = {
    "schema_migrations": "the restoring program migrates",
    "leases": "their holders are gone",
    "monitor_counts": "it counts monitors as they come in",
    "signals": "their receivers are gone",
    "rate_buckets": "all are full by then",
    "console_sessions": "those that ended since would be open again",
    "password_links": "those that were used since would count again",
    "used_challenges": "they expire within minutes",
    "idempotency_keys": "answers of a day, to requests that are over",
}
# Tables of single results, with their time columns.
RAW: Final = {"results": "ts", "ping_bodies": "ts", "packed_results": "since", "packed_days": "since"}

_SCHEMA: Final = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
# Rows read the same on every server; no statement is limited in time.
_SETTINGS: Final = {
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "3",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "jit": "off",
}
_SINCE_17: Final = {"transaction_timeout": "0"}


class DumpFailed(TocsinError):
    """The database reported an error."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of this database, with its columns in order."""

    name: str
    columns: Sequence[str]


@asynccontextmanager
async def connected(url: str, name: str) -> AsyncIterator[Connection]:
    """A connection for long work. Raises Unavailable, CannotStart, and Failed for PostgreSQL's errors."""
    connection = await patient(url, name, within_s=BRIEFLY_S)
    try:
        major = connection.get_server_version().major
        if major < OLDEST:
            raise CannotStart(f"PostgreSQL {OLDEST} or newer is needed; this one is {major}")
        for setting, value in {**_SETTINGS, **(_SINCE_17 if major >= 17 else {})}.items():
            await connection.execute("SELECT set_config($1, $2, false)", setting, value)
        yield connection
    except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as error:
        raise DumpFailed(f"the database refuses: {_reason(error)}") from error
    finally:
        await _close(connection)


def _reason(error: Exception) -> str:
    """The error without its details, which quote rows."""
    parts = (getattr(error, "message", None) or str(error), getattr(error, "hint", None))
    return "; ".join(part for part in parts if part)


async def _close(connection: Connection) -> None:
    try:
        await connection.close(timeout=5)
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError):
        connection.terminate()


async def tables(connection: Connection) -> list[Table]:
    """The existing tables that backups include, referenced ones first."""
    rows = await connection.fetch(
        f"""
        SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
        FROM pg_class c JOIN pg_attribute a
            ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        WHERE c.relnamespace = {_SCHEMA} AND c.relkind IN ('r', 'p') AND c.relname = ANY($1)
        GROUP BY c.relname
        """,
        TAKEN,
    )
    found = {row["name"]: Table(row["name"], row["columns"]) for row in rows}
    return [found[name] for name in await _in_order(connection, found)]


async def _in_order(connection: Connection, names: Iterable[str]) -> list[str]:
    rows = await connection.fetch(
        f"""
        SELECT DISTINCT s.relname AS source, t.relname AS target
        FROM pg_constraint k JOIN pg_class s ON s.oid = k.conrelid JOIN pg_class t ON t.oid = k.confrelid
        WHERE k.contype = 'f' AND s.relnamespace = {_SCHEMA} AND s.oid <> t.oid
        ORDER BY source, target
        """
    )
    needs: dict[str, list[str]] = {name: [] for name in sorted(names)}
    for row in rows:
        if row["source"] in needs:
            needs[row["source"]].append(row["target"])
    return [name for name in TopologicalSorter(needs).static_order() if name in needs]


async def strangers(connection: Connection) -> list[str]:
    """Objects in the database's schema that belong neither to Tocsin nor to an extension."""
    rows = await connection.fetch(
        f"""
        SELECT relname AS name FROM pg_class c
        WHERE relnamespace = {_SCHEMA} AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f') AND NOT relispartition
            AND relname <> ALL($1) AND NOT EXISTS (
                SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                    AND d.deptype IN ('a', 'e', 'i')
            )
        ORDER BY name
        """,
        [*TAKEN, *LEFT_OUT],
    )
    return [row["name"] for row in rows]


async def applied(connection: Connection) -> list[str]:
    """The database's migrations in order, as ``0001_name``; empty if it is not Tocsin's."""
    if await connection.fetchval("SELECT to_regclass('schema_migrations')") is None:
        return []
    rows = await connection.fetch("SELECT version, name FROM schema_migrations ORDER BY version")
    return [f"{row['version']:04d}_{row['name']}" for row in rows]


async def key_ids(connection: Connection, there: Sequence[Table]) -> list[str]:
    """The hex ids of the keys that this database requires."""
    held = {(table.name, column) for table in there for column in table.columns}
    columns = [each for each in sealed.COLUMNS if (each.table, each.name) in held]
    rows = await connection.fetch("SELECT kid FROM secret_keys")
    return sorted({row["kid"] for row in rows} | await sealed.keys(connection, columns))


async def sequences(connection: Connection) -> dict[str, int]:
    """The last value of each sequence that was used."""
    rows = await connection.fetch(
        """
        SELECT sequencename AS name, last_value AS last FROM pg_sequences
        WHERE schemaname = current_schema() AND last_value IS NOT NULL
        """
    )
    return {row["name"]: row["last"] for row in rows}
