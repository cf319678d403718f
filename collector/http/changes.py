"""Tells caches of a team's data that a request of the team may have changed it."""

from collections.abc import Callable
from typing import Final

from aiohttp import hdrs, web

# Called with the team after each of its requests that may have changed something.
OnChange = Callable[[int], None]
ON_CHANGE: web.AppKey[tuple[OnChange, ...]] = web.AppKey("on_change", tuple)
_READING: Final = (hdrs.METH_GET, hdrs.METH_HEAD, hdrs.METH_OPTIONS)


def announce(request: web.Request, team_id: int) -> None:
    """Call the listeners, so that members of the team see their own change at once."""
    if request.method not in _READING:
        for listener in request.app[ON_CHANGE]:
            listener(team_id)
