"""Renders console pages, whole or the part that a browser asks for."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import orjson
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from collector.console import assets, language
from collector.console.display import Display
from collector.console.icons import ICONS
from collector.console.visitor import Visitor
from collector.console.words import SCRIPT_TEXTS
from collector.platform.templates import environment
from shared import __version__, ids
from shared.clock import iso

# As `iso` writes them.
_MOMENT: Final = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
_FIRST_PAGES: Final = ("base", "home", "incident", "incidents", "monitor", "monitors", "sign_in")
_BRANDS: Final = {"pagerduty": "PagerDuty"}
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Mac OS X", "macOS"),
    ("Windows", "Windows"),
    ("Linux", "Linux"),
)


Tone: TypeAlias = Literal["good", "warn", "bad"]
TONES: Final[Mapping[str, Tone]] = {"good": "good", "warn": "warn", "bad": "bad"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationLink:
    """An entry of a navigation; *key* follows ``g`` on the keyboard; *root*: the common path of its pages."""

    label: str
    path: str
    icon: str = ""
    key: str = ""
    root: str = ""
    current: bool = False


@dataclass(frozen=True, slots=True)
class Flash:
    """A message that is shown once, at the top of the next page; *undo*: the path that takes it back."""

    tone: Tone
    text: str
    undo: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The frame of a page, and its visitor.

    *sections*: the main navigation, *beside*: that of the section; *may*: whether the visitor may use a
    method and path; *theme*: ``light``, ``dark`` or ``""`` for the device's.
    """

    path: str
    visitor: Visitor | None
    sections: tuple[NavigationLink, ...]
    beside: tuple[NavigationLink, ...]
    may: Callable[[str, str], bool]
    csrf: str
    theme: str
    display: Display
    said: tuple[Flash, ...]


def render(name: str, frame: Frame, values: Mapping[str, Any], part: str | None = None) -> str:
    """Render the template *name*, or only its block *part*. Raises KeyError for an unknown part."""
    template = _environment().get_template(name)
    known = {"frame": frame, "language": language.current(), **values}
    if part is None:
        return template.render(known)
    return "".join(template.blocks[part](template.new_context(known)))


def compile_first_pages() -> None:
    """Compile the templates that people open first, which takes 0.2 s; others are compiled on demand."""
    for name in _FIRST_PAGES:
        _environment().get_template(f"{name}.html.j2")


def has_part(name: str, part: str) -> bool:
    """Whether the template has a block of that name."""
    return part in _environment().get_template(name).blocks


def when(moment: datetime | None, empty: str = "") -> Markup:
    """Show a moment in the viewer's zone if a script runs, otherwise and on hover in UTC."""
    return _time(moment, "data-time", empty)


def exactly(moment: datetime | None, empty: str = "") -> Markup:
    """The same with seconds."""
    return _time(moment, "data-time=exactly", empty)


def ago(moment: datetime | None, empty: str = "") -> Markup:
    """Show a moment by how long ago, or how far ahead, it is."""
    return _time(moment, "data-ago", empty)


def dated(text: str) -> Markup:
    """Show the moments in a text of ours as `when` does."""
    parts, ends = [], 0
    for match in _MOMENT.finditer(text):
        parts += [escape(text[ends : match.start()]), when(datetime.fromisoformat(match[0]))]
        ends = match.end()
    return Markup().join([*parts, escape(text[ends:])])


def _time(moment: datetime | None, mark: str, empty: str) -> Markup:
    if moment is None:
        return Markup('<span class="soft">{}</span>').format(empty or language.gettext("never"))
    shown = moment.astimezone(UTC)
    return Markup('<time datetime="{}" title="{}" {}>{}</time>').format(
        iso(moment), shown.strftime("%Y-%m-%d %H:%M:%S UTC"), mark, shown.strftime("%d %b %Y, %H:%M UTC")
    )


def span(length: timedelta | float) -> str:
    """``45 s``, ``1 min 13 s``, ``3 h``, ``2 d 4 h``: two units at most, and no second one that is 0."""
    seconds = length.total_seconds() if isinstance(length, timedelta) else float(length)
    if seconds < _UNITS[-2][0]:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    place = next(place for place, (size, _) in enumerate(_UNITS) if whole >= size)
    (size, unit), (below, smaller) = _UNITS[place : place + 2]
    more = whole % size // below
    return f"{whole // size} {unit}" + (f" {more} {smaller}" if more else "")


def latency(ms: float) -> str:
    """``326 ms``, and from ten seconds on ``12.5 s``."""
    return f"{ms:,.0f} ms" if ms < 9_995 else f"{ms / 1000:,.1f} s"


def size(count: float) -> str:
    """``1.4 GB``: powers of 1,000."""
    for power, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= power:
            return f"{count / power:.3g} {unit}"
    return f"{count:.0f} B"


def percent(share: float | None) -> str:
    """``99.95 %``, with three decimals at most, rounded down: only what never failed is ``100 %``."""
    if share is None:
        return "–"
    text = f"{math.floor(round(share * 1000, 6)) / 1000:.3f}".rstrip("0").rstrip(".")
    return f"{text}\u00a0%"


def device(agent: str) -> str:
    """Return ``Firefox on Linux`` for a User-Agent; the start of an unknown one."""
    name = next((name for mark, name in _BROWSERS if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in agent), "")
    if name and system:
        return language.gettext("%(browser)s on %(system)s", browser=name, system=system)
    return name or agent[:60] or language.gettext("unknown")


def plural(count: int, text: str, many: str = "") -> str:
    """``1 user``, ``2,000 users``."""
    return language.ngettext(f"%(num)s {text}", f"%(num)s {many or text + 's'}", count)


def icon(name: str) -> Markup:
    """Return an icon, hidden from screen readers: the text beside it has the meaning."""
    return Markup(  # noqa: S704 - the drawings are this package's own
        '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">' + ICONS[name] + "</svg>"
    )


def brand(type_: str) -> str:
    """The name of a channel type as its service writes it: ``pagerduty`` is ``PagerDuty``."""
    return _BRANDS.get(type_, type_.capitalize())


@pass_context
def word(_context: Context, text: str) -> str:
    """Return a word of the API in the language of this request.

    It takes the context, as Jinja computes a filter of a constant once, when it compiles the template.
    """
    return language.translate(text)


def script_texts() -> str:
    """Return what scripts show in the language of this request, as JSON by the English text."""
    texts = language.current().texts
    return orjson.dumps({text: texts[text] for text in SCRIPT_TEXTS if text in texts}).decode()


@cache
def _environment() -> Environment:
    """The templates' environment; made once, as compiling its macros takes 50 ms."""
    made = environment("collector.console", ["jinja2.ext.i18n"])
    made.filters |= {
        "when": when,
        "exactly": exactly,
        "ago": ago,
        "dated": dated,
        "span": span,
        "size": size,
        "latency": latency,
        "plural": plural,
        "iso": iso,
        "device": device,
        "brand": brand,
        "percent": percent,
        "word": word,
    }
    # Functions that escape and fill texts themselves, in the language of each request.
    vars(made)["newstyle_gettext"] = True
    made.globals |= {
        "_": language.in_template,
        "gettext": language.in_template,
        "ngettext": language.in_template_plural,
    }
    made.globals |= {"asset": assets.url, "icon": icon, "show_id": ids.show, "version": __version__}
    made.globals["script_texts"] = script_texts
    # A part is rendered without its template's imports, so the macros are global.
    made.globals["ui"] = made.get_template("ui.html.j2").module
    made.globals["plots"] = made.get_template("plots.html.j2").module
    return made
