"""The one table of what errors mean to their callers: pages, the API and gRPC each show a part of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import asyncpg
import grpc

from shared.errors import (
    BodyTooLarge,
    Conflict,
    Forbidden,
    Invalid,
    Limited,
    NotFound,
    PreconditionFailed,
    TocsinError,
    Unauthorized,
    Unavailable,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """*status*: of HTTP. *code*: of gRPC. *title*: of a page about it."""

    status: int
    code: grpc.StatusCode
    title: str


FAILURES: Final[Mapping[type[TocsinError], Failure]] = {
    Invalid: Failure(400, grpc.StatusCode.INVALID_ARGUMENT, "That cannot be done"),
    BodyTooLarge: Failure(413, grpc.StatusCode.INVALID_ARGUMENT, "That is too large"),
    Unauthorized: Failure(401, grpc.StatusCode.UNAUTHENTICATED, "Not signed in"),
    Forbidden: Failure(403, grpc.StatusCode.PERMISSION_DENIED, "Not allowed"),
    NotFound: Failure(404, grpc.StatusCode.NOT_FOUND, "Not found"),
    Conflict: Failure(409, grpc.StatusCode.ALREADY_EXISTS, "That is not possible now"),
    PreconditionFailed: Failure(412, grpc.StatusCode.ABORTED, "That is not possible now"),
    Limited: Failure(429, grpc.StatusCode.RESOURCE_EXHAUSTED, "Too many requests"),
    Unavailable: Failure(503, grpc.StatusCode.UNAVAILABLE, "Not right now"),
}
# Of errors that are not in the table: a defect of ours, or, to a client that retries, a passing failure.
DEFECT: Final = Failure(500, grpc.StatusCode.INTERNAL, "Something went wrong")
PASSING: Final = FAILURES[Unavailable]
_CHANGED: Final = (asyncpg.UniqueViolationError, asyncpg.ForeignKeyViolationError)
# The database is away, shutting down, read-only after a failover, or another transaction holds the row.
_AWAY: Final = (
    ConnectionError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.TransactionRollbackError,
    asyncpg.LockNotAvailableError,
)


def failure(error: TocsinError, other: Failure = DEFECT) -> Failure:
    """Return what *error* means to its caller; *other*, if the table does not list it."""
    return FAILURES.get(type(error), other)


def for_caller(error: Exception) -> TocsinError | None:
    """Return the error to show to the caller; None for a defect, of which callers learn nothing.

    An error of the database becomes Conflict if another transaction won, and Unavailable if it passes.
    """
    if isinstance(error, TocsinError):
        return error if type(error) in FAILURES else None
    if isinstance(error, _CHANGED):
        return Conflict("Somebody else changed the same thing at the same time")
    if isinstance(error, _AWAY):
        return Unavailable("This cannot be done right now; try again", retry_after=1)
    return None


def retry_after(error: TocsinError) -> int | None:
    """Return after how many seconds the caller may try again; None if that would not help."""
    return error.retry_after if isinstance(error, Limited | Unavailable) else None
