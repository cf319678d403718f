"""Draws the public pages of a status page, which run no script and load nothing but its own stylesheets."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from collector.core.statuspage import MAINTENANCE, Phase, Status
from collector.core.statuspage_bars import WIDTH, bars, said
from collector.core.statuspage_colour import brand
from collector.core.statuspage_style import cleaned
from collector.services.status_pages_components import Seen
from collector.services.status_pages_incidents import Told
from collector.services.status_pages_view import View
from shared import ids
from shared.clock import iso

_RECENT: Final = timedelta(days=14)
_SAID: Final[dict[Status, str]] = {
    "operational": "Operational",
    "degraded_performance": "Degraded performance",
    "partial_outage": "Partial outage",
    "major_outage": "Major outage",
    "maintenance": "Under maintenance",
}
_SUMMED: Final[dict[Status, str]] = {
    "operational": "All systems operational",
    "degraded_performance": "Some systems are slow",
    "partial_outage": "Some systems have problems",
    "major_outage": "There is a major outage",
    "maintenance": "Maintenance is under way",
}
# What the phases of an incident are in maintenance.
_PLANNED: Final[dict[Phase, str]] = {
    "investigating": "Planned",
    "identified": "Under way",
    "monitoring": "Verifying",
    "resolved": "Done",
}
_LINES: Final = re.compile(r"\n{2,}")
_STYLE: Final = files("collector.web").joinpath("static/status.css").read_text(encoding="utf-8")


def page(view: View) -> str:
    """The page itself."""
    return _render(
        "status.html.j2",
        view,
        summed=_SUMMED[view.status],
        groups=_groups(view),
        recent=[told for told in view.past if (told.row.resolved_at or view.at) > view.at - _RECENT],
    )


def history(view: View) -> str:
    """What was told, by month."""
    months = [
        (month, list(told))
        for month, told in groupby(view.incidents, key=lambda one: one.row.published_at.strftime("%B %Y"))
    ]
    return _render("history.html.j2", view, months=months)


def widget(view: View) -> str:
    """How all is, to be embedded in another page."""
    return _render("widget.html.j2", view, summed=_SUMMED[view.status])


def login(view: View, fault: str = "") -> str:
    """The form that asks for the password of a private page."""
    return _render("login.html.j2", view, fault=fault)


def missing() -> str:
    """There is no such page."""
    return _ENV.get_template("missing.html.j2").render()


def style(view: View | None) -> str:
    """The stylesheet of all pages, in the colours of this one."""
    colour, on = brand(view.page.branding.get("primaryColor") if view else None)
    return f":root{{--brand:{colour};--on-brand:{on}}}\n{_STYLE}"


def custom_style(view: View) -> str:
    """The stylesheet that the page's owner wrote, less what was not understood."""
    return cleaned(view.page.branding.get("customCss") or "")


def _render(name: str, view: View, **more: Any) -> str:
    page_ = view.page
    return _ENV.get_template(name).render(
        view=view,
        name=page_.name,
        base=f"/status/{page_.slug}",
        logo=page_.branding.get("logo"),
        custom=bool(page_.branding.get("customCss")),
        hidden=page_.visibility != "public",
        names={seen.row.id: seen.row.name for seen in view.components},
        **more,
    )


def _groups(view: View) -> list[tuple[str | None, list[dict[str, Any]]]]:
    """The components by their groups, in the order of the first of each."""
    found: dict[str | None, list[dict[str, Any]]] = {}
    for seen in view.components:
        found.setdefault(seen.row.group_name, []).append(_component(view, seen))
    return list(found.items())


def _component(view: View, seen: Seen) -> dict[str, Any]:
    daily = view.daily.get(seen.row.monitor_id) if seen.row.monitor_id else None
    return {
        "name": seen.row.name,
        "description": seen.row.description,
        "message": seen.row.message,
        "status": seen.shown.status,
        "said": _SAID[seen.shown.status],
        "since": seen.unmeasured_since,
        "bars": bars([(day.at, day.uptime) for day in daily.days]) if daily else None,
        "uptime": said(daily.uptime) if daily else "",
    }


def _when(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%d %b %Y, %H:%M UTC")


def _paragraphs(text: str) -> list[str]:
    return [part for part in _LINES.split(text.replace("\r\n", "\n")) if part.strip()]


def _phase(status: Phase, severity: str) -> str:
    return _PLANNED[status] if severity == MAINTENANCE else status.capitalize()


def _affected(told: Told, names: dict[Any, str]) -> Sequence[str]:
    return [names[id_] for id_ in told.row.components if id_ in names]


_ENV: Final = Environment(
    loader=PackageLoader("collector.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENV.filters |= {
    "when": _when,
    "iso": iso,
    "paragraphs": _paragraphs,
    "affected": _affected,
    "phase": _phase,
    "public": partial(ids.show, "spi"),
}
_ENV.globals["bars_width"] = WIDTH
