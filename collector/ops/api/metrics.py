"""Prometheus metrics: the collector's own for everybody, those of a team's monitors for its tokens."""

import asyncio
from collections.abc import Iterable
from itertools import chain
from typing import Final

from aiohttp import hdrs, web

from collector.history.core.certificate import expiry
from collector.history.storage import last_results
from collector.history.storage.last_results import LastResult
from collector.http import auth, ratelimit
from collector.http.context import context_of
from collector.platform import metrics as numbers
from shared import blackbox, ids
from shared.blackbox import LastCheck, label
from shared.errors import Unauthorized
from shared.phases import unpack

# Monitors per chunk; other tasks may run in between.
_AT_ONCE: Final = 500
_HEADERS: Final = {hdrs.CONTENT_TYPE: numbers.CONTENT_TYPE}


async def collector(request: web.Request) -> web.StreamResponse:
    """The collector's own metrics; with a token also those of its team's monitors."""
    own = numbers.exposition()
    if hdrs.AUTHORIZATION not in request.headers:
        return web.Response(body=own, headers=_HEADERS)
    team_id = await _team(request)
    return await _expose(request, team_id, [own.decode()])


async def monitors(request: web.Request) -> web.StreamResponse:
    """The metrics of the caller's team's monitors."""
    return await _expose(request, auth.caller(request).team_id, [])


async def _team(request: web.Request) -> int:
    """The team of the request's token. Raises Unauthorized, Limited."""
    scheme, _, value = request.headers[hdrs.AUTHORIZATION].partition(" ")
    token = None
    if scheme.lower() == "bearer":
        token = await request.app[auth.FINDER].find(value.strip(), context_of(request).now())
    if token is None:
        await ratelimit.of_address(request, auth.address(request))
        raise Unauthorized("The token is invalid, expired or revoked")
    await ratelimit.of_token(request, token.team_id, token.id, token.plan)
    return token.team_id


async def _expose(request: web.Request, team_id: int, first: Iterable[str]) -> web.StreamResponse:
    """Stream the metrics in chunks: the response may be long, and other requests need the process."""
    context = context_of(request)
    async with context.db.connection() as tx:
        results = await last_results.of_team(tx, team_id, context.now())
    lasts = []
    for at, result in enumerate(results):
        lasts.append(_last(result))
        if at % _AT_ONCE == 0:
            await asyncio.sleep(0)
    response = web.StreamResponse(headers=_HEADERS)
    await response.prepare(request)
    if request.method != hdrs.METH_HEAD:
        for piece in chain(first, blackbox.text(lasts)):
            await response.write(piece.encode())
            await asyncio.sleep(0)
    await response.write_eof()
    return response


def _last(result: LastResult) -> LastCheck:
    labels = ",".join(
        (
            label("instance", blackbox.target(result.type, result.config)),
            label("monitor", ids.show("mon", result.id)),
            label("name", result.name),
            label("type", result.type),
            label("location", result.location),
        )
    )
    phases, seen = unpack(result.phases or b""), expiry(result.checkpoint)
    return LastCheck(
        labels,
        result.type,
        result.good,
        result.code or 0,
        result.ms * 1000,
        phases,
        seen.ends if seen else None,
    )
