"""The days of a monitor as bars: each with its uptime and incidents in a tooltip, and a link to it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Final
from urllib.parse import urlencode

from collector.console.charts import level
from collector.console.language import gettext
from collector.console.render import percent, plural, span
from collector.history.service.statistics import DayOf
from collector.incidents.storage.reads import Incident

_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DayBar:
    """*level* is its class in the stylesheet, *link* the query of the page about that day."""

    at: int
    level: str
    title: str
    link: str


@dataclass(frozen=True, slots=True)
class DayBars:
    bars: Sequence[DayBar]
    text: str


def drawn(days: Sequence[DayOf], incidents: Sequence[Incident]) -> DayBars:
    """Draw *days*, oldest first; *incidents* are counted on the day of their start."""
    started = Counter(each.started_at.astimezone(UTC).date() for each in incidents)
    bars = [
        DayBar(at, level(day.uptime), _title(day, started[day.at.date()]), _link(day))
        for at, day in enumerate(days)
    ]
    known = [day.uptime for day in days if day.uptime is not None]
    troubled = sum(share < 100 for share in known)
    return DayBars(
        bars,
        gettext(
            "Uptime of %(known)s, %(troubled)s with an outage",
            known=plural(len(known), "known day"),
            troubled=plural(troubled, "day"),
        ),
    )


def _title(day: DayOf, incidents: int) -> str:
    parts = [f"{day.at:%d %b %Y}", _uptime(day)]
    if day.down_ms:
        parts.append(gettext("down for %(length)s", length=span(day.down_ms / 1000)))
    if incidents:
        parts.append(plural(incidents, "incident"))
    return "\n".join(parts)


def _uptime(day: DayOf) -> str:
    if day.uptime is None:
        return gettext("not measured")
    return gettext("%(share)s uptime", share=percent(day.uptime))


def _link(day: DayOf) -> str:
    return "?" + urlencode({"from": f"{day.at:%Y-%m-%d}", "to": f"{day.at + _DAY:%Y-%m-%d}"})
