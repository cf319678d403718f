"""Deliveries by HTTP or mail: their states, and the error of those that did not arrive."""

from enum import IntEnum

from shared.errors import TocsinError


class DeliveryStatus(IntEnum):
    """The state of a delivery."""

    PENDING = 0
    DELIVERED = 1
    FAILED = 2


class Undelivered(TocsinError):
    """The delivery failed; the text says why, without secrets. *status*: of the response, if any.

    *lasting*: retrying is useless; *reached*: the addressees that this attempt did reach.
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
