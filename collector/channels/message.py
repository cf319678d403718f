"""What a channel is given to send, and how it says whether it could."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from collector.core.notice import Notice, notice
from shared.errors import TocsinError


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


class Undelivered(TocsinError):
    """It did not arrive; the text says why and holds no secret. *status* is the answer's, if any.

    *lasting*: another try would end the same way; *reached*: whom this one did reach.
    """

    def __init__(
        self,
        why: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        lasting: bool = False,
        reached: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(why)
        self.status = status
        self.retry_after_s = retry_after_s
        self.lasting = lasting
        self.reached = reached
