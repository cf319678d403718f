"""Detects a chain that began anew, such as one restored from a copy."""

from dataclasses import replace
from typing import Final, TypeVar

from probe.web3.branches import RevertedBlocks
from probe.web3.nodes import ChainView
from probe.web3.reader import CHECKS, Cursor, FarBehind, Placed, Reader, Step

T = TypeVar("T", bound=Placed)

_FIRST: Final = 1


class RestartedChain:
    """Counts consecutive checks in which all nodes were far behind what was read before."""

    __slots__ = ("_nth", "_said")

    def __init__(self) -> None:
        self._nth = _FIRST
        self._said = False  # by a node in this check, without contradiction

    def begin(self) -> None:
        """Start another check, before the first node is asked."""
        self._nth = self._nth + 1 if self._said else _FIRST
        self._said = False

    async def advance(
        self, reader: Reader[T], view: ChainView, cursor: Cursor | None, again: tuple[int, int] | None = None
    ) -> Step[T]:
        """As `Reader.advance`; once the chain is known to have restarted, from its head.

        Findings in blocks that it lacks are retracted; blocks up to its head are not read.
        """
        try:
            step = await reader.advance(view, cursor, again)
        except FarBehind as fault:
            self._said = True
            if self._nth < CHECKS:
                raise
            step = await reader.advance(view, None)
            return replace(step, gone=RevertedBlocks(view.head.number + 1, fault.read, ()), anew=True)
        self._said = False
        return step
