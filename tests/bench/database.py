"""A database for a benchmark: the embedded server as it is shipped, migrated and empty."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from collector.platform.embedded.server import Embedded
from collector.platform.storage.db import Db
from collector.platform.storage.migrate import migrate
from shared.clock import utc_now


@asynccontextmanager
async def database() -> AsyncIterator[Db]:
    """Gone with its server at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-") as directory:
        embedded = Embedded(Path(directory))
        await embedded.start()
        try:
            await migrate(embedded.url, utc_now())
            db = await Db.open(embedded.url, size=4)
            try:
                yield db
            finally:
                await db.close()
        finally:
            await embedded.stop()
