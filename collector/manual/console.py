"""Serves the manual at /docs, to anybody: pages, their Markdown, a search, llms.txt."""

import asyncio
import hashlib
from typing import Any, Final

from aiohttp import hdrs, web

from collector.console.answers import page as html_page
from collector.http.context import context_of
from collector.manual import plain_texts
from collector.manual.library import ADDRESS, Manual, ManualPage, manual
from shared.errors import demand_found

_LONGEST_QUERY: Final = 200
_MARKDOWN: Final = ".md"


async def show(request: web.Request) -> web.StreamResponse:
    """Show a page, or its Markdown if its address ends in ``.md``. Raises NotFound."""
    pages = await asyncio.to_thread(manual)
    address = request.path
    found = demand_found(pages.pages.get(address.removesuffix(_MARKDOWN)), "page of the documentation")
    if address.endswith(_MARKDOWN):
        return _tagged(request, _text(found.markdown, "text/markdown"))
    before, after = pages.neighbours(found)
    return _answer(request, pages, found, title=found.title, before=before, after=after)


async def find(request: web.Request) -> web.StreamResponse:
    """Show the sections that have all words of *q*."""
    pages = await asyncio.to_thread(manual)
    query = request.query.get("q", "")[:_LONGEST_QUERY].strip()
    return _answer(request, pages, None, title="Search", query=query, hits=pages.index.find(query))


async def overview_for_models(request: web.Request) -> web.StreamResponse:
    """Return llms.txt: what there is, with a link to the Markdown of each page."""
    pages = await asyncio.to_thread(manual)
    return _tagged(request, _text(plain_texts.overview(pages, context_of(request).public_url), "text/plain"))


async def all_for_models(request: web.Request) -> web.StreamResponse:
    """Return llms-full.txt: all pages of the contents, one after the other."""
    pages = await asyncio.to_thread(manual)
    return _tagged(request, _text(plain_texts.whole(pages, context_of(request).public_url), "text/plain"))


def _answer(
    request: web.Request, pages: Manual, current: ManualPage | None, **values: Any
) -> web.StreamResponse:
    usual: dict[str, Any] = {"query": "", "hits": None, "before": None, "after": None}
    known = {**usual, **values, "groups": pages.groups, "current": current, "home": ADDRESS}
    return _tagged(request, html_page(request, "manual.html.j2", **known))


def _text(text: str, kind: str) -> web.Response:
    return web.Response(text=text, content_type=kind, charset="utf-8")


def _tagged(request: web.Request, answer: web.Response) -> web.StreamResponse:
    """Give the answer the tag of its content; a client that has it gets 304."""
    body = answer.body if isinstance(answer.body, bytes) else b""
    # Weak: the same page may be sent compressed.
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:24]}"'
    headers = {hdrs.ETAG: tag, hdrs.CACHE_CONTROL: "no-cache"}
    if tag.removeprefix("W/") in request.headers.get(hdrs.IF_NONE_MATCH, ""):
        return web.Response(status=304, headers=headers)
    answer.headers.update(headers)
    return answer
