"""Exports a status page as files, for a host that stays up when this one is down."""

from collections.abc import Mapping
from dataclasses import replace

from collector.status_pages.core.pictures import picture
from collector.status_pages.service.view import PageView
from collector.status_pages.web import addresses, badges, data, feeds, status
from collector.status_pages.web.words.words import LanguageTexts


def files(
    view: PageView, url: str, words: LanguageTexts, logo: tuple[str, bytes] | None = None
) -> dict[str, bytes]:
    """The files by name, all in one folder, the page itself last. *url*: URL of the folder.

    *logo*: name and content of the logo file; None: the branding's URL is kept.
    """
    own: Mapping[str, bytes] = {}
    if logo is not None:
        name, content = logo
        own = {name: content}
        branding = {**view.page.branding, "logo": f"./{name}"}
        view = replace(view, page=replace(view.page, branding=branding))
    view, uploaded = _uploaded(view)
    own = {**uploaded, **own}
    place = addresses.in_folder(url)
    texts = {
        "style.css": status.style(view),
        "custom.css": status.custom_style(view),
        "status.js": status.script(),
        "icon.svg": badges.icon(view),
        "badge.svg": badges.status_badge(view),
        "badge-uptime.svg": badges.uptime_badge(view),
        "badge-response.svg": badges.response_badge(view),
        "feed.atom": feeds.atom(view, place),
        "feed.rss": feeds.rss(view, place),
        "maintenance.ics": feeds.calendar(view, place),
        "status.json": data.own(view, place),
        "api/v2/summary.json": data.summary(view, place),
        "widget.html": status.widget(view, place, words),
        "history.html": status.history(view, place, words),
        "index.html": status.page(view, place, words),
    }
    return {**own, **{name: text.encode() for name, text in texts.items()}}


def _uploaded(view: PageView) -> tuple[PageView, dict[str, bytes]]:
    """The view with uploaded pictures as files of the folder, and these files by name."""
    branding, files_ = dict(view.page.branding), dict[str, bytes]()
    for key, name in (("logo", "logo"), ("logoDark", "logo-dark"), ("favicon", "favicon")):
        if (uploaded := picture(branding.get(key) or "")) is not None:
            files_[name + uploaded.suffix] = uploaded.content
            branding[key] = f"./{name}{uploaded.suffix}"
    return replace(view, page=replace(view.page, branding=branding)), files_
