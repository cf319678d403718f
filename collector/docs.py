"""Serves the API's description: OpenAPI for programs, a page for people."""

from typing import Final

import orjson
from aiohttp import hdrs, web

from collector.http.auth import NEEDS
from collector.http.context import context_of
from collector.http.openapi import page
from collector.http.page_headers import NO_DEVICES, PERMISSIONS_POLICY
from collector.openapi import build

# Built on first request.
TEXTS: web.AppKey[dict[str, bytes]] = web.AppKey("texts", dict)
_HEADERS: Final = {
    "Content-Security-Policy": page.POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    PERMISSIONS_POLICY: NO_DEVICES,
    hdrs.CACHE_CONTROL: "no-cache",
}


async def openapi(request: web.Request) -> web.Response:
    """Return the OpenAPI 3.1 document."""
    return web.Response(body=_texts(request)["json"], content_type="application/json", charset="utf-8")


async def show(request: web.Request) -> web.Response:
    """The documentation on a single page, without scripts and external resources."""
    text = _texts(request)["html"]
    return web.Response(body=text, content_type="text/html", charset="utf-8", headers=_HEADERS)


def _texts(request: web.Request) -> dict[str, bytes]:
    texts = request.app[TEXTS]
    if not texts:
        needs = request.app[NEEDS]
        document = build(needs, context_of(request).public_url)
        texts |= {"json": orjson.dumps(document), "html": page.render(document).encode()}
    return texts
