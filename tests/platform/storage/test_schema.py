"""The schema, as the catalogue of a migrated database shows it: ready to be spread by tenant."""

from collector.platform.storage.db import Db

# A table's distribution column; a results table has its monitor instead of a team.
DISTRIBUTED_BY = {"team_id", "monitor"}

# Small ones that every node would hold whole, or that belong to the machinery and not to a tenant.
WHOLE = {
    "schema_migrations",
    "secret_keys",
    "locations",
    "errors",
    "probes",
    "probe_cursors",
    "agent_metrics",
    "agent_metrics_hour",
    "probe_certificates",
    "authorities",
    "join_tokens",
    "join_token_uses",
    "result_gaps",
    "refused_results",
    "signals",
    "leases",
    "rollups_done",
    "packed_days",
    "listening",
    "status_page_addresses",
}


async def keys(db: Db) -> dict[str, set[str]]:
    """The columns of each primary key and unique index, partitions aside: `table.index` to columns."""
    async with db.connection() as connection:
        rows = await connection.fetch(
            """
            SELECT c.relname AS table, i.relname AS index,
                   array_agg(a.attname::text) FILTER (WHERE a.attname IS NOT NULL) AS columns
            FROM pg_index x
            JOIN pg_class i ON i.oid = x.indexrelid
            JOIN pg_class c ON c.oid = x.indrelid
            LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (x.indkey)
            WHERE x.indisunique AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
            GROUP BY 1, 2
            """
        )
    return {f"{row['table']}.{row['index']}": set(row["columns"]) for row in rows}


async def test_every_key_holds_what_its_table_is_spread_by(db: Db) -> None:
    found = await keys(db)
    loose = {
        name: columns
        for name, columns in found.items()
        if not columns & DISTRIBUTED_BY and name.partition(".")[0] not in WHOLE
    }

    assert len(found) > 10
    assert not loose


async def test_every_table_has_a_primary_key_or_is_a_partition(db: Db) -> None:
    async with db.connection() as connection:
        without = await connection.fetch(
            """
            SELECT relname FROM pg_class c
            WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition
                AND NOT EXISTS (SELECT FROM pg_index x WHERE x.indrelid = c.oid AND x.indisprimary)
            """
        )

    assert not [row["relname"] for row in without]


async def test_the_list_of_whole_tables_names_tables(db: Db) -> None:
    tables = {name.partition(".")[0] for name in await keys(db)}

    assert tables >= WHOLE


async def test_references_between_tenants_tables_hold_the_tenant(db: Db) -> None:
    """A foreign key between spread tables works only where both ends lie on one node."""
    async with db.connection() as connection:
        rows = await connection.fetch(
            """
            SELECT k.conname AS name, k.conrelid::regclass::text AS source,
                   k.confrelid::regclass::text AS target,
                   array_agg(a.attname::text) AS columns
            FROM pg_constraint k
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
            WHERE k.contype = 'f'
            GROUP BY 1, 2, 3
            """
        )

    loose = [
        row["name"]
        for row in rows
        if row["target"] not in WHOLE
        and row["source"] not in WHOLE
        and not set(row["columns"]) & DISTRIBUTED_BY
    ]
    assert not loose
