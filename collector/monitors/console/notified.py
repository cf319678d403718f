"""Which channels are notified of a monitor, as its form shows and saves it; alert rules are behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from aiohttp import web


@dataclass(frozen=True, slots=True)
class NotifiedChannels:
    """*options*: id and label of every channel, *chosen*: ids; *rules*: sentences of the rules for all."""

    options: Sequence[tuple[str, str]]
    chosen: frozenset[str]
    rules: Sequence[str]


class Notified(Protocol):
    """The channels of a monitor."""

    async def read(self, request: web.Request, monitor_id: UUID | None) -> NotifiedChannels:
        """Return the channels of a monitor; of a new one (None) those that are proposed."""
        ...

    async def save(self, request: web.Request, monitor_id: UUID, wanted: Sequence[str]) -> None:
        """Notify exactly the *wanted* channels of the monitor. Raises Invalid, Conflict."""
        ...


NOTIFIED: web.AppKey[Notified] = web.AppKey("notified")
