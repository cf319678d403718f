"""A gapless reading of a chain over many checks: where it began, and what was reported before.

A probe that takes over, or restarts, continues from the last stored checkpoint, and begins its own line. What
another one found after that checkpoint, and has not delivered yet, is found again on this line: so the
collector drops the late copy. Earlier findings are compared with the chain as this line reads it.

Results of one line may overtake each other, too: so it remembers which blocks were reread after a fork. Late
findings about them from before the fork are dropped: those that still stand were found again.
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
# How many blocks before its start others may have reported; older ones are not checked again.
MOST_AGAIN: Final = 16_384
_MOST_OVER: Final = 32


@dataclass(frozen=True, slots=True)
class ReplacedBlocks:
    """Blocks *first* to *last* were reread after the *nth* fork that the line of that id met."""

    line: str
    nth: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class BlockLine:
    """*first*: the block where it began; from *at* to *last*, others may have reported retracted logs.

    *forks*: number of forks so far. *over*: blocks reread for them, and by earlier lines, oldest first.
    """

    id: str
    first: int = _UNKNOWN
    last: int = _UNKNOWN
    at: int = _UNKNOWN
    forks: int = 0
    over: tuple[ReplacedBlocks, ...] = ()

    @property
    def again(self) -> tuple[int, int] | None:
        """The first and last block whose valid logs are still to be reported."""
        return (self.at, self.last) if _UNKNOWN < self.at <= self.last else None

    def after(self, step: Step[Any]) -> "BlockLine":
        """The line to be stored after *step*."""
        if step.anew:
            return BlockLine(secrets.token_hex(8), step.cursor.next, over=self.over)
        first = step.cursor.next if self.first == _UNKNOWN else self.first
        at = self.at if step.again is None else step.again.last + 1
        line = replace(self, first=first, last=min(self.last, step.head), at=at)
        if step.over is None:
            return line
        nth = line.forks + 1
        return replace(
            line, forks=nth, over=(*line.over, ReplacedBlocks(line.id, nth, *step.over))[-_MOST_OVER:]
        )

    def plain(self) -> dict[str, Any]:
        """The line as stored in a checkpoint."""
        over = [[one.line, one.nth, one.first, one.last] for one in self.over]
        return {_LINE: [self.id, self.first, self.last, self.at, self.forks], _OVER: over}


def begin(standing: CheckpointState, missed: Missed | None) -> tuple[Cursor | None, BlockLine]:
    """The start of this check, moved back if blocks were *missed*, and its line."""
    cursor = Cursor.of(standing.more.get("cursor"))
    if cursor is not None and missed is not None:
        cursor = _back(cursor, missed)
    line = _line_of(standing, cursor)
    if cursor is not None and cursor.next < line.first:
        line = replace(line, first=cursor.next)
    return cursor, line


def _back(cursor: Cursor, missed: Missed) -> Cursor:
    """The cursor at the first *missed* block; the blocks of lost retractions are in doubt."""
    doubts = [one for one in (cursor.doubt, missed.gone) if one is not None]
    doubt = (min(one[0] for one in doubts), max(one[1] for one in doubts)) if doubts else None
    if missed.first > cursor.next:
        return replace(cursor, doubt=doubt)
    return Cursor(
        missed.first, known=tuple(one for one in cursor.known if one[0] < missed.first), doubt=doubt
    )


def _line_of(standing: CheckpointState, cursor: Cursor | None) -> BlockLine:
    """The line of this probe, or a new one that continues from *cursor*."""
    over = _overs(standing.more.get(_OVER))
    said = standing.more.get(_LINE) if standing.own else None
    if isinstance(said, list) and len(said) == 5:
        id_, first, last, at, forks = said
        return BlockLine(id_, first, last, at, forks, over)
    line = BlockLine(secrets.token_hex(8), over=over)
    if cursor is None:
        return line
    last = _UNKNOWN if standing.own else cursor.next + MOST_AGAIN - 1
    return replace(line, first=cursor.next, last=last, at=cursor.next)


def _overs(said: Any) -> tuple[ReplacedBlocks, ...]:
    """The stored rereads, of any probe."""
    return tuple(
        ReplacedBlocks(*item)
        for item in (said if isinstance(said, list) else ())
        if isinstance(item, list) and len(item) == 4
    )[-_MOST_OVER:]
