"""Migrates the database to this version: numbered files, each once, even if several start."""

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Final

import asyncpg
import structlog

from collector.platform.storage.connector import PATIENCE_S, Connection, patient
from shared.backoff import full_jitter
from shared.errors import CannotStart

log = structlog.get_logger()

_NAME: Final = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_LOCK: Final = 0x746F6373696E  # an arbitrary lock key
_SAID_EVERY: Final = 10


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    name: str
    sql: str


def known() -> list[Migration]:
    """The migrations in this program, in order."""
    migrations = [
        Migration(int(match[1]), match[2], file.read_text(encoding="utf-8"))
        for file in files("collector.migrations").iterdir()
        if (match := _NAME.fullmatch(file.name))
    ]
    return sorted(migrations, key=lambda each: each.version)


async def migrate(
    target: str | Connection,
    now: datetime,
    migrations: list[Migration] | None = None,
    *,
    within_s: float = PATIENCE_S,
) -> list[str]:
    """Apply missing migrations, all or nothing; return their names. Raises CannotStart.

    If a long read, such as a backup, locks a table that must be changed, it keeps retrying.
    """
    wanted = known() if migrations is None else migrations
    if not isinstance(target, str):
        return await _apply(target, now, wanted)
    connection = await patient(target, "tocsin migrate", within_s=within_s)
    try:
        return await _insist(connection, now, wanted)
    finally:
        await connection.close()


async def _insist(connection: Connection, now: datetime, wanted: list[Migration]) -> list[str]:
    """Let others proceed between attempts: a waiting table lock blocks everyone behind it."""
    for tries, rest_s in enumerate(full_jitter(1.0, 30.0)):
        try:
            done = await _apply(connection, now, wanted)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError):
            if tries % _SAID_EVERY == 0:
                log.warning("the schema waits for a long read, such as a backup, to end", tries=tries + 1)
            await asyncio.sleep(rest_s)
        else:
            break
    if done:
        log.info("schema migrated", applied=done if len(done) < len(wanted) else f"all {len(done)}")
    return done


async def _apply(connection: Connection, now: datetime, wanted: list[Migration]) -> list[str]:
    done = []
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await connection.execute(
            """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                version     int PRIMARY KEY,
                name        text NOT NULL,
                applied_at  timestamptz NOT NULL
            )
            """
        )
        applied = await _applied(connection)
        _compare(applied, wanted)
        await connection.execute("SET LOCAL lock_timeout = '2s'")
        for migration in wanted:
            if migration.version in applied:
                continue
            await connection.execute(migration.sql)
            await connection.execute(
                "INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)",
                migration.version,
                migration.name,
                now,
            )
            done.append(f"{migration.version:04d}_{migration.name}")
    return done


async def _applied(connection: Connection) -> dict[int, str]:
    rows = await connection.fetch("SELECT version, name FROM schema_migrations")
    return {row["version"]: row["name"] for row in rows}


def _compare(applied: dict[int, str], wanted: list[Migration]) -> None:
    names = {migration.version: migration.name for migration in wanted}
    newest = max(names, default=0)
    if beyond := [version for version in applied if version > newest]:
        raise CannotStart(
            f"the database is at version {max(beyond)}, and this Tocsin knows {newest}: "
            "run the newer Tocsin, or restore a backup from before it"
        )
    for version, name in applied.items():
        if names.get(version) != name:
            raise CannotStart(
                f"the database has migration {version:04d}_{name}, "
                f"where this Tocsin has {names.get(version)}: it was made by another program"
            )
