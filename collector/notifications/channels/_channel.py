"""The interface of a channel towards the sender."""

from datetime import datetime
from typing import Protocol

from collector.notifications.channels.message import Message, Sent
from collector.notifications.core.retry import RetryPolicy
from collector.platform.transport import Transport


class Channel(Protocol):
    """A frozen dataclass of its configuration, whose annotated bounds validate what a team sends."""

    @property
    def policy(self) -> RetryPolicy:
        """How often it is tried again."""

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:
        """Say *message*, of whatever kind of event, once. Raises Undelivered."""
