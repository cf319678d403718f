"""A gapless reading of a chain over many checks: where it began, and what was reported before.

Who takes over, or starts again, goes on from the last checkpoint that was kept, and begins a line of its own.
What another found after that checkpoint and is still on its way is found again on this line: so the collector
leaves out what comes of it later. What of it came earlier is held against the chain as this line reads it.

Results of one line may overtake each other, too: so it remembers which blocks were read once more after a
fork. What comes later and was told of them before that is left out: what of it stands was found again.
"""

import secrets
from dataclasses import dataclass, replace
from typing import Any, Final

from probe.checks._check import Missed
from probe.web3.checkpoint import CheckpointState
from probe.web3.reader import Cursor, Step

_LINE: Final = "line"
_OVER: Final = "over"
_UNKNOWN: Final = -1
# So far before it others may have been, in blocks: farther back nothing is looked at again.
MOST_AGAIN: Final = 16_384
_MOST_OVER: Final = 32


@dataclass(frozen=True, slots=True)
class Over:
    """Blocks *first* to *last* were read once more, after the *nth* fork that the line of that id met."""

    line: str
    nth: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Line:
    """*first*: the block where it began; from *at* up to *last* others may have told what a fork undid.

    *forks*: so many it met. *over*: what they made it read once more, and the lines before it, oldest first.
    """

    id: str
    first: int = _UNKNOWN
    last: int = _UNKNOWN
    at: int = _UNKNOWN
    forks: int = 0
    over: tuple[Over, ...] = ()

    @property
    def again(self) -> tuple[int, int] | None:
        """The first and last block of which is still to be said what stands."""
        return (self.at, self.last) if _UNKNOWN < self.at <= self.last else None

    def after(self, step: Step[Any]) -> "Line":
        """As it is kept after *step*."""
        if step.anew:
            return Line(secrets.token_hex(8), step.cursor.next, over=self.over)
        first = step.cursor.next if self.first == _UNKNOWN else self.first
        at = self.at if step.again is None else step.again.last + 1
        line = replace(self, first=first, last=min(self.last, step.head), at=at)
        if step.over is None:
            return line
        nth = line.forks + 1
        return replace(line, forks=nth, over=(*line.over, Over(line.id, nth, *step.over))[-_MOST_OVER:])

    def plain(self) -> dict[str, Any]:
        """As it goes into a checkpoint."""
        over = [[one.line, one.nth, one.first, one.last] for one in self.over]
        return {_LINE: [self.id, self.first, self.last, self.at, self.forks], _OVER: over}


def begin(standing: CheckpointState, missed: Missed | None) -> tuple[Cursor | None, Line]:
    """Where this check goes on, or goes back to for what was *missed*, and on which line."""
    cursor = Cursor.of(standing.more.get("cursor"))
    if cursor is not None and missed is not None:
        cursor = _back(cursor, missed)
    line = _line_of(standing, cursor)
    if cursor is not None and cursor.next < line.first:
        line = replace(line, first=cursor.next)
    return cursor, line


def _back(cursor: Cursor, missed: Missed) -> Cursor:
    """At the first block that was *missed*; what was told of those that are *gone* is in doubt."""
    doubts = [one for one in (cursor.doubt, missed.gone) if one is not None]
    doubt = (min(one[0] for one in doubts), max(one[1] for one in doubts)) if doubts else None
    if missed.first > cursor.next:
        return replace(cursor, doubt=doubt)
    return Cursor(
        missed.first, known=tuple(one for one in cursor.known if one[0] < missed.first), doubt=doubt
    )


def _line_of(standing: CheckpointState, cursor: Cursor | None) -> Line:
    """The one on which this probe is, or a new one that goes on from *cursor*."""
    over = _overs(standing.more.get(_OVER))
    said = standing.more.get(_LINE) if standing.own else None
    if isinstance(said, list) and len(said) == 5:
        id_, first, last, at, forks = said
        return Line(id_, first, last, at, forks, over)
    line = Line(secrets.token_hex(8), over=over)
    if cursor is None:
        return line
    last = _UNKNOWN if standing.own else cursor.next + MOST_AGAIN - 1
    return replace(line, first=cursor.next, last=last, at=cursor.next)


def _overs(said: Any) -> tuple[Over, ...]:
    """What was kept of them, by whatever probe it was."""
    return tuple(
        Over(*one)
        for one in (said if isinstance(said, list) else ())
        if isinstance(one, list) and len(one) == 4
    )[-_MOST_OVER:]
