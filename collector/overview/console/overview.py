"""The first page of the console: is all well, and if not, what is wrong?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aiohttp import web

from collector.console.answers import page
from collector.console.state import visitor
from collector.events.core.kinds import EventKind
from collector.http.context import context_of
from collector.overview.console import verdicts
from collector.overview.service import overview as service
from collector.overview.service.overview import OverviewVerdict
from collector.overview.storage.overview import RecentEvent
from shared import ids

# What happened to the subject, and the colour of it.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    EventKind.MONITOR_DOWN: ("went down", "bad"),
    EventKind.MONITOR_UP: ("is up again", "good"),
    EventKind.MONITOR_DEGRADED: ("is degraded", "warn"),
    EventKind.MONITOR_FLAPPING: ("is flapping", "warn"),
    EventKind.MONITOR_UNMEASURED: ("is not measured", "warn"),
    EventKind.MONITOR_MEASURED: ("is measured again", "good"),
    EventKind.ALERT_ESCALATED: ("alert escalated", "bad"),
    EventKind.CERTIFICATE_EXPIRING: ("certificate expires soon", "warn"),
    EventKind.CHANNEL_FAILING: ("channel fails to deliver", "bad"),
    EventKind.CHANNEL_RECOVERED: ("channel delivers again", "good"),
    EventKind.MAINTENANCE_STARTED: ("maintenance started", "info"),
    EventKind.MAINTENANCE_ENDED: ("maintenance ended", "info"),
    EventKind.PROBE_OFFLINE: ("probe went offline", "bad"),
    EventKind.PROBE_ONLINE: ("probe is online again", "good"),
    EventKind.WEB3_ALERT: ("crossed a threshold", "warn"),
    EventKind.INCIDENT_ACKNOWLEDGED: ("incident acknowledged", "info"),
    EventKind.INCIDENT_RESOLVED: ("incident resolved", "good"),
    EventKind.INCIDENT_REOPENED: ("incident reopened", "bad"),
}
_ENDED: Final[Mapping[str, str]] = {
    EventKind.MONITOR_DEGRADED: "is no longer degraded",
    EventKind.MONITOR_FLAPPING: "stopped flapping",
}
_ICONS: Final[Mapping[str, str]] = {"bad": "bell-bad.svg", "warn": "bell-warn.svg"}
_PAGES: Final[Mapping[str, str]] = {
    "mon": "/monitors/{}",
    "chan": "/alerting/channels/{}",
    "prb": "/settings/probes",
    "mw": "/alerting/maintenance/{}",
}


@dataclass(frozen=True, slots=True)
class EventLine:
    """A recent event as the page lists it; *path* is empty where no page shows its subject."""

    at: datetime
    subject: str
    words: str
    tone: str
    path: str


async def show(request: web.Request) -> web.StreamResponse:
    context = context_of(request)
    now = context.now()
    seen = await service.read(context.db, visitor(request).team_id, now, _WORDS)
    return page(
        request,
        "home.html.j2",
        seen=seen,
        verdict=verdicts.text(seen.verdict),
        now=now,
        states=service.STATES,
        tab_mark=tab_mark(seen.counts.incidents),
        tab_icon=tab_icon(seen.verdict),
        recent=[_line(event) for event in seen.events],
    )


def tab_mark(count: int) -> str:
    """What stands before a tab's title: the number of what is in trouble, if there is any."""
    return f"({count:,}) " if count else ""


def tab_icon(verdict: OverviewVerdict) -> str:
    """The icon of a tab, by the verdict."""
    return _ICONS.get(verdict.tone, "bell.svg")


def _line(event: RecentEvent) -> EventLine:
    words, tone = _WORDS[event.kind]
    if event.ended:
        words, tone = _ENDED.get(event.kind, words), "good"
    return EventLine(event.at, event.subject, words, tone, _path(event))


def _path(event: RecentEvent) -> str:
    if event.incident_id is not None:
        return f"/incidents/{ids.show('inc', event.incident_id)}"
    return _PAGES.get(event.subject_id.partition("_")[0], "").format(event.subject_id)
