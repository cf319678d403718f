"""Guards against slow work and second connections while a connection is held.

Waiting while holding a connection keeps it from all others; if the awaited work needs one, too, everything
can deadlock.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import structlog

log = structlog.get_logger()


class WhileHeld(Exception):
    """Slow work was started while a connection was held: a bug."""


class _Hold:
    """A held connection; tasks started meanwhile also see its release."""

    __slots__ = ("over",)

    def __init__(self) -> None:
        self.over = False


class _Strictness:
    """Tests fail on violations that a running service only logs, each once.

    *counts*: whether the connection is held by the program itself, not by a test.
    """

    def __init__(self) -> None:
        self.strict = False
        self.counts: Callable[[], bool] = lambda: True
        self.told: set[str] = set()


STRICTNESS: Final = _Strictness()
_HOLD: Final[ContextVar[_Hold | None]] = ContextVar("held", default=None)


def is_held() -> bool:
    """Whether the current task holds a connection."""
    hold = _HOLD.get()
    return hold is not None and not hold.over


@contextmanager
def holding() -> Iterator[None]:
    """Mark a connection as held within the block."""
    before, hold = _HOLD.get(), _Hold()
    if STRICTNESS.counts():
        _HOLD.set(hold)
    try:
        yield
    finally:
        hold.over = True
        _HOLD.set(before)


def demand_none(what: str) -> None:
    """Raise WhileHeld in tests if a connection is held; *what*: the work about to start."""
    if not is_held():
        return
    first = what not in STRICTNESS.told
    STRICTNESS.told.add(what)
    if STRICTNESS.strict:
        raise WhileHeld(f"{what} while a database connection is held")
    if first:
        log.error("slow work while a database connection is held", work=what, stack_info=True)
