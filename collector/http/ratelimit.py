"""Rate limits: takes a token from the caller's bucket, and shows the bucket in response headers."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import suppress
from datetime import timedelta
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final
from uuid import UUID

from aiohttp import web
from multidict import istr

from collector.http.context import CONTEXT
from collector.platform.bucket import BucketState, TeamPlan
from collector.platform.limits import Limits
from shared.errors import Limited
from shared.loop import forever

_LIMITS: web.AppKey[Limits] = web.AppKey("limits", Limits)
_STANDING: web.RequestKey[BucketState] = web.RequestKey("standing", BucketState)
_TURN: Final = timedelta(seconds=1)
_LIMIT, _BURST, _REMAINING, _RESET = (
    istr(f"X-RateLimit-{name}") for name in ("Limit", "Burst", "Remaining", "Reset")
)
EXCEEDED: Final = "Rate limit exceeded"
_OWN_LIMITS: Final = ("/v1/ping/", "/v1/ingest/")
# With a monitor's key or token: ten a second for each monitor, and a burst.
PUSHES: Final = TeamPlan(per_minute=600, burst=100)
_UNTOUCHED: Final = BucketState(PUSHES, admitted=True, remaining=PUSHES.burst, full_in_s=0, retry_after_s=0)
_SPENT: Final = BucketState(
    PUSHES, admitted=False, remaining=0, full_in_s=PUSHES.burst / PUSHES.per_second, retry_after_s=1
)
_NETWORK_BYTES: Final = 8  # one client can use all addresses of its /64


async def running(app: web.Application) -> AsyncIterator[None]:
    """Run the limits while *app* serves."""
    limits = app[_LIMITS] = Limits(app[CONTEXT].db, app[CONTEXT].plans)
    task = asyncio.create_task(forever("limits", limits.turn, _TURN), name="limits")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await limits.close()


def counts(path: str) -> bool:
    """Whether the plan counts this path. Pings and receivers of metrics have limits of their own."""
    return is_api(path) and not path.startswith(_OWN_LIMITS)


async def of_token(request: web.Request, team_id: int, token_id: UUID, plan: str) -> None:
    """Take from the bucket of a valid token. Raises Limited."""
    _admit(request, await request.app[_LIMITS].token(team_id, token_id, plan))


async def of_address(request: web.Request, address: str) -> None:
    """Take from the bucket of an address, for a request without a valid token. Raises Limited."""
    _admit(request, await spend(request.app, address))


async def spend(app: web.Application, address: str) -> BucketState:
    """Take from the bucket of an address, if anything is left, and return its state."""
    return await app[_LIMITS].address(_key(address))


def look(app: web.Application, address: str) -> BucketState:
    """Return the state of an address's bucket without taking from it."""
    return app[_LIMITS].look(_key(address))


def stands(request: web.Request, standing: BucketState) -> None:
    """Store the state of the request's bucket for `mark`."""
    request[_STANDING] = standing


def mark(request: web.Request, response: web.StreamResponse, address: Callable[[web.Request], str]) -> None:
    """Add the bucket's state to all responses under /v1; if none was charged, of the one that would be."""
    if not is_api(request.path):
        return
    standing = request.get(_STANDING) or _would_be(request, response, address)
    write_headers(response.headers, standing, time.time())


def write_headers(headers: MutableMapping[str, str], standing: BucketState, now: float) -> None:
    """Write a bucket's state to *headers*; *now* is in Unix seconds."""
    headers[_LIMIT], headers[_BURST] = _texts(standing.plan)
    headers[_REMAINING] = str(standing.remaining)
    headers[_RESET] = str(math.ceil(now + standing.full_in_s))


def is_api(path: str) -> bool:
    """Whether it is a path of the API."""
    return path.startswith("/v1/") or path == "/v1"


def _would_be(
    request: web.Request, response: web.StreamResponse, address: Callable[[web.Request], str]
) -> BucketState:
    if counts(request.path):
        return look(request.app, address(request))
    return _SPENT if response.status == 429 else _UNTOUCHED


def _admit(request: web.Request, standing: BucketState) -> None:
    stands(request, standing)
    if not standing.admitted:
        raise Limited(EXCEEDED, retry_after=standing.retry_after_s)


@lru_cache(maxsize=64)
def _texts(plan: TeamPlan) -> tuple[str, str]:
    return str(plan.per_minute), str(plan.burst)


@lru_cache(maxsize=4096)
def _key(address: str) -> bytes:
    """Return the key of one client; clients without an address (a local socket) share one."""
    try:
        found = ip_address(address)
    except ValueError:
        return address.encode()
    if isinstance(found, IPv6Address):
        plain = found.ipv4_mapped
        return plain.packed if plain is not None else found.packed[:_NETWORK_BYTES]
    return found.packed
