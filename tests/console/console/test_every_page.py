"""Every page, feed, badge and document, drawn from a database in which everything has happened once."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

import pytest

from collector.console import language
from collector.console.assets import ASSETS, VERSION
from collector.console.language import TAGS
from collector.events.core.kinds import DELIVERED
from collector.monitors.console.types import GROUPS
from collector.notifications.channels import CHANNELS
from collector.pages import PAGES
from collector.platform.access import Permission
from collector.platform.delivery import DeliveryStatus
from collector.routes import ROUTES
from collector.status_pages.web.words import LANGUAGES
from tests.console.client import Console, Page, served, visiting
from tests.console.fixtures import PUBLIC_URL
from tests.http.client import Api
from tests.world import PASSWORD, Everything, everything_happened

Paths = Callable[[Everything], Iterable[str]]

# Streams, which never end.
STREAMS: Final = frozenset({"/events", "/monitors/live", "/v1/events"})
# What no reader is to see: a missing value, a moment that no clock of theirs shows, a number that is none.
_BROKEN: Final = re.compile(r"(?<![\w-])(?:None|undefined|Undefined|nan|NaN)(?![\w-])")
_ISO: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d")
_VALUES: Final = re.compile(r' (?:value|placeholder|title|aria-label|alt)="([^"]*)"')
# A browser shows the moment of such a field by its reader's clock.
_CLOCKS: Final = re.compile(r'<input [^>]*type="datetime-local"[^>]*>')
_PARTS: Final = re.compile(r'data-part="(\w+)"')
# Of many things of one kind, those that are looked at in every way.
_FEW: Final = 4
READABLE: Final = ("text/html", "image/svg", "application/atom", "application/rss", "text/plain")
# Examples for programs, and text to be edited, hold moments as programs write them.
_FOR_PROGRAMS: Final = (
    "/v1/docs",
    "/incidents/{id}/postmortem",
    "/incidents/{id}/postmortem/edit",
    "/monitors/{id}/results.csv",
)


# Pages whose readers are programs, or that show a public page.
_ENGLISH: Final = (*_FOR_PROGRAMS, "/status-pages/{id}/preview")
_OTHERS: Final = re.compile(r'(?s)<(\w+)[^>]* dir="auto"[^>]*>.*?</\1>|<(code|pre|script)\b.*?</\2>')
_READ: Final = re.compile(r' (?:placeholder|title|aria-label|alt|data-label|data-confirm)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Case:
    """What is looked at of a route; *status* is that of all of its *paths*."""

    paths: Paths
    status: int = 200


def fixed(*paths: str, status: int = 200) -> Case:
    return Case(lambda _: paths, status)


def each(pattern: str, table: str) -> Case:
    """*pattern* for each thing in that table of the world."""
    return Case(lambda here: [pattern.replace("{id}", id_) for id_ in getattr(here, table).values()])


def of_pages(end: str = "") -> Case:
    return each(f"/status-pages/{{id}}{end}", "pages")


def of_parts(kind: str, end: str = "") -> Case:
    """Each thing of that kind on the public page."""

    def paths(here: Everything) -> Iterator[str]:
        for id_ in here.parts[kind]:
            yield f"/status-pages/{here.pages['public']}/{kind}/{id_}{end}"

    return Case(paths)


def editions(end: str) -> Case:
    """Each edition of a report."""
    return Case(lambda here: [f"/reports/{path}{end}" for path in here.editions])


def public(end: str, *queries: str) -> Case:
    """Of the pages that anybody may see."""
    slugs = [f"/status/{slug}{end}" for slug in ("public", "unlisted")]
    return fixed(*slugs, *(slugs[0] + query for query in queries))


def monitor_pages(here: Everything) -> Iterator[str]:
    yield from (f"/monitors/{id_}" for id_ in here.monitors.values())
    yield from (
        f"/monitors/{here.monitors['Shop']}?range={over}" for over in ("1h", "7d", "30d", "90d", "odd")
    )
    yield from (
        f"/monitors/{here.monitors['Shop']}?{query}"
        for query in ("by=location&compare=week", "lines=all&status=down", "from=2026-01-01&to=2026-02-01")
    )


TYPES: Final = [name for names in GROUPS.values() for name in names]
CONSOLE: Final[dict[str, Case]] = {
    "/assets/{version}/{name}": fixed(*(f"/assets/{VERSION}/{name}" for name in ASSETS)),
    "/manifest.webmanifest": fixed("/manifest.webmanifest"),
    "/worker.js": fixed("/worker.js"),
    "/offline": fixed("/offline"),
    "/docs": fixed("/docs"),
    "/docs/search": fixed("/docs/search", "/docs/search?q=quorum", "/docs/search?q=nothing+like+this"),
    "/docs/llms.txt": fixed("/docs/llms.txt"),
    "/docs/llms-full.txt": fixed("/docs/llms-full.txt"),
    "/docs/{page}": fixed("/docs/when-is-it-down", "/docs/monitors", "/docs/changelog"),
    "/docs/{folder}/{page}": fixed("/docs/monitors/http", "/docs/channels/email"),
    "/sign-in": fixed("/"),
    "/sign-in/oidc": fixed("/sign-in/oidc", status=404),
    "/sign-in/oidc/callback": fixed("/sign-in/oidc/callback", status=404),
    "/forgot": fixed("/forgot"),
    "/confirm/{secret}": Case(lambda here: [f"/confirm/{here.links['confirm']}"]),
    "/invitations/{secret}": Case(lambda here: [f"/invitations/{here.links['invite editor']}"]),
    "/reset/{secret}": Case(lambda here: [f"/reset/{here.links['reset']}"]),
    "/setup/{secret}": Case(lambda here: [f"/setup/{here.links['setup']}"]),
    "/": fixed("/"),
    "/state": fixed("/state"),
    "/search": fixed("/search", "/search?q=shop", "/search?q=nothing+like+this"),
    "/wall": fixed("/wall"),
    "/wall/{secret}": Case(lambda here: [f"/wall/{here.links['wall']}"]),
    "/monitors": fixed(
        "/monitors", *(f"/monitors?{q}" for q in ("status=down", "q=none", "status=silenced"))
    ),
    "/monitors/new": fixed("/monitors/new", *(f"/monitors/new?type={text}" for text in TYPES)),
    "/monitors/{id}": Case(monitor_pages),
    "/monitors/{id}/edit": each("/monitors/{id}/edit", "monitors"),
    "/monitors/{id}/results.csv": each("/monitors/{id}/results.csv", "monitors"),
    "/incidents": fixed("/incidents", "/incidents?status=resolved", "/incidents?severity=low"),
    "/incidents/new": fixed("/incidents/new"),
    "/incidents/stats": fixed(*(f"/incidents/stats?by={one}" for one in ("day", "week", "month"))),
    "/incidents/{id}": each("/incidents/{id}", "incidents"),
    "/incidents/{id}/postmortem": each("/incidents/{id}/postmortem", "incidents"),
    "/incidents/{id}/postmortem/edit": each("/incidents/{id}/postmortem/edit", "incidents"),
    "/alerting": fixed("/alerting"),
    "/settings": fixed("/settings"),
    "/alerting/rules": fixed("/alerting/rules"),
    "/alerting/rules/new": fixed("/alerting/rules/new"),
    "/alerting/rules/{id}/edit": each("/alerting/rules/{id}/edit", "rules"),
    "/alerting/channels": fixed("/alerting/channels"),
    "/alerting/channels/new": fixed(
        "/alerting/channels/new", *(f"/alerting/channels/new?type={text}" for text in CHANNELS)
    ),
    "/alerting/channels/{id}": each("/alerting/channels/{id}", "channels"),
    "/alerting/channels/{id}/edit": each("/alerting/channels/{id}/edit", "channels"),
    "/alerting/alerts": fixed("/alerting/alerts", "/alerting/alerts?status=recovered"),
    "/alerting/maintenance": fixed("/alerting/maintenance", "/alerting/maintenance?status=ended"),
    "/alerting/maintenance/new": fixed("/alerting/maintenance/new"),
    "/alerting/maintenance/{id}/edit": each("/alerting/maintenance/{id}/edit", "windows"),
    "/status-pages": fixed("/status-pages"),
    "/status-pages/new": fixed("/status-pages/new"),
    "/status-pages/templates": fixed("/status-pages/templates"),
    "/status-pages/templates/new": fixed("/status-pages/templates/new"),
    "/status-pages/templates/{id}": each("/status-pages/templates/{id}", "templates"),
    "/status-pages/publish": each("/status-pages/publish?incident={id}", "incidents"),
    "/status-pages/{id}": of_pages(),
    "/status-pages/{id}/preview": of_pages("/preview"),
    "/status-pages/{id}/edit": of_pages("/edit"),
    "/status-pages/{id}/components/new": of_pages("/components/new"),
    "/status-pages/{pageId}/components/{componentId}": of_parts("components"),
    "/status-pages/{id}/incidents": of_pages("/incidents"),
    "/status-pages/{id}/incidents/new": of_pages("/incidents/new"),
    "/status-pages/{pageId}/incidents/{incidentId}": of_parts("incidents"),
    "/status-pages/{id}/access": of_pages("/access"),
    "/status-pages/{id}/subscribers": of_pages("/subscribers"),
    "/reports": fixed("/reports"),
    "/reports/new": fixed("/reports/new"),
    "/reports/{id}": each("/reports/{id}", "reports"),
    "/reports/{id}/edit": each("/reports/{id}/edit", "reports"),
    "/reports/{reportId}/editions/{editionId}": editions(""),
    "/reports/{reportId}/editions/{editionId}/csv": editions("/csv"),
    "/reports/{reportId}/editions/{editionId}/pdf": editions("/pdf"),
    "/reports/{reportId}/editions/{editionId}/json": editions("/json"),
    "/settings/account": fixed("/settings/account"),
    "/settings/account/two-factor": fixed("/settings/account/two-factor"),
    "/settings/tokens": fixed("/settings/tokens"),
    "/settings/tokens/new": fixed("/settings/tokens/new"),
    "/settings/users": fixed("/settings/users"),
    "/settings/users/new": fixed("/settings/users/new"),
    "/settings/users/{id}": each("/settings/users/{id}", "users"),
    "/settings/team": fixed("/settings/team"),
    "/settings/probes": fixed("/settings/probes"),
    "/settings/probes/tokens/new": fixed("/settings/probes/tokens/new"),
    "/settings/walls": fixed("/settings/walls"),
    "/settings/audit-log": fixed(
        "/settings/audit-log", "/settings/audit-log?page=2", "/settings/audit-log?actor=x"
    ),
    "/settings/about": fixed("/settings/about"),
}


def links(end: str, kind: str) -> Case:
    """Of a subscription to which a mail leads."""
    emails = ("one@example.com", "two@example.com")
    return Case(lambda here: [f"/subscriptions/{here.links[f'{kind} {email}']}{end}" for email in emails])


OPEN: Final[dict[str, Case]] = {
    "/robots.txt": fixed("/robots.txt"),
    "/favicon.ico": fixed("/favicon.ico"),
    "/healthz": fixed("/healthz"),
    "/readyz": fixed("/readyz"),
    "/metrics": fixed("/metrics"),
    "/status/{slug}.json": public(".json"),
    "/status/{slug}": public(""),
    "/status/{slug}/sign-in": public("/sign-in"),
    "/status/{slug}/sign-in/back": public("/sign-in/back"),
    "/status/{slug}/history": public("/history", "?page=2"),
    "/status/{slug}/incidents/{incidentId}": Case(
        lambda here: [f"/status/public/incidents/{id_}" for id_ in here.parts["incidents"]]
    ),
    "/status/{slug}/api/v2/summary.json": public("/api/v2/summary.json"),
    "/status/{slug}/feed.atom": public("/feed.atom"),
    "/status/{slug}/feed.rss": public("/feed.rss"),
    "/status/{slug}/maintenance.ics": public("/maintenance.ics"),
    "/status/{slug}/badge.svg": public("/badge.svg", "?kind=uptime", "?kind=response", "?style=round"),
    "/status/{slug}/widget": public("/widget"),
    "/status/{slug}/style.css": public("/style.css"),
    "/status/{slug}/custom.css": public("/custom.css"),
    "/status/{slug}/icon.svg": public("/icon.svg"),
    "/status/{slug}/picture": public("/picture?kind=logo"),
    "/status/{slug}/status.js": public("/status.js"),
    "/status/{slug}/subscribe": public("/subscribe"),
    "/subscriptions/{token}": links("", "manage"),
    "/subscriptions/{token}/confirm": links("/confirm", "confirm"),
    "/subscriptions/{token}/unsubscribe": links("/unsubscribe", "manage"),
    "/v1/openapi.json": fixed("/v1/openapi.json"),
    "/v1/apply-schema.json": fixed("/v1/apply-schema.json"),
    "/v1/docs": fixed("/v1/docs"),
    "/v1/ping/{key}": Case(lambda here: [f"/v1/ping/{here.keys['Good job']}"]),
    "/v1/ping/{key}/{sign}": Case(lambda here: [f"/v1/ping/{here.keys['Good job']}/start"]),
    "/ping/{key}": Case(lambda here: [f"/ping/{here.keys['Good job']}"]),
    "/ping/{key}/{sign}": Case(lambda here: [f"/ping/{here.keys['Good job']}/log"]),
    "/api/push/{key}": Case(lambda here: [f"/api/push/{here.keys['Good job']}?status=up"]),
}


# What stands in the path of a read of the API, by the path's collection.
READS: Final = {
    "/v1/monitors": "monitors",
    "/v1/incidents": "incidents",
    "/v1/alert-rules": "rules",
    "/v1/alert-channels": "channels",
    "/v1/maintenance-windows": "windows",
    "/v1/status-pages": "pages",
    "/v1/incident-templates": "templates",
    "/v1/reports": "reports",
    "/v1/slos": "slos",
    "/v1/users": "users",
    "/v1/alerts": "alerts",
    "/v1/probes": "joined",
}


def api_paths(path: str, here: Everything) -> list[str]:
    """The path of a read for each thing in the world."""
    start, _, end = path.partition("/{")
    if not end:
        more = {"/v1/monitors/uptime": f"?ids={','.join([*here.monitors.values()][:9])}"}
        return [path + more.get(path, "")]
    if "{pageId}" in path:
        kind = path.split("/")[4]
        return [f"{start}/{here.pages['public']}/{kind}/{id_}" for id_ in here.parts[kind]]
    if "{editionId}" in path:
        return [f"{start}/{edition}{path.partition('{editionId}')[2]}" for edition in here.editions]
    rest = path.partition("{id}")[2]
    found = [f"{start}/{id_}{rest}" for id_ in getattr(here, READS[start]).values()]
    if path == "/v1/monitors/{id}/series":
        return [f"{start}/{here.monitors['Metrics']}{rest}"]
    return found


def words_of(page: Page) -> str:
    """What a reader sees of a page: its text, and the texts of its fields."""
    kept = re.sub(r"<(script|style)\b.*?</\1>", " ", page.text, flags=re.DOTALL)
    kept = _CLOCKS.sub(" ", kept)
    return " ".join(unescape(" ".join([re.sub(r"<[^>]*>", " ", kept), *_VALUES.findall(kept)])).split())


def faults(pattern: str, path: str, page: Page, status: int) -> Iterator[str]:
    """Why what was answered is nothing to show anybody."""
    if page.status != status:
        yield f"{path}: {page.status} {words_of(page)[:200]}"
        return
    kind, text = page.headers.get("Content-Type", ""), words_of(page)
    # The whole manual has examples in Python.
    if kind.startswith(READABLE) and pattern != "/docs/llms-full.txt":
        yield from (f"{path}: {around(text, match)}" for match in _BROKEN.finditer(text))
    if kind.startswith(("text/html", "image/svg")) and pattern not in _FOR_PROGRAMS:
        shown = re.sub(r"<input [^>]*>", " ", page.text) if "edit" in path else page.text
        moments = _ISO.finditer(words_of(Page(page.status, page.path, shown, page.headers)))
        yield from (f"{path}: {around(text, match)}" for match in moments)


def around(text: str, match: "re.Match[str]") -> str:
    return f"...{match.string[max(0, match.start() - 60) : match.end() + 40]}..."


async def walked(
    console: Console, here: Everything, cases: dict[str, Case], most: int | None = None
) -> list[str]:
    """What is wrong with the pages of *cases*, *most* of each, and with the parts that a script asks for."""
    found: list[str] = []
    for pattern, case in cases.items():
        for at, path in enumerate([*case.paths(here)][:most]):
            page = await console.get(path)
            found += faults(pattern, path, page, case.status)
            for part in sorted(set(_PARTS.findall(page.text))) if at < _FEW else ():
                again = await console.get(path, headers={"X-Part": part})
                found += faults(pattern, f"{path} ({part})", again, case.status)
    return found


def test_every_route_that_is_read_has_a_case() -> None:
    by_token = {path for method, path, _, needs in ROUTES if method == "GET" and needs is not None}
    pages = {page.path for page in PAGES if page.method == "GET"}
    others = {path for method, path, _, needs in ROUTES if method == "GET" and needs is None}

    assert pages - STREAMS == set(CONSOLE)
    assert others == set(OPEN)
    assert {path.partition("/{")[0] for path in by_token if "{" in path} <= set(READS)


@pytest.mark.slow
async def test_every_page_is_drawn_from_a_team_to_which_everything_has_happened(api: Api) -> None:
    found: list[str] = []
    async with everything_happened(api) as here, served(here.api, public_url=PUBLIC_URL) as url:
        await everything_is_there(here)
        async with visiting(url, here.api) as console:
            await console.sign_in()
            found += await walked(console, here, CONSOLE)
            found += await in_the_languages_of_readers(console, here)
        async with visiting(url, here.api) as console:
            await console.sign_in(await console.person("viewer"))
            found += await walked(console, here, seen_by_viewers(), _FEW)
        async with visiting(url, here.api) as console:
            found += await walked(console, here, OPEN)
            found += await in_all_languages(console)
            found += await behind_the_password(console)
        found += await reads(here)

    assert not found, "\n".join(found)


async def everything_is_there(here: Everything) -> None:
    """The world is what it says: each kind of event, each outcome, each state."""
    kinds = {row["kind"] for row in await here.probes.fetch("SELECT DISTINCT kind FROM events")}
    assert DELIVERED - kinds == {"test"}, "a test is sent, and kept nowhere"
    assert set(TYPES) <= {row["type"] for row in await here.probes.fetch("SELECT type FROM monitors")}
    outcomes: dict[str, set[object]] = {
        "SELECT DISTINCT status AS one FROM deliveries": set(DeliveryStatus),
        "SELECT DISTINCT note IS NULL AS one FROM delivery_attempts": {True, False},
        "SELECT DISTINCT status AS one FROM alerts": {"firing", "acknowledged", "recovered"},
        "SELECT DISTINCT status AS one FROM incidents": {"open", "acknowledged", "resolved"},
        "SELECT DISTINCT automatic AS one FROM incidents": {True, False},
        "SELECT DISTINCT last_at IS NULL AS one FROM states": {True, False},
        "SELECT DISTINCT verified_at IS NULL AS one FROM status_subscribers": {True, False},
    }
    for sql, wanted in outcomes.items():
        assert {row["one"] for row in await here.probes.fetch(sql)} >= wanted, sql


def seen_by_viewers() -> dict[str, Case]:
    """The pages of who may only look."""
    needs = {page.path: page.needs for page in PAGES if page.method == "GET"}
    return {path: case for path, case in CONSOLE.items() if needs[path] is Permission.READ_ONLY}


async def in_all_languages(console: Console) -> list[str]:
    found: list[str] = []
    for tag in LANGUAGES:
        for path in ("/status/public", "/status/public/history", "/status/public/subscribe"):
            page = await console.get(path, headers={"Accept-Language": tag})
            found += faults("/status/{slug}", f"{path} in {tag}", page, 200)
    return found


async def in_the_languages_of_readers(console: Console, here: Everything) -> list[str]:
    """Pages of the console that show a text in English which the reader's language has."""
    found: list[str] = []
    for tag in (tag for tag in ("de", "ar") if tag in TAGS):
        words = language.load(tag).texts
        english = words.keys() - set(words.values())
        for pattern, case in seen_by_viewers().items():
            for path in [*case.paths(here)][:_FEW] if pattern not in _ENGLISH else []:
                page = await console.get(path, headers={"Accept-Language": tag})
                said = texts_of(page.text) if page.text.startswith("<!doctype") else set()
                found += [f"{path} in {tag}: {text}" for text in sorted(said & english)]
                found += (
                    [f"{path} is not in {tag}"] if said and f'<html lang="{tag}"' not in page.text else []
                )
    return found


def texts_of(html: str) -> set[str]:
    """What stands between tags, and in the attributes that are read, but for what people wrote."""
    shown = _OTHERS.sub("", html)
    return {unescape(text).strip() for text in [*re.split(r"(?s)<[^>]*>", shown), *_READ.findall(shown)]}


async def behind_the_password(console: Console) -> list[str]:
    found = [*faults("/status/{slug}", "/status/private", await console.get("/status/private"), 401)]
    entered = await console.post("/status/private", {"password": PASSWORD})
    return [*found, *faults("/status/{slug}", "/status/private", entered, 200)]


async def reads(here: Everything) -> list[str]:
    """Reads of the API that fail."""
    paths = [path for method, path, _, needs in ROUTES if method == "GET" and needs is not None]
    found: list[str] = []
    for path in paths:
        for text in [] if path in STREAMS else api_paths(path, here):
            answer = await here.api.get(text)
            if answer.status == 503:  # a machine under load: come again, as it asks
                answer = await here.api.get(text)
            if answer.status != 200:
                found.append(f"{text}: {answer.status} {answer.body[:200]!r}")
    return found
