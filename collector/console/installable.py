"""What makes the console installable as an app: manifest, service worker, and a page for the time offline."""

from typing import Final

import orjson
from aiohttp import hdrs, web

from collector.console import assets
from collector.console.answers import page

_WORKER: Final = assets.ASSETS["worker.js"]


async def manifest(_request: web.Request) -> web.StreamResponse:
    """Describe the app to the browser that installs it."""
    icon = {"src": assets.url("bell.svg"), "type": "image/svg+xml", "sizes": "any"}
    body = {
        "id": "/",
        "name": "Tocsin",
        "short_name": "Tocsin",
        "description": "Uptime monitoring, incidents and alerting",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f6f7f9",
        "theme_color": "#2f5bd0",
        "icons": [icon, {**icon, "src": assets.url("bell-maskable.svg"), "purpose": "maskable"}],
        "shortcuts": [
            {"name": "Incidents", "url": "/incidents"},
            {"name": "Monitors", "url": "/monitors"},
        ],
    }
    return web.Response(
        body=orjson.dumps(body),
        content_type="application/manifest+json",
        headers={hdrs.CACHE_CONTROL: "no-cache"},
    )


async def worker(_request: web.Request) -> web.StreamResponse:
    """Serve the service worker, at the root so that it may answer for every page."""
    return web.Response(
        body=_WORKER.body,
        content_type=_WORKER.kind,
        charset="utf-8",
        headers={hdrs.CACHE_CONTROL: "no-cache"},
    )


async def offline(request: web.Request) -> web.StreamResponse:
    """Show the page that stands for every other one without a network."""
    return page(request, "offline.html.j2")
