"""Pings: the key in the path is their only credential; an answer means that the ping is committed."""

import asyncio
import hashlib
from contextlib import suppress
from dataclasses import fields
from typing import Final

from aiohttp import hdrs, web

from collector.heartbeats import service
from collector.heartbeats.core.heartbeat import Ping, PingSignal
from collector.heartbeats.service import WHAT, PingTaker, ReceivedPing
from collector.http import bodies, ratelimit
from collector.http.auth import caller
from collector.http.context import context_of
from collector.http.ratelimit import PUSHES
from collector.http.request_data import MAX_BODY, Query, ok, path_id
from collector.monitors.answers import RotatedKey
from collector.monitors.api.context import scope_of
from collector.monitors.service import report_secrets
from collector.platform.bucket import BucketState
from shared.errors import BodyTooLarge, Invalid, Limited, NotFound

MAX_KEPT: Final = 10_000
_BODY_S: Final = 10.0
_MAX_RID: Final = 64
_MAX_MS: Final = 2**31 - 1
_MAX_CODE: Final = 255
_SIGNS: Final = {
    "": Ping(PingSignal.GOOD),
    "start": Ping(PingSignal.STARTED),
    "fail": Ping(PingSignal.FAILED),
    "log": Ping(PingSignal.LOGGED),
    "0": Ping(PingSignal.GOOD),
}
_OK: Final = b'{"ok":true}'
_JSON: Final = {hdrs.CONTENT_TYPE: "application/json; charset=utf-8", hdrs.CACHE_CONTROL: "no-store"}
# How long an empty bucket takes to fill.
_EMPTY_S: Final = PUSHES.burst / PUSHES.per_second
_ROUNDING: Final = 1e-6
_NOBODYS: Final = "No monitor has this key"
PINGS: web.AppKey[PingTaker] = web.AppKey("pings")


async def take(request: web.Request) -> web.Response:
    """Take a ping by its key, with the sign in the path."""
    parts = request.match_info
    ping = _ping(parts.get("sign", ""), request)
    return await _taken(request, _hashed(parts["key"]), ping, await _body(request))


async def take_push(request: web.Request) -> web.Response:
    """Take a ping as a push monitor of Uptime Kuma: ``?status=up&msg=OK&ping=20``.

    As there, a missing status means ``up``, and any other value is a failure.
    """
    query = request.query
    sign = PingSignal.GOOD if (query.get("status") or "up") == "up" else PingSignal.FAILED
    text = query.get("ping", "").partition(".")[0]
    ms = min(int(text), _MAX_MS) if text.isascii() and text.isdigit() and len(text) < 16 else None
    message = query.get("msg", "")
    body = b"" if message == "OK" else message.encode("utf-8", "replace")[:MAX_KEPT]
    return await _taken(request, _hashed(request.match_info["key"]), Ping(sign, ms=ms), body)


async def take_by_id(request: web.Request) -> web.Response:
    """Take a ping by token: ``?sign=start``, ``fail``, ``log`` or an exit status."""
    hashed = await service.key_of(
        context_of(request).db, caller(request).team_id, path_id(request, "mon", WHAT)
    )
    query = Query(request)
    sign = query.text("sign") or ""
    query.done()
    try:
        ping = _ping(sign, request)
    except NotFound:
        raise Invalid({"sign": "must be start, fail, log or an exit status from 0 to 255"}) from None
    return await _taken(request, hashed, ping, await _body(request))


async def rotate(request: web.Request) -> web.Response:
    """Replace the key or token; the old one is invalid from now on."""
    id_ = path_id(request, "mon", WHAT)
    scope = scope_of(request)
    saved = await report_secrets.rotate(scope.context, scope.team_id, id_, scope.now)
    made = report_secrets.made_by(saved, scope.addresses)
    assert made is not None  # noqa: S101 - `rotate` refuses monitors that receive no reports
    shown = {each.name: getattr(made, each.name) for each in fields(made)}
    return ok(RotatedKey(id=request.match_info["id"], **shown))


async def _taken(request: web.Request, hashed: bytes, ping: Ping, body: bytes) -> web.Response:
    try:
        ahead_s = await request.app[PINGS](ReceivedPing(hashed, ping, body))
    except Limited as error:
        ratelimit.stands(request, BucketState(PUSHES, False, 0, _EMPTY_S, error.retry_after))
        raise
    if ahead_s is None:
        raise NotFound(_NOBODYS)
    left = max(0, int(PUSHES.burst - ahead_s * PUSHES.per_second + _ROUNDING))
    ratelimit.stands(request, BucketState(PUSHES, True, left, ahead_s, 0))
    return web.Response(body=_OK, headers=_JSON)


def _ping(sign: str, request: web.Request) -> Ping:
    """Parse a ping. Raises NotFound for an invalid sign, as for any unknown path."""
    ping = _SIGNS.get(sign)
    if ping is None:
        code = int(sign) if sign.isascii() and sign.isdigit() and len(sign) <= 3 else -1
        if not 0 <= code <= _MAX_CODE:
            raise NotFound("A key is followed by start, fail, log or an exit status from 0 to 255")
        ping = Ping(PingSignal.FAILED if code else PingSignal.GOOD, code=code)
    rid = request.query.get("rid", "") if request.query_string else ""
    if not rid:
        return ping
    # Invalid text would fail PostgreSQL's transaction of many pings.
    clean = rid.replace("\0", "").encode("utf-8", "replace").decode()
    return Ping(ping.sign, clean[:_MAX_RID], ping.code)


def _hashed(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


async def _body(request: web.Request) -> bytes:
    """Return the first part of the body; one that is too long, or late, is cut without an error."""
    if request.method != hdrs.METH_POST or not request.can_read_body:
        return b""
    body, packed = bytearray(), bodies.is_packed(request)
    with suppress(TimeoutError, BodyTooLarge):
        async with asyncio.timeout(_BODY_S):
            await _read(request, body, packed=packed)
    return bytes(body[:MAX_KEPT])


async def _read(request: web.Request, body: bytearray, *, packed: bool) -> None:
    async for piece in bodies.pieces(request, MAX_BODY, packed=packed):
        body += piece
        if len(body) >= MAX_KEPT:
            return
