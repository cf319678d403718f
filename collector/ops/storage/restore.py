"""Fills an empty database from a backup, all or nothing."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import BinaryIO, Final

from collector.history.storage import partitions
from collector.ops.storage import dump
from collector.ops.storage.backup_file import (
    BackupHeader,
    BackupReader,
    BrokenBackup,
    Trailer,
    VerifiedBackup,
)
from collector.ops.storage.dump import Table
from collector.platform.storage.connector import Connection
from collector.platform.storage.migrate import Migration, known, migrate
from shared.errors import CannotStart

# Tables that have rows in a migrated but unused database.
_OF_NOBODY: Final = ("leases", "signals", "rate_buckets", "listening", "secret_keys")
# Probes remember numbers issued after the backup for days: skip ahead so that none is issued twice.
_AHEAD: Final = {
    "session_numbers": 1 << 32,
    "assignment_numbers": 1 << 32,
    "monitors_monitor_seq": 1_000_000,
    "locations_location_seq": 100,
}
# Receivers may have seen this many events since, and rely on their order.
_EVENTS_AHEAD: Final = 1_000_000


def known_to_us(header: BackupHeader) -> list[Migration]:
    """The migrations that produce the backup's schema. Raises CannotStart."""
    ours = known()
    if len(header.migrations) > len(ours):
        raise CannotStart(
            f"the backup is of a database at version {len(header.migrations)}, by Tocsin {header.tocsin}, "
            f"and this Tocsin knows {len(ours)}: restore it with the newer one"
        )
    wanted = ours[: len(header.migrations)]
    for theirs, mine in zip(header.migrations, wanted, strict=True):
        if theirs != _name(mine):
            raise CannotStart(f"the backup has migration {theirs}, where this Tocsin has {_name(mine)}")
    return wanted


async def load(connection: Connection, file: BinaryIO, checked: VerifiedBackup, now: datetime) -> list[str]:
    """Load a backup, then migrate it to this version; return the migrations applied.

    Raises CannotStart, which says what is there, for a database that is not empty; and Broken.
    """
    before = known_to_us(checked.header)
    async with connection.transaction():
        await _demand_room(connection, before)
        # Holds the migration lock, so that no collector starts before this ends.
        await migrate(connection, now, before)
        there = await dump.tables(connection)
        await _hold(connection, there)
        await _demand_empty(connection, there)
        _compare(checked.header, there)
        for name in await _of_nobody(connection):
            await connection.execute(f"DELETE FROM {name}")
        await partitions.make_days(connection, checked.header.days)
        await _fill(connection, file, checked)
        await connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
        await _go_ahead(connection, checked.trailer)
        done = await migrate(connection, now)
    # Otherwise the first queries would use statistics of empty tables.
    await connection.execute(f"ANALYZE {', '.join(table.name for table in there)}")
    return done


async def _demand_room(connection: Connection, wanted: Sequence[Migration]) -> None:
    applied = await dump.applied(connection)
    if len(applied) > len(wanted):
        raise CannotStart(
            f"the database is at version {len(applied)}, and the backup at {len(wanted)}: "
            "restore it into an empty database, which is then brought to this version"
        )
    if not applied and (found := await dump.strangers(connection)):
        raise CannotStart(f"the database is not empty, it has {_few(found)}: restore into a new one")


async def _hold(connection: Connection, there: Sequence[Table]) -> None:
    """Block everyone who would start to use the tables."""
    await connection.execute(
        f"LOCK TABLE {', '.join(table.name for table in there)} IN SHARE ROW EXCLUSIVE MODE"
    )


async def _demand_empty(connection: Connection, there: Sequence[Table]) -> None:
    found = []
    for name in (table.name for table in there if table.name not in _OF_NOBODY):
        count = await connection.fetchval(f"SELECT count(*) FROM (SELECT FROM {name} LIMIT 10000) AS few")
        if count:
            found.append(f"{count} of {name}")
    if found:
        raise CannotStart(
            f"the database is in use, it has {_few(found)}: restore into a new one, "
            "as into another TOCSIN_DATA_DIR or another database of the server"
        )


async def _of_nobody(connection: Connection) -> list[str]:
    rows = await connection.fetch(
        "SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL", _OF_NOBODY
    )
    return [row["name"] for row in rows]


def _compare(header: BackupHeader, there: Sequence[Table]) -> None:
    ours = {table.name: list(table.columns) for table in there}
    for name, columns in header.tables.items():
        if ours.pop(name, None) != list(columns):
            raise BrokenBackup(f"its table {name} is not the one that its migrations make")
    if missing := sorted(ours.keys() - set(header.left_out)):
        raise BrokenBackup(f"it lacks {_few(missing)}")


async def _fill(connection: Connection, file: BinaryIO, checked: VerifiedBackup) -> None:
    file.seek(0)
    reader = BackupReader(file)
    if reader.begin() != checked.header:
        raise BrokenBackup("it changed while it was read")
    for name, columns in checked.header.tables.items():
        reader.table(name)
        tag = await connection.copy_to_table(
            name, source=_pieces(reader), columns=list(columns), format="text"
        )
        if int(tag.split()[-1]) != checked.trailer.rows[name]:
            raise BrokenBackup(f"its table {name} has another number of rows than it says")
    if reader.end() != (checked.trailer, checked.digest):
        raise BrokenBackup("it changed while it was read")


async def _pieces(reader: BackupReader) -> AsyncIterator[bytes]:
    for piece in reader.rows():
        yield piece


async def _go_ahead(connection: Connection, trailer: Trailer) -> None:
    """Advance sequences to their old values, or beyond those that others saw after the backup."""
    await _set(connection, {name: last + _AHEAD.get(name, 0) for name, last in trailer.sequences.items()})
    await connection.execute(
        "UPDATE streams SET sequence = sequence + $1, routed = routed + $1 WHERE routed = sequence",
        _EVENTS_AHEAD,
    )


async def _set(connection: Connection, numbers: Mapping[str, int]) -> None:
    await connection.execute(
        """
        SELECT setval(s.seqrelid, least(u.number, s.seqmax))
        FROM unnest($1::text[], $2::bigint[]) AS u (name, number)
        JOIN pg_sequence s ON s.seqrelid = to_regclass(quote_ident(u.name))
        """,
        list(numbers),
        list(numbers.values()),
    )


def _few(names: Sequence[str]) -> str:
    rest = len(names) - 5
    return ", ".join(names[:5]) + (f" and {rest} more" if rest > 0 else "")


def _name(migration: Migration) -> str:
    return f"{migration.version:04d}_{migration.name}"
