"""Checks a bridge: locked against minted tokens, and messages that were not delivered.

If messages are tracked, those in transit are taken into account and are no imbalance.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_UP, Decimal
from typing import Any, Final

from probe.checks._check import Check, Kept
from probe.net.engine import Net
from probe.net.spent import Limit, PhaseDurations
from probe.web3 import lag
from probe.web3.bridge_ends import BridgeEnd, RecentAmount, destination, source
from probe.web3.checkpoint import CheckpointState
from probe.web3.crossings import MeasuredValue, plain
from probe.web3.messages import MOST_KEPT, BridgeMessage, MessageBook, matched, merged, settled
from probe.web3.reader import Cursor
from shared.kinds.web3.bridge import Bridge
from shared.kinds.web3.fields import EXACT, amount, in_units
from shared.results import Outcome, Status

_HUNDRED: Final = Decimal(100)
_PLACES: Final = Decimal("0.0001")
# No fork is deeper than the blocks seen in this many checks; each check keeps three.
_FIRM: Final = 24
# Messages not delivered by then never will be, or were none: anybody may send tokens to a contract.
_LOST_S: Final = 7 * 86_400
_LOST_TIMES: Final = 10


def prepare(kind: Bridge, kept: Kept) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    here, there, most = source(kind), destination(kind), amount(kind.max_imbalance_percent)
    standing = CheckpointState(
        kept, "bridge", _about(here), _about(there), kind.deposit_event, kind.delivery_event
    )
    follows = kind.max_delay_seconds is not None

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit, more = PhaseDurations(), Limit.until(deadline), standing.more
        book = MessageBook.of(more)
        full = len(matched(book)[1]) >= MOST_KEPT
        half = Limit(limit.began, (limit.began + limit.deadline) / 2)
        begun = Cursor.of(more.get("source")), Cursor.of(more.get("destination"))
        locked = await here.look(net, spent, half, begun[0], read=follows and not full)
        # Do not read deliveries beyond the messages sent so far: they could not be matched later.
        minted = await there.look(net, spent, limit, begun[1], read=follows and (full or locked.whole))
        cursors = _next(locked, begun[0]), _next(minted, begun[1])
        if follows:
            book = _followed(kind, book, locked, minted, cursors)
            more = {"source": _plain(cursors[0]), "destination": _plain(cursors[1]), **book.plain()}
        measured = [*_judged(kind, most, book, locked, minted), _pause(here, locked), _pause(there, minted)]
        for end, seen in ((here, locked), (there, minted)):
            if seen.step is not None:
                measured += lag.measured(seen.step, standing.raised, f"{end.name}_")
        state, findings = standing.settle(measured, more if follows else {}, _unjudged(kind))
        return Outcome(Status.UP, phases=spent.phases(), address=spent.address, state=state, found=findings)

    return check


def _about(end: BridgeEnd) -> list[Any]:
    return [end.chain, end.side.contract.lower(), end.side.token.lower()]


def _next(seen: RecentAmount, begun: Cursor | None) -> Cursor | None:
    return begun if seen.step is None else seen.step.cursor


def _plain(cursor: Cursor | None) -> list[Any] | None:
    return None if cursor is None else cursor.plain()


def _unjudged(kind: Bridge) -> tuple[str, ...]:
    """Alerts that stay raised while they cannot be evaluated, as while old messages are read."""
    if kind.max_delay_seconds is None:
        return ()
    late = (f"{end}_{key}" for end in ("source", "destination") for key in (lag.READING, lag.CHAIN))
    return ("imbalance", "message_delay", *late)


def _followed(
    kind: Bridge,
    book: MessageBook,
    locked: RecentAmount,
    minted: RecentAmount,
    cursors: tuple[Cursor | None, Cursor | None],
) -> MessageBook:
    """*book* with the messages just read."""
    coarse = min(locked.decimals, minted.decimals)
    by_amount = kind.deposit_event is None
    sides = []
    for have, seen in ((book.sent, locked), (book.delivered, minted)):
        new, gone = (seen.step.logs, seen.step.gone) if seen.step else ((), None)
        alike = _rounded(new, seen.decimals - coarse) if by_amount else new
        sides.append(merged(have, alike, gone))
    since = locked.at - max(_LOST_S, (kind.max_delay_seconds or 0) * _LOST_TIMES)
    return settled(MessageBook(*sides), (_firm(cursors[0]), _firm(cursors[1])), since)


def _rounded(messages: Sequence[BridgeMessage], digits: int) -> list[BridgeMessage]:
    """Amounts without the last *digits*, which the other side cannot represent and never mints."""
    short = [replace(message, id=f"{message.amount // 10**digits:x}") for message in messages]
    return [message for message in short if message.amount]


def _firm(cursor: Cursor | None) -> int:
    """The block below which no fork will reach."""
    return cursor.known[-_FIRM][0] if cursor is not None and len(cursor.known) >= _FIRM else 0


def _judged(
    kind: Bridge, most: Decimal, book: MessageBook, locked: RecentAmount, minted: RecentAmount
) -> list[MeasuredValue]:
    if kind.max_delay_seconds is None:
        return [_imbalance(most, locked, minted, Decimal(0))]
    under_way = matched(book)[1]
    measured = []
    if minted.whole:
        measured.append(_delay(kind.max_delay_seconds, under_way, locked.at))
    if minted.whole and locked.whole:
        moving = 0 if kind.deposit_event else sum(message.amount for message in under_way)
        coarse = min(locked.decimals, minted.decimals)
        measured.append(_imbalance(most, locked, minted, in_units(moving, coarse)))
    return measured


def _delay(most_s: int, under_way: Sequence[BridgeMessage], now: int) -> MeasuredValue:
    age = max((now - message.at for message in under_way), default=0)
    text = f"messages under way: {len(under_way)}"
    if under_way:
        text += f", the oldest sent {age} s ago, {most_s} s are allowed"
    return MeasuredValue("message_delay", Decimal(max(age, 0)), Decimal(most_s), "s", text, strict=True)


def _imbalance(most: Decimal, locked: RecentAmount, minted: RecentAmount, moving: Decimal) -> MeasuredValue:
    """Compare the more harmless of the recent values, because the other side may lag behind."""
    least_locked, most_locked = (in_units(number, locked.decimals) for number in (locked.least, locked.most))
    least_minted, most_minted = (in_units(number, minted.decimals) for number in (minted.least, minted.most))
    if least_minted > most_locked:
        off = _percent(EXACT.subtract(least_minted, most_locked), most_locked)
        text = f"{plain(least_minted)} is minted, but only {plain(most_locked)} locked: {plain(off)} % more"
    else:
        short = EXACT.subtract(EXACT.subtract(least_locked, moving), most_minted)
        off = _percent(max(short, Decimal(0)), least_locked)
        text = f"{plain(least_locked)} is locked, and {plain(most_minted)} minted: {plain(off)} % less"
    return MeasuredValue("imbalance", off, most, "%", f"{text}, {plain(most)} % are allowed", strict=True)


def _percent(part: Decimal, whole: Decimal) -> Decimal:
    """The percentage; any nonzero part of zero counts as 100."""
    if whole <= 0:
        return _HUNDRED if part else Decimal(0)
    return EXACT.divide(EXACT.multiply(part, _HUNDRED), whole).quantize(_PLACES, ROUND_UP, EXACT)


def _pause(end: BridgeEnd, seen: RecentAmount) -> MeasuredValue:
    text = f"the contract at the {end.name} is {'paused' if seen.paused else 'not paused'}"
    return MeasuredValue(f"{end.name}_paused", Decimal(seen.paused), Decimal(1), "", text)
