"""Queues notifications about a page incident for subscribers and webhook channels."""

from datetime import datetime
from typing import Any

from collector.events.core.kinds import EventKind
from collector.events.storage import events
from collector.platform.access import Actor
from collector.platform.answers import Person
from collector.platform.storage.db import Tx
from collector.status_pages.core.news import published, topic, updated
from collector.status_pages.core.payloads import EventPage, EventPageIncident, PageIncidentEvent
from collector.status_pages.storage import news
from collector.status_pages.storage.incidents import PageIncident, Update
from collector.status_pages.storage.news import PageUpdate
from collector.status_pages.storage.status_pages import StatusPage
from shared import ids
from shared.clock import iso


def settable(row: PageIncident) -> dict[str, Any]:
    """The writable fields of an incident except its message, with their current values."""
    return {
        "title": row.title,
        "status": row.status,
        "severity": row.severity,
        "affectedComponents": [ids.show("comp", id_) for id_ in row.components],
        "componentStatus": row.component_status,
        "scheduledStart": row.scheduled_start and iso(row.scheduled_start),
        "scheduledEnd": row.scheduled_end and iso(row.scheduled_end),
        "reminderMinutes": row.reminder_minutes,
    }


def _in_event(row: PageIncident, message: str) -> EventPageIncident:
    return EventPageIncident(
        id=ids.show("spi", row.id),
        title=row.title,
        status=row.status,
        severity=row.severity,
        affected_components=[ids.show("comp", id_) for id_ in row.components],
        component_status=row.component_status,
        scheduled_start=row.scheduled_start,
        scheduled_end=row.scheduled_end,
        message=message,
        published_at=row.published_at,
        updated_at=row.updated_at,
        resolved_at=row.resolved_at,
    )


async def notify(
    tx: Tx, who: Actor, page: StatusPage, before: PageIncident | None, after: PageIncident, update: Update
) -> None:
    """Queue the notifications. Call it last in the transaction: it blocks the team's other events."""
    await news.add(tx, _page_update(before, after, update))
    kind = EventKind.PAGE_UPDATED if before else EventKind.PAGE_PUBLISHED
    payload = PageIncidentEvent(
        event=kind,
        timestamp=update.at,
        status_page=EventPage(id=ids.show("sp", page.id), name=page.name, slug=page.slug),
        incident=_in_event(after, update.message),
        actor=Person(id=who.id, name=who.name),
    )
    await events.append(tx, page.team_id, after.id, kind, payload, update.at)


async def remind(tx: Tx, row: PageIncident, newest: Update, now: datetime) -> None:
    """Queue the notifications of a reminder, with the text of the *newest* update."""
    reminder = PageUpdate(
        team_id=row.team_id,
        id=ids.uuid7(),
        page_id=row.page_id,
        update_id=newest.id,
        occasion="reminder",
        topic=topic(row.severity),
        components=sorted(row.components),
        created_at=now,
    )
    await news.add(tx, reminder)


def _page_update(before: PageIncident | None, after: PageIncident, update: Update) -> PageUpdate:
    if before is None:
        occasion = published(after.severity, after.scheduled_start, update.at)
    else:
        occasion = updated(after.severity, before.status, after.status)
    # Notify subscribers of components that the incident no longer affects, too.
    about = set(after.components) | set(before.components if before else ())
    whole = not after.components or (before is not None and not before.components)
    return PageUpdate(
        team_id=after.team_id,
        id=ids.uuid7(),
        page_id=after.page_id,
        update_id=update.id,
        occasion=occasion,
        topic=topic(after.severity),
        components=[] if whole else sorted(about),
        created_at=update.at,
    )
