"""Reads a chain from the last check on: misses nothing, reads again what a fork changed.

The content of a block counts once the block has enough confirmations. The cursor is the position reached,
together with hashes of blocks on the way: if one of them is no longer part of the chain, everything since the
last one that is gets reread, and earlier findings are compared with the current chain.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from probe.net.spent import Limit
from probe.web3.branches import RevertedBlocks, age_s, hashes, retraction, standing
from probe.web3.nodes import ChainView
from probe.web3.patience import patiently
from probe.web3.rpc import NodeFault, TooLarge
from shared.findings import MAX_BYTES, MAX_FINDINGS, Finding

# Limit of one check; the rest follows in later ones. Leaves room for two retractions, and for alerts.
MOST_PLACED: Final = MAX_FINDINGS - 20
MOST_BYTES: Final = MAX_BYTES - 64 * 1024
_MOST_RANGES: Final = 256
_MOST_SPAN: Final = 2_000
_FIRST_SPAN: Final = 64
# After this many successful ranges, a wider one is tried.
_PATIENCE: Final = 4
_FEW: Final = 100
_MOST_KNOWN: Final = 96
# Hashes this far before the end of a range are stored, too, so that a short fork does not lead far back.
_MARKS: Final = (64, 8, 0)
# A node this far behind the last read block does not lag: its chain was restarted.
_MOST_BEHIND: Final = 10_000
# Number of consecutive checks that must confirm that.
CHECKS: Final = 3


class Placed(Protocol):
    """Something on a chain; *index* is its position in the block, *size* its size in a result."""

    @property
    def block(self) -> int: ...
    @property
    def block_hash(self) -> str: ...
    @property
    def index(self) -> int: ...
    @property
    def size(self) -> int: ...


T = TypeVar("T", bound=Placed)


class FarBehind(NodeFault):
    """The chain's head is far before the last block that was *read* before."""

    def __init__(self, head: int, read: int) -> None:
        super().__init__(
            f"its newest block {head} is far behind block {read}, which was read before: "
            f"after {CHECKS} such checks its chain is taken to have begun anew, and read on from there"
        )
        self.read = read


# For a range of blocks, in order; raises TooLarge if a shorter range may help, NodeFault otherwise.
Source = Callable[[ChainView, int, int], Awaitable[Sequence[T]]]


@dataclass(frozen=True, slots=True)
class Cursor:
    """*next*: the first block not read completely; of it, items from *index* on are left.

    *known*: numbers and hashes of blocks up to it, oldest first; *doubt*: first and last block with findings
    that the chain may no longer contain.
    """

    next: int
    index: int = 0
    known: tuple[tuple[int, str], ...] = ()
    doubt: tuple[int, int] | None = None

    @property
    def last(self) -> int:
        """The newest block of which anything was read."""
        return self.next - 1 if self.index == 0 else self.next

    def plain(self) -> list[Any]:
        """The cursor as JSON."""
        return [self.next, self.index, [list(one) for one in self.known], self.doubt and list(self.doubt)]

    @classmethod
    def of(cls, plain: Any) -> "Cursor | None":
        """The inverse of `plain`; None for invalid data."""
        try:
            next_, index, known, doubt = plain
            read = tuple((int(number), str(hash_)) for number, hash_ in known)
            return cls(int(next_), int(index), read, (int(doubt[0]), int(doubt[1])) if doubt else None)
        except (ValueError, TypeError, IndexError):
            return None


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """What a check read, and where the next one starts; *whole*: everything that counts was read.

    *gone*: blocks that stand after a fork; *again*: blocks that stand where others may have met a fork that
    we did not see. *anew*: the chain was restarted, continue at its head. *over*: first and last block to be
    reread after a fork.
    *left*: unread blocks that count, the last *late_s* seconds of the chain; *short*: blocks that were read
    and the node does not have.
    """

    cursor: Cursor
    logs: tuple[T, ...] = ()
    gone: RevertedBlocks | None = None
    again: RevertedBlocks | None = None
    head: int = 0
    whole: bool = True
    anew: bool = False
    over: tuple[int, int] | None = None
    left: int = 0
    late_s: int = 0
    short: int = 0

    @property
    def at(self) -> tuple[int, int]:
        return self.cursor.next, self.cursor.index

    @property
    def retractions(self) -> list[Finding]:
        return [retraction(one) for one in (self.gone, self.again) if one is not None]


