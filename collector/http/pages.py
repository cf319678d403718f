"""Pagination of lists: the requested page, and its response."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aiohttp import web
from yarl import URL

from collector.http.context import context_of
from collector.http.request_data import Query, ok
from collector.platform.answers import ItemList, ItemPage, PageMeta

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
# No list is as long; beyond it pages are empty, without a query beyond the database's numbers.
_MAX_OFFSET = 2**53
# How many links are cached: making them is a good part of a list's cost.
_MOST = 256


@dataclass(frozen=True, slots=True)
class Pagination:
    """A requested page; *number* counts from 1."""

    number: int
    limit: int

    @property
    def offset(self) -> int:
        return min((self.number - 1) * self.limit, _MAX_OFFSET)


def page(query: Query, *, default: int = DEFAULT_LIMIT, most: int = MAX_LIMIT) -> Pagination:
    """Return the requested page; too large a limit is reduced, a number below 1 is a fault of the query."""
    return Pagination(number=_at_least_one(query, "page", 1), limit=limit(query, default=default, most=most))


def limit(query: Query, *, default: int = DEFAULT_LIMIT, most: int = MAX_LIMIT) -> int:
    """Return the requested limit, at most *most*."""
    return min(_at_least_one(query, "limit", default), most)


def asked(query: Query) -> Pagination | None:
    """Return the requested page; None, for the complete list, if the query has neither page nor limit."""
    return page(query) if query.has("page") or query.has("limit") else None


def answer(request: web.Request, at: Pagination, items: Sequence[Any], total: int) -> web.Response:
    """Return ``{data, meta: {page, limit, total}}`` with links to the neighbouring pages."""
    meta = PageMeta(page=at.number, limit=at.limit, total=total)
    beside = _links(request, at, total)
    return ok(ItemPage(data=items, meta=meta), headers={"Link": beside} if beside else None)


def listed(request: web.Request, at: Pagination | None, items: Sequence[Any], total: int) -> web.Response:
    """Return the requested page; without a request for one *items* are the complete list."""
    return ok(ItemList(data=items)) if at is None else answer(request, at, items, total)


def of_all(request: web.Request, items: Sequence[Any]) -> web.Response:
    """Return the requested page of *items*, which are all; the complete list unless one is requested.

    Raises Invalid.
    """
    query = Query(request)
    at = asked(query)
    query.done()
    shown = items if at is None else items[at.offset : at.offset + at.limit]
    return listed(request, at, shown, len(items))


def _at_least_one(query: Query, name: str, default: int) -> int:
    value = query.integer(name)
    if value is None:
        return default
    if value < 1:
        query.fault(name, "must be at least 1")
        return default
    return value


def _links(request: web.Request, at: Pagination, total: int) -> str:
    return _beside(context_of(request).public_url, request.rel_url, at, max(1, -(-total // at.limit)))


@lru_cache(maxsize=_MOST)
def _beside(base: str, asked: URL, at: Pagination, last: int) -> str:
    beside = {}
    if at.number < last:
        beside["next"] = at.number + 1
    if at.number > 1:
        beside["prev"] = min(at.number - 1, last)
    return ", ".join(
        f'<{base}{asked.update_query(page=number, limit=at.limit)}>; rel="{rel}"'
        for rel, number in beside.items()
    )
