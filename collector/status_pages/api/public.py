"""The public side of status pages: for anyone, served from memory."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http.cookies import SimpleCookie
from typing import Final

from aiohttp import hdrs, web
from multidict import CIMultiDict

from collector.http.auth import address, is_secure
from collector.http.context import context_of
from collector.http.page_headers import NO_DEVICES, PERMISSIONS_POLICY, takes_gzip
from collector.http.request_data import Query
from collector.status_pages.api.cache import CachedBody, CachedPage, Sites, text_of
from collector.status_pages.core.fields import branding_of
from collector.status_pages.core.gate import OPEN_FOR, admits, ticket
from collector.status_pages.core.pictures import picture as read_picture
from collector.status_pages.core.status_page import is_slug
from collector.status_pages.service.view import PageView
from collector.status_pages.web import addresses, badges, feeds, status
from collector.status_pages.web import data as status_data
from collector.status_pages.web.addresses import PageAddresses
from collector.status_pages.web.badges import BadgeStyle
from collector.status_pages.web.pictures import PICTURES
from collector.status_pages.web.policy import policy
from collector.status_pages.web.words import ENGLISH, LANGUAGES, negotiated
from collector.status_pages.web.words.words import LanguageTexts
from shared import ids
from shared.clock import iso

COOKIE: Final = "tocsin_page"
LANGUAGE_COOKIE: Final = "tocsin_language"
_LANGUAGE_KEPT_S: Final = 365 * 86_400
_HTML: Final = "text/html"
_CSS: Final = "text/css"
_JSON: Final = "application/json"
_SVG: Final = "image/svg+xml"
_SCRIPT: Final = "text/javascript"
_POLICY: Final = "Content-Security-Policy"
# An SVG image may be opened by itself.
_PICTURE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
_BADGES: Final = {
    "status": badges.status_badge,
    "uptime": badges.uptime_badge,
    "response": badges.response_badge,
}
_NUMBER: Final = re.compile("[0-9]{1,6}")
# Pages of so many incidents are cached, the newest.
_KEPT: Final = 10

Draw = Callable[[PageView, PageAddresses, LanguageTexts], str]


@dataclass(frozen=True, slots=True)
class Public:
    """State that the handlers share between requests."""

    sites: Sites = field(default_factory=Sites)


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """A page, and the address under which the visitor requested it."""

    site: CachedPage
    place: PageAddresses


PUBLIC: web.AppKey[Public] = web.AppKey("status_pages", Public)
# Set if the page was requested by its own domain.
VISITED: web.RequestKey[VisitedPage] = web.RequestKey("status_page", VisitedPage)


async def show(request: web.Request) -> web.Response:
    """GET: the page, or the form to enter it."""
    return await _for_people(request, "page", status.page)


async def history(request: web.Request) -> web.Response:
    """GET: the incident history, newest first; ``?page=2`` and following are older."""
    visited = await visited_page(request)
    number = _part(request, visited.site.view) if visited and may_enter(request, visited.site) else 1
    if visited is None or number == 1:
        return await _for_people(request, "history", status.history)
    incidents = await visited.site.older(context_of(request).db, number)
    draw = partial(status.history, number=number, past=incidents)
    return _answer(request, _text(visited, f"history {number}", draw, _HTML, words_for(request)))


async def incident(request: web.Request) -> web.Response:
    """GET: one incident or maintenance; the last segment of the path is its id."""
    visited = await visited_page(request)
    if visited is None:
        return missing(request)
    if not may_enter(request, visited.site):
        return form(request, visited, 401)
    id_ = ids.read("spi", request.path.rpartition("/")[2])
    details = await visited.site.incident(context_of(request).db, id_) if id_ else None
    if details is None:
        return missing(request)
    words, view = words_for(request), visited.site.view

    def draw(view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
        return status.incident(view, place, words, details)

    # A crowd reads the newest; of the others one visitor can ask for each in every language, so none is kept.
    if any(newest.row.id == id_ for newest in view.incidents[:_KEPT]):
        return _answer(request, _text(visited, f"incident {id_}", draw, _HTML, words))
    return _answer(request, _made(view, draw(view, visited.place, words), _HTML, words))


def _part(request: web.Request, view: PageView) -> int:
    """The part of the history; an invalid number means the newest, one beyond the last means the last."""
    asked = request.query.get("page", "")
    return min(max(int(asked), 1), view.last) if _NUMBER.fullmatch(asked) else 1


async def widget(request: web.Request) -> web.Response:
    """The only page that other sites may embed in a frame; apart from a link it has no controls."""
    answer = await _for_people(request, "widget", status.widget)
    policy = answer.headers.get(_POLICY, "")
    answer.headers[_POLICY] = policy.replace("frame-ancestors 'none'", "frame-ancestors *")
    return answer


async def data(request: web.Request) -> web.Response:
    return await _for_programs(request, "json", status_data.own, _JSON)


async def summary(request: web.Request) -> web.Response:
    return await _for_programs(request, "summary", status_data.summary, _JSON)


async def atom(request: web.Request) -> web.Response:
    return await _for_programs(request, "atom", feeds.atom, "application/atom+xml")


async def rss(request: web.Request) -> web.Response:
    return await _for_programs(request, "rss", feeds.rss, "application/rss+xml")


async def calendar(request: web.Request) -> web.Response:
    return await _for_programs(request, "calendar", feeds.calendar, "text/calendar")


async def badge(request: web.Request) -> web.Response:
    """A badge of this *kind* (status, uptime, response) and *style*. Raises Invalid for others."""
    query = Query(request)
    name = query.one_of("kind", _BADGES) or "status"
    style = BadgeStyle(query.one_of("style", list(BadgeStyle)) or BadgeStyle.SQUARE)
    query.done()
    return await _guarded(
        request, f"{name} {style}.svg", lambda view, *_: _BADGES[name](view, style), _SVG, ENGLISH
    )


async def style(request: web.Request) -> web.Response:
    """The stylesheet, public even for a private page: its password form needs it."""
    return await _open(request, "style", lambda view, *_: status.style(view), _CSS)


async def custom_style(request: web.Request) -> web.Response:
    return await _open(request, "custom", lambda view, *_: status.custom_style(view), _CSS)


async def icon(request: web.Request) -> web.Response:
    return await _open(request, "icon", lambda view, *_: badges.icon(view), _SVG)


async def picture(request: web.Request) -> web.Response:
    """An uploaded picture of this *kind*, public even for a private page, as is its password form."""
    query = Query(request)
    kind = query.one_of("kind", list(PICTURES)) or "logo"
    query.done()
    visited = await visited_page(request)
    if visited is None:
        return missing(request)
    view = visited.site.view
    uploaded = read_picture(PICTURES[kind](branding_of(view.page.branding)) or "")
    if uploaded is None:
        return missing(request)
    headers = {**_headers(view, uploaded.type), hdrs.CONTENT_TYPE: uploaded.type, _POLICY: _PICTURE_POLICY}
    headers[hdrs.ETAG] = f'"{hashlib.sha256(uploaded.content).hexdigest()[:24]}"'
    if headers[hdrs.ETAG] in request.headers.get(hdrs.IF_NONE_MATCH, ""):
        return web.Response(status=304, headers=headers)
    return web.Response(body=uploaded.content, headers=headers)


async def script(request: web.Request) -> web.Response:
    return await _open(request, "script", lambda *_: status.script(), _SCRIPT)


async def visited_page(request: web.Request) -> VisitedPage | None:
    """The page that the path or the domain names."""
    if VISITED in request:
        return request[VISITED]
    slug, context = request.match_info["slug"], context_of(request)
    if not is_slug(slug):
        return None
    site = await request.app[PUBLIC].sites.find(context.db, "slug", slug, context.now())
    mails = context.transport.mailer is not None
    return VisitedPage(site, addresses.under(context.public_url, slug, mails=mails)) if site else None


def may_enter(request: web.Request, site: CachedPage) -> bool:
    """Whether the visitor may see the page.

    A private one requires an address of its networks, or the cookie set after its password or a sign-in.
    """
    page, access = site.view.page, site.view.access
    if page.visibility != "private" or access.opens_for(address(request)):
        return True
    shown, now = request.cookies.get(COOKIE), context_of(request).now()
    return shown is not None and any(
        admits(shown, page.id, key, now) for key in (page.password, access.key) if key
    )


def entered(request: web.Request, visited: VisitedPage, key: str) -> web.Response:
    """Return the redirect to the page with a cookie that opens it; *key* signs the cookie."""
    answer = web.Response(status=303, headers={hdrs.LOCATION: visited.place.home})
    open_ = ticket(visited.site.view.page.id, key, context_of(request).now())
    # The data files are next to a page's home, not below it.
    for path in (visited.place.home, visited.place.json):
        answer.headers.add(hdrs.SET_COOKIE, _cookie(open_, path, secure=is_secure(request)))
    return answer


def _cookie(open_: str, path: str, *, secure: bool) -> str:
    cookie: SimpleCookie = SimpleCookie({COOKIE: open_})
    kept = cookie[COOKIE]
    kept["path"] = path
    kept["max-age"] = str(int(OPEN_FOR.total_seconds()))
    kept["httponly"] = True
    kept["samesite"] = "Lax"
    kept["secure"] = secure
    return kept.OutputString()


def form(request: web.Request, visited: VisitedPage, code: int, fault: str = "") -> web.Response:
    """The form by which visitors enter; *fault*: key of the error text."""
    words = words_for(request)
    error = getattr(words, fault) if fault else ""
    text = _text(
        visited,
        f"login {fault}",
        lambda view, place, _: status.login(view, place, words, error),
        _HTML,
        words,
    )
    answer = _answer(request, text, conditional=False)
    answer.set_status(code)
    return answer


def missing(request: web.Request) -> web.Response:
    """The "no such page" answer, in the visitor's language."""
    headers = {
        "X-Robots-Tag": "noindex",
        _POLICY: "default-src 'none'",
        hdrs.VARY: f"{hdrs.ACCEPT_LANGUAGE}, {hdrs.COOKIE}",
        hdrs.CACHE_CONTROL: "no-cache",
        "X-Content-Type-Options": "nosniff",
        PERMISSIONS_POLICY: NO_DEVICES,
    }
    text = status.missing(words_for(request))
    return web.Response(status=404, text=text, content_type=_HTML, charset="utf-8", headers=headers)


