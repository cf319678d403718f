"""How many incidents are open, for the tab's title and icon of every page."""

from aiohttp import web

from collector.console.state import visitor
from collector.http.context import context_of
from collector.http.request_data import ok
from collector.overview.answers import OpenIncidents, OpenIncidentTitle
from collector.overview.storage import overview
from shared import ids

_NEWEST = 5


async def show(request: web.Request) -> web.StreamResponse:
    async with context_of(request).db.connection() as tx:
        count, unacknowledged = await overview.open_counts(tx, visitor(request).team_id)
        newest = await overview.newest_open(tx, visitor(request).team_id, _NEWEST)
    return ok(
        OpenIncidents(
            count=count,
            unacknowledged=unacknowledged,
            newest=[
                OpenIncidentTitle(id=ids.show("inc", each.id), title=each.title, severity=each.severity)
                for each in newest
            ],
        )
    )
