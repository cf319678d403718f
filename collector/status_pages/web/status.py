"""Renders the public pages of a status page, which load only their own stylesheets and script."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from markupsafe import Markup, escape

from collector.platform.templates import environment
from collector.status_pages.core.bars import DAYS, WIDTH, Bar, bars
from collector.status_pages.core.colour import brand
from collector.status_pages.core.fields import branding_of
from collector.status_pages.core.status_page import MAINTENANCE, Displayed, Phase, overall
from collector.status_pages.core.style import cleaned
from collector.status_pages.service.components import ComponentDetails
from collector.status_pages.service.incidents import PageIncidentDetails
from collector.status_pages.service.view import PageView
from collector.status_pages.storage.incidents import PageIncident
from collector.status_pages.web import chart
from collector.status_pages.web.addresses import PageAddresses
from collector.status_pages.web.chart import ChartDrawing
from collector.status_pages.web.markdown import html
from collector.status_pages.web.pictures import addresses
from collector.status_pages.web.policy import in_page
from collector.status_pages.web.words import LANGUAGES
from collector.status_pages.web.words.words import LanguageTexts
from shared import ids
from shared.clock import iso

_RECENT: Final = timedelta(days=14)
_FOLDED_FROM: Final = 30
_MOST_SPOKEN: Final = 5
# A page of a thousand components and a hundred incidents is rendered while others wait.
_MOST_NAMED: Final = 14


@dataclass(frozen=True, slots=True)
class ShownComponent:
    """A component as the page shows it; *message*: beside its status; *since*: unmeasured since then.

    *spoken*: the text of its bars for screen readers.
    """

    name: str
    description: str
    message: str
    status: Displayed
    since: datetime | None
    bars: Sequence[Bar]
    uptime: float | None
    spoken: str
    chart: ChartDrawing | None


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """Components of one group, or those without one (*name* None); *folds*: it can be collapsed."""

    name: str | None
    folds: bool
    status: Displayed
    components: Sequence[ShownComponent]


def page(view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    """The status page."""
    recent = [incident for incident in view.past if (incident.row.resolved_at or view.at) > view.at - _RECENT]
    return render("status.html.j2", view, place, words, groups=_groups(view, words), recent=recent)


def history(
    view: PageView,
    place: PageAddresses,
    words: LanguageTexts,
    number: int = 1,
    past: Sequence[PageIncidentDetails] | None = None,
) -> str:
    """The incidents by month; *past*: the history's part of this *number*, unless it is the newest."""
    incidents = view.incidents if past is None else past
    by_month = groupby(incidents, key=lambda incident: words.month(incident.row.published_at))
    return render(
        "history.html.j2",
        view,
        place,
        words,
        months=[(month, list(of_month)) for month, of_month in by_month],
        number=number,
        last=1 if place.fixed else view.last,
    )


def incident(view: PageView, place: PageAddresses, words: LanguageTexts, details: PageIncidentDetails) -> str:
    """The page of one incident or maintenance."""
    return render("incident_page.html.j2", view, place, words, incident=details)


def widget(view: PageView, place: PageAddresses, words: LanguageTexts) -> str:
    """The overall status, for embedding in another page."""
    return render("widget.html.j2", view, place, words)


def login(view: PageView, place: PageAddresses, words: LanguageTexts, fault: str = "") -> str:
    """The form by which visitors enter a private page: by password, by its sign-in provider, or both."""
    sign_in = f"{place.base}/sign-in" if view.access.key else ""
    by_password = view.page.password is not None or not sign_in
    return render("login.html.j2", view, place, words, fault=fault, sign_in=sign_in, by_password=by_password)


def missing(words: LanguageTexts) -> str:
    """The "no such page" page."""
    return _ENV.get_template("missing.html.j2").render(w=words)


def style(view: PageView) -> str:
    """The common stylesheet, in this page's colours."""
    colour, on = brand(view.page.branding.get("primaryColor"))
    return f":root{{--brand:{colour};--on-brand:{on}}}\n{_static('status.css')}"


def custom_style(view: PageView) -> str:
    """The owner's custom stylesheet, without the parts that could not be parsed."""
    return cleaned(view.page.branding.get("customCss") or "")


def script() -> str:
    """The only script, the same for all pages."""
    return _static("status.js")


def render(template: str, view: PageView, place: PageAddresses, words: LanguageTexts, **more: Any) -> str:
    """Render a template, with the variables that base.html.j2 needs."""
    branding = branding_of(view.page.branding)
    return _ENV.get_template(template).render(
        view=view,
        w=words,
        languages=LANGUAGES.values(),
        name=view.page.name,
        base=place.base,
        home=place.home,
        json=place.json,
        suffix=place.suffix,
        fixed=place.fixed,
        subscribe=place.subscribe,
        policy=in_page(branding.pictures),
        branding=branding,
        pictures=addresses(branding, place.base),
        colour=brand(branding.primary_color)[0],
        custom=bool(branding.custom_css),
        hidden=view.page.visibility != "public",
        link=lambda id_: place.incident(ids.show("spi", id_)),
        names={seen.row.id: seen.row.name for seen in view.components},
        **more,
    )


