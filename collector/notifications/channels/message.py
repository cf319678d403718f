"""What a channel is given to send, and its outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from collector.notifications.core.summary import Notice, notice


@dataclass(frozen=True, slots=True)
class Message:
    """*id* is the event's id (``evt_...``), *delivery* the delivery's (``dlv_...``): equal on every attempt.

    *reached*: addressees that earlier attempts reached, if a channel has several; *team_id*: the owner.
    """

    id: str
    delivery: str
    kind: str
    body: bytes
    reached: frozenset[str] = frozenset()
    team_id: int = 0

    @property
    def notice(self) -> Notice:
        """The event in human-readable form."""
        event: Mapping[str, Any] = orjson.loads(self.body)
        return notice(event)


@dataclass(frozen=True, slots=True)
class Sent:
    """The message was delivered. *status*: of the response, if there is one; *note*: anything unusual."""

    status: int | None = None
    note: str | None = None
