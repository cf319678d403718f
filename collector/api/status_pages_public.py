"""The public side of status pages: for anyone, without a token, and at the cost of a look into memory."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from aiohttp import hdrs, web
from yarl import URL

from collector.api.auth import address
from collector.api.deps import deps
from collector.api.status_pages_cache import Site, Sites, Text
from collector.core import passwords
from collector.core.statuspage import is_slug
from collector.core.statuspage_gate import OPEN_FOR, Tries, admits, ticket
from collector.services.status_pages_view import View
from collector.web import status, status_badges, status_data, status_feeds

_COOKIE: Final = "tocsin_page"
_HTML: Final = "text/html"
_CSS: Final = "text/css"
_JSON: Final = "application/json"
_SVG: Final = "image/svg+xml"
_POLICY: Final = "Content-Security-Policy"
# So many passwords are looked at at once: each takes a tenth of a second and 32 MiB.
_AT_ONCE: Final = 2
_LONGEST: Final = 1_024


@dataclass(frozen=True, slots=True)
class Public:
    """What the handlers keep between requests."""

    sites: Sites = field(default_factory=Sites)
    tries: Tries = field(default_factory=Tries)
    hashing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))


PUBLIC: web.AppKey[Public] = web.AppKey("status_pages", Public)


async def show(request: web.Request) -> web.Response:
    """GET: the page, or the form that asks for its password."""
    return await _guarded(request, "page", status.page)


async def history(request: web.Request) -> web.Response:
    return await _guarded(request, "history", status.history)


async def widget(request: web.Request) -> web.Response:
    """The one page that others may put into a frame; it has nothing to press but a link."""
    answer = await _guarded(request, "widget", status.widget)
    policy = answer.headers.get(_POLICY, "")
    answer.headers[_POLICY] = policy.replace("frame-ancestors 'none'", "frame-ancestors *")
    return answer


async def data(request: web.Request) -> web.Response:
    return await _for_programs(request, "json", status_data.own, _JSON)


async def summary(request: web.Request) -> web.Response:
    return await _for_programs(request, "summary", status_data.summary, _JSON)


async def atom(request: web.Request) -> web.Response:
    return await _for_programs(request, "atom", status_feeds.atom, "application/atom+xml")


async def rss(request: web.Request) -> web.Response:
    return await _for_programs(request, "rss", status_feeds.rss, "application/rss+xml")


async def calendar(request: web.Request) -> web.Response:
    return await _for_programs(request, "calendar", status_feeds.calendar, "text/calendar")


async def badge(request: web.Request) -> web.Response:
    """``?kind=uptime``, or the status."""
    if request.query.get("kind") == "uptime":
        return await _guarded(request, "uptime.svg", status_badges.uptime_badge, _SVG)
    return await _guarded(request, "status.svg", status_badges.status_badge, _SVG)


async def style(request: web.Request) -> web.Response:
    """Open also of a private page: its form wants to be looked at too."""
    site = await _site(request)
    return _missing() if site is None else _answer(request, site, site.text("style", status.style), _CSS)


async def custom_style(request: web.Request) -> web.Response:
    site = await _site(request)
    if site is None:
        return _missing()
    return _answer(request, site, site.text("custom", status.custom_style), _CSS)


async def enter(request: web.Request) -> web.Response:
    """POST: the password; whoever knows it gets a cookie."""
    site, now = await _site(request), deps(request).now()
    if site is None:
        return _missing()
    page = site.view.page
    wait = request.app[PUBLIC].tries.wait_s(page.id, address(request), now)
    if wait:
        form = _form(request, site, 429, "There were too many tries. Please wait some minutes.")
        form.headers[hdrs.RETRY_AFTER] = str(wait)
        return form
    sent = (await request.post()).get("password")
    if page.password is None or not await _is(request, sent, page.password):
        return _form(request, site, 403, "This is not the password.")
    answer = web.Response(status=303, headers={hdrs.LOCATION: _base(site)})
    answer.set_cookie(
        _COOKIE,
        ticket(page.id, page.password, now),
        path=_base(site),
        max_age=int(OPEN_FOR.total_seconds()),
        httponly=True,
        samesite="Lax",
        secure=deps(request).public_url.startswith("https:"),
    )
    return answer


async def _for_programs(
    request: web.Request, name: str, draw: Callable[[View, str], str], kind: str
) -> web.Response:
    """What names its own address; scripts of other sites may read it where anyone may."""
    drawn = partial(_with_url, draw, deps(request).public_url)
    answer = await _guarded(request, name, drawn, kind)
    if "public" in answer.headers.get(hdrs.CACHE_CONTROL, ""):
        answer.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = "*"
    return answer


def _with_url(draw: Callable[[View, str], str], public_url: str, view: View) -> str:
    return draw(view, public_url)


async def _guarded(
    request: web.Request, name: str, draw: Callable[[View], str], kind: str = _HTML
) -> web.Response:
    site = await _site(request)
    if site is None:
        return _missing()
    if not _may_enter(request, site):
        return _form(request, site, 401)
    return _answer(request, site, site.text(name, draw), kind)


async def _site(request: web.Request) -> Site | None:
    slug, at_hand = request.match_info["slug"], deps(request)
    if not is_slug(slug):
        return None
    return await request.app[PUBLIC].sites.find(at_hand.db, slug, at_hand.now())


def _may_enter(request: web.Request, site: Site) -> bool:
    page = site.view.page
    if page.visibility != "private":
        return True
    shown = request.cookies.get(_COOKIE)
    if shown is None or page.password is None:
        return False
    return admits(shown, page.id, page.password, deps(request).now())


async def _is(request: web.Request, sent: object, kept: str) -> bool:
    if not isinstance(sent, str) or len(sent) > _LONGEST:
        return False
    async with request.app[PUBLIC].hashing:
        return await asyncio.to_thread(passwords.matches, sent, kept)


def _form(request: web.Request, site: Site, code: int, fault: str = "") -> web.Response:
    text = site.text(f"login {fault}", lambda view: status.login(view, fault))
    answer = _answer(request, site, text, _HTML, conditional=False)
    answer.set_status(code)
    return answer


def _answer(
    request: web.Request, site: Site, text: Text, kind: str, *, conditional: bool = True
) -> web.Response:
    headers = {**_headers(site.view), hdrs.ETAG: text.tag, hdrs.VARY: hdrs.ACCEPT_ENCODING}
    if conditional and text.tag in request.headers.get(hdrs.IF_NONE_MATCH, ""):
        return web.Response(status=304, headers=headers)
    body = text.body
    if _takes_gzip(request):
        body, headers[hdrs.CONTENT_ENCODING] = text.packed, "gzip"
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)


def _takes_gzip(request: web.Request) -> bool:
    asked = request.headers.get(hdrs.ACCEPT_ENCODING, "").replace(" ", "").lower().split(",")
    return "gzip" in asked


def _headers(view: View) -> dict[str, str]:
    page = view.page
    headers = {
        _POLICY: _policy(page.branding.get("logo")),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        hdrs.CACHE_CONTROL: "private, no-cache" if page.visibility == "private" else "public, no-cache",
    }
    return headers if page.visibility == "public" else {**headers, "X-Robots-Tag": "noindex"}


def _policy(logo: str | None) -> str:
    origin = _origin(logo) if logo else ""
    return (
        f"default-src 'none'; style-src 'self'; img-src 'self'{origin}; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


def _origin(logo: str) -> str:
    """With a blank before it; nothing where it would say more than an origin."""
    try:
        text = str(URL(logo).origin())
    except ValueError:
        return ""
    return f" {text}" if text.isascii() and not set(text) & set(" ;,'\"*\r\n") else ""


def _base(site: Site) -> str:
    return f"/status/{site.view.page.slug}"


def _missing() -> web.Response:
    headers = {"X-Robots-Tag": "noindex", _POLICY: "default-src 'none'"}
    return web.Response(
        status=404, text=status.missing(), content_type=_HTML, charset="utf-8", headers=headers
    )
