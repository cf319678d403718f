"""Guards against slow work and second connections while a connection is held.

Whoever waits for something else with a connection in hand takes it from all others, and where what is waited
for needs one too, everybody stands still.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import structlog

log = structlog.get_logger()


class WhileHeld(Exception):
    """Something slow was begun while a connection was held: a fault of the program."""


class _Hold:
    """Tasks that were started meanwhile see its end, too."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        self.over = False


class _Strictness:
    """Tests fail of what a service at work only tells its log, once each.

    *counts*: is the hold that begins now one of the program's own?
    """

    def __init__(self) -> None:
        self.strict = False
        self.counts: Callable[[], bool] = lambda: True
        self.told: set[str] = set()


STRICTNESS: Final = _Strictness()
_HOLD: Final[ContextVar[_Hold | None]] = ContextVar("held", default=None)


def is_held() -> bool:
    """Is a connection held here?"""
    hold = _HOLD.get()
    return hold is not None and not hold.over


@contextmanager
def holding() -> Iterator[None]:
    """A connection is held meanwhile."""
    before, hold = _HOLD.get(), _Hold()
    if STRICTNESS.counts():
        _HOLD.set(hold)
    try:
        yield
    finally:
        hold.over = True
        _HOLD.set(before)


def demand_none(what: str) -> None:
    """Raises WhileHeld in tests when a connection is held; *what* is about to be done."""
    if not is_held():
        return
    first = what not in STRICTNESS.told
    STRICTNESS.told.add(what)
    if STRICTNESS.strict:
        raise WhileHeld(f"{what} while a database connection is held")
    if first:
        log.error("slow work while a database connection is held", work=what, stack_info=True)