@cache
def _static(name: str) -> str:
    return files("collector.status_pages.web").joinpath("static", name).read_text(encoding="utf-8")


def _groups(view: PageView, words: LanguageTexts) -> list[ShownGroup]:
    """The components by group, groups in the order of their first component; many groups are collapsed."""
    by_name: dict[str | None, list[ComponentDetails]] = {}
    for seen in view.components:
        by_name.setdefault(seen.row.group_name, []).append(seen)
    many = len(view.components) > _FOLDED_FROM
    titles = _titles(view)
    return [
        ShownGroup(
            name=name,
            folds=many and bool(name),
            status=_together(group),
            components=[_component(view, seen, titles, words) for seen in group],
        )
        for name, group in by_name.items()
    ]


def _together(group: Sequence[ComponentDetails]) -> Displayed:
    if all(seen.unknown for seen in group):
        return "unknown"
    return overall(seen.shown.status for seen in group)


def _component(
    view: PageView,
    seen: ComponentDetails,
    titles: Mapping[UUID, Mapping[date, Sequence[str]]],
    words: LanguageTexts,
) -> ShownComponent:
    monitor = seen.row.monitor_id
    daily = view.daily_of(seen)
    hours = view.hours.get(monitor, ()) if monitor else ()
    drawn = bars([(day.at, day.uptime) for day in daily.days], titles.get(seen.row.id)) if daily else []
    return ShownComponent(
        name=seen.row.name,
        description=seen.row.description,
        message=seen.row.message,
        status=seen.displayed,
        since=seen.unmeasured_since,
        bars=drawn,
        uptime=daily.uptime if daily else None,
        spoken=_spoken(daily.uptime, drawn, words) if daily else "",
        chart=chart.chart(hours, view.at),
    )


def _titles(view: PageView) -> dict[UUID, dict[date, list[str]]]:
    """The titles of the incidents that affect each component with bars, by day in UTC, oldest first."""
    everything = [seen.row.id for seen in view.components if view.daily_of(seen)]
    titles: dict[UUID, dict[date, list[str]]] = {id_: {} for id_ in everything}
    for details in reversed(view.incidents):
        row = details.row
        days = _days(view, row)
        for id_ in row.components or everything:
            for day in days if id_ in titles else ():
                titles[id_].setdefault(day, []).append(row.title)
    return titles


def _days(view: PageView, row: PageIncident) -> list[date]:
    """The first days of the incident in UTC, of those that the page shows."""
    since = max(row.scheduled_start or row.published_at, view.at - timedelta(days=DAYS))
    until = min(row.resolved_at or view.at, view.at)
    first = since.astimezone(UTC).date()
    count = min((until.astimezone(UTC).date() - first).days + 1, _MOST_NAMED)
    return [first + timedelta(days=n) for n in range(count)]


def _spoken(uptime: float | None, drawn: Sequence[Bar], words: LanguageTexts) -> str:
    """The bars' text for screen readers: the days as a whole, and the last outages."""
    bad = [bar for bar in reversed(drawn) if bar.level in {"fair", "bad"}][:_MOST_SPOKEN]
    outages = [f"{words.days(bar.since, bar.until)}: {words.share(bar.share)}" for bar in bad]
    return "; ".join([words.uptime.format(share=words.share(uptime)), *outages])


def _phase(status: Phase, severity: str, words: LanguageTexts) -> str:
    return (words.planned_phases if severity == MAINTENANCE else words.phases)[status]


def _affected(incident: PageIncidentDetails, names: dict[Any, str], words: LanguageTexts) -> Markup:
    """Each name marked up separately, in its own text direction."""
    known: Sequence[str] = [names[id_] for id_ in incident.row.components if id_ in names]
    return escape(words.comma).join(Markup("<bdi>{}</bdi>").format(name) for name in known)


def _fill(text: str, **parts: Any) -> Markup:
    """*text* with the names in braces replaced; only our own markup is left unescaped."""
    return escape(text).format(**parts)


_ENV: Final = environment("collector.status_pages.web")
_ENV.filters |= {
    "iso": iso,
    "markdown": html,
    "affected": _affected,
    "phase": _phase,
    "fill": _fill,
    "public": lambda id_: ids.show("spi", id_),
}
_ENV.globals |= {
    "bars_width": WIDTH,
    "chart_width": chart.WIDTH,
    "chart_height": chart.HEIGHT,
}
