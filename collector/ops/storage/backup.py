"""Writes a backup from one snapshot, while the service goes on."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Final

from collector.history.storage import partitions, rollups
from collector.ops.storage import dump
from collector.ops.storage.backup_file import BackupHeader, BackupWriter, Trailer
from collector.ops.storage.dump import Table
from collector.platform.storage.connector import Connection
from collector.platform.storage.migrate import known
from shared import __version__
from shared.errors import CannotStart

# The latest hourly rollups are computed from this many days of results, including late ones.
_RECENT: Final = timedelta(days=2)


async def write(
    connection: Connection, out: Callable[[bytes], object], now: datetime, *, recent_only: bool
) -> tuple[BackupHeader, Trailer]:
    """Write a backup to *out*; with *recent_only*, only the latest days of results. Raises CannotStart."""
    there = await dump.tables(connection)
    if not there:
        raise CannotStart("there is nothing to back up: this database is not one of Tocsin's")
    writer, rows = BackupWriter(out), dict[str, int]()
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        # Lock first, before the snapshot is taken, so that nothing in it is dropped or altered meanwhile.
        names = ", ".join(table.name for table in there)
        await connection.execute(f"LOCK TABLE {names} IN ACCESS SHARE MODE")
        header = await _header(connection, there, now, recent_only=recent_only)
        writer.begin(header)
        for table in there:
            rows[table.name] = await _write(connection, table, header.results_since, writer)
        # Sequences are not part of the snapshot, but can only be ahead of it.
        trailer = Trailer(rows, await dump.sequences(connection))
        writer.end(trailer)
    return header, trailer


async def _header(
    connection: Connection, there: list[Table], now: datetime, *, recent_only: bool
) -> BackupHeader:
    since = await _since(connection, now) if recent_only else None
    return BackupHeader(
        format="tocsin backup 1",
        tocsin=__version__,
        postgres=str(connection.get_server_version().major),
        at=now,
        migrations=await _migrations(connection),
        keys=await dump.key_ids(connection, there),
        days=[day for day in await partitions.days(connection) if since is None or day >= since],
        results_since=since,
        tables={table.name: table.columns for table in there},
        left_out=sorted(dump.LEFT_OUT),
    )


async def _migrations(connection: Connection) -> list[str]:
    names = await dump.applied(connection)
    newest = len(known())
    if len(names) > newest:
        raise CannotStart(
            f"the database is at version {len(names)}, and this Tocsin knows {newest}: "
            "back it up with the newer Tocsin"
        )
    return names


async def _since(connection: Connection, now: datetime) -> date:
    """The first day whose results are still needed for hourly rollups."""
    recent = (now - _RECENT).date()
    needed = await rollups.needed_since(connection)
    return min(recent, needed.date()) if needed is not None else recent


async def _write(connection: Connection, table: Table, since: date | None, writer: BackupWriter) -> int:
    async def taken(text: bytes) -> None:
        writer.rows(text)

    time = dump.RAW.get(table.name)
    bound = f" WHERE {time} >= '{since.isoformat()}Z'" if time is not None and since is not None else ""
    columns = ", ".join(f'"{column}"' for column in table.columns)
    writer.table(table.name)
    tag = await connection.copy_from_query(
        f"SELECT {columns} FROM {table.name}{bound}", output=taken, format="text"
    )
    writer.table_ends()
    return int(tag.split()[-1])
