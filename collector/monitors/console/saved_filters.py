"""Saving a filter of the list of monitors under a name, for the user alone."""

from typing import Final
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from collector.console.answers import back, posted, value
from collector.console.language import gettext
from collector.console.state import visitor
from collector.http.context import context_of
from collector.monitors.service import saved_filters
from collector.monitors.storage.saved_filters import SavedFilter
from shared.errors import Invalid

_HERE: Final = "/monitors"
# What a filter and an order consist of; a page's number is no part of either.
_KNOWN: Final = frozenset({"q", "status", "type", "tag", "group", "location", "sort"})
_LONGEST: Final = 200


async def save(request: web.Request) -> web.StreamResponse:
    form, mine = await posted(request), visitor(request)
    wanted = SavedFilter(value(form, "name").strip(), normal(value(form, "query")))
    try:
        await saved_filters.save(context_of(request).db, mine.team_id, mine.user_id, wanted)
    except Invalid as fault:
        return back(
            request,
            _to(wanted.query),
            gettext("The name %(fault)s.", fault=fault.details["name"]),
            tone="bad",
        )
    return back(request, _to(wanted.query), gettext("Filter “%(name)s” saved.", name=wanted.name))


async def delete(request: web.Request) -> web.StreamResponse:
    form, mine = await posted(request), visitor(request)
    name = value(form, "name")
    await saved_filters.delete(context_of(request).db, mine.team_id, mine.user_id, name)
    return back(request, _to(normal(value(form, "query"))), gettext("Filter “%(name)s” deleted.", name=name))


def normal(query: str) -> str:
    """Return the query with the known fields alone, in one order and spelling."""
    given = dict(parse_qsl(query.replace("\0", ""), max_num_fields=50))
    return urlencode({name: given[name][:_LONGEST] for name in sorted(_KNOWN & given.keys())})


def _to(query: str) -> str:
    return f"{_HERE}?{query}" if query else _HERE
