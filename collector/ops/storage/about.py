"""Facts about the database: version, size, migrations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """*size* in bytes; *largest*: names and sizes of the largest tables, with their partitions."""

    server: str
    size: int
    migration: int
    migrated_at: datetime | None
    started_at: datetime
    largest: Sequence[tuple[str, int]]


async def read(tx: Tx) -> DatabaseFacts:
    row = await tx.fetchrow(
        """
        SELECT current_setting('server_version') AS server, pg_database_size(current_database()) AS size,
            pg_postmaster_start_time() AS started_at, m.version AS migration, m.applied_at AS migrated_at
        FROM (SELECT 1) AS one LEFT JOIN LATERAL (
            SELECT version, applied_at FROM schema_migrations ORDER BY version DESC LIMIT 1
        ) m ON true
        """
    )
    tables = await tx.fetch(
        """
        SELECT coalesce(i.inhparent, c.oid)::regclass::text AS name,
            sum(pg_total_relation_size(c.oid))::bigint AS size
        FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 6
        """
    )
    largest = [(record["name"], record["size"]) for record in tables]
    values = dict(row) if row else {}
    return DatabaseFacts(**values, largest=largest)
