"""Renders an event to the exact bytes that every attempt of its deliveries sends."""

from uuid import UUID

import orjson

from collector.events.core.events import Fact, body
from collector.notifications.channels.message import Message
from shared import ids


def compose(
    fact: Fact,
    delivery_id: UUID,
    public_url: str,
    reached: frozenset[str] = frozenset(),
    team_id: int = 0,
) -> Message:
    """Compose the message of one delivery; *public_url*: base of its links, without a trailing slash."""
    sent = body(fact, public_url)
    return Message(sent["id"], ids.show("dlv", delivery_id), fact.kind, orjson.dumps(sent), reached, team_id)
