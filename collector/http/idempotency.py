"""Idempotency-Key: a repeated POST gets the first answer again and has no second effect.

Action and response are one transaction: a collector that is killed in between leaves either both or none. An
action that waits for others (a test), or is many transactions (bulk), claims its key first; if it is killed
midway, the claim expires.
"""

import hashlib
import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from aiohttp import hdrs, web

from collector.http import problems
from collector.http import storage as table
from collector.http.auth import CALLER, Handler
from collector.http.context import WITHIN, context_of
from collector.http.request_data import raw_body
from collector.http.storage import KEPT_FOR, IdempotentRequest, StoredAnswer
from collector.platform.prepared import begun_again
from collector.platform.seal import Keyring, SealScope, is_sealed
from collector.platform.storage.db import Tx
from collector.platform.storage.nested import UnitOfWork
from shared.errors import Conflict, Invalid, Unavailable
from shared.fair_gate import Crowded, FairGate

_HEADER: Final = "Idempotency-Key"
_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
# Their responses hold a secret, which is shown once and never stored.
TELLS_SECRETS: Final = frozenset(
    {
        "/v1/tokens",
        "/v1/probe-tokens",
        "/v1/users",
        "/v1/users/{id}/invite",
        "/v1/monitors/{id}/rotate-key",
    }
)
BY_CLAIM: Final = frozenset(
    {
        "/v1/alert-channels/{id}/test",
        "/v1/alert-rules/preview",
        "/v1/apply",
        "/v1/monitors/bulk",
        "/v1/monitors/test",
        "/v1/monitors/{id}/check",
        "/v1/monitors/{id}/ping",
        "/v1/status-pages/{id}/verify-domain",
    }
)
# Longer than any of those takes.
_CLAIMED_FOR: Final = timedelta(minutes=5)
_REPEATED: Final = (hdrs.CONTENT_TYPE, hdrs.LOCATION, hdrs.ETAG, hdrs.CACHE_CONTROL, hdrs.LINK, hdrs.ALLOW)
_NOT_KEPT: Final = frozenset({401, 429})
_UNDER_WAY: Final = f"The first request with this {_HEADER} is under way"

AT_ONCE: web.AppKey[FairGate] = web.AppKey("keyed_at_once", FairGate)
_MOST_AT_ONCE: Final = 3
_OF_A_TEAM: Final = 2
_WAITING: Final = 500
_WAITING_OF_A_TEAM: Final = 100


def gate() -> FairGate:
    """Return the gate for AT_ONCE: each request inside holds a database connection."""
    return FairGate(_MOST_AT_ONCE, _OF_A_TEAM, waiting=_WAITING, waiting_each=_WAITING_OF_A_TEAM)


