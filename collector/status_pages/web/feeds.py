"""Feeds of a status page: Atom and RSS of its incidents, and a calendar of its maintenance."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Final
from xml.sax.saxutils import escape

from collector.status_pages.core.markdown import plain
from collector.status_pages.core.status_page import MAINTENANCE
from collector.status_pages.service.incidents import PageIncidentDetails
from collector.status_pages.service.view import PageView
from collector.status_pages.web.addresses import PageAddresses
from shared import ids
from shared.clock import iso

_MOST: Final = 50
# Characters that XML 1.0 cannot represent, even escaped.
_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NO_LINE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# RFC 5545 folds lines after 75 octets; a UTF-8 character has at most four.
_FOLD: Final = 75
_NO_END: Final = timedelta(hours=1)


def atom(view: PageView, place: PageAddresses) -> str:
    """RFC 4287: one entry per incident, changed by each update."""
    url = place.url
    newest = max((incident.row.updated_at for incident in view.incidents), default=view.page.created_at)
    entries = "".join(
        f"<entry><id>{_xml(_guid(place, incident))}</id><title>{_xml(incident.row.title)}</title>"
        f'<link href="{_xml(_link(place, incident))}"/>'
        f"<published>{iso(incident.row.published_at)}</published><updated>{iso(incident.row.updated_at)}</updated>"
        f'<content type="text">{_xml(_updates(incident))}</content></entry>\n'
        for incident in view.incidents[:_MOST]
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<id>{_xml(url)}</id><title>{_xml(view.page.name)} status</title><updated>{iso(newest)}</updated>"
        f'<author><name>{_xml(view.page.name)}</name></author><link href="{_xml(url)}"/>'
        f'<link rel="self" href="{_xml(url)}/feed.atom"/>\n{entries}</feed>\n'
    )


def rss(view: PageView, place: PageAddresses) -> str:
    """RSS 2.0: the same content for older readers."""
    url = place.url
    items = "".join(
        f"<item><title>{_xml(incident.row.title)}</title><link>{_xml(_link(place, incident))}</link>"
        f'<guid isPermaLink="true">{_xml(_guid(place, incident))}</guid>'
        f"<pubDate>{format_datetime(incident.row.published_at.astimezone(UTC), usegmt=True)}</pubDate>"
        f"<description>{_xml(escape(_updates(incident)))}</description></item>\n"
        for incident in view.incidents[:_MOST]
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>\n'
        f"<title>{_xml(view.page.name)} status</title><link>{_xml(url)}</link>"
        f"<description>What {_xml(view.page.name)} publishes about incidents and maintenance</description>\n"
        f"{items}</channel></rss>\n"
    )


def calendar(view: PageView, place: PageAddresses) -> str:
    """RFC 5545: scheduled maintenance, past windows included."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tocsin//Status page//EN", "METHOD:PUBLISH"]
    lines.append(f"X-WR-CALNAME:{_line(view.page.name)}")
    for incident in view.incidents:
        if incident.row.severity == MAINTENANCE and incident.row.scheduled_start is not None:
            lines += _event(incident, incident.row.scheduled_start, place)
    return "".join(f"{_folded(line)}\r\n" for line in [*lines, "END:VCALENDAR"])


def _event(incident: PageIncidentDetails, start: datetime, place: PageAddresses) -> list[str]:
    row = incident.row
    end = row.scheduled_end or max(start + _NO_END, row.resolved_at or start)
    return [
        "BEGIN:VEVENT",
        f"UID:{ids.show('spi', row.id)}",
        f"DTSTAMP:{_stamp(row.updated_at)}",
        f"DTSTART:{_stamp(start)}",
        f"DTEND:{_stamp(end)}",
        f"SUMMARY:{_line(row.title)}",
        f"DESCRIPTION:{_line(_updates(incident))}",
        f"URL:{_link(place, incident)}",
        "END:VEVENT",
    ]


def _link(place: PageAddresses, incident: PageIncidentDetails) -> str:
    return place.incident_url(ids.show("spi", incident.row.id))


def _guid(place: PageAddresses, incident: PageIncidentDetails) -> str:
    """The identity of an entry: it never changes, or readers would show every entry as new."""
    return f"{place.url}/history{place.suffix}#{ids.show('spi', incident.row.id)}"


def _updates(incident: PageIncidentDetails) -> str:
    """All updates of an incident, newest first."""
    return "\n\n".join(
        f"{update.status.capitalize()} ({update.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC): "
        f"{plain(update.message)}"
        for update in reversed(incident.updates)
    )


def _xml(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text), {'"': "&quot;"})


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _line(text: str) -> str:
    plain = _NO_LINE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    for mark, instead in (("\\", "\\\\"), (";", "\\;"), (",", "\\,"), ("\n", "\\n")):
        plain = plain.replace(mark, instead)
    return plain


def _folded(line: str) -> str:
    """Fold lines to at most 75 octets without splitting a character."""
    parts, length = [""], 0
    for letter in line:
        size = len(letter.encode("utf-8", "replace"))
        if length + size > _FOLD:
            parts.append("")
            length = 1
        parts[-1] += letter
        length += size
    return "\r\n ".join(parts)
