"""Serves the API's description: OpenAPI for programs, pages for people."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson
from aiohttp import hdrs, web

from collector.console import assets
from collector.http.auth import NEEDS
from collector.http.context import context_of
from collector.http.openapi import site
from collector.http.page_headers import NO_DEVICES, PERMISSIONS_POLICY
from collector.platform.access import Permission
from shared.errors import demand_found


@dataclass(frozen=True, slots=True)
class Documentation:
    """The OpenAPI document as JSON, the schema of declared files, and the pages."""

    document: bytes
    apply_schema: bytes
    pages: site.Site


@dataclass(slots=True)
class DocumentationCache:
    """The documentation, built on first request."""

    made: Documentation | None = None
    building: asyncio.Lock = field(default_factory=asyncio.Lock)


SHELF: web.AppKey[DocumentationCache] = web.AppKey("docs_shelf", DocumentationCache)
_HEADERS: Final = {
    "Content-Security-Policy": site.POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    PERMISSIONS_POLICY: NO_DEVICES,
    hdrs.CACHE_CONTROL: "no-cache",
}


async def openapi(request: web.Request) -> web.Response:
    """Return the OpenAPI 3.1 document."""
    document = (await _documentation(request)).document
    return web.Response(body=document, content_type="application/json", charset="utf-8")


async def apply_schema(request: web.Request) -> web.Response:
    """Return the JSON Schema of the files of ``tocsin apply``, by which editors complete them."""
    schema = (await _documentation(request)).apply_schema
    return web.Response(body=schema, content_type="application/schema+json", charset="utf-8")


async def show(request: web.Request) -> web.Response:
    """Return the introduction with the list of operations, or a page of a subject.

    *q* searches the list. Raises NotFound for an unknown *subject*.
    """
    pages = (await _documentation(request)).pages
    subject = request.query.get("subject")
    if subject is None:
        text = pages.index(request.query.get("q", ""))
    else:
        text = demand_found(pages.subject(subject), "page of the documentation")
    return web.Response(body=text.encode(), content_type="text/html", charset="utf-8", headers=_HEADERS)


async def _documentation(request: web.Request) -> Documentation:
    shelf = request.app[SHELF]
    async with shelf.building:
        made = shelf.made
        if made is None:
            needs, public_url = request.app[NEEDS], context_of(request).public_url
            # It takes a second, for which other requests and probes would wait.
            made = shelf.made = await asyncio.to_thread(_build, needs, public_url)
        return made


def _build(needs: Mapping[tuple[str, str], Permission | None], public_url: str) -> Documentation:
    # These describe everything, for pages that few ask for.
    from collector import apply_schema  # noqa: PLC0415
    from collector.openapi import build  # noqa: PLC0415

    document = build(needs, public_url)
    schema = orjson.dumps(apply_schema.build(document))
    return Documentation(orjson.dumps(document), schema, site.Site(document, assets.url("docs.js")))
