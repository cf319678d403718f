"""Serves the API's description: OpenAPI for programs, pages for people."""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import orjson
from aiohttp import hdrs, web

from collector.console import assets, session
from collector.console.state import VISITORS, cookie
from collector.http.auth import NEEDS
from collector.http.context import context_of
from collector.http.openapi import site
from collector.http.openapi.try_it import DocsReader
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


_ASK_EACH_TIME: Final = "no-cache"
# The page has the session's form token.
_KEEP_NOTHING: Final = "no-store"
SHELF: web.AppKey[DocumentationCache] = web.AppKey("docs_shelf", DocumentationCache)
_HEADERS: Final = {
    "Content-Security-Policy": site.POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    PERMISSIONS_POLICY: NO_DEVICES,
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

    *q* searches the list. For users who are signed in to the console, operations can be tried on the page of
    a subject. Raises NotFound for an unknown *subject*.
    """
    pages = (await _documentation(request)).pages
    subject = request.query.get("subject")
    if subject is None:
        text, caching = pages.index(request.query.get("q", "")), _ASK_EACH_TIME
    else:
        reader = await _reader(request)
        text = demand_found(pages.subject(subject, reader), "page of the documentation")
        caching = _ASK_EACH_TIME if reader is None else _KEEP_NOTHING
    headers = {**_HEADERS, hdrs.CACHE_CONTROL: caching}
    return web.Response(body=text.encode(), content_type="text/html", charset="utf-8", headers=headers)


async def _reader(request: web.Request) -> DocsReader | None:
    """Return the user whose session the request has; None where it could not call the API either."""
    shown = cookie(request)
    visitor = await request.app[VISITORS].find(shown, context_of(request).now()) if shown else None
    if visitor is None or visitor.lacks_second_factor:
        return None
    csrf = session.form_token(shown, secrets.token_bytes(session.NONCE_BYTES))
    return DocsReader(csrf=csrf, name=visitor.name, team=visitor.team, permission=visitor.permission)


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
    scripts = site.Scripts(assets.url("docs.js"), assets.url("try_it.js"))
    return Documentation(orjson.dumps(document), schema, site.Site(document, needs, scripts))
