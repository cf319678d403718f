"""Errors that are meant for the person who caused them; each program maps them at its edge."""

from collections.abc import Mapping
from typing import TypeVar


class TocsinError(Exception):
    """An error whose text may be shown to the caller: it never contains a secret."""


class BadSettings(TocsinError):
    """One or more settings are invalid; the message names each of them. Exit status 2."""


class CannotStart(TocsinError):
    """The program cannot run in this state (data directory in use, wrong key). Exit status 2."""


class Invalid(TocsinError):
    """A request is invalid; *details* maps each bad field to its error."""

    def __init__(self, details: Mapping[str, str], message: str = "Invalid request") -> None:
        super().__init__(message)
        self.details = dict(details)


class BodyTooLarge(TocsinError):
    """A body has more than *most* bytes, as received or unpacked."""

    def __init__(self, most: int) -> None:
        super().__init__(f"The body is larger than {most >> 20} MiB")


class Unauthorized(TocsinError):
    """There is no valid token."""


class Forbidden(TocsinError):
    """The token is valid, but does not permit this."""


class NotFound(TocsinError):
    """The resource does not exist, or the caller may not know of it."""


_Row = TypeVar("_Row")


def demand_found(row: _Row | None, what: str) -> _Row:
    """Return *row*. Raises NotFound if it is None; *what*: its name for callers."""
    if row is None:
        raise NotFound(f"{what} not found")
    return row


class Conflict(TocsinError):
    """The state of the resource does not permit this."""


class PreconditionFailed(TocsinError):
    """If-Match names a revision other than the current one."""


class Unavailable(TocsinError):
    """Currently impossible; retry after *retry_after* seconds."""

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Limited(TocsinError):
    """Too many requests; the next one is admitted after *retry_after* seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
