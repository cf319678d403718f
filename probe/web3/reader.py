"""What a chain holds, from where the last check ended: nothing is missed, what a fork changed is read anew.

What lies in a block counts once the block has enough confirmations. How far was read is the cursor, together
with the hashes of blocks that were met on the way: if one of them is no more part of the chain, everything
since the last that is gets read again, and what was told of it is held against the chain as it is now.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

import orjson

from probe.net.spent import Limit
from probe.web3.nodes import View
from probe.web3.patience import header, patiently
from probe.web3.rpc import Call, NodeFault, TooLarge
from shared.findings import MAX_BYTES, MAX_FINDINGS, Finding, Found

# Of one check; the rest is for the next ones. Room is left for a retraction, and for alerts.
MOST_PLACED: Final = MAX_FINDINGS - 20
MOST_BYTES: Final = MAX_BYTES - 40 * 1024
_MOST_RANGES: Final = 256
_MOST_SPAN: Final = 2_000
_FIRST_SPAN: Final = 64
# So many ranges are read well before a wider one is tried.
_PATIENCE: Final = 4
_FEW: Final = 100
_MOST_KNOWN: Final = 96
# How far before its end a range's hashes are kept too, so that a short fork does not lead far back.
_MARKS: Final = (64, 8, 0)
# Blocks whose present hashes one finding names, and that one request asks for.
_MOST_DOUBT: Final = 256
_AT_ONCE: Final = 50
# A node that is farther behind what was read is no laggard: its chain was begun anew.
_MOST_BEHIND: Final = 10_000


class Placed(Protocol):
    """What lies somewhere on a chain; *index* is its place in the block, *size* what it takes of a result."""

    @property
    def block(self) -> int: ...
    @property
    def block_hash(self) -> str: ...
    @property
    def index(self) -> int: ...
    @property
    def size(self) -> int: ...


T = TypeVar("T", bound=Placed)
# Of a first to a last block, in order; raises TooLarge where fewer blocks may do, NodeFault else.
Source = Callable[[View, int, int], Awaitable[Sequence[T]]]


@dataclass(frozen=True, slots=True)
class Cursor:
    """*next*: the first block that was not read to its end, and of it what lies at *index* or later.

    *known* are numbers and hashes of blocks up to it, oldest first; *doubt* the first and last block of which
    things were told that the chain may no longer hold.
    """

    next: int
    index: int = 0
    known: tuple[tuple[int, str], ...] = ()
    doubt: tuple[int, int] | None = None

    def plain(self) -> list[Any]:
        """As JSON takes it."""
        return [self.next, self.index, [list(one) for one in self.known], self.doubt and list(self.doubt)]

    @classmethod
    def of(cls, plain: Any) -> "Cursor | None":
        """None of what `plain` never made."""
        try:
            next_, index, known, doubt = plain
            read = tuple((int(number), str(hash_)) for number, hash_ in known)
            return cls(int(next_), int(index), read, (int(doubt[0]), int(doubt[1])) if doubt else None)
        except (ValueError, TypeError, IndexError):
            return None


@dataclass(frozen=True, slots=True)
class Gone:
    """Of blocks *first* to *last* only that stands whose block has one of these *hashes*, by number."""

    first: int
    last: int
    hashes: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """What a check read, and where the next one begins; it is *whole* if nothing that counts is left."""

    cursor: Cursor
    logs: tuple[T, ...] = ()
    gone: Gone | None = None
    head: int = 0
    whole: bool = True

    @property
    def at(self) -> tuple[int, int]:
        return self.cursor.next, self.cursor.index


class Reader(Generic[T]):
    """Reads what *source* finds, in blocks that have so many *confirmations*."""

    def __init__(self, source: Source[T], confirmations: int) -> None:
        self._source = source
        self._confirmations = confirmations
        self._span = _FIRST_SPAN  # as much as nodes give at once, as far as is known
        self._well = _PATIENCE

    async def advance(self, view: View, cursor: Cursor | None) -> Step[T]:
        """Everything from *cursor* on that counts by now, as far as one check goes; at first nothing.

        Raises NodeFault if the node does not go along.
        """
        head = view.head
        if cursor is None:
            return Step(Cursor(head.number + 1, known=((head.number, head.hash),)), head=head.number)
        if head.number + _MOST_BEHIND < cursor.next:
            msg = (
                f"its newest block {head.number} is far behind block {cursor.next - 1}, which was read before"
            )
            raise NodeFault(msg)
        begun = await self._on_chain(view, cursor)
        safe = head.number - self._confirmations
        # It is part of the chain before and after all is read; what is newer may change meanwhile.
        firm = (head.number, head.hash)
        if self._confirmations and begun.next <= safe:
            firm = safe, (await _hashes(view, [safe]))[0]
        cursor, found, faulty = await self._through(view, begun, safe)
        gone = None
        if cursor.doubt is not None and cursor.next > cursor.doubt[1]:
            cursor, gone = await _settled(view, cursor, cursor.doubt)
        if (cursor.next, cursor.index) != (begun.next, begun.index) or gone is not None:
            cursor = await _proven(view, cursor, found, firm)
        whole = cursor.next > safe and cursor.doubt is None and not faulty
        return Step(cursor, tuple(found), gone, head.number, whole)

    async def _on_chain(self, view: View, cursor: Cursor) -> Cursor:
        """*cursor*, or one at the last known block that the chain still holds."""
        known = [one for one in cursor.known if one[0] <= view.head.number]
        if not known or known[-1] == (view.head.number, view.head.hash):
            return cursor
        [newest] = await _hashes(view, [known[-1][0]])
        if newest == known[-1][1]:
            return cursor
        now = await _hashes(view, [number for number, _ in known])
        kept = [one for one, hash_ in zip(known, now, strict=True) if one[1] == hash_]
        first = kept[-1][0] + 1 if kept else known[0][0]
        last = cursor.next - 1 if cursor.index == 0 else cursor.next
        if cursor.doubt is not None:
            last = max(last, cursor.doubt[1])
        doubted = first if cursor.doubt is None else min(first, cursor.doubt[0])
        return Cursor(first, known=tuple(kept), doubt=(doubted, last) if doubted <= last else None)

    async def _through(self, view: View, cursor: Cursor, safe: int) -> tuple[Cursor, list[T], bool]:
        """As far as one check goes; what was read stays read if the node fails on the way."""
        found: list[T] = []
        begun, took = cursor, view.limit.deadline - view.limit.began
        # The last quarter is for proving it.
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

    async def _range(self, view: View, first: int, safe: int) -> tuple[Sequence[T], int]:
        """What lies in the next blocks, and in which last one."""
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


def retraction(gone: Gone) -> Finding:
    """That of some blocks only what lies in those of these hashes still stands."""
    told = {"first": gone.first, "last": gone.last, "hashes": {str(n): h for n, h in gone.hashes}}
    return Finding(Found.RETRACTED, f"{gone.first}-{gone.last}", orjson.dumps(told))


def agreed(seen: Sequence[Step[T]], quorum: int) -> Step[T] | None:
    """What at least *quorum* of them saw, though some may have come farther; None if no so many agree."""
    for one in sorted(seen, key=lambda step: step.at, reverse=True):
        if sum(_goes_with(other, one) for other in seen) >= quorum:
            return one
    return None


def _goes_with(other: Step[T], one: Step[T]) -> bool:
    count = len(one.logs)
    farther = all((log.block, log.index) >= one.at for log in other.logs[count:])
    settled = one.gone is None or other.gone == one.gone
    return other.at >= one.at and other.logs[:count] == one.logs and farther and settled


def _take(found: list[T], placed: Sequence[T]) -> T | None:
    """Put into *found* as many as a result may carry; the first that it may not."""
    took = sum(one.size for one in found)
    for one in placed:
        took += one.size
        if found and (len(found) >= MOST_PLACED or took > MOST_BYTES):
            return one
        found.append(one)
    return None


async def _settled(view: View, cursor: Cursor, doubt: tuple[int, int]) -> tuple[Cursor, Gone]:
    """What is to be known of blocks in doubt, as many as fit, now that they were read again."""
    first, last = doubt[0], min(doubt[1], doubt[0] + _MOST_DOUBT - 1)
    numbers = range(first, last + 1)
    hashes = await _hashes(view, numbers)
    left = (last + 1, doubt[1]) if last < doubt[1] else None
    return replace(cursor, doubt=left), Gone(first, last, tuple(zip(numbers, hashes, strict=True)))


async def _proven(view: View, cursor: Cursor, found: Sequence[Placed], firm: tuple[int, str]) -> Cursor:
    """With the hashes of the blocks up to *cursor*. Raises NodeFault if not all lay on one branch."""
    last, known = cursor.next - 1, dict(cursor.known)
    # Of a block that was read in part the hash is known as well, so that its rest is of the same.
    begun = {cursor.next: known.pop(cursor.next)} if cursor.next in known else {}
    seen = {(one.block, one.block_hash) for one in found}
    seen |= {*begun.items(), firm}
    newest = max(known, default=-1)
    marks = [last - back for back in _MARKS if last - back > newest]
    numbers = sorted({*marks, *(number for number, _ in seen)})
    now = dict(zip(numbers, await _hashes(view, numbers), strict=True))
    torn = [number for number, hash_ in seen if now[number] != hash_]
    if torn:
        msg = f"block {min(torn)}: what it answers of it is of two branches"
        raise NodeFault(msg)
    known |= {**{number: now[number] for number in marks}, **begun}
    return replace(cursor, known=tuple(known.items())[-_MOST_KNOWN:])


async def _hashes(view: View, numbers: Sequence[int]) -> list[str]:
    """Of the blocks of these *numbers*. Raises NodeFault for one that the node does not have."""
    hashes: list[str] = []
    for at in range(0, len(numbers), _AT_ONCE):
        hashes += await patiently(view, partial(_some_hashes, view, numbers[at : at + _AT_ONCE]))
    return hashes


async def _some_hashes(view: View, numbers: Sequence[int]) -> list[str]:
    answers = await view.ask(*(Call("eth_getBlockByNumber", [hex(number), False]) for number in numbers))
    return [header(view, number, answer).hash for number, answer in zip(numbers, answers, strict=True)]
