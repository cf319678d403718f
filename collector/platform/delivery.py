"""The error of a delivery by HTTP or mail that did not arrive."""

from shared.errors import TocsinError


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
