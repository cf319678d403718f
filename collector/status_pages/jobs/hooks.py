"""Delivers page updates to subscribers' webhooks, signed like those of alert channels."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.events.core.kinds import EventKind
from collector.events.core.payloads import EventLinks
from collector.notifications.channels.message import Message
from collector.notifications.channels.webhook import Webhook
from collector.notifications.core.retry import RetryPolicy, next_try
from collector.platform.answer_json import encode
from collector.platform.delivery import Undelivered
from collector.platform.seal import Keyring
from collector.platform.transport import Transport
from collector.status_pages.core.payloads import (
    AffectedComponent,
    EventPage,
    NoticedIncident,
    SubscriberNotice,
)
from collector.status_pages.jobs.sender import TryOutcome
from collector.status_pages.service.subscribers import opened
from collector.status_pages.storage.news import SubscriberDelivery
from shared import ids

_POLICY: Final = RetryPolicy(max_retries=10)
# Shorter than a letter's lease.
_TIMEOUT_S: Final = 30


class PageHooks:
    """Posts updates to subscribers' webhooks, except to addresses that *transport* forbids."""

    __slots__ = ("_keyring", "_public_url", "_transport")

    def __init__(self, keyring: Keyring, transport: Transport, *, public_url: str) -> None:
        self._keyring = keyring
        self._transport = transport
        self._public_url = public_url

    async def carry(self, letter: SubscriberDelivery, now: datetime) -> TryOutcome:
        """Make one attempt."""
        if letter.sealed_hook is None:
            return TryOutcome(error="there is no webhook")
        known = opened(self._keyring, letter.team_id, letter.subscriber_id, letter.sealed_hook)
        hook = Webhook(url=known["url"], signing_secret=known["signingSecret"], timeout=_TIMEOUT_S)
        notice = _notice(letter, self._public_url)
        message = Message(notice.id, ids.show("dlv", letter.id), notice.event, encode(notice))
        try:
            await hook.send(message, self._transport, now)
        except Undelivered as error:
            asked = None if error.retry_after_s is None else timedelta(seconds=error.retry_after_s)
            return TryOutcome(next_try(_POLICY, letter.attempt, asked), str(error))
        return TryOutcome()


def _event_id(letter: SubscriberDelivery) -> UUID:
    """The id of the update; a reminder repeats an update, and has an id of its own."""
    own = letter.news_id if letter.occasion == "reminder" else letter.update_id
    return own or letter.id


def _notice(letter: SubscriberDelivery, public_url: str) -> SubscriberNotice:
    first = letter.occasion in {"published", "planned"}
    return SubscriberNotice(
        event=EventKind.PAGE_PUBLISHED if first else EventKind.PAGE_UPDATED,
        id=ids.show("evt", _event_id(letter)),
        occasion=letter.occasion,
        timestamp=letter.at,
        status_page=EventPage(id=ids.show("sp", letter.page_id), name=letter.page_name, slug=letter.slug),
        incident=NoticedIncident(
            id=None if letter.incident_id is None else ids.show("spi", letter.incident_id),
            title=letter.title,
            status=letter.phase,
            severity=letter.severity,
            message=letter.message,
            affected_components=[
                AffectedComponent(id=ids.show("comp", id_), name=name)
                for id_, name in zip(letter.component_ids, letter.component_names, strict=True)
            ],
            scheduled_start=letter.scheduled_start,
            scheduled_end=letter.scheduled_end,
        ),
        links=EventLinks(status_page=f"{public_url}/status/{letter.slug}"),
    )
