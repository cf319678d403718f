"""Errors that are meant for the person who caused them; each program maps them at its edge."""

from collections.abc import Mapping
from typing import TypeVar


class TocsinError(Exception):
    """Something that can be told to the caller as it is: never holds a secret."""


class BadSettings(TocsinError):
    """One or more settings cannot be used; the message names each of them. Exit status 2."""


class CannotStart(TocsinError):
    """The program cannot run here as things are (data directory taken, wrong key). Exit status 2."""


class Invalid(TocsinError):
    """A request says something that cannot be done; *details* maps each bad field to its fault."""

    def __init__(self, details: Mapping[str, str], message: str = "Invalid request") -> None:
        super().__init__(message)
        self.details = dict(details)


class BodyTooLarge(TocsinError):
    """A body has more than *most* bytes, on the wire or unpacked."""

    def __init__(self, most: int) -> None:
        super().__init__(f"The body is larger than {most >> 20} MiB")


class Unauthorized(TocsinError):
    """There is no good token."""


class Forbidden(TocsinError):
    """The token is good, but does not permit this."""


class NotFound(TocsinError):
    """No such thing, or none that the caller may know of."""


_Row = TypeVar("_Row")


def demand_found(row: _Row | None, what: str) -> _Row:
    """The row that was looked for. Raises NotFound where there is none; *what* it is, as callers name it."""
    if row is None:
        raise NotFound(f"{what} not found")
    return row


class Conflict(TocsinError):
    """The thing is not in a state that allows this."""


class PreconditionFailed(TocsinError):
    """If-Match named another revision than the current one."""


class Unavailable(TocsinError):
    """Cannot be done right now; worth another try after *retry_after* seconds."""

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Limited(TocsinError):
    """Too many requests; the next is let through after *retry_after* seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
