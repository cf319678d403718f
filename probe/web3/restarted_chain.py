"""Detects a chain that began anew, such as one restored from a copy."""

from dataclasses import replace
from typing import Final, TypeVar

from probe.web3.branches import Gone
from probe.web3.nodes import View
from probe.web3.reader import CHECKS, Cursor, FarBehind, Placed, Reader, Step

T = TypeVar("T", bound=Placed)

_FIRST: Final = 1


class RestartedChain:
    """Counts the checks in a row whose nodes all were far behind what was read before."""

    __slots__ = ("_nth", "_said")

    def __init__(self) -> None:
        self._nth = _FIRST
        self._said = False  # by a node in this check, and contradicted by none

    def begin(self) -> None:
        """Another check: the nodes are asked for the first time in it."""
        self._nth = self._nth + 1 if self._said else _FIRST
        self._said = False

    async def advance(
        self, reader: Reader[T], view: View, cursor: Cursor | None, again: tuple[int, int] | None = None
    ) -> Step[T]:
        """As `Reader.advance`; once the chain is believed to have begun anew, from its head.

        What was told of blocks that it does not have is taken back; what lies up to its head is not read.
        """
        try:
            step = await reader.advance(view, cursor, again)
        except FarBehind as fault:
            self._said = True
            if self._nth < CHECKS:
                raise
            step = await reader.advance(view, None)
            return replace(step, gone=Gone(view.head.number + 1, fault.read, ()), anew=True)
        self._said = False
        return step
