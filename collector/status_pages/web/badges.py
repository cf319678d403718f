"""Badges as SVG, and a widget to embed."""

from enum import StrEnum
from typing import Final
from xml.sax.saxutils import escape

from collector.status_pages.core.bars import percent
from collector.status_pages.core.colour import brand
from collector.status_pages.core.status_page import Displayed
from collector.status_pages.service.view import PageView

_GREY: Final = "#5a6472"
_STATUSES: Final[dict[Displayed, tuple[str, str]]] = {
    "operational": ("operational", "#176b43"),
    "degraded_performance": ("degraded", "#8a5200"),
    "partial_outage": ("partial outage", "#8a5200"),
    "major_outage": ("major outage", "#a8232f"),
    "maintenance": ("maintenance", "#235a99"),
    "unknown": ("unknown", _GREY),
}
_HEIGHT: Final = 20
_LETTER: Final = 7
_PAD: Final = 12
_PAD_ROUND: Final = 18


class BadgeStyle(StrEnum):
    """How a badge looks: with square corners, or round like a pill."""

    SQUARE = "square"
    ROUND = "round"


def status_badge(view: PageView, style: BadgeStyle = BadgeStyle.SQUARE) -> str:
    """The current overall status."""
    text, colour = _STATUSES[view.displayed]
    return _drawn("status", text, colour, style)


def uptime_badge(view: PageView, style: BadgeStyle = BadgeStyle.SQUARE) -> str:
    """The mean uptime of the components whose uptime is shown, over the last 90 days."""
    known = view.uptimes
    share = sum(known) / len(known) if known else None
    colour = _GREY if share is None else "#176b43" if share >= 99 else "#a8232f"
    return _drawn("uptime 90d", percent(share), colour, style)


def response_badge(view: PageView, style: BadgeStyle = BadgeStyle.SQUARE) -> str:
    """The mean response time of the measured components over the last 24 hours."""
    means = [sum(hour.mean_ms for hour in hours) / len(hours) for hours in view.hours.values() if hours]
    if not means:
        return _drawn("response 24h", "unknown", _GREY, style)
    return _drawn("response 24h", f"{round(sum(means) / len(means))} ms", "#235a99", style)


def icon(view: PageView) -> str:
    """The page's icon in its colour, independent of its status."""
    colour, on = brand(view.page.branding.get("primaryColor"))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="8" fill="{colour}"/>'
        f'<path d="M5 17h6l3-8 5 15 3-7h5" fill="none" stroke="{on}" stroke-width="2.5" '
        'stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )


def _drawn(label: str, value: str, colour: str, style: BadgeStyle) -> str:
    """White text on dark: readable on any page, and a single named image for screen readers."""
    pad = _PAD if style is BadgeStyle.SQUARE else _PAD_ROUND
    left, right = (len(text) * _LETTER + pad for text in (label, value))
    name = escape(f"{label}: {value}", {'"': "&quot;"})
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" '
        f'aria-label="{name}"><title>{name}</title>'
        f"{_background(left, right, colour, style)}"
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14">{escape(label)}</text>'
        f'<text x="{left + right / 2:g}" y="14">{escape(value)}</text></g></svg>'
    )


def _background(left: int, right: int, colour: str, style: BadgeStyle) -> str:
    halves = (
        f'<rect width="{left}" height="{_HEIGHT}" fill="#3b4450"/>'
        f'<rect x="{left}" width="{right}" height="{_HEIGHT}" fill="{colour}"/>'
    )
    if style is BadgeStyle.SQUARE:
        return halves
    shape = f'<rect width="{left + right}" height="{_HEIGHT}" rx="{_HEIGHT // 2}"/>'
    return f'<clipPath id="pill">{shape}</clipPath><g clip-path="url(#pill)">{halves}</g>'
