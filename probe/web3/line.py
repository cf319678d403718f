"""A reading of a chain without a hole, check after check: where it began, and who may have told of it before.

Who takes over, or starts again, goes on from the last checkpoint that was kept, and begins a line of its own.
What another found after that checkpoint and is still on its way is found again on this line: so the collector
leaves out what comes of it later. What of it came earlier is held against the chain as this line reads it.
"""

import secrets
from dataclasses import dataclass, replace
from typing import Any

from probe.web3.branches import MOST_NAMED
from probe.web3.checkpoint import Standing
from probe.web3.reader import Cursor, Step

_NAME = "line"
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Line:
    """*first*: the block where it began; from there up to *last* others may have told what a fork undid."""

    id: str
    first: int = _UNKNOWN
    last: int = _UNKNOWN

    @property
    def again(self) -> tuple[int, int] | None:
        """The first and last block of which is to be said what still stands."""
        return (self.first, self.last) if _UNKNOWN < self.first <= self.last else None

    def after(self, step: Step[Any]) -> "Line":
        """As it is kept after *step*."""
        if step.anew:
            return Line(secrets.token_hex(8), step.cursor.next)
        first = step.cursor.next if self.first == _UNKNOWN else self.first
        return replace(self, first=first, last=min(self.last, step.head))

    def plain(self) -> dict[str, Any]:
        """As it goes into a checkpoint."""
        return {_NAME: [self.id, self.first, self.last]}


def line_of(standing: Standing, cursor: Cursor | None) -> Line:
    """The one on which this probe is, or a new one that goes on from *cursor*."""
    said = standing.more.get(_NAME) if standing.own else None
    if isinstance(said, list) and len(said) == 3:
        return Line(*said)
    line = Line(secrets.token_hex(8))
    if cursor is None:
        return line
    last = _UNKNOWN if standing.own else cursor.next + MOST_NAMED - 1
    return replace(line, first=cursor.next, last=last)
