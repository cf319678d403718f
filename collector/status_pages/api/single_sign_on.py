"""Sign-in to a private status page at the OpenID Connect provider of its team."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from aiohttp import hdrs, web

from collector.accounts.core.openid import PATIENCE, packed, unpacked
from collector.accounts.service.openid import Client, Provider
from collector.http.auth import address
from collector.http.context import CONTEXT, context_of
from collector.http.cookies import HostCookie
from collector.platform.seal import Unsealable
from collector.platform.transport import Transport
from collector.status_pages.api.public import VisitedPage, entered, form, missing, visited_page
from collector.status_pages.service import access
from collector.status_pages.service.password_tries import SIGN_IN_BY_ADDRESS, SIGN_IN_BY_PAGE, PageTries
from shared.errors import Forbidden, Limited, Unavailable
from shared.loop import forever

_COOKIE: Final = HostCookie("tocsin_page_sign_in")
_BACK: Final = "/sign-in/back"
_TURN: Final = timedelta(seconds=1)
_MOST: Final = 50


@dataclass(slots=True)
class PageSignIns:
    """The limits of sign-ins, and the providers that were used last."""

    tries: PageTries
    transport: Transport
    _providers: OrderedDict[tuple[Client, str], Provider] = field(default_factory=OrderedDict)

    async def provider(self, client: Client, redirect: str) -> Provider:
        """Return the provider of *client*, with what is cached of it."""
        key = (client, redirect)
        if key not in self._providers:
            self._providers[key] = Provider(client, redirect, allow_private=self.transport.allow_private)
        self._providers.move_to_end(key)
        if len(self._providers) > _MOST:
            _, oldest = self._providers.popitem(last=False)
            await oldest.close()
        return self._providers[key]

    async def close(self) -> None:
        await self.tries.close()
        for provider in self._providers.values():
            await provider.close()


SIGN_INS: Final = web.AppKey("status_page_sign_ins", PageSignIns)


async def running(app: web.Application) -> AsyncIterator[None]:
    """Synchronize the limits of sign-ins while *app* runs."""
    context = app[CONTEXT]
    tries = PageTries(
        context.db, by_address=SIGN_IN_BY_ADDRESS, by_page=SIGN_IN_BY_PAGE, kind="status page sign-in"
    )
    sign_ins = app[SIGN_INS] = PageSignIns(tries, context.transport)
    task = asyncio.create_task(forever("page sign-ins", tries.turn, _TURN), name="page sign-ins")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await sign_ins.close()


async def begin(request: web.Request) -> web.Response:
    """GET: redirect to the provider; the browser keeps the attempt, against which the answer is checked."""
    visited = await visited_page(request)
    if visited is None:
        return missing(request)
    if not _signs_in(visited):
        return web.Response(status=303, headers={hdrs.LOCATION: visited.place.home})
    try:
        await request.app[SIGN_INS].tries.count(visited.site.view.page.id, address(request))
        attempt, url = await (await _provider(request, visited)).begin(str(visited.site.view.page.id), "")
    except (Limited, Unavailable, Unsealable) as error:
        return _refused(request, visited, error)
    headers = {hdrs.LOCATION: url, hdrs.CACHE_CONTROL: "no-store"}
    answer = web.Response(status=303, headers=headers)
    _COOKIE.set(request, answer, packed(attempt), PATIENCE)
    return answer


async def back(request: web.Request) -> web.Response:
    """GET: handle the return from the provider, which must vouch for an address of an admitted domain."""
    visited = await visited_page(request)
    if visited is None:
        return missing(request)
    if not _signs_in(visited):
        return web.Response(status=303, headers={hdrs.LOCATION: visited.place.home})
    view = visited.site.view
    try:
        await request.app[SIGN_INS].tries.count(view.page.id, address(request))
        email = await _email(request, visited)
    except (Forbidden, Limited, Unavailable, Unsealable) as error:
        answer = _refused(request, visited, error)
    else:
        answer = (
            entered(request, visited, view.access.key)
            if view.access.takes(email)
            else form(request, visited, 403, "not_admitted")
        )
    _COOKIE.delete(request, answer)
    return answer


async def _email(request: web.Request, visited: VisitedPage) -> str:
    """Return the address that the provider verified. Raises Forbidden, Unavailable, Unsealable."""
    attempt = unpacked(_COOKIE.read(request))
    if attempt is None or attempt.after != str(visited.site.view.page.id):
        raise Forbidden("The sign-in was begun elsewhere")
    provider = await _provider(request, visited)
    return await provider.end(attempt, request.query, context_of(request).now())


def _signs_in(visited: VisitedPage) -> bool:
    view = visited.site.view
    return view.page.visibility == "private" and bool(view.access.key)


async def _provider(request: web.Request, visited: VisitedPage) -> Provider:
    """Return the provider of the page. Raises Unsealable."""
    view, keyring = visited.site.view, context_of(request).keyring
    secret = access.secret(keyring, view.page, view.access)
    client = Client(view.access.issuer or "", view.access.client_id or "", secret, "")
    return await request.app[SIGN_INS].provider(client, visited.place.url + _BACK)


def _refused(request: web.Request, visited: VisitedPage, error: Exception) -> web.Response:
    """Return the form with a text; it does not say why, as only the provider's own pages should."""
    if isinstance(error, Limited):
        answer = form(request, visited, 429, "too_often")
        answer.headers[hdrs.RETRY_AFTER] = str(error.retry_after)
        return answer
    return form(request, visited, 403 if isinstance(error, Forbidden) else 503, "not_admitted")
