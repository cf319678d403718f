"""Liveness and readiness for orchestrators."""

import asyncio

from aiohttp import web

from collector.accounts.storage import teams
from collector.http.context import context_of
from collector.http.request_data import ok
from collector.platform.storage.db import Db
from shared.errors import Unavailable

_PATIENCE_S = 2


async def healthz(request: web.Request) -> web.Response:
    """200 as long as the process accepts requests."""
    del request
    return ok({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """200 once migrations are applied, the first team exists, and the database responds."""
    asked = asyncio.create_task(_started(context_of(request).db.quick))
    done, _ = await asyncio.wait({asked}, timeout=_PATIENCE_S)
    if not done:
        # Connecting to a hanging database takes a while to fail: do not wait for it.
        asked.add_done_callback(lambda task: task.cancelled() or task.exception())
        asked.cancel()
        raise Unavailable("The database does not answer")
    if not asked.result():
        raise Unavailable("Still starting")
    return ok({"status": "ok"})


async def _started(db: Db) -> bool:
    async with db.connection() as tx:
        return await teams.exist(tx)
