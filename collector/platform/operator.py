"""Shared by operator commands: arguments, the database connection, secret keys."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from collector.platform import secret_key_file
from collector.platform.embedded.server import reach
from collector.platform.seal import Keyring
from collector.platform.storage import database_time
from collector.platform.storage.connector import BRIEFLY_S
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from shared.clock import utc_now
from shared.command import begin_with
from shared.errors import BadSettings
from shared.settings import Check, CopySettings, DeclaredSettings, OperatorSettings, TeamSettings


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """An open database of the current schema version, its clock, and the encryption keys."""

    db: Db
    keyring: Keyring
    now: datetime


def read(
    parser: argparse.ArgumentParser, argv: list[str], check: Check = lambda _: ()
) -> tuple[argparse.Namespace, OperatorSettings]:
    """The command's own arguments and the settings. Raises BadSettings."""
    return begin_with(parser, OperatorSettings, argv, check)


def operators(settings: CopySettings | DeclaredSettings | TeamSettings) -> OperatorSettings:
    """The settings that are needed to open the database."""
    return OperatorSettings(
        data_dir=settings.data_dir,
        database_url=settings.database_url,
        secret_key=settings.secret_key,
        log_format=settings.log_format,
        log_level=settings.log_level,
    )


@asynccontextmanager
async def ground(settings: OperatorSettings) -> AsyncIterator[OpenDatabase]:
    """Open the configured database; an embedded one runs for the duration."""
    if settings.database_url is not None:
        async with _opened(settings.database_url, settings.secret_key) as database:
            yield database
        return
    async with reach(settings.data_dir) as url:
        key = settings.secret_key or await secret_key_file.kept(url, settings.data_dir)
        async with _opened(url, key) as database:
            yield database


@asynccontextmanager
async def _opened(url: str, key: str | None) -> AsyncIterator[OpenDatabase]:
    if key is None:
        raise BadSettings("TOCSIN_SECRET_KEY: is required with TOCSIN_DATABASE_URL")
    await migrate(url, utc_now(), within_s=BRIEFLY_S)
    db = await Db.open(url, size=1, name="tocsin operator", within_s=BRIEFLY_S)
    try:
        yield OpenDatabase(db, Keyring.parse(key), await database_time.of(db))
    finally:
        await db.close()
