"""Slow work done before a transaction; one that finds it missing is rolled back and repeated."""

from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from shared.held import demand_none, is_held

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SlowWork:
    """*key* identifies the work within a request and may contain a secret, *what* never does."""

    what: str
    key: Hashable = field(repr=False)
    do: Callable[[], Awaitable[Any]] = field(repr=False)


class ResultsMissing(Exception):
    """A transaction needs the results of work that is not done yet."""

    def __init__(self, works: Sequence[SlowWork]) -> None:
        super().__init__("slow work within a transaction")
        self.works = works


_KNOWN: Final[ContextVar[dict[Hashable, Any] | None]] = ContextVar("known_beforehand", default=None)


async def begun_again(attempt: Callable[[], Awaitable[T]]) -> T:
    """The result of *attempt*; when `results` lacks something, do the work and restart its transaction."""
    known: dict[Hashable, Any] = {}
    before = _KNOWN.get()
    _KNOWN.set(known)
    try:
        while True:
            try:
                return await attempt()
            except ResultsMissing as lacking:
                # Outside of `except`, no traceback keeps the attempt's objects alive.
                works = lacking.works
            for work in works:
                known[work.key] = await work.do()
    finally:
        _KNOWN.set(before)


async def results(works: Sequence[SlowWork]) -> list[Any]:
    """The results of *works*, done at once if no connection is held. Raises Lacking in `begun_again`."""
    known = _KNOWN.get()
    if known is None:
        return [await _result(work) for work in works]
    lacking = [work for work in works if work.key not in known]
    if lacking and is_held():
        raise ResultsMissing(lacking)
    return [known[work.key] if work.key in known else await _result(work) for work in works]


async def _result(work: SlowWork) -> Any:
    demand_none(work.what)
    return await work.do()
