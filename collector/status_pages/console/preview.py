"""A status page as its visitors see it, or would with other settings; for a frame of the console."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aiohttp import web

from collector.console.answers import posted
from collector.console.forms import read
from collector.console.state import visitor
from collector.http.context import context_of
from collector.platform.validation.validation import to_json
from collector.status_pages.console.status_pages import changes, page_id
from collector.status_pages.core.fields import PageSettings, branding_of
from collector.status_pages.service import status_pages
from collector.status_pages.service import view as status_pages_view
from collector.status_pages.service.fields import WHAT, parse
from collector.status_pages.service.view import PageView
from collector.status_pages.web import addresses, status
from collector.status_pages.web.policy import policy
from collector.status_pages.web.words import ENGLISH
from shared.errors import Invalid, NotFound

_NONCE_BYTES = 18


async def show(request: web.Request) -> web.StreamResponse:
    view = await _view(request)
    return _answer(view, _drawn(request, view, view.page.branding), "'self'")


async def show_unsaved(request: web.Request) -> web.StreamResponse:
    """Render the page with the form's values if they are valid, else with the stored ones."""
    saved, form = await _view(request), await posted(request)
    try:
        asked, _ = parse(
            PageSettings, changes(read.body(PageSettings, form)), status_pages.settable(saved.page)
        )
    except Invalid:
        return await show(request)
    view = replace(saved, page=replace(saved.page, name=asked.name, branding=to_json(asked.branding)))
    # The page's stylesheet URLs serve the stored version: embed the new styles in the page.
    nonce = secrets.token_urlsafe(_NONCE_BYTES)
    branding = {**view.page.branding, "customCss": None}
    styles = status.style(view) + "\n" + status.custom_style(view)
    text = _drawn(request, view, branding)
    text = text.replace("</head>", f'<style nonce="{nonce}">{styles}</style></head>', 1)
    return _answer(view, text, f"'self' 'nonce-{nonce}'")


def _drawn(request: web.Request, view: PageView, branding: Mapping[str, Any]) -> str:
    place = addresses.under(context_of(request).public_url, view.page.slug)
    text = status.page(replace(view, page=replace(view.page, branding=dict(branding))), place, ENGLISH)
    # The console triggers a refresh: open previews must not poll.
    text = text.replace(f'<script src="{place.base}/status.js" defer></script>', "", 1)
    # Links open in a new tab: the page does not allow being framed.
    return text.replace("<head>", '<head><base target="_blank">', 1)


def _answer(view: PageView, text: str, styles: str) -> web.Response:
    answer = web.Response(text=text, content_type="text/html", charset="utf-8")
    header = policy(branding_of(view.page.branding).pictures).replace(
        "frame-ancestors 'none'", "frame-ancestors 'self'"
    )
    answer.headers["X-Frame-Options"] = "SAMEORIGIN"
    answer.headers["Content-Security-Policy"] = header.replace("style-src 'self'", f"style-src {styles}")
    return answer


async def _view(request: web.Request) -> PageView:
    """Load the page. Raises NotFound."""
    context = context_of(request)
    row = await status_pages.existing(context.db, visitor(request).team_id, page_id(request))
    view = await status_pages_view.load(context.db, "slug", row.slug, context.now())
    if view is None or view.page.id != row.id:  # its address was changed at this very moment
        raise NotFound(f"{WHAT} not found")
    return view