class Reader(Generic[T]):
    """Reads the items of *source* in blocks with the required number of *confirmations*."""

    def __init__(self, source: Source[T], confirmations: int) -> None:
        self._source = source
        self._confirmations = confirmations
        self._span = _FIRST_SPAN  # the range that nodes currently return at once, as far as known
        self._well = _PATIENCE

    async def advance(
        self, view: ChainView, cursor: Cursor | None, again: tuple[int, int] | None = None
    ) -> Step[T]:
        """Read from *cursor* on, as far as one check permits; nothing at the first time.

        *again*: blocks about which others may have reported retracted findings. Raises NodeFault if the node
        fails.
        """
        head = view.head
        if cursor is None:
            return Step(Cursor(head.number + 1, known=((head.number, head.hash),)), head=head.number)
        if head.number + _MOST_BEHIND < cursor.next:
            raise FarBehind(head.number, cursor.next - 1)
        before, begun = cursor, await self._on_chain(view, cursor)
        safe = head.number - self._confirmations
        # It is on the chain before and after reading; newer blocks may change meanwhile.
        firm = (head.number, head.hash)
        if self._confirmations and begun.next <= safe:
            firm = safe, (await hashes(view, [safe]))[0]
        cursor, found, faulty = await self._through(view, begun, safe)
        gone = None
        if cursor.doubt is not None and cursor.next > cursor.doubt[1]:
            cursor, gone = await _settled(view, cursor, cursor.doubt)
        if (cursor.next, cursor.index) != (begun.next, begun.index) or gone is not None:
            cursor = await _proven(view, cursor, found, firm)
        stands = await _again(view, cursor.next, again)
        left = max(safe + 1 - cursor.next, 0)
        late_s = await age_s(view, max(cursor.next - 1, 0)) if left else 0
        return Step(
            cursor,
            tuple(found),
            gone,
            stands,
            head.number,
            whole=not left and cursor.doubt is None and not faulty,
            over=_over(before, begun),
            left=left,
            late_s=late_s,
            short=max(cursor.next - 1 - head.number, 0),
        )

    async def _on_chain(self, view: ChainView, cursor: Cursor) -> Cursor:
        """*cursor*, or one at the last known block that is still on the chain."""
        known = [one for one in cursor.known if one[0] <= view.head.number]
        if not known or known[-1] == (view.head.number, view.head.hash):
            return cursor
        [newest] = await hashes(view, [known[-1][0]])
        if newest == known[-1][1]:
            return cursor
        now = await hashes(view, [number for number, _ in known])
        kept = [one for one, hash_ in zip(known, now, strict=True) if one[1] == hash_]
        first = kept[-1][0] + 1 if kept else known[0][0]
        last = cursor.last
        if cursor.doubt is not None:
            last = max(last, cursor.doubt[1])
        doubted = first if cursor.doubt is None else min(first, cursor.doubt[0])
        return Cursor(first, known=tuple(kept), doubt=(doubted, last) if doubted <= last else None)

    async def _through(self, view: ChainView, cursor: Cursor, safe: int) -> tuple[Cursor, list[T], bool]:
        """Read as far as one check permits; results are kept if the node fails on the way."""
        found: list[T] = []
        begun, took = cursor, view.limit.deadline - view.limit.began
        # The last quarter of the time is for verification.
        hasty = replace(view, limit=Limit(view.limit.began, view.limit.began + took * 3 / 4))
        for _ in range(_MOST_RANGES):
            if cursor.next > safe or view.limit.mostly_spent:
                break
            try:
                placed, last = await self._range(hasty, cursor.next, safe)
            except NodeFault:
                self._span = max(self._span // 2, 1)
                if cursor == begun:
                    raise
                return cursor, found, True
            rest = _take(
                found, [one for one in placed if (one.block, one.index) >= (cursor.next, cursor.index)]
            )
            if rest is not None:
                known = (*cursor.known, (rest.block, rest.block_hash))
                return replace(cursor, next=rest.block, index=rest.index, known=known), found, False
            cursor = replace(cursor, next=last + 1, index=0)
        return cursor, found, False

    async def _range(self, view: ChainView, first: int, safe: int) -> tuple[Sequence[T], int]:
        """The items in the next blocks, and the last of these blocks."""
        while True:
            last = min(first + self._span - 1, safe)
            try:
                placed = await patiently(view, partial(self._source, view, first, last))
            except TooLarge:
                self._well = 0
                if last == first:
                    raise
                self._span = max((last - first + 1) // 2, 1)
                continue
            self._well += 1
            if len(placed) > MOST_PLACED:
                self._span = max(self._span // 2, 1)
            elif self._well >= _PATIENCE and len(placed) <= _FEW and last - first + 1 == self._span:
                self._span = min(self._span * 2, _MOST_SPAN)
            return placed, last


def _take(found: list[T], placed: Sequence[T]) -> T | None:
    """Add as many items to *found* as a result may contain; return the first that does not fit."""
    took = sum(one.size for one in found)
    for one in placed:
        took += one.size
        if found and (len(found) >= MOST_PLACED or took > MOST_BYTES):
            return one
        found.append(one)
    return None


async def _settled(view: ChainView, cursor: Cursor, doubt: tuple[int, int]) -> tuple[Cursor, RevertedBlocks]:
    """The current hashes of the blocks in doubt, as many as fit, after they were reread."""
    gone = await standing(view, *doubt)
    left = (gone.last + 1, doubt[1]) if gone.last < doubt[1] else None
    return replace(cursor, doubt=left), gone


async def _again(view: ChainView, next_: int, wanted: tuple[int, int] | None) -> RevertedBlocks | None:
    """The current hashes of the *wanted* blocks before *next_*, as many as fit."""
    if wanted is None:
        return None
    first, last = wanted[0], min(next_ - 1, wanted[1])
    return await standing(view, first, last) if first <= last else None


def _over(before: Cursor, begun: Cursor) -> tuple[int, int] | None:
    first, last = begun.next, before.last
    return (first, last) if begun is not before and first <= last else None


async def _proven(
    view: ChainView, cursor: Cursor, placeds: Sequence[Placed], firm: tuple[int, str]
) -> Cursor:
    """Add the hashes of the blocks up to *cursor*. Raises NodeFault if they are not on one branch."""
    last, known = cursor.next - 1, dict(cursor.known)
    # The hash of a partly read block is stored, too, so that its rest comes from the same block.
    begun = {cursor.next: known.pop(cursor.next)} if cursor.next in known else {}
    seen = {(placed.block, placed.block_hash) for placed in placeds}
    seen |= {*begun.items(), firm}
    newest = max(known, default=-1)
    marks = [last - back for back in _MARKS if last - back > newest]
    numbers = sorted({*marks, *(number for number, _ in seen)})
    now = dict(zip(numbers, await hashes(view, numbers), strict=True))
    torn = [number for number, hash_ in seen if now[number] != hash_]
    if torn:
        msg = f"block {min(torn)}: what it answers of it is of two branches"
        raise NodeFault(msg)
    known |= {**{number: now[number] for number in marks}, **begun}
    return replace(cursor, known=tuple(known.items())[-_MOST_KNOWN:])