@web.middleware
async def repeat(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Repeat the stored response of a POST with a known key; run others."""
    resource = request.match_info.route.resource
    path = resource.canonical if resource else None
    if (
        request.method != hdrs.METH_POST
        or _HEADER not in request.headers
        or CALLER not in request
        or path is None
        or path in TELLS_SECRETS
    ):
        return await handler(request)
    keyed = await _keyed(request)
    return await (_by_claim if path in BY_CLAIM else _at_once)(request, handler, keyed)


async def _keyed(request: web.Request) -> IdempotentRequest:
    sent = request.headers[_HEADER]
    if not _KEY.fullmatch(sent):
        raise Invalid({_HEADER: "must be 1 to 255 visible ASCII characters"})
    who, what = request[CALLER], f"{request.method} {request.path} {sent}"
    # The lock uses only the first bytes of the hash, and another token's key is a different one.
    key = hashlib.sha256(who.credential_id.bytes + what.encode()).digest()
    body = hashlib.sha256(await raw_body(request)).digest()
    return IdempotentRequest(who.team_id, who.credential_id, key, body)


async def _at_once(request: web.Request, handler: Handler, keyed: IdempotentRequest) -> web.Response:
    """Run the handler and store its response in one transaction; few of them are open at once."""
    context = context_of(request)
    try:
        async with request.app[AT_ONCE].inside(keyed.team_id):
            response = await begun_again(lambda: _tried(request, handler, keyed))
    except _AttemptUndone as undone:
        return undone.response
    except Crowded:
        raise Unavailable(f"Too many requests with an {_HEADER} are under way; try again", 1) from None
    context.signals.ring()  # signals that rang before the commit found nothing
    return response


async def _tried(request: web.Request, handler: Handler, keyed: IdempotentRequest) -> web.Response:
    """Raises _AttemptUndone; Lacking, with nothing done."""
    context = context_of(request)
    async with context.db.transaction() as tx:
        await _lock(tx, keyed)
        if (known := await _known(request, tx, keyed)) is not None:
            return known
        response = await _carried_out(request, handler, tx)
        await table.keep(tx, keyed, _kept(context.keyring, keyed, response), context.now())
    return response


async def _carried_out(request: web.Request, handler: Handler, tx: Tx) -> web.Response:
    """Return the response of *handler*, whose transactions all run inside *tx*. Raises _AttemptUndone."""
    work = UnitOfWork(tx)
    request[WITHIN] = replace(context_of(request), db=work)
    try:
        response = await _answered(request, handler)
    finally:
        del request[WITHIN]
        await work.let_go()
    if not _lasts(response):
        raise _AttemptUndone(response)
    return response


async def _by_claim(request: web.Request, handler: Handler, keyed: IdempotentRequest) -> web.Response:
    """Claim the key, run the handler, store its response: each in a transaction of its own."""
    context = context_of(request)
    async with context.db.transaction() as tx:
        await _lock(tx, keyed)
        if (known := await _known(request, tx, keyed)) is not None:
            return known
        await table.keep(tx, keyed, StoredAnswer(keyed.sent, None, {}, None), context.now())
    response = await _answered(request, handler)
    async with context.db.transaction() as tx:
        if _lasts(response):
            await table.keep(tx, keyed, _kept(context.keyring, keyed, response), context.now())
        else:
            await table.drop(tx, keyed)
    return response


async def _answered(request: web.Request, handler: Handler) -> web.Response:
    response = await problems.explain(request, handler)
    assert isinstance(response, web.Response)  # noqa: S101 - no POST is answered by a stream
    return response


async def _lock(tx: Tx, keyed: IdempotentRequest) -> None:
    if not await table.lock(tx, keyed):
        raise Conflict(_UNDER_WAY)


async def _known(request: web.Request, tx: Tx, keyed: IdempotentRequest) -> web.Response | None:
    """Return the first response, if there is one. Raises Conflict."""
    context = context_of(request)
    now = context.now()
    kept = await table.find(tx, keyed, now - KEPT_FOR, now - _CLAIMED_FOR)
    if kept is None:
        return None
    if kept.sent != keyed.sent:
        raise Conflict(f"This {_HEADER} was used with another body")
    if kept.status is None:
        raise Conflict(_UNDER_WAY)
    headers = {**kept.headers, "Idempotent-Replayed": "true"}
    return web.Response(
        status=kept.status, headers=headers, body=_opened(context.keyring, keyed, kept.answer)
    )


def _lasts(response: web.Response) -> bool:
    """Whether this response is to be repeated."""
    return 200 <= response.status < 500 and response.status not in _NOT_KEPT


def _kept(keyring: Keyring, keyed: IdempotentRequest, response: web.Response) -> StoredAnswer:
    """Return the response to store, sealed: it may contain secrets of a channel or monitor."""
    headers = {str(name): response.headers[name] for name in _REPEATED if name in response.headers}
    body = response.body
    answer = keyring.seal(body, _place(keyed)) if isinstance(body, bytes) else None
    return StoredAnswer(keyed.sent, response.status, headers, answer)


def _opened(keyring: Keyring, keyed: IdempotentRequest, answer: bytes | None) -> bytes | None:
    if answer is None or not is_sealed(answer):
        return answer  # stored by a collector older than sealed answers
    return keyring.open(answer, _place(keyed))


def _place(keyed: IdempotentRequest) -> SealScope:
    return SealScope(keyed.team_id, "idempotency_keys", keyed.key.hex(), "answer")


class _AttemptUndone(Exception):
    """The action failed for now: roll it back."""

    def __init__(self, response: web.Response) -> None:
        super().__init__(response.status)
        self.response = response
