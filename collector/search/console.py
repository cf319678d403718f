"""The search over everything that a visitor may see: a page, whose results the command palette shows."""

from collections.abc import Iterable, Iterator
from typing import Final

from aiohttp import web

from collector.console.answers import page
from collector.console.language import translate
from collector.console.render import NavigationLink
from collector.console.site import SITE, ConsoleSite
from collector.console.state import visitor
from collector.http.context import context_of
from collector.monitors.console.facts import target
from collector.platform.access import Permission
from collector.search import core, service
from collector.search.core import SearchHit, SearchSection
from collector.search.service import SearchResults
from collector.search.storage import NamedThing
from shared import ids

_LONGEST: Final = 200
_ACTIONS: Final = (
    NavigationLink(label="New monitor", path="/monitors/new"),
    NavigationLink(label="New incident", path="/incidents/new"),
    NavigationLink(label="New alert rule", path="/alerting/rules/new"),
    NavigationLink(label="New notification channel", path="/alerting/channels/new"),
    NavigationLink(label="Schedule maintenance", path="/alerting/maintenance/new"),
    NavigationLink(label="New status page", path="/status-pages/new"),
    NavigationLink(label="Invite a user", path="/settings/users/new"),
    NavigationLink(label="New API token", path="/settings/tokens/new"),
    NavigationLink(label="Add a probe", path="/settings/probes/tokens/new"),
)
# Pages that no navigation leads to.
_PAGES: Final = (
    NavigationLink(label="Incident statistics", path="/incidents/stats"),
    NavigationLink(label="Wall", path="/wall"),
    NavigationLink(label="Two-factor sign-in", path="/settings/account/two-factor"),
)
# By the prefix of an id: icon, word and page.
_NAMED: Final = {
    "sp": ("page", "status page", "/status-pages/{}"),
    "rule": ("bell", "alert rule", "/alerting/rules/{}/edit"),
    "chan": ("inbox", "notification channel", "/alerting/channels/{}"),
    "mw": ("gear", "maintenance window", "/alerting/maintenance/{}/edit"),
}


async def show(request: web.Request) -> web.StreamResponse:
    """Show what matches ``q``; without it, where to go and what to do."""
    text = request.query.get("q", "").replace("\0", "").strip()[:_LONGEST]
    site, mine = request.app[SITE], visitor(request)
    results = await service.search(context_of(request).db, mine.team_id, text)
    sections = [
        SearchSection("Monitors", [*_monitors(results)]),
        SearchSection("Incidents", [*_incidents(results)]),
        SearchSection("Alerting and status pages", [*_named(results, site, mine.permission)]),
        SearchSection("Pages", [*_links(text, [*site.links(mine.permission), *_PAGES], "right", request)]),
        SearchSection("Actions", [*_links(text, _ACTIONS, "plus", request)]),
    ]
    return page(
        request, "search.html.j2", text=text, sections=[section for section in sections if section.hits]
    )


def _monitors(results: SearchResults) -> Iterator[SearchHit]:
    for monitor in results.monitors:
        detail = " · ".join(filter(None, (target(monitor.config), monitor.group_name)))
        yield SearchHit(
            monitor.name, f"/monitors/{ids.show('mon', monitor.id)}", "pulse", detail, monitor.state
        )


def _incidents(results: SearchResults) -> Iterator[SearchHit]:
    for incident in results.incidents:
        yield SearchHit(
            incident.title,
            f"/incidents/{ids.show('inc', incident.id)}",
            "flame",
            mark=incident.status,
            at=incident.created_at,
        )


def _named(results: SearchResults, site: ConsoleSite, held: Permission) -> Iterator[SearchHit]:
    for thing in results.named:
        hit = _named_hit(thing)
        if site.may(held, "GET", hit.path):
            yield hit


def _named_hit(thing: NamedThing) -> SearchHit:
    icon, word, path = _NAMED[thing.kind]
    return SearchHit(thing.name, path.format(ids.show(thing.kind, thing.id)), icon, translate(word))


def _links(
    text: str, links: Iterable[NavigationLink], icon: str, request: web.Request
) -> Iterator[SearchHit]:
    """Yield those of the links that match and that the visitor may open."""
    site, held, wanted = request.app[SITE], visitor(request).permission, core.words(text)
    for link in links:
        if core.contains(wanted, translate(link.label)) and site.may(held, "GET", link.path):
            yield SearchHit(translate(link.label), link.path, link.icon or icon)
