"""The door of a private status page: who types its password gets a cookie."""

from http.cookies import SimpleCookie
from typing import Final

from aiohttp import hdrs, web

from collector.api.auth import address
from collector.api.deps import deps
from collector.api.status_pages_public import COOKIE, PUBLIC, form, met, missing
from collector.core.statuspage_gate import OPEN_FOR, ticket
from collector.services import hashing

_LONGEST: Final = 1_024


async def enter(request: web.Request) -> web.Response:
    """POST: the password."""
    found, at_hand = await met(request), deps(request)
    now = at_hand.now()
    if found is None:
        return missing(request)
    page = found.site.view.page
    if page.visibility != "private":
        return web.Response(status=303, headers={hdrs.LOCATION: found.place.home})
    wait = request.app[PUBLIC].tries.wait_s(page.id, address(request), now)
    if wait:
        again = form(request, found, 429, "too_often")
        again.headers[hdrs.RETRY_AFTER] = str(wait)
        return again
    sent = (await request.post()).get("password")
    if page.password is None or not await _is(sent, page.password, page.team_id):
        return form(request, found, 403, "wrong")
    answer = web.Response(status=303, headers={hdrs.LOCATION: found.place.home})
    open_ = ticket(page.id, page.password, now)
    # The data lie beside the home of a page, not under it.
    for path in (found.place.home, found.place.json):
        answer.headers.add(hdrs.SET_COOKIE, _cookie(open_, path, at_hand.public_url))
    return answer


def _cookie(open_: str, path: str, public_url: str) -> str:
    cookie: SimpleCookie = SimpleCookie({COOKIE: open_})
    kept = cookie[COOKIE]
    kept["path"] = path
    kept["max-age"] = str(int(OPEN_FOR.total_seconds()))
    kept["httponly"] = True
    kept["samesite"] = "Lax"
    kept["secure"] = public_url.startswith("https:")
    return kept.OutputString()


async def _is(sent: object, kept: str, team_id: int) -> bool:
    if not isinstance(sent, str) or len(sent) > _LONGEST:
        return False
    return await hashing.matches(sent, kept, team_id)
