"""A status page as files, for the day when this machine itself is down."""

from collections.abc import Mapping
from dataclasses import replace

from collector.services.status_pages_view import View
from collector.web import status, status_badges, status_data, status_feeds, status_places
from collector.web.status_words.words import Words


def files(view: View, url: str, words: Words, logo: tuple[str, bytes] | None = None) -> dict[str, bytes]:
    """By their names in one folder, the page itself last. *url*: where the folder will be found.

    *logo*: the name of its file and what is in it; None leaves it where the page's branding says.
    """
    own: Mapping[str, bytes] = {}
    if logo is not None:
        name, content = logo
        own = {name: content}
        branding = {**view.page.branding, "logo": f"./{name}"}
        view = replace(view, page=replace(view.page, branding=branding))
    place = status_places.in_folder(url)
    texts = {
        "style.css": status.style(view),
        "custom.css": status.custom_style(view),
        "status.js": status.script(),
        "icon.svg": status_badges.icon(view),
        "badge.svg": status_badges.status_badge(view),
        "badge-uptime.svg": status_badges.uptime_badge(view),
        "badge-response.svg": status_badges.response_badge(view),
        "feed.atom": status_feeds.atom(view, place),
        "feed.rss": status_feeds.rss(view, place),
        "maintenance.ics": status_feeds.calendar(view, place),
        "status.json": status_data.own(view, place),
        "api/v2/summary.json": status_data.summary(view, place),
        "widget.html": status.widget(view, place, words),
        "history.html": status.history(view, place, words),
        "index.html": status.page(view, place, words),
    }
    return {**own, **{name: text.encode() for name, text in texts.items()}}
