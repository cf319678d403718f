"""For orchestrators and Prometheus: is it alive, is it ready, what did it do?"""

import asyncio

from aiohttp import web

from collector import metrics as numbers
from collector.api.deps import deps
from collector.api.reading import ok
from collector.storage import teams
from shared.errors import Unavailable

_PATIENCE_S = 2


async def healthz(request: web.Request) -> web.Response:
    """200 as long as the process takes requests."""
    del request
    return ok({"status": "ok"})


async def readyz(request: web.Request) -> web.Response:
    """200 once migrations ran, the first team is there, and the database answers."""
    async with asyncio.timeout(_PATIENCE_S), deps(request).db.connection() as tx:
        ready = await teams.exist(tx)
    if not ready:
        raise Unavailable("Still starting")
    return ok({"status": "ok"})


async def metrics(request: web.Request) -> web.Response:
    """Numbers in Prometheus' text format."""
    del request
    return web.Response(body=numbers.exposition(), headers={"Content-Type": numbers.CONTENT_TYPE})
