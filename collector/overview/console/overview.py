"""The first page of the console: is all well, and if not, what is wrong?"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from aiohttp import web

from collector.console.answers import page
from collector.console.state import visitor
from collector.events.core import events
from collector.http.context import context_of
from collector.overview.service import overview as service
from collector.overview.service.overview import Verdict
from collector.overview.storage.overview import RecentEvent
from shared import ids

# What happened to the subject, and the colour of it.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    events.DOWN: ("went down", "bad"),
    events.UP: ("is up again", "good"),
    events.DEGRADED: ("is degraded", "warn"),
    events.FLAPPING: ("is flapping", "warn"),
    events.UNMEASURED: ("is not measured", "warn"),
    events.MEASURED: ("is measured again", "good"),
    events.ALERT_ESCALATED: ("alert escalated", "bad"),
    events.CERTIFICATE_EXPIRING: ("certificate expires soon", "warn"),
    events.CHANNEL_FAILING: ("channel fails to deliver", "bad"),
    events.CHANNEL_RECOVERED: ("channel delivers again", "good"),
    events.MAINTENANCE_STARTED: ("maintenance started", "info"),
    events.MAINTENANCE_ENDED: ("maintenance ended", "info"),
    events.PROBE_OFFLINE: ("probe went offline", "bad"),
    events.PROBE_ONLINE: ("probe is online again", "good"),
    events.WEB3_ALERT: ("crossed a threshold", "warn"),
    "incident.acknowledged": ("incident acknowledged", "info"),
    "incident.resolved": ("incident resolved", "good"),
    "incident.reopened": ("incident reopened", "bad"),
}
_ENDED: Final[Mapping[str, str]] = {
    events.DEGRADED: "is no longer degraded",
    events.FLAPPING: "stopped flapping",
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
        now=now,
        states=service.STATES,
        tab_mark=tab_mark(seen.states),
        tab_icon=tab_icon(seen.verdict),
        recent=[_line(one) for one in seen.events],
    )


def tab_mark(states: Mapping[str, int]) -> str:
    """What stands before a tab's title: how many monitors are down, if any."""
    down = states.get("down", 0)
    return f"({down:,}) " if down else ""


def tab_icon(verdict: Verdict) -> str:
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
