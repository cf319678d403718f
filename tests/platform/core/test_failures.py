"""What errors mean to their callers."""

import asyncpg
import pytest

from collector.platform.failures import FAILURES, PASSING, failure, for_caller, retry_after
from shared import errors
from shared.errors import BadSettings, CannotStart, Conflict, Limited, NotFound, TocsinError, Unavailable
from shared.wire.convert import BadBatch


def test_every_error_of_a_request_is_in_the_table() -> None:
    """The two others end a program before it takes requests."""
    known = {each for each in vars(errors).values() if isinstance(each, type) and each is not TocsinError}
    ours = {each for each in known if issubclass(each, TocsinError)}

    assert set(FAILURES) == ours - {BadSettings, CannotStart}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (asyncpg.UniqueViolationError("x"), 409),
        (asyncpg.ForeignKeyViolationError("x"), 409),
        (asyncpg.DeadlockDetectedError("x"), 503),
        (asyncpg.LockNotAvailableError("x"), 503),
        (asyncpg.TooManyConnectionsError("x"), 503),
        (asyncpg.ReadOnlySQLTransactionError("x"), 503),
        (asyncpg.InterfaceError("x"), 503),
        (ConnectionResetError("x"), 503),
        (TimeoutError("x"), 503),
    ],
)
def test_an_error_of_the_database_hides_its_text(error: Exception, status: int) -> None:
    shown = for_caller(error)

    assert shown is not None
    assert failure(shown).status == status
    assert "x" not in str(shown).split()
    assert retry_after(shown) == (1 if status == 503 else None)


@pytest.mark.parametrize("error", [ValueError("x"), BadBatch("x"), CannotStart("x")], ids=repr)
def test_a_defect_shows_callers_nothing(error: Exception) -> None:
    assert for_caller(error) is None


def test_an_error_outside_of_the_table_passes_where_the_client_retries() -> None:
    assert failure(BadBatch("x"), PASSING).status == 503
    assert failure(NotFound("x"), PASSING).status == 404


def test_only_passing_errors_say_when_to_try_again() -> None:
    assert retry_after(Limited("x", 7)) == 7
    assert retry_after(Unavailable("x", 3)) == 3
    assert retry_after(Conflict("x")) is None