def words_for(request: web.Request) -> LanguageTexts:
    """The language that the visitor chose by the form of a page, now or before, else the browser's."""
    chosen = request.query.get("lang") or request.cookies.get(LANGUAGE_COOKIE, "")
    return LANGUAGES.get(chosen) or negotiated(request.headers.get(hdrs.ACCEPT_LANGUAGE, ""))


async def _for_people(request: web.Request, name: str, draw: Draw) -> web.Response:
    return await _guarded(request, name, draw, _HTML, words_for(request))


async def _for_programs(
    request: web.Request, name: str, draw: Callable[[PageView, PageAddresses], str], kind: str
) -> web.Response:
    """Data for programs; if the page is public, scripts of other sites may read it (CORS)."""
    answer = await _guarded(request, name, lambda view, place, _: draw(view, place), kind, ENGLISH)
    if "public" in answer.headers.get(hdrs.CACHE_CONTROL, ""):
        answer.headers[hdrs.ACCESS_CONTROL_ALLOW_ORIGIN] = "*"
    return answer


async def _guarded(
    request: web.Request, name: str, draw: Draw, kind: str, words: LanguageTexts
) -> web.Response:
    visited = await visited_page(request)
    if visited is None:
        return missing(request)
    if not may_enter(request, visited.site):
        return form(request, visited, 401)
    return _answer(request, _text(visited, name, draw, kind, words))


