"""The interface of a channel towards the sender."""

from datetime import datetime
from typing import Protocol

from collector.notifications.channels.message import Message, Sent
from collector.notifications.core.retry import RetryPolicy
from collector.platform.transport import Transport


class Channel(Protocol):
    """A frozen dataclass of a channel's configuration; its annotated bounds validate user input."""

    @property
    def policy(self) -> RetryPolicy:
        """How failed deliveries are retried."""

    async def send(self, message: Message, transport: Transport, now: datetime) -> Sent:
        """Send *message*, an event of any kind, once. Raises Undelivered."""
