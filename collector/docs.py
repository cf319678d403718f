"""Serves the API's description: OpenAPI for programs, pages for people."""

from dataclasses import dataclass
from typing import Final

import orjson
from aiohttp import hdrs, web

from collector.console import assets
from collector.http.auth import NEEDS
from collector.http.context import context_of
from collector.http.openapi import site
from collector.http.page_headers import NO_DEVICES, PERMISSIONS_POLICY
from shared.errors import demand_found


@dataclass(slots=True)
class Shelf:
    """The OpenAPI document and its pages, built on first request."""

    document: bytes = b""
    pages: site.Site | None = None


SHELF: web.AppKey[Shelf] = web.AppKey("docs_shelf", Shelf)
_HEADERS: Final = {
    "Content-Security-Policy": site.POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    PERMISSIONS_POLICY: NO_DEVICES,
    hdrs.CACHE_CONTROL: "no-cache",
}


async def openapi(request: web.Request) -> web.Response:
    """Return the OpenAPI 3.1 document."""
    _site(request)
    return web.Response(body=request.app[SHELF].document, content_type="application/json", charset="utf-8")


async def show(request: web.Request) -> web.Response:
    """Return the introduction with the list of operations, or a page of a subject.

    *q* searches the list. Raises NotFound for an unknown *subject*.
    """
    pages = _site(request)
    subject = request.query.get("subject")
    if subject is None:
        text = pages.index(request.query.get("q", ""))
    else:
        text = demand_found(pages.subject(subject), "page of the documentation")
    return web.Response(body=text.encode(), content_type="text/html", charset="utf-8", headers=_HEADERS)


def _site(request: web.Request) -> site.Site:
    shelf = request.app[SHELF]
    if shelf.pages is None:
        from collector.openapi import build  # noqa: PLC0415 - describes everything, for a page that few ask for

        needs = request.app[NEEDS]
        document = build(needs, context_of(request).public_url)
        shelf.document = orjson.dumps(document)
        shelf.pages = site.Site(document, assets.url("docs.js"))
    return shelf.pages