async def _open(request: web.Request, name: str, draw: Draw, kind: str) -> web.Response:
    visited = await visited_page(request)
    return (
        missing(request) if visited is None else _answer(request, _text(visited, name, draw, kind, ENGLISH))
    )


def _text(visited: VisitedPage, name: str, draw: Draw, kind: str, words: LanguageTexts) -> CachedBody:
    site, place = visited.site, visited.place
    key = (name, place.url, words.tag)
    if (known := site.texts.get(key)) is None:
        view = site.view
        known = site.texts[key] = _made(view, draw(view, place, words), kind, words)
    return known


def _made(view: PageView, body: str, kind: str, words: LanguageTexts) -> CachedBody:
    return text_of(body, _headers(view, kind), view.at, (iso(view.at), words.moment(view.at)))


def _answer(request: web.Request, text: CachedBody, *, conditional: bool = True) -> web.Response:
    asked = request.headers
    if conditional and text.tag in asked.get(hdrs.IF_NONE_MATCH, ""):
        return _remembering(request, web.Response(status=304, headers=CIMultiDict(text.headers)))
    if takes_gzip(asked.get(hdrs.ACCEPT_ENCODING, "")):
        answer = web.Response(body=text.packed, headers=CIMultiDict(text.packed_headers))
    else:
        answer = web.Response(body=text.body, headers=CIMultiDict(text.headers))
    return _remembering(request, answer)


def _remembering(request: web.Request, answer: web.Response) -> web.Response:
    """The answer; it keeps the language that the visitor chose, if there was such a choice."""
    if (chosen := request.query.get("lang")) in LANGUAGES:
        answer.set_cookie(
            LANGUAGE_COOKIE,
            chosen,
            max_age=_LANGUAGE_KEPT_S,
            path="/",
            httponly=True,
            samesite="Lax",
            secure=is_secure(request),
        )
    return answer


def _headers(view: PageView, kind: str) -> dict[str, str]:
    page = view.page
    by_language = f", {hdrs.ACCEPT_LANGUAGE}, {hdrs.COOKIE}" if kind == _HTML else ""
    headers = {
        hdrs.CONTENT_TYPE: f"{kind}; charset=utf-8",
        _POLICY: policy(branding_of(page.branding).pictures),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        PERMISSIONS_POLICY: NO_DEVICES,
        hdrs.CACHE_CONTROL: "private, no-cache" if page.visibility == "private" else "public, no-cache",
        hdrs.VARY: f"{hdrs.ACCEPT_ENCODING}{by_language}",
    }
    return headers if page.visibility == "public" else {**headers, "X-Robots-Tag": "noindex"}
