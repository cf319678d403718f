"""Asks PostgreSQL about its built-in types once a process, instead of once for each connection."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Final

from asyncpg.connection import Connection

# Not public, and not in asyncpg's stubs.
_ASK: Final = "_introspect_types"
# Types that migrations create have larger numbers, and may differ between databases.
_FIRST_CREATED: Final = 16_384
# The caller prepares its statement again if this query had no name, which replaces the one that has none.
_NOT_EXECUTED: Final = SimpleNamespace(name="remembered")


def remember_types() -> None:
    """Make asyncpg remember the descriptions of built-in types: a query for them takes 5 ms of CPU time."""
    ask = getattr(Connection, _ASK)
    known: dict[frozenset[int], Any] = {}

    async def answer(connection: Any, numbers: Iterable[int], timeout: float | None) -> Any:
        wanted = frozenset(numbers)
        if wanted in known:
            return known[wanted], _NOT_EXECUTED
        types, statement = await ask(connection, wanted, timeout)
        if max(wanted) < _FIRST_CREATED:
            known[wanted] = types
        return types, statement

    setattr(Connection, _ASK, answer)
