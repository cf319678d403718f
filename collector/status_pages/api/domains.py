"""Status pages at custom domains: found by the Host header, served at the root."""

from functools import lru_cache
from typing import Final

from aiohttp import hdrs, web

from collector.http.auth import Handler, is_secure
from collector.http.context import context_of
from collector.status_pages.api import password, public, public_subscribers, root_files, single_sign_on
from collector.status_pages.api.public import PUBLIC, VISITED, VisitedPage
from collector.status_pages.core.domains import is_own
from collector.status_pages.core.fields import is_domain
from collector.status_pages.web import addresses
from shared.errors import Unavailable

# Paths that programs use under any of our host names: they never belong to a page.
_FOR_PROGRAMS: Final = ("/v1/", "/ping/", "/api/push/", "/healthz", "/readyz", "/metrics")
# Followed by the id of the incident.
_INCIDENT: Final = "/incidents/"
_PATHS: Final[dict[tuple[str, str], Handler]] = {
    ("GET", "/"): public.show,
    ("POST", "/"): password.enter,
    ("GET", "/sign-in"): single_sign_on.begin,
    ("GET", "/sign-in/back"): single_sign_on.back,
    ("GET", "/subscribe"): public_subscribers.ask,
    ("POST", "/subscribe"): public_subscribers.begin,
    ("GET", "/history"): public.history,
    ("GET", _INCIDENT): public.incident,
    ("GET", "/status.json"): public.data,
    ("GET", "/api/v2/summary.json"): public.summary,
    ("GET", "/feed.atom"): public.atom,
    ("GET", "/feed.rss"): public.rss,
    ("GET", "/maintenance.ics"): public.calendar,
    ("GET", "/badge.svg"): public.badge,
    ("GET", "/widget"): public.widget,
    ("GET", "/icon.svg"): public.icon,
    ("GET", "/picture"): public.picture,
    ("GET", "/style.css"): public.style,
    ("GET", "/custom.css"): public.custom_style,
    ("GET", "/status.js"): public.script,
    ("GET", "/robots.txt"): root_files.robots,
    ("GET", "/favicon.ico"): root_files.favicon,
}
_ALLOWED: Final = {
    path: {hdrs.METH_HEAD, *(method for method, other in _PATHS if other == path)} for _, path in _PATHS
}


@web.middleware
async def by_domain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A page's domain serves only that page: no console, and no other page."""
    asked = request.headers.get(hdrs.HOST, "")
    context = context_of(request)
    if request.path.startswith(_FOR_PROGRAMS) or _is_ours(asked, context.public_url, context.hosts):
        return await handler(request)
    visited = await _page_of(request, _name(asked))
    if visited is None:
        return await handler(request)
    if request.path.startswith(f"/status/{visited.site.view.page.slug}/"):
        return await handler(request)
    of_incident = request.path.startswith(_INCIDENT) and "/" not in request.path.removeprefix(_INCIDENT)
    path = _INCIDENT if of_incident else request.path
    own = _PATHS.get(("GET" if request.method == "HEAD" else request.method, path))
    if own is None:
        allowed = _ALLOWED.get(path)
        if allowed is not None:
            raise web.HTTPMethodNotAllowed(request.method, allowed)
        return public.missing(request)
    request[VISITED] = visited
    return await own(request)


@lru_cache(maxsize=1_024)
def _is_ours(host: str, public_url: str, hosts: tuple[str, ...]) -> bool:
    """Whether *host* is an IP address or one of the service's own names."""
    host = _name(host)
    return is_own(host, public_url, hosts) or not is_domain(host) or host.replace(".", "").isdigit()


def _name(host: str) -> str:
    """``Status.Example.com.:8443`` -> ``status.example.com``."""
    return host.partition(":")[0].rstrip(".").lower()


async def _page_of(request: web.Request, host: str) -> VisitedPage | None:
    """The page of the domain; None also while the database is unavailable and the host is not cached."""
    context = context_of(request)
    try:
        site = await request.app[PUBLIC].sites.find(context.db, "domain", host, context.now())
    except Unavailable:
        return None
    if site is None:
        return None
    scheme, mails = "https" if is_secure(request) else "http", context.transport.mailer is not None
    return VisitedPage(site, addresses.at_domain(scheme, host, mails=mails))
