"""Subscription forms of a status page, and the links in its mails: a GET changes nothing."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from aiohttp import hdrs, web

from collector.http.auth import address
from collector.http.client_address import network
from collector.http.context import context_of
from collector.http.page_headers import NO_DEVICES, PERMISSIONS_POLICY
from collector.http.request_data import form as sent_form
from collector.notifications.channels.email import is_address
from collector.platform.fields import is_email
from collector.platform.pace import PaceLimiter
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.status_pages.api.public import (
    PUBLIC,
    VisitedPage,
    form,
    may_enter,
    missing,
    visited_page,
    words_for,
)
from collector.status_pages.core.fields import MAX_COMPONENTS
from collector.status_pages.service import subscriptions as service
from collector.status_pages.service.subscriptions import Subscription
from collector.status_pages.service.view import PageView
from collector.status_pages.web import addresses, subscription
from collector.status_pages.web.addresses import PageAddresses
from collector.status_pages.web.words.words import LanguageTexts
from shared import ids

ASKERS: web.AppKey[PaceLimiter] = web.AppKey("status_page_askers", PaceLimiter)
_A_MINUTE: Final = 1 / 60
_AT_ONCE: Final = 5
_LONGEST: Final = 254
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' http: https:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # The URL itself grants access to the subscription.
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
    PERMISSIONS_POLICY: NO_DEVICES,
    hdrs.CACHE_CONTROL: "no-store",
    hdrs.VARY: hdrs.ACCEPT_LANGUAGE,
}

Draw = Callable[[Subscription, PageView, PageAddresses, LanguageTexts], str]


def askers() -> PaceLimiter:
    """The application's value of ASKERS: limits requests per client to a small burst and one a minute."""
    return PaceLimiter(_A_MINUTE, _AT_ONCE)


async def ask(request: web.Request) -> web.Response:
    """GET: the subscription form."""
    visited = await _entered(request)
    if isinstance(visited, web.Response):
        return visited
    return _page(subscription.asking(visited.site.view, visited.place, words_for(request)))


async def begin(request: web.Request) -> web.Response:
    """POST: send a confirmation link to an address; the response is the same for every address."""
    visited = await _entered(request)
    if isinstance(visited, web.Response):
        return visited
    context, words, view = context_of(request), words_for(request), visited.site.view
    email = (await _fields(request)).get("email", [""])[0].strip()
    if len(email) > _LONGEST or not (is_email(email) and is_address(email)):
        return _page(subscription.asking(view, visited.place, words, bad=email[:_LONGEST]), 400)
    if not request.app[ASKERS].admit(network(address(request)), time.monotonic()):
        return _page(subscription.asking(view, visited.place, words, fault=words.too_often), 429)
    await service.begin(
        context.db, context.keyring, view.page.team_id, view.page.id, email, words.tag, context.now()
    )
    return _page(subscription.sent(view, visited.place, words, email))


async def show_confirm(request: web.Request) -> web.Response:
    """GET: a page with a button; link scanners in mail systems do not press buttons."""
    return await _shown(request, await service.find(*_link(request)), _confirm_page)


async def confirm(request: web.Request) -> web.Response:
    return await _shown(request, await service.confirm(*_link(request)), _confirm_page)


async def show(request: web.Request) -> web.Response:
    """GET: the subscriber's preferences."""
    return await _shown(request, await service.lasting(*_link(request)), subscription.managing)


async def choose(request: web.Request) -> web.Response:
    """POST: save the preferences; browsers omit unchecked boxes."""
    sent = await _fields(request)
    preferences = {name: name in sent for name in ("incidents", "maintenance")}
    components = [id_ for text in sent.get("component", []) if (id_ := ids.read("comp", text))]
    context, text = context_of(request), request.match_info["token"]
    known = await service.choose(context.db, context.keyring, text, preferences, components, context.now())
    return await _shown(request, known, subscription.saved)


async def show_leave(request: web.Request) -> web.Response:
    return await _shown(request, await service.lasting(*_link(request)), subscription.leaving)


async def leave(request: web.Request) -> web.Response:
    """POST: unsubscribe, by button or by a mail client's one-click request (RFC 8058), whatever the body."""
    return await _shown(request, await service.leave(*_link(request)), subscription.left, gone=200)


def _confirm_page(one: Subscription, view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    if one.row.verified_at is not None:
        return subscription.confirmed(one, view, place, words)
    return (subscription.over if one.over else subscription.confirming)(one, view, place, words)


def _link(request: web.Request) -> tuple[Db, Keyring, str, datetime]:
    """What the service needs to find the subscription of the link in the path."""
    context = context_of(request)
    return context.db, context.keyring, request.match_info["token"], context.now()


async def _shown(
    request: web.Request, known: Subscription | None, draw: Draw, gone: int = 404
) -> web.Response:
    """Render *known* with *draw* in its page's style; *gone*: HTTP status if there is no subscription."""
    context = context_of(request)
    slug = known.page.slug if known else ""
    site = await request.app[PUBLIC].sites.find(context.db, "slug", slug, context.now()) if known else None
    if known is None or site is None:
        answer = missing(request)
        answer.text = subscription.gone(words_for(request))
        answer.set_status(gone)
        return answer
    place = addresses.under(context.public_url, slug)
    return _page(draw(known, site.view, place, words_for(request)))


async def _entered(request: web.Request) -> VisitedPage | web.Response:
    """The page of the path, or the response to send instead."""
    visited = await visited_page(request)
    if visited is None or context_of(request).transport.mailer is None:
        return missing(request)
    return visited if may_enter(request, visited.site) else form(request, visited, 401)


async def _fields(request: web.Request) -> dict[str, list[str]]:
    """The fields of a submitted form. Raises Invalid for any other body."""
    return await sent_form(request, MAX_COMPONENTS + 10)


def _page(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8", headers=_HEADERS)
