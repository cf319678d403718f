"""From an event to the exact bytes that every try of its deliveries sends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from collector.channels.message import Message
from shared import ids


@dataclass(frozen=True, slots=True)
class Fact:
    """An event as it is stored: *payload* without id, sequence and links."""

    id: UUID
    kind: str
    stream_id: UUID
    sequence: int
    payload: Mapping[str, Any]
    incident_id: UUID | None


def compose(fact: Fact, delivery_id: UUID, public_url: str) -> Message:
    """The message of one delivery; *public_url* is the base of its links, without a slash at the end."""
    event_id = ids.show("evt", fact.id)
    body = {
        "event": fact.kind,
        "id": event_id,
        "sequence": fact.sequence,
        **{name: value for name, value in fact.payload.items() if name != "event"},
        "links": _links(fact, public_url),
    }
    return Message(event_id, ids.show("dlv", delivery_id), fact.kind, orjson.dumps(body))


def _links(fact: Fact, public_url: str) -> dict[str, str]:
    links = {"monitor": f"{public_url}/monitors/{ids.show('mon', fact.stream_id)}"}
    if fact.incident_id is not None:
        links["incident"] = f"{public_url}/incidents/{ids.show('inc', fact.incident_id)}"
    return links
