"""What a channel is given to send, and its outcome."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from collector.notifications.core.summary import Notice, notice


@dataclass(frozen=True, slots=True)
class Message:
    """*id* is the event's (``evt_...``), *delivery* the delivery's (``dlv_...``): the same on every try.

    *reached*: whom earlier tries reached, where a channel has several addressees; *team_id*: whose it is.
    """

    id: str
    delivery: str
    kind: str
    body: bytes
    reached: frozenset[str] = frozenset()
    team_id: int = 0

    @property
    def notice(self) -> Notice:
        """What it means to people."""
        event: Mapping[str, Any] = orjson.loads(self.body)
        return notice(event)


@dataclass(frozen=True, slots=True)
class Sent:
    """It arrived: *status* is the answer's, if there is such a thing; *note*: what is odd about it."""

    status: int | None = None
    note: str | None = None
