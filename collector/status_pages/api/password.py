"""Sign-in to a private status page: its password earns a cookie."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from http.cookies import SimpleCookie
from typing import Final

from aiohttp import hdrs, web

from collector.accounts.service import password_hashes
from collector.http.auth import address, is_secure
from collector.http.context import CONTEXT, context_of
from collector.http.request_data import form as sent_form
from collector.status_pages.api.public import COOKIE, form, missing, visited_page
from collector.status_pages.core.gate import OPEN_FOR, ticket
from collector.status_pages.service.password_tries import PageTries
from shared.errors import Limited
from shared.loop import forever

_LONGEST: Final = 1_024
_MOST_FIELDS: Final = 10
_TURN: Final = timedelta(seconds=1)
TRIES: Final = web.AppKey("status_page_tries", PageTries)


async def counting(app: web.Application) -> AsyncIterator[None]:
    """Synchronize the password attempt limits while *app* runs."""
    tries = app[TRIES] = PageTries(app[CONTEXT].db)
    task = asyncio.create_task(forever("status page limits", tries.turn, _TURN), name="status page limits")
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await tries.close()


async def enter(request: web.Request) -> web.Response:
    """POST: check the password."""
    visited, context = await visited_page(request), context_of(request)
    now = context.now()
    if visited is None:
        return missing(request)
    page = visited.site.view.page
    if page.visibility != "private":
        return web.Response(status=303, headers={hdrs.LOCATION: visited.place.home})
    sent = (await sent_form(request, _MOST_FIELDS)).get("password", [""])[-1]
    try:
        await request.app[TRIES].count(page.id, address(request))
    except Limited as error:
        again = form(request, visited, 429, "too_often")
        again.headers[hdrs.RETRY_AFTER] = str(error.retry_after)
        return again
    if page.password is None or not await _is(sent, page.password, page.team_id):
        return form(request, visited, 403, "wrong")
    answer = web.Response(status=303, headers={hdrs.LOCATION: visited.place.home})
    open_ = ticket(page.id, page.password, now)
    # The data files are next to a page's home, not below it.
    for path in (visited.place.home, visited.place.json):
        answer.headers.add(hdrs.SET_COOKIE, _cookie(open_, path, secure=is_secure(request)))
    return answer


def _cookie(open_: str, path: str, *, secure: bool) -> str:
    cookie: SimpleCookie = SimpleCookie({COOKIE: open_})
    kept = cookie[COOKIE]
    kept["path"] = path
    kept["max-age"] = str(int(OPEN_FOR.total_seconds()))
    kept["httponly"] = True
    kept["samesite"] = "Lax"
    kept["secure"] = secure
    return kept.OutputString()


async def _is(sent: str, kept: str, team_id: int) -> bool:
    return len(sent) <= _LONGEST and await password_hashes.matches(sent, kept, team_id)
