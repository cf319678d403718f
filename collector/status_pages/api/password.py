"""Sign-in to a private status page: its password earns a cookie."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from typing import Final

from aiohttp import hdrs, web

from collector.accounts.service import password_hashes
from collector.http.auth import address
from collector.http.context import CONTEXT
from collector.http.request_data import form as sent_form
from collector.status_pages.api.public import entered, form, missing, visited_page
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
    visited = await visited_page(request)
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
    return entered(request, visited, page.password)


async def _is(sent: str, kept: str, team_id: int) -> bool:
    return len(sent) <= _LONGEST and await password_hashes.matches(sent, kept, team_id)
