"""GET /v1/events: a team's events as server-sent events."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import asyncpg
from aiohttp import hdrs, web

from collector.events.core.kinds import CHANGES, DELIVERED
from collector.events.stream import EventStreamHub, Start, StreamEvent, StreamFollower
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.request_data import Query
from shared import ids
from shared.errors import Unavailable

_HEADERS = {
    hdrs.CONTENT_TYPE: "text/event-stream",
    hdrs.CACHE_CONTROL: "no-store",
    "X-Accel-Buffering": "no",
}
_RETRY_MS = 2000
_COMMENT_EVERY_S = 15.0
# A client that reads nothing for so long is gone or stuck; it can resume.
_STUCK_S = 3.0
_AT_ONCE = 50
FOLLOWING: web.AppKey[EventStreamHub] = web.AppKey("following", EventStreamHub)
_GONE = (ConnectionError, TimeoutError, Unavailable, asyncpg.PostgresError)


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The filter of a client; empty means everything."""

    kinds: frozenset[str]
    monitors: frozenset[UUID]

    def takes(self, note: StreamEvent) -> bool:
        return (not self.kinds or note.kind in self.kinds) and (
            not self.monitors or note.monitor_id in self.monitors
        )


class Outlet:
    """Writes to one client: the events it wants, and at least a comment now and then."""

    __slots__ = ("_passed", "_request", "_response", "_spoke_at", "_wanted")

    def __init__(self, request: web.Request, response: web.StreamResponse, wanted: EventFilter) -> None:
        self._request = request
        self._response = response
        self._wanted = wanted
        self._passed: str | None = None
        self._spoke_at = time.monotonic()

    async def pass_on(self, notes: Sequence[StreamEvent]) -> None:
        """Write events. Raises ConnectionError, TimeoutError if the client is gone or reads nothing."""
        if notes:
            self._passed = notes[-1].id
        wanted = [note for note in notes if self._wanted.takes(note)]
        for at in range(0, len(wanted), _AT_ONCE):
            await self.write(b"".join(map(_frame, wanted[at : at + _AT_ONCE])))
        if self.rest_s() == 0:
            # Advance its id past events it did not want, or it would resume before the oldest stored one.
            await self.write(b":\n" + (_id_line(self._passed) if self._passed else b"") + b"\n")

    def rest_s(self) -> float:
        """Return for how many seconds nothing need be written."""
        return max(0.0, self._spoke_at + _COMMENT_EVERY_S - time.monotonic())

    def gone(self) -> bool:
        """Whether the client has closed its connection."""
        return self._request.transport is None or self._request.transport.is_closing()

    async def write(self, data: bytes) -> None:
        """Write to the client. Raises TimeoutError if it reads nothing for a while."""
        async with asyncio.timeout(_STUCK_S):
            await self._response.write(data)
        self._spoke_at = time.monotonic()

    async def end(self) -> None:
        """End the response, if the client still reads."""
        try:
            async with asyncio.timeout(_STUCK_S):
                await self._response.write_eof()
        except (ConnectionError, TimeoutError):
            if self._request.transport is not None:
                self._request.transport.abort()


async def stream(request: web.Request) -> web.StreamResponse:
    """Stream until the client leaves, its token expires or the server stops.

    A client that resumes after an unknown id receives `reset` first: it should reload what it shows.
    """
    query = Query(request)
    last_id = _last_id(request, query)
    wanted = EventFilter(frozenset(_kinds(request, query)), frozenset(_monitors(request, query)))
    query.done()
    if request.method == hdrs.METH_HEAD:
        return web.Response(headers=_HEADERS)
    who, following = caller(request), request.app[FOLLOWING]
    response = web.StreamResponse(headers=_HEADERS)
    outlet = Outlet(request, response, wanted)
    start = await following.start(who.team_id, last_id)
    most = context_of(request).plans[who.plan].streams
    listener = following.join(who.team_id, who.credential_id, start, outlet.gone, most=most)
    try:
        await response.prepare(request)
        with suppress(*_GONE):
            await _follow(following, listener, start, outlet)
    finally:
        following.leave(listener)
    await outlet.end()
    return response


async def _follow(following: EventStreamHub, listener: StreamFollower, start: Start, outlet: Outlet) -> None:
    await outlet.write(_opening(start))
    async for page in following.missed(listener):
        await outlet.pass_on(page)
    while not listener.ended:
        await outlet.pass_on(await listener.take(outlet.rest_s()))


def _opening(start: Start) -> bytes:
    """Name the id where the stream begins, so that a client without any event yet can resume there."""
    reset = b'event: reset\ndata: {"event":"reset"}\n' if start.reset else b""
    return b"retry: %d\n\n" % _RETRY_MS + reset + _id_line(ids.show("evt", start.id)) + b"\n"


def _frame(note: StreamEvent) -> bytes:
    return b"%sevent: %s\ndata: %s\n\n" % (_id_line(note.id), note.kind.encode(), note.data)


def _id_line(id_: str) -> bytes:
    return b"id: %s\n" % id_.encode()


def _last_id(request: web.Request, query: Query) -> UUID | None:
    """The id to resume after: a client that reconnects repeats its first query, so the header wins."""
    text = request.headers.get("Last-Event-ID") or query.text("lastEventId")
    id_ = ids.read("evt", text) if text else None
    if text and id_ is None:
        query.fault("lastEventId", "must be the id of an event")
    return id_


def _kinds(request: web.Request, query: Query) -> Iterator[str]:
    for kind in _listed(request, "kind"):
        if kind not in DELIVERED | CHANGES:
            query.fault("kind", "must be kinds of events, such as monitor.down")
        yield kind


def _monitors(request: web.Request, query: Query) -> Iterator[UUID]:
    for text in _listed(request, "monitor_id"):
        id_ = ids.read("mon", text)
        if id_ is None:
            query.fault("monitor_id", "must be ids that start with mon_")
        else:
            yield id_


def _listed(request: web.Request, name: str) -> Iterator[str]:
    """Yield the values of a parameter that may be repeated, or hold several values."""
    for text in request.query.getall(name, []):
        yield from filter(None, (part.strip() for part in text.split(",")))
