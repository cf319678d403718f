"""What a channel is given to send, and how it says that it could not."""

from dataclasses import dataclass

from shared.errors import TocsinError


@dataclass(frozen=True, slots=True)
class Message:
    """*id* is the event's (``evt_...``), *delivery* the delivery's (``dlv_...``): the same on every try."""

    id: str
    delivery: str
    kind: str
    body: bytes


class Undelivered(TocsinError):
    """It did not arrive; the text says why and holds no secret. *status* is the answer's, if any."""

    def __init__(self, why: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.retry_after_s = retry_after_s
